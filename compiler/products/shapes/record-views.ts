import { subtractDecimal } from '../../format/decimal.ts';
import { HOUR_MS } from '../../format/iso-time.ts';
import type { CatalogRow } from '../../format/release.ts';
import { bandOfRecord, byTime } from './bundle.ts';
import type { Signal } from './line.ts';
import { positionIn } from './reading-text.ts';
import type { MetricChange, Provenance, SignalRecord } from './record.ts';
import { atRequest } from './request-time.ts';
import type { SeriesRow } from './series.ts';
import { NATURE_SHORT } from './words.ts';

// Bodies that repeat one record, each as a pure function of it. The compiler publishes what they return, and `verify` makes
// it again from the signed record and compares it whole.

/** Days on either side of the same calendar day that a season has. */
export const WINDOW_DAYS = 15;
/** Snapshots shown by `/gauge/history-preview`. */
const PREVIEW_ROWS = 7;

/** The provenance of a record for a body that has no `update_status`. */
export function withoutStatus(provenance: Provenance): Provenance {
  return { ...provenance, at_request: atRequest() };
}

/** One add-on: the member that gives it its name, between identity and provenance of the record. */
export function addOnOf(record: SignalRecord, dim: string, member: object) {
  const { nature, signal_id, entity, entity_name, observed_at } = record;
  const { record_hash, provenance, grade, scope } = record;
  const identity = { nature, dim, signal_id, entity, entity_name, observed_at };
  const own = { record_hash, provenance: withoutStatus(provenance), grade, scope };
  return { ...identity, ...member, ...own };
}

/** The short form of a record: identity, time, reading, class and hash; no member of request time. */
export function thinRecord(record: SignalRecord) {
  const { signal_id, entity, entity_name, observed_at, current, record_hash } = record;
  const identity = { nature: NATURE_SHORT, signal_id, entity, entity_name, observed_at };
  return { ...identity, current, band: bandOfRecord(record), record_hash };
}

/** `/gauge/raw`: the bare record, without rulers, statistics and what is derived from them. */
export function rawBody(record: SignalRecord) {
  const { nature, signal_id, entity, entity_name, snapshot_date, observed_at } = record;
  const { official_cadence, last_looked_at, data_age_hours, current, previous, change } = record;
  const { trend_7d, sources, grade, scope } = record;
  const { hash_core_version, lifecycle, provenance, source_ref, source_tier, record_hash } = record;
  return {
    nature,
    signal_id,
    entity,
    entity_name,
    ...positionIn(record),
    snapshot_date,
    observed_at,
    official_cadence,
    last_looked_at,
    data_age_hours,
    current,
    previous,
    change,
    trend_7d,
    sources,
    grade,
    scope,
    lifecycle,
    hash_core_version,
    provenance,
    source_ref,
    source_tier,
    record_hash,
  };
}

/** `/gauge/history-preview`: the newest readings of a series, oldest first, each with its own record hash. */
export function historyPreview(record: SignalRecord, series: readonly SeriesRow[]) {
  const { nature, signal_id, entity, entity_name } = record;
  const byAge = [...series].sort((a, b) => byTime(a.observed_at, b.observed_at));
  const rows = byAge.slice(-PREVIEW_ROWS).map(({ band, ...row }) => row);
  return { nature, signal_id, entity, entity_name, count: rows.length, rows };
}

/** What the catalog says of a record. */
export function catalogRow(record: SignalRecord): CatalogRow {
  const { signal_id, entity, entity_name, observed_at, record_hash, last_looked_at } = record;
  const band = bandOfRecord(record);
  return { signal_id, entity, entity_name, observed_at, band, record_hash, last_looked_at };
}

type ValuePoint = Pick<SeriesRow, 'observed_at' | 'current'>;

/** Points of `trend_7d`, the current reading included. */
const TREND_POINTS = 7;

/** What a record says of its past: `recent` are the newest readings, oldest first, the one of the record last. */
export function pastMembers(signal: Signal, recent: readonly ValuePoint[]) {
  const [current, previous] = [recent.at(-1), recent.at(-2)];
  if (current === undefined) throw new RangeError(`Cannot compare readings of ${signal.id}: none`);
  const [metric] = signal.metrics;
  const shared = Object.keys(current.current).filter((name) => name in (previous?.current ?? {}));
  // Direction and exact delta of each numeric or declared metric, and the period between readings.
  const change: Record<string, MetricChange | string | null> = {};
  for (const name of comparedMetrics(signal, current, previous)) {
    change[name] = metricChange(name, current, previous);
  }
  change.period = previous === undefined ? null : periodText(previous, current);
  return {
    previous:
      previous === undefined
        ? { note: 'no earlier reading is stored' }
        : Object.fromEntries(shared.map((name) => [name, previous.current[name]])),
    change,
    trend_7d: recent.slice(-TREND_POINTS).map(({ observed_at, current: values }) => {
      return { observed_at, value: values[metric] ?? null };
    }),
  };
}

/** Declared metrics first; other metrics when one of the readings gives a number. */
function comparedMetrics(signal: Signal, current: ValuePoint, previous: ValuePoint | undefined) {
  const numeric = (reading: ValuePoint | undefined): string[] =>
    Object.entries(reading?.current ?? {})
      .filter(([name, value]) => typeof value === 'number' && name !== 'band')
      .map(([name]) => name);
  const declared = signal.metrics.filter(
    (name) => name in current.current || name in (previous?.current ?? {}),
  );
  return new Set([...declared, ...numeric(current), ...numeric(previous)]);
}

function metricChange(
  name: string,
  current: ValuePoint,
  previous: ValuePoint | undefined,
): MetricChange {
  const unknown = (direction_reason: NonNullable<MetricChange['direction_reason']>) =>
    ({ delta: null, direction: 'unknown', direction_reason }) as const;
  if (previous === undefined) return unknown('no-previous-record');
  const now = current.current[name];
  const before = previous.current[name];
  if (now === undefined || now === null) return unknown('metric-absent-in-current');
  if (before === undefined || before === null) return unknown('metric-absent-in-previous');
  if (typeof now !== 'number' || typeof before !== 'number') return unknown('non-numeric-value');
  const delta = subtractDecimal(now, before);
  return { delta, direction: delta > 0 ? 'rising' : delta < 0 ? 'falling' : 'stable' };
}

/** Time between two observations as ISO-8601 duration in hours and minutes. */
function periodText(previous: ValuePoint, current: ValuePoint): string {
  const ms = Date.parse(current.observed_at) - Date.parse(previous.observed_at);
  const hours = Math.floor(ms / HOUR_MS);
  const minutes = Math.floor((ms % HOUR_MS) / 60_000);
  const seconds = Math.floor((ms % 60_000) / 1000);
  const tail = (minutes > 0 ? `${minutes}M` : '') + (seconds > 0 ? `${seconds}S` : '');
  return `PT${hours > 0 || tail === '' ? `${hours}H` : ''}${tail}`;
}
