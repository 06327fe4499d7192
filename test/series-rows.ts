import type { SourcedRow } from '../compiler/readings/series-segments.ts';

const DAY_MS = 86_400_000;

/** Sources of rows, each of some rows in sequence; 23 divides no size of a segment. */
const ORIGIN_ROWS = 23;

/** Rows with made-up values; `dayOf` says on which day of 2020 and later each was collected. */
export function madeRows(count: number, dayOf: (index: number) => number): SourcedRow[] {
  return Array.from({ length: count }, (_, index) => {
    const day = new Date(Date.parse('2020-01-01T00:00:00Z') + dayOf(index) * DAY_MS).toISOString();
    const snapshot_date = day.replace('.000Z', 'Z');
    return {
      snapshot_date,
      observed_at: snapshot_date,
      data_age_hours: 0,
      current: { price_usd: index, note: 'ü,"\n' },
      band: null,
      record_hash: `sha256:${index.toString(16).padStart(64, '0')}`,
      origin: `{"source_ref":"https://example.org/${Math.floor(index / ORIGIN_ROWS)}"}`,
    };
  });
}
