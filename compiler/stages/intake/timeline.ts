import type { Problem } from './compile-error.ts';
import type { StoredReading } from './read-signal.ts';
import type { Reading } from './reading.ts';

/** Most readings that one entity of one signal may have. */
export const ENTITY_READINGS_MAX = 200_000;

/** The readings of one entity in time order, one per observation time. */
export interface Timeline {
  readonly entity: string;
  /** Oldest first, strictly growing `observed_at`. */
  readonly readings: readonly Reading[];
  /** Values that a later batch replaced; their record hashes stay known as superseded. */
  readonly replaced: readonly Reading[];
  /** Observation times of the readings that are revisions. */
  readonly revisedAt: ReadonlySet<string>;
  /** When the source was last looked at for this entity, also without anything new. */
  readonly lastCollectedAt: string;
  readonly repeats: number;
}

export type TimelineOutcome = { readonly ok: Timeline } | { readonly problem: Problem };

/**
 * Orders the readings of one entity. The same observation time with the same fact is one reading
 * (the first collected one stands); with another fact in a later batch it is a revision; with
 * another fact in the same batch it is a conflict. The outcome does not depend on arrival order.
 */
export function buildTimeline(entity: string, stored: readonly StoredReading[]): TimelineOutcome {
  const first = stored[0];
  if (first === undefined) throw new RangeError(`Cannot order readings of "${entity}": none`);
  if (stored.length > ENTITY_READINGS_MAX)
    return { problem: tooMany(entity, first, stored.length) };
  const readings: Reading[] = [];
  const replaced: Reading[] = [];
  const revisedAt = new Set<string>();
  let repeats = 0;
  for (const group of groupByTime(stored)) {
    const settled = settle(group);
    if ('problem' in settled) return settled;
    readings.push(settled.kept);
    replaced.push(...settled.replaced);
    repeats += settled.repeats;
    if (settled.replaced.length > 0) revisedAt.add(settled.kept.observed_at);
  }
  const lastCollectedAt = stored
    .map((item) => item.reading.collected_at)
    .reduce((last, time) => (Date.parse(time) > Date.parse(last) ? time : last));
  return { ok: { entity, readings, replaced, revisedAt, lastCollectedAt, repeats } };
}

function tooMany(entity: string, first: StoredReading, count: number): Problem {
  const message =
    `"${entity}" has ${count} readings, more than ${ENTITY_READINGS_MAX}; ` +
    'thin the oldest batches of this entity';
  return { code: 'too_many_readings', file: first.file, field: 'entity', message };
}

/** Groups by instant, oldest instant first; inside a group oldest batch, then first collected. */
function groupByTime(stored: readonly StoredReading[]): StoredReading[][] {
  const sorted = [...stored].sort(
    (a, b) =>
      Date.parse(a.reading.observed_at) - Date.parse(b.reading.observed_at) ||
      a.batch - b.batch ||
      Date.parse(a.reading.collected_at) - Date.parse(b.reading.collected_at) ||
      a.line - b.line,
  );
  const groups: StoredReading[][] = [];
  let last = Number.NaN;
  for (const item of sorted) {
    const at = Date.parse(item.reading.observed_at);
    if (at === last) groups.at(-1)?.push(item);
    else groups.push([item]);
    last = at;
  }
  return groups;
}

type Settled =
  | { readonly kept: Reading; readonly replaced: Reading[]; readonly repeats: number }
  | { readonly problem: Problem };

function settle(group: readonly StoredReading[]): Settled {
  let kept: StoredReading | undefined;
  const replaced: Reading[] = [];
  let repeats = 0;
  for (const item of group) {
    if (kept === undefined) kept = item;
    else if (factText(item.reading) === factText(kept.reading)) repeats += 1;
    else if (item.batch === kept.batch) return { problem: conflict(kept, item) };
    else {
      replaced.push(kept.reading);
      kept = item;
    }
  }
  if (kept === undefined) throw new RangeError('Cannot settle readings: empty group');
  return { kept: kept.reading, replaced, repeats };
}

function conflict(first: StoredReading, second: StoredReading): Problem {
  const message =
    `"${second.reading.entity}" at ${second.reading.observed_at} differs from line ${first.line} ` +
    'of the same batch; keep one of them, or put the revision into a later batch';
  return { code: 'conflict', file: second.file, line: second.line, field: 'current', message };
}

/** What makes two readings of one instant the same fact; compared only, never hashed. */
function factText(reading: Reading): string {
  const { current, source_ref, source_tier, lifecycle = null, sources } = reading;
  const measured = sources.map((source) => [source.name, source.weight, source.independent]);
  const entries = Object.entries(current).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([entries, source_ref, source_tier, lifecycle, measured]);
}
