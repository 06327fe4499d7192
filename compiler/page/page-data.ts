import {
  findKeys,
  findUrl,
  offersIn,
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
  siteWords,
} from '../catalog/site.ts';

/** An answer of the shop that is no 200. */
class NoAnswer extends Error {
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
  /** Time zones of its entities, where they are known. */
  readonly zones: Readonly<Record<string, string>>;
}
export interface PageShop extends SiteSignals {
  readonly signals: readonly PageSignal[];
}

export async function shop(): Promise<PageShop> {
  const sold = await jsonAt<SiteSignals>(SITE_SIGNALS_URL);
  const offersOf = offersIn(sold);
  const signals = sold.signals.map((signal) => {
    return { ...signal, offers: offersOf(signal), zones: sold.zones[signal.line] ?? {} };
  });
  return { ...sold, signals };
}
export const findIndex = (): Promise<SiteFind> => jsonAt(SITE_FIND_URL);
export const foundUnder = (key: string): Promise<SiteFound> => jsonAt(findUrl(key));
export const mapOf = (url: string): Promise<SiteMap> => jsonAt(url);

export async function entityPage(
  { list }: Pick<SiteSignal, 'list'>,
  page: number,
): Promise<{ rows: readonly SiteEntityRow[]; pages: number }> {
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

export interface Hit {
  readonly signal: PageSignal;
  readonly entity: string | null;
  readonly name: string | null;
}

export interface Hits {
  readonly hits: readonly Hit[];
  readonly isCut: boolean;
}

const HITS_MAX = 40;
/** Pieces of the index that one search reads. */
const PIECES_MAX = 8;

/** Signals by id, with the words under which each is found. */
export interface SignalIndex {
  readonly byId: ReadonlyMap<string, PageSignal>;
  readonly words: ReadonlyMap<string, readonly string[]>;
}

export function signalIndex(signals: readonly PageSignal[]): SignalIndex {
  const wordsOf = ({
    signal_id,
    industry,
    measures,
    title,
    line_title,
    metrics,
  }: PageSignal): string[] =>
    siteWords(signal_id, industry, measures, title, line_title, ...metrics.map(({ name }) => name));
  return {
    byId: new Map(signals.map((signal) => [signal.signal_id, signal])),
    words: new Map(signals.map((signal) => [signal.signal_id, wordsOf(signal)])),
  };
}

/**
 * The pieces that hold every entity which a query may find. An entity stands in the piece of each of its words, so one word
 * would do; a word that very many have is listed in part only, so the pieces of others are read too. A word of what is
 * measured, as in "denver aqi", need not stand in a name.
 */
export function piecesFor(query: string, keys: readonly string[], index: SignalIndex): string[] {
  const choices = siteWords(query).map((word) => ({
    keys: findKeys(word, keys),
    isMeasured: [...index.words.values()].some((words) => matches(word, words)),
  }));
  if (choices.some((one) => !one.isMeasured && one.keys.length === 0)) return [];
  const names = choices.filter(({ isMeasured }) => !isMeasured);
  const ranked = (names.length > 0 ? names : choices).sort((one, other) => {
    return one.keys.length - other.keys.length;
  });
  return [...new Set(ranked.flatMap((one) => one.keys))].slice(0, PIECES_MAX);
}

/** What the words of a query find: signals first, then entities, better matches first. */
export function findIn(query: string, found: readonly SiteFound[], index: SignalIndex): Hits {
  const asked = siteWords(query);
  if (asked.length === 0) return { hits: [], isCut: false };
  const hits = [...index.byId.values()].flatMap((signal) =>
    hitsOf(signal, asked, { found, index }),
  );
  hits.sort((one, other) => {
    if (one.rank !== other.rank) return one.rank - other.rank;
    const name = (hit: Hit): string => hit.name ?? hit.entity ?? '';
    return name(one).localeCompare(name(other), 'en');
  });
  return {
    hits: hits.slice(0, HITS_MAX).map(({ rank: _, ...hit }) => hit),
    isCut: hits.length > HITS_MAX || (found.length > 0 && found.every(isPartial)),
  };
}

/** The signal itself, if all words are of what it measures; of its entities those that have the other words. */
function hitsOf(
  signal: PageSignal,
  asked: readonly string[],
  { found, index }: { found: readonly SiteFound[]; index: SignalIndex },
): Ranked[] {
  const id = signal.signal_id;
  const words = index.words.get(id) ?? [];
  const left = asked.filter((word) => !matches(word, words));
  const sought = left.length === 0 ? asked : left;
  const own: Ranked[] = left.length === 0 ? [{ signal, entity: null, name: null, rank: 0 }] : [];
  const rows = found.flatMap(({ signals }) =>
    Object.hasOwn(signals, id) ? (signals[id] ?? []) : [],
  );
  const entities = (
    found.length < 2 ? rows : [...new Map(rows.map((row) => [row[0], row])).values()]
  ).flatMap(([entity, name]): Ranked[] => {
    const own = siteWords(entity, name);
    // A name that has all words itself comes before one that leaves some to what is measured.
    const whole = rankOf(asked, own);
    const rank = whole ?? rankOf(sought, own);
    return rank === null ? [] : [{ signal, entity, name, rank: whole === null ? rank + 2 : rank }];
  });
  return [...own, ...entities];
}

/** A word that very many have is listed in part. */
function isPartial({ total, signals }: SiteFound): boolean {
  return Object.values(signals).reduce((sum, rows) => sum + rows.length, 0) < total;
}

interface Ranked extends Hit {
  rank: number;
}

/** 1 where all words are whole, 2 where some are beginnings; null where one is missing. */
function rankOf(asked: readonly string[], words: readonly string[]): number | null {
  if (!asked.every((word) => matches(word, words))) return null;
  return asked.every((word) => words.includes(word)) ? 1 : 2;
}

function matches(word: string, words: readonly string[]): boolean {
  return words.some((one) => one.startsWith(word));
}
