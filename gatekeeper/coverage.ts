import {
  FRESHNESS_THRESHOLDS,
  type Freshness,
  type FreshnessClass,
  freshness,
} from '../compiler/contract/freshness.ts';
import { lineOf, SIGNALS, type Signal } from '../compiler/contract/lines.ts';
import type { Values } from '../compiler/contract/path.ts';
import type { CatalogRow } from '../compiler/contract/release.ts';
import { type CatalogRows, catalogRows } from './catalog.ts';
import type { ReleaseIndex } from './release-index.ts';
import type { Answered, Question, Service } from './service.ts';

/** Seconds that a coverage answer may be repeated. */
export const COVERAGE_TTL_S = 60;
/** Readings of one answer; a filter shows the others. */
export const COVERAGE_ROWS_MAX = 5000;

/** Answers that are kept for one time to live. */
const COVERAGE_ANSWERS_MAX = 100;

const NATURE = 'What is stored and how fresh it is; descriptive only, no forecast, no advice';
/** The least punctual first. */
const UPDATE_STATES = ['overdue', 'not_published', 'unknown', 'on_schedule'];
const NOT_A_READING = 'unknown';

interface Aged extends Freshness {
  readonly row: CatalogRow;
}
interface SignalCoverage {
  readonly signal: Signal;
  readonly aged: readonly Aged[];
}
interface Aging {
  readonly at: number;
  /** Answers by canonical target, which unknown parameters do not change. */
  readonly answers: Map<string, Buffer>;
  readonly bySignal: ReadonlyMap<string, readonly Aged[]>;
}

const agings = new WeakMap<ReleaseIndex, Aging>();

/** Every reading with its freshness, computed once in COVERAGE_TTL_S, whatever is asked about it. */
function aging(release: ReleaseIndex, rows: CatalogRows, now: number): Aging {
  const known = agings.get(release);
  if (known !== undefined && Math.abs(now - known.at) < COVERAGE_TTL_S * 1000) return known;
  const bySignal = new Map<string, readonly Aged[]>();
  for (const { id, cadence } of SIGNALS) {
    const aged = (rows.get(id) ?? []).map((row) => {
      return { row, ...freshness(cadence, row.observed_at, now) };
    });
    bySignal.set(id, aged);
  }
  const made: Aging = { at: now, bySignal, answers: new Map() };
  agings.set(release, made);
  return made;
}

/** `/gauge/coverage`: counts and freshness of every line, an empty list for a filter that nothing meets. */
export async function coverage(question: Question, service: Service): Promise<Answered> {
  const { release, clock } = service;
  const { values, target } = question.route;
  const now = clock();
  const aged = aging(release, await catalogRows(release), now);
  const body = aged.answers.get(target) ?? coverageBytes(values, aged.bySignal);
  if (aged.answers.size < COVERAGE_ANSWERS_MAX) aged.answers.set(target, body);
  const keepMs = Math.max(0, aged.at + COVERAGE_TTL_S * 1000 - now);
  return { kind: 'content', content: { body, contentType: 'application/json', keepMs } };
}

function coverageBytes(values: Values, bySignal: Aging['bySignal']): Buffer {
  const covered = SIGNALS.filter((signal) => meets(signal, values))
    .map((signal) => ({ signal, aged: ofEntity(bySignal.get(signal.id) ?? [], values.entity) }))
    .filter((one) => values.entity === undefined || one.aged.length > 0);
  return Buffer.from(JSON.stringify(coverageBody(covered, values.summary === '1')), 'utf8');
}

function meets(signal: Signal, values: Values): boolean {
  const { signal_id: id, industry } = values;
  if (id !== undefined && signal.id !== id) return false;
  return industry === undefined || lineOf(signal.id)?.industry === industry;
}

function ofEntity(aged: readonly Aged[], entity: string | undefined): readonly Aged[] {
  if (entity === undefined) return aged;
  const wanted = entity.toLowerCase();
  return aged.filter(({ row }) => row.entity.toLowerCase() === wanted);
}

function coverageBody(covered: readonly SignalCoverage[], compact: boolean): object {
  const readings = covered.flatMap((one) => one.aged);
  const stocked = covered.filter((one) => one.aged.length > 0);
  const listed = readings.length <= COVERAGE_ROWS_MAX;
  return {
    nature: NATURE,
    note: listed || compact ? 'whole list' : 'readings are left out; ask by signal_id or industry',
    totals: {
      signal_ids: stocked.length,
      industries: new Set(stocked.map(({ signal }) => lineOf(signal.id)?.industry)).size,
      distinct_entities: new Set(readings.map(({ row }) => row.entity)).size,
      freshness: freshnessCounts(readings),
    },
    signals: covered.map((one) => (compact ? compactRow(one) : fullRow(one, listed))),
    cache_ttl_s: COVERAGE_TTL_S,
    cache_policy: `public, max-age=${COVERAGE_TTL_S}`,
    cache_note: `freshness is computed at most every ${COVERAGE_TTL_S} s here, at each request in records`,
    freshness_rule:
      'age is now minus observed_at, against the thresholds of the cadence, inclusive',
    update_status_rule:
      'the least punctual entity of a line: overdue, not_published, unknown, then on_schedule',
    freshness_thresholds: FRESHNESS_THRESHOLDS,
  };
}

function compactRow({ signal, aged }: SignalCoverage): object {
  return {
    signal_id: signal.id,
    industry: lineOf(signal.id)?.industry ?? '',
    entities_count: aged.length,
    freshness_counts: freshnessCounts(aged),
    update_status: leastPunctual(aged),
    latest_observed_at: latest(aged),
  };
}

function fullRow(covered: SignalCoverage, listed: boolean): object {
  const { signal, aged } = covered;
  return {
    ...compactRow(covered),
    measures: signal.measures,
    cadence: signal.cadence,
    sells_now: aged.length > 0,
    ...(listed ? { entities: aged.map(entityRow) } : {}),
  };
}

function entityRow({ row, ...fresh }: Aged): object {
  const { entity, entity_name, observed_at, update_state } = row;
  return { entity, entity_name, observed_at, ...fresh, update_status: update_state };
}

function freshnessCounts(aged: readonly Aged[]): Record<FreshnessClass, number> {
  const counts = { fresh: 0, recent: 0, stale: 0 };
  for (const one of aged) counts[one.freshness] += 1;
  return counts;
}

function leastPunctual(aged: readonly Aged[]): string {
  const states = new Set(aged.map(({ row }) => row.update_state));
  return UPDATE_STATES.find((state) => states.has(state)) ?? NOT_A_READING;
}

function latest(aged: readonly Aged[]): string | null {
  let best: string | null = null;
  let bestAt = Number.NEGATIVE_INFINITY;
  for (const { row } of aged) {
    const at = Date.parse(row.observed_at);
    if (at <= bestAt) continue;
    best = row.observed_at;
    bestAt = at;
  }
  return best;
}
