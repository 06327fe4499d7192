import type { Reading } from '../compiler/stages/intake/reading.ts';
import type { Timeline } from '../compiler/stages/intake/timeline.ts';

/** The timeline of readings that nothing contradicts, oldest first. */
export function timelineOf(readings: readonly Reading[]): Timeline {
  const latest = readings.at(-1);
  if (latest === undefined) throw new RangeError('Cannot order readings: none');
  return {
    entity: latest.entity,
    readings,
    replaced: [],
    revisedAt: new Set(),
    lastCollectedAt: latest.collected_at,
    repeats: 0,
    batchOf: new Map(),
  };
}
