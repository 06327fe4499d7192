import {
  findUrl,
  SITE_FIND_URL,
  SITE_SIGNALS_URL,
  type SiteEntities,
  type SiteEntityRow,
  type SiteFind,
  type SiteFound,
  type SiteMap,
  type SitePiece,
  type SitePrice,
  type SiteSignal,
  type SiteSignals,
} from '../contract/site.ts';

/** An answer of the shop that is no 200. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
  readonly status: number;
  constructor(url: string, status: number) {
    super(`Cannot read "${url}": ${status === 0 ? 'no connection' : `the shop answers ${status}`}`);
    this.status = status;
  }
}

const texts = new Map<string, Promise<string>>();

/** The text at an address of this shop, asked for once; a failure is asked for again. */
export function textAt(url: string): Promise<string> {
  const known = texts.get(url);
  if (known !== undefined) return known;
  const asked = request(url);
  texts.set(url, asked);
  asked.catch(() => texts.delete(url));
  return asked;
}

async function request(url: string): Promise<string> {
  const answer = await fetch(url, { headers: { accept: 'application/json' } }).catch(() => null);
  if (answer === null) throw new NoAnswer(url, 0);
  const text = await answer.text();
  if (!answer.ok) throw new NoAnswer(url, answer.status);
  return text;
}

async function jsonAt<T>(url: string): Promise<T> {
  return JSON.parse(await textAt(url)) as T;
}

/** A signal with the prices of what is sold about it. */
export interface PageSignal extends SiteSignal {
  readonly offers: readonly SitePrice[];
}
export interface PageShop extends SiteSignals {
  readonly signals: readonly PageSignal[];
}

/** Everything that is sold. */
export async function shop(): Promise<PageShop> {
  const sold = await jsonAt<SiteSignals>(SITE_SIGNALS_URL);
  const prices = new Map(sold.prices.map((price) => [price.path, price]));
  const offersOf = ({ sells, prices: own = {} }: SiteSignal): SitePrice[] =>
    sells.flatMap((path) => {
      const price = prices.get(path);
      return price === undefined ? [] : [{ ...price, price_usd: own[path] ?? price.price_usd }];
    });
  const signals = sold.signals.map((signal) => ({ ...signal, offers: offersOf(signal) }));
  return { ...sold, signals };
}
export const findIndex = (): Promise<SiteFind> => jsonAt(SITE_FIND_URL);
export const foundUnder = (key: string): Promise<SiteFound> => jsonAt(findUrl(key));
export const mapOf = (url: string): Promise<SiteMap> => jsonAt(url);

/** The address of a query, in the canonical form of the shop. */
export function addressOf(path: string, values: Readonly<Record<string, string>>): string {
  const query = Object.entries(values)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return query.length === 0 ? path : `${path}?${query.join('&')}`;
}

/** One of the free last seven, as `/gauge/history-preview` gives it. */
export interface PreviewRow {
  readonly snapshot_date: string;
  readonly observed_at: string;
  readonly current: Readonly<Record<string, unknown>>;
  readonly record_hash: string;
}
export interface Preview {
  readonly entity_name: string | null;
  /** Oldest first. */
  readonly rows: readonly PreviewRow[];
}

export function previewUrl(signal_id: string, entity: string): string {
  return addressOf('/gauge/history-preview', { signal_id, entity });
}

export const previewOf = (signal: string, entity: string): Promise<Preview> =>
  jsonAt(previewUrl(signal, entity));

/** Entities of a signal, a page of a long list at a time. */
interface EntityPage {
  readonly rows: readonly SiteEntityRow[];
  /** Pages of the list. */
  readonly pages: number;
}

export async function entityPage(
  { list }: Pick<SiteSignal, 'list'>,
  page: number,
): Promise<EntityPage> {
  const { rows, pieces } = await jsonAt<SiteEntities>(list);
  if (rows !== null) return { rows, pages: 1 };
  const piece = pieces[page];
  const read = piece === undefined ? [] : (await jsonAt<SitePiece>(piece.url)).rows;
  return { rows: read, pages: pieces.length };
}

/** The row of one entity, null where the signal does not have it; pieces are in order of their first entity. */
export async function entityRow(
  { list }: Pick<SiteSignal, 'list'>,
  entity: string,
): Promise<SiteEntityRow | null> {
  const { rows, pieces } = await jsonAt<SiteEntities>(list);
  const piece = pieces.findLast(({ first }) => first <= entity);
  const read = rows ?? (piece === undefined ? [] : (await jsonAt<SitePiece>(piece.url)).rows);
  return read.find(([id]) => id === entity) ?? null;
}
