import type { Signal } from './catalog/line.ts';
import { HOUR_MS } from './iso-time.ts';
import type { MetricChange, SignalRecord } from './record.ts';
import type { SeriesRow } from './series.ts';
import { subtractDecimal } from './units.ts';

/** What a record says of readings before it rests on this much of each. */
type ValuePoint = Pick<SeriesRow, 'observed_at' | 'current'>;

/** Points of `trend_7d`, the current reading included. */
const TREND_POINTS = 7;

/** What a record says of its past: `recent` are the newest readings, oldest first, the one of the record last. */
export function pastMembers(signal: Signal, recent: readonly ValuePoint[]) {
  const [current, previous] = [recent.at(-1), recent.at(-2)];
  if (current === undefined) throw new RangeError(`Cannot compare readings of ${signal.id}: none`);
  const [metric] = signal.metrics;
  return {
    previous: previousOf(current, previous),
    change: changeOf(signal, current, previous),
    trend_7d: recent.slice(-TREND_POINTS).map(({ observed_at, current: values }) => {
      return { observed_at, value: values[metric] ?? null };
    }),
  };
}

/** Metrics of the previous reading that the current one has too, or a note when there is none. */
function previousOf(current: ValuePoint, previous: ValuePoint | undefined) {
  if (previous === undefined) return { note: 'no earlier reading is stored' };
  const shared = Object.keys(current.current).filter((name) => name in previous.current);
  return Object.fromEntries(shared.map((name) => [name, previous.current[name]]));
}

/** Direction and exact delta of each numeric or declared metric, and the period between readings. */
function changeOf(
  signal: Signal,
  current: ValuePoint,
  previous: ValuePoint | undefined,
): NonNullable<SignalRecord['change']> {
  const change: Record<string, MetricChange | string | null> = {};
  for (const name of comparedMetrics(signal, current, previous)) {
    change[name] = metricChange(name, current, previous);
  }
  change.period = previous === undefined ? null : periodText(previous, current);
  return change;
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
