import { hash } from 'node:crypto';
import { defined } from '../../compiler/format/errors.ts';
import { firstWhere, grouped } from '../../compiler/format/lists.ts';
import type { CatalogRow } from '../../compiler/format/release.ts';
import {
  FRESHNESS_THRESHOLDS,
  type FreshnessClass,
  freshness,
  knownOf,
  type UpdateState,
  updateState,
} from '../../compiler/products/shapes/freshness.ts';
import type { Line, Signal, SignalEntry } from '../../compiler/products/shapes/line.ts';
import { canonicalTarget, type Values } from '../../compiler/products/shapes/path.ts';
import type { Answered, Content, Question, Service } from '../heart/answers/service.ts';
import { perRelease, type ReleaseIndex } from '../heart/release/release-index.ts';
import type { Spend } from '../wire/cost.ts';
import { BoundedMap } from '../wire/maps.ts';
import { JSON_MEDIA_TYPE } from '../wire/reply.ts';
import { catalogRows, catalogTable, distinctEntities, type RowList } from './catalog.ts';
import { FREE_BYTES_MAX } from './json-content.ts';

const COVERAGE_TTL_S = 60;
/** Readings of one answer; a filter shows the others. */
const COVERAGE_ROWS_MAX = 5000;
/** Readings of one page; a signal without any counts as one. */
const PAGE_ROWS = 100;
/** Bytes of answers that are kept for one time to live: those that the tables allow, and those about stored entities. */
const KEPT_BYTES_MAX = { listed: 8 * 1024 * 1024, entities: 4 * 1024 * 1024 } as const;

const UPDATE_STATUS_RULE =
  'judged now against the cadence: overdue when the source was late at the last look and that look still counts, on_schedule ' +
  'until its next reading is due, unknown when nobody has looked since; for a signal, the status of its least punctual entity: overdue, ' +
  'not_published, unknown, then on_schedule';
const NATURE = 'What is stored and how fresh it is; descriptive only, no forecast, no advice';

/** Of one time to live; null until somebody asks. */
const answersOf = perRelease((): { now: ReturnType<typeof emptyAnswers> | null } => ({
  now: null,
}));

function emptyAnswers(at: number) {
  return {
    at,
    /** By signal: every page tells the counts of all. */
    counts: new Map<string, FreshnessCounts>(),
    /** By canonical target, which unknown parameters do not change. */
    listed: new BoundedMap<string, HashedBody>({ bytes: KEPT_BYTES_MAX.listed, isByUse: true }),
    /** Apart, for there are many of them. */
    entities: new BoundedMap<string, HashedBody>({ bytes: KEPT_BYTES_MAX.entities, isByUse: true }),
  };
}

/** A body that is given many times, and its hash. */
type HashedBody = Pick<Content, 'body'> & { readonly sha256: string };

function hashedAnswer(made: HashedBody, keepMs: number): Answered {
  return { kind: 'content', content: { ...made, contentType: JSON_MEDIA_TYPE, keepMs } };
}

/** `/gauge/coverage`: counts and freshness of every line. Computed, because freshness follows the clock and filters combine. */
export async function coverage(question: Question, service: Service): Promise<Answered> {
  const { release, clock } = service;
  const { values, target } = question.route;
  const now = clock();
  const held = answersOf(release);
  let { now: answers } = held;
  if (answers === null || Math.abs(now - answers.at) >= COVERAGE_TTL_S * 1000) {
    answers = emptyAnswers(now);
    held.now = answers;
  }
  const kept = values.entity === undefined ? answers.listed : answers.entities;
  const keepMs = Math.max(0, answers.at + COVERAGE_TTL_S * 1000 - now);
  const known = kept.get(target);
  if (known !== undefined) return hashedAnswer(known, keepMs);
  const covered = await coveredBy(question, release, answers);
  const body = coverageBytes(covered, values, { release, now: answers.at });
  const made = { body, sha256: hash('sha256', body) };
  // Only what is stored is kept: a stranger's texts cannot evict it.
  const isStored = covered.length > 0 && pageOf(values) <= pagesOf(covered, isCompact(values));
  if (isStored) kept.set(target, made, body.length);
  return hashedAnswer(made, keepMs);
}

async function coveredBy(
  { route: { values }, spend }: Question,
  release: ReleaseIndex,
  { at, counts }: ReturnType<typeof emptyAnswers>,
): Promise<readonly Covered[]> {
  const { entity } = values;
  const stored =
    entity === undefined ? await stocks(release) : await stocksOf(entity, release, spend);
  const { signal_id: id, industry } = values;
  return stored
    .filter(({ signal }) => id === undefined || signal.id === id)
    .filter(({ line }) => industry === undefined || line.industry === industry)
    .map((stock) => {
      if (entity !== undefined) return { ...stock, counts: freshnessCounts(stock, at) };
      const counted = counts.get(stock.signal.id) ?? freshnessCounts(stock, at);
      counts.set(stock.signal.id, counted);
      return { ...stock, counts: counted };
    });
}

const isCompact = ({ summary }: Values): boolean => summary === '1';
const pageOf = ({ page = '1' }: Values): number => Number(page);

function pagesOf(covered: readonly Covered[], compact: boolean): number {
  const rows = covered.reduce((sum, one) => sum + rowsOnPages(one, compact), 0);
  return Math.max(1, Math.ceil(rows / PAGE_ROWS));
}

function rowsOnPages({ rows }: Covered, compact: boolean): number {
  return compact ? 1 : Math.max(1, rows.length);
}

/** The whole answer, without its readings where they are too many; a page of it where one is asked for or nothing else fits. */
function coverageBytes(
  covered: readonly Covered[],
  values: Values,
  { release, now }: { release: ReleaseIndex; now: number },
): Buffer {
  const compact = isCompact(values);
  const distinct = distinctOf(covered, values, release);
  const rows = covered.reduce((sum, one) => sum + one.rows.length, 0);
  const whole = (listed: boolean): Buffer => {
    const signals = covered.map((one) => {
      return compact ? compactRow(one, now) : fullRow(one, listed ? one.rows.byEntity : null, now);
    });
    const note = listed || compact ? 'whole list' : LEFT_OUT;
    return coverageBody(covered, distinct, note, { signals });
  };
  if (values.page === undefined) {
    for (const listed of !compact && rows <= COVERAGE_ROWS_MAX ? [true, false] : [false]) {
      const body = whole(listed);
      if (body.length <= FREE_BYTES_MAX) return body;
    }
  }
  const page = pageMembers(covered, values, now);
  return coverageBody(covered, distinct, 'a page; next leads on', page);
}

const LEFT_OUT = 'readings are left out; ask by signal_id or industry, or page by page from page=1';

function pageMembers(covered: readonly Covered[], values: Values, now: number): object {
  const compact = isCompact(values);
  const [page, pages] = [pageOf(values), pagesOf(covered, compact)];
  const from = (page - 1) * PAGE_ROWS;
  let at = 0;
  const signals = covered.flatMap((one) => {
    const first = at;
    at += rowsOnPages(one, compact);
    if (at <= from || first >= from + PAGE_ROWS) return [];
    if (compact) return [compactRow(one, now)];
    const listed = one.rows.byEntity.slice(Math.max(0, from - first), from + PAGE_ROWS - first);
    return [fullRow(one, listed, now)];
  });
  const next = canonicalTarget('/gauge/coverage', { ...values, page: String(page + 1) });
  return { signals, page, pages, next: page < pages ? next : null };
}

/** Distinct entities of a filter, counted once for a release. */
const distinctBy = perRelease(() => new Map<string, number>());

function distinctOf(
  covered: readonly Covered[],
  { signal_id, industry, entity }: Values,
  release: ReleaseIndex,
): number {
  const lists = covered.map(({ rows }) => rows);
  if (entity !== undefined || covered.length === 0) return distinctEntities(lists);
  const known = distinctBy(release);
  const filter = JSON.stringify([signal_id, industry]);
  const count = known.get(filter) ?? distinctEntities(lists);
  known.set(filter, count);
  return count;
}

function coverageBody(
  covered: readonly Covered[],
  distinct: number,
  note: string,
  shown: object,
): Buffer {
  const holding = covered.filter(({ rows }) => rows.length > 0);
  const sum = { fresh: 0, recent: 0, stale: 0 };
  for (const { counts } of covered) {
    for (const word of ['fresh', 'recent', 'stale'] as const) sum[word] += counts[word];
  }
  const totals = {
    signal_ids: holding.length,
    industries: new Set(holding.map(({ line }) => line.industry)).size,
    distinct_entities: distinct,
    freshness: sum,
  };
  const body = JSON.stringify({ nature: NATURE, note, totals, ...shown });
  return Buffer.from(body.slice(0, -1) + RULES_END, 'utf8');
}

const RULES = {
  cache_ttl_s: COVERAGE_TTL_S,
  cache_policy: `public, max-age=${COVERAGE_TTL_S}`,
  cache_note: `freshness is computed at most every ${COVERAGE_TTL_S} s here, at each request in records`,
  freshness_rule: 'age is now minus observed_at, against the thresholds of the cadence, inclusive',
  update_status_rule: UPDATE_STATUS_RULE,
  freshness_thresholds: FRESHNESS_THRESHOLDS,
};
const RULES_END = `,${JSON.stringify(RULES).slice(1)}`;

type FreshnessCounts = Readonly<Record<FreshnessClass, number>>;
type Covered = Stock & { counts: FreshnessCounts };

function compactRow({ signal, line, rows, counts, punctual }: Covered, now: number): object {
  const { lateUntil, knownUntil } = punctual;
  // The worst state of all entities; nothing is known of a signal without readings.
  let update_status: UpdateState = 'unknown';
  if (now <= lateUntil) update_status = 'overdue';
  else if (rows.length > 0 && now <= knownUntil) update_status = 'on_schedule';
  return {
    signal_id: signal.id,
    industry: line.industry,
    entities_count: rows.length,
    freshness_counts: counts,
    update_status,
    latest_observed_at: rows.at(-1)?.observed_at ?? null,
  };
}

/** `listed` are the readings that are shown one by one; null where none are. */
function fullRow(covered: Covered, listed: Iterable<CatalogRow> | null, now: number): object {
  const { rows } = covered;
  const { measures, cadence } = covered.signal;
  const head = { ...compactRow(covered, now), measures, cadence, sells_now: rows.length > 0 };
  if (listed === null) return head;
  const entities = Array.from(listed, (row) => {
    const { entity, entity_name, observed_at } = row;
    const fresh = freshness(cadence, observed_at, now);
    const update_status = updateState({ ...row, official_cadence: cadence }, now);
    return { entity, entity_name, observed_at, ...fresh, update_status };
  });
  return { ...head, entities };
}

/** Counts by two searches, since a younger reading is never staler than an older one. */
function freshnessCounts({ signal, rows }: Stock, now: number): FreshnessCounts {
  const word = (at: number): FreshnessClass =>
    freshness(signal.cadence, defined(rows.at(at), 'the row').observed_at, now).freshness;
  const stale = firstWhere(rows.length, (at) => word(at) !== 'stale');
  const notFresh = firstWhere(rows.length, (at) => word(at) === 'fresh');
  return { fresh: rows.length - notFresh, recent: notFresh - stale, stale };
}

/** Readings of one entity that are parsed at the price of a plain answer. */
const PARSED_ROWS_A_UNIT = 25;

/** What a release holds of one signal, oldest reading first. */
interface Stock {
  signal: Signal;
  line: Line;
  rows: RowList;
  punctual: Punctuality;
}

/** Until when (epoch milliseconds) some source of a signal is known to be late, and every one is known at all. */
interface Punctuality {
  lateUntil: number;
  knownUntil: number;
}

/** Readings by age: where the stale ones end and the fresh ones begin follows from two searches. */
const stocks = perRelease(async (release: ReleaseIndex): Promise<readonly Stock[]> => {
  const [table, rows] = [await catalogTable(release), await catalogRows(release)];
  return [...release.catalog.entryById].map(([id, entry]) =>
    stockOf(entry, rows.get(id) ?? table.list([])),
  );
});

function stockOf({ signal, line }: SignalEntry, rows: RowList): Stock {
  let [lateUntil, knownUntil] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (const row of rows) {
    const { state, until } = knownOf({ ...row, official_cadence: signal.cadence });
    if (state === 'overdue') lateUntil = Math.max(lateUntil, until);
    knownUntil = Math.min(knownUntil, until);
  }
  const oldestFirst = rows.sortedBy(({ observed_at }) => Date.parse(observed_at));
  return { signal, line, rows: oldestFirst, punctual: { lateUntil, knownUntil } };
}

/** What is stored of an entity in any spelling: a stranger's text must not cost a look at every reading. */
async function stocksOf(
  entity: string,
  release: ReleaseIndex,
  spend: Spend,
): Promise<readonly Stock[]> {
  const table = await catalogTable(release);
  const found = table.numbersOf(entity.toLowerCase());
  spend(found.length / PARSED_ROWS_A_UNIT);
  const numbers = grouped(found, (number) => table.signalOf(number));
  return [...release.catalog.entryById].flatMap(([id, entry]) => {
    const own = numbers.get(id);
    return own === undefined ? [] : [stockOf(entry, table.list(own))];
  });
}
