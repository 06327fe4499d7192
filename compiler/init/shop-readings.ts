import { HOUR_MS, isoTime } from '../contract/iso-time.ts';

/** Invented values of each station, oldest first, an hour apart. */
const LEVELS_M = {
  'station-one': [2.1, 2.9, 3.4],
  'station-two': [0.6, 0.5, 0.4],
  'station-three': [2.4, 2.5, 2.6],
};
const WAVES_M = {
  'station-one': [1.1, 1.9, 2.4],
  'station-two': [0.3, 0.2, 0.2],
  'station-three': [0.8, 0.9, 0.9],
};
const ROUGH_FROM_M = 1.5;

/** The batch of a new shop: a file for each signal of its catalogue, by name, collected at `nowMs`. */
export function shopBatch(
  line: string,
  nowMs: number,
): { readonly batch: string; readonly files: Readonly<Record<string, string>> } {
  const collected = isoTime(nowMs);
  const level = rowsOf(LEVELS_M, nowMs, (value) => ({ level_m: value }));
  const waves = rowsOf(WAVES_M, nowMs, (value) => {
    return { height_m: value, band: value < ROUGH_FROM_M ? 'calm' : 'rough' };
  });
  return {
    batch: collected.slice(0, 'YYYY-MM-DD'.length),
    files: {
      [`${line}.level.ndjson`]: textOf(collected, level),
      [`${line}.waves.ndjson`]: textOf(collected, waves),
    },
  };
}

type EntityValues = Readonly<Record<string, readonly number[]>>;

function rowsOf(values: EntityValues, nowMs: number, current: (value: number) => object): object[] {
  const hour = Math.floor(nowMs / HOUR_MS) * HOUR_MS;
  return Object.entries(values).flatMap(([entity, list]) =>
    list.map((value, at) => {
      const observed = hour - (list.length - 1 - at) * HOUR_MS;
      return { entity, observed_at: isoTime(observed), current: current(value) };
    }),
  );
}

/** The first line holds what all others have in common. */
function textOf(collected: string, rows: readonly object[]): string {
  const header = {
    collected_at: collected,
    sources: [{ name: 'invented example, nothing was observed', weight: 1, independent: true }],
    source_ref: null,
    source_tier: null,
  };
  return [{ header }, ...rows].map((row) => `${JSON.stringify(row)}\n`).join('');
}
