import type { Route } from '../../compiler/catalog/route.ts';
import { isRealDay } from '../../compiler/format/cutoff.ts';
import { defined } from '../../compiler/format/errors.ts';
import { HOUR_MS, hasIsoYear, isoTime } from '../../compiler/format/iso-time.ts';
import { grouped } from '../../compiler/format/lists.ts';
import type { CatalogRow } from '../../compiler/format/release.ts';
import { endpointAt } from '../../compiler/products/products.ts';
import { legEntity } from '../../compiler/products/shapes/line.ts';
import { knownFilePath } from '../../compiler/products/shapes/path.ts';
import type { Endpoint } from '../../compiler/products/shapes/product.ts';
import { withoutStatus } from '../../compiler/products/shapes/record-views.ts';
import { withRequestTime } from '../../compiler/products/shapes/request-time.ts';
import {
  CHANGES_HOURS_DEFAULT,
  SWEEP_PAGE_ROWS,
  WATCH_ITEMS_MAX,
  type WatchRow,
} from '../../compiler/products/shapes/watch-bodies.ts';
import { needsTokens } from '../../compiler/products/signal-products.ts';
import {
  type Answered,
  type Caller,
  MISS,
  type Question,
  type Service,
} from '../heart/answers/service.ts';
import { noCharge } from '../heart/offer/no-charge.ts';
import {
  perRelease,
  type ReleaseIndex,
  type ReleaseReader,
} from '../heart/release/release-index.ts';
import { MINT_PATH } from '../settle/token.ts';
import type { Spend } from '../wire/cost.ts';
import { jsonReply, type Reply } from '../wire/reply.ts';
import { catalogRows, catalogTable, type RowList } from './catalog.ts';
import { jsonContent } from './json-content.ts';

const BEARER = /^Bearer +([^ ,]+) *$/i;

/** The answer of subscription paths that no token opens; null for every other path and for a token of ours. */
export function tokenGate(
  endpoint: Endpoint,
  { facts, request }: Caller,
  { operator, release }: Service,
): Reply | null {
  if (!needsTokens(endpoint)) return null;
  const { tokens } = operator;
  if (tokens === null) return notConfigured();
  const { path, token } = endpoint;
  const sent = token ? sentToken(facts.authorization, request.values.get('token') ?? null) : null;
  // A token of before opens what the release no longer offers, until it ends.
  if (sent === null && !release.offers.has(path)) return notConfigured();
  if (!token) return null;
  if (sent === null) return refused('missing_token');
  const verdict = tokens.check(sent);
  return verdict === 'valid' ? null : refused(`${verdict}_token`);
}

/** Without a secret, and without an offer, nobody is asked for money or for a token. */
function notConfigured(): Reply {
  const error = 'Subscriptions are not configured here; pay per call instead';
  const body = { error, code: 'not_configured', no_charge: true, catalog: '/gauge/catalog' };
  return jsonReply(501, body);
}

/** The one token that was sent; '' for what is none, or for two that differ. */
function sentToken(authorization: string | null, query: string | null): string | null {
  if (authorization === null) return query;
  const bearer = BEARER.exec(authorization)?.[1] ?? '';
  return query === null || query === bearer ? bearer : '';
}

const WORDS = {
  missing_token: 'Send Authorization: Bearer <token>, or token=<token> in the query',
  invalid_token: 'The token was not issued here; get one at /gauge/subscribe',
  expired_token: 'The token has expired; get a new one at /gauge/subscribe',
} as const;

function refused(code: keyof typeof WORDS): Reply {
  const challenge = code === 'missing_token' ? 'Bearer' : 'Bearer error="invalid_token"';
  return jsonReply(401, { error: WORDS[code], code, mint: MINT_PATH }, [
    ['www-authenticate', challenge],
  ]);
}

/**
 * `/gauge/subscribe`: a token made before the settlement and handed out only after it. The journal keeps the exact
 * bytes, so a payment that is sent again gets the same token with the same end. Computed, because each buyer gets a token
 * of its own.
 */
export function mint({ operator }: Service): Promise<Answered> {
  const { tokens } = operator;
  return Promise.resolve(tokens === null ? MISS : jsonContent(tokens.mint(), 0));
}

/** What a row costs, whose record is parsed. */
const ROW_COST = 1;

const NATURE = 'Latest official readings of a watchlist; descriptive only, no forecast, no advice';
const SWEEP_NATURE =
  'Time and hash of every latest reading; descriptive only, no forecast, no advice';
const VERIFIABLE = {
  mode: 'via-endpoint',
  note: 'look a record_hash up free at /gauge/verify; the whole record of a row is sold at /gauge',
} as const;
const WATCH_NOTE = 'the latest stored reading of every signal of each item';
const CHANGES_NOTE =
  'only readings whose observed_at is after since; an item without any has no rows';

const ITEM = /^([a-z][a-z0-9-]*):(\S.*)$/;
const ZONED = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+ -]\d{2}:\d{2})$/;
const DAY = /^\d{4}-\d{2}-\d{2}$/;
const UNIX_SECONDS = /^\d{1,11}$/;

/** The watchlist paths, once the token was found valid. Computed, because the list is the caller's. */
export async function watch({ route, spend }: Question, service: Service): Promise<Answered> {
  const { path } = route.endpoint;
  if (path === '/gauge/manifest-sweep') return sweep(route, service.release);
  const { items: list, since: given } = route.values;
  const items = itemsOf(defined(list, 'a watchlist'));
  if (items === null) return illegal(route, 'items', service.release);
  if (path !== '/gauge/watch-changes') {
    return jsonContent(await watched(items, { service, spend, note: WATCH_NOTE }), 0);
  }
  const since =
    given === undefined ? service.clock() - CHANGES_HOURS_DEFAULT * HOUR_MS : sinceOf(given);
  if (since === null) return illegal(route, 'since', service.release);
  const body = await watched(items, { service, spend, note: CHANGES_NOTE, since });
  return jsonContent({ ...body, since: isoTime(since) }, 0);
}

async function illegal(
  route: Route,
  name: 'items' | 'since',
  release: ReleaseIndex,
): Promise<Answered> {
  const value = defined(route.values[name], `the value of ${name}`);
  const fault = { miss: 'illegal_value', name, missing: [], value } as const;
  return { kind: 'reply', reply: await noCharge({ ...route, fault }, release) };
}

/** Epoch milliseconds of an ISO-8601 day or instant, or of unix seconds; null for anything else. */
function sinceOf(text: string): number | null {
  if (UNIX_SECONDS.test(text)) return Number(text) * 1000;
  const isDay = DAY.test(text);
  if (!isDay && !ZONED.test(text)) return null;
  // A plus sign arrives as a space from clients that do not encode it.
  const epochMs = Date.parse(isDay ? `${text}T00:00:00Z` : text.replace(/ (?=\d{2}:\d{2}$)/, '+'));
  return hasIsoYear(epochMs) && isRealDay(text.slice(0, 10)) ? epochMs : null;
}

/** The pairs of a list, each once; null for a malformed one and for more than WATCH_ITEMS_MAX. */
function itemsOf(list: string): WatchItem[] | null {
  const parts = list.split(',', WATCH_ITEMS_MAX + 1).map((part) => part.trim());
  if (parts.length > WATCH_ITEMS_MAX) return null;
  const items = new Map<string, WatchItem>();
  for (const item of parts) {
    const [, industry = '', entity = ''] = ITEM.exec(item) ?? [];
    if (entity === '') return null;
    items.set(item, { item, industry, entity });
  }
  return [...items.values()];
}

/** Only readings after `since`, in epoch milliseconds, where that is set. */
async function watched(
  items: readonly WatchItem[],
  { service, spend, note, since }: { service: Service; spend: Spend; note: string; since?: number },
) {
  const { release } = service;
  // One instant for all rows: what they say of their age must agree.
  const now = service.clock();
  const answered = await Promise.all(
    items.map(async (item) => {
      const readings = await readingsOf(item, release);
      const newer = readings.filter(
        (row) => since === undefined || Date.parse(row.observed_at) > since,
      );
      const rows = await Promise.all(newer.map((row) => rowOf(row, { release, spend, now })));
      return { ...item, found: readings.length > 0, rows };
    }),
  );
  return {
    nature: NATURE,
    as_of: release.head.as_of,
    count: answered.reduce((sum, { rows }) => sum + rows.length, 0),
    items: answered,
    unknown_items: answered.filter(({ found }) => !found).map(({ item }) => item),
    record_hash_verifiable: VERIFIABLE,
    note,
  };
}

/** A row of the stored record, with its members of request time as everywhere. */
async function rowOf(
  row: CatalogRow,
  { release, spend, now }: ReleaseReader & { now: number },
): Promise<WatchRow> {
  spend(ROW_COST);
  const { signal_id, entity, entity_name, band, observed_at, record_hash } = row;
  const path = knownFilePath(endpointAt('/gauge'), { signal_id, entity });
  const { bytes } = await release.body(path, spend);
  const record = withRequestTime(JSON.parse(bytes.toString('utf8')), now);
  const { current, data_age_hours = null, ...rest } = record as unknown as WatchRow;
  const provenance = withoutStatus(rest.provenance);
  const named = { signal_id, entity, entity_name };
  return { ...named, current, band, observed_at, data_age_hours, record_hash, provenance };
}

async function sweep({ values }: Route, release: ReleaseIndex): Promise<Answered> {
  const lists = [...(await catalogRows(release)).values()];
  const total = lists.reduce((sum, { length }) => sum + length, 0);
  const pages = Math.max(1, Math.ceil(total / SWEEP_PAGE_ROWS));
  const page = Number(values.page ?? '1');
  const from = (page - 1) * SWEEP_PAGE_ROWS;
  const body = {
    nature: SWEEP_NATURE,
    as_of: release.head.as_of,
    page,
    pages,
    total,
    next: page < pages ? `/gauge/manifest-sweep?page=${page + 1}` : null,
    rows: rowsFrom(lists, from).map(({ signal_id, entity, observed_at, record_hash }) => {
      const entry = release.catalog.entryById.get(signal_id);
      const { industry } = defined(entry, 'the row of the signal').line;
      return { industry, signal_id, entity, observed_at, record_hash };
    }),
  };
  return jsonContent(body, 0);
}

/** The rows of a page, of lists that follow each other. */
function rowsFrom(lists: readonly RowList[], from: number): CatalogRow[] {
  const rows: CatalogRow[] = [];
  let skipped = 0;
  for (const list of lists) {
    const start = Math.max(0, from - skipped);
    rows.push(...list.slice(start, start + SWEEP_PAGE_ROWS - rows.length));
    skipped += list.length;
  }
  return rows;
}

const linesOf = perRelease(({ catalog }) => grouped(catalog.lines, ({ industry }) => industry));

/** An `industry:entity` pair of a watchlist. */
interface WatchItem {
  item: string;
  industry: string;
  entity: string;
}

/** The latest reading of every signal of an item, in the order of the table; empty for an unknown one. */
async function readingsOf(item: WatchItem, release: ReleaseIndex): Promise<CatalogRow[]> {
  const table = await catalogTable(release);
  const known = new Map<string, CatalogRow[]>();
  const rowsOf = (entity: string): CatalogRow[] => {
    const numbers = table.likelyOf(entity.toLowerCase());
    const rows = known.get(entity) ?? Array.from(numbers, (number) => table.row(number));
    known.set(entity, rows);
    return rows;
  };
  return (linesOf(release).get(item.industry) ?? []).flatMap((line) => {
    const asked = line.upperCase ? item.entity.toUpperCase() : item.entity;
    return line.signals.flatMap(({ id }) => {
      const entity = legEntity(line, id, asked);
      return rowsOf(entity).filter((row) => row.signal_id === id && row.entity === entity);
    });
  });
}
