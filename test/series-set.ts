import { ndjson, reading, type SnapshotFiles } from './snapshot-folder.ts';

/** Days with one or two snapshots each, oldest first; the last one is the newest day. */
export const SERIES_DATES = [
  '2023-11-01',
  '2025-10-17',
  '2025-10-18',
  '2026-11-18',
  '2026-11-19',
  '2026-11-20',
] as const;

/** A price with one snapshot a day, two on the last but one, some of them hostile to a spreadsheet. */
export function seriesSet(): SnapshotFiles {
  const bands = [null, '=1+1', '@sum', '-2', 'a "quoted", one', 'plain'];
  const rows = SERIES_DATES.flatMap((date, index) => {
    const hours = date === '2026-11-19' ? ['10', '16'] : ['10'];
    return hours.map((hour) =>
      reading(
        'btc',
        { price_usd: 100 + index / 10, band: bands[index] ?? null, note: 'a,"band":"x"' },
        { observed_at: `${date}T${hour}:00:00Z`, collected_at: `${date}T${hour}:30:00Z` },
      ),
    );
  });
  return Object.fromEntries(
    rows.map((row) => [`${row.collected_at.slice(0, 13)}Z/crypto.spot.ndjson`, ndjson([row])]),
  );
}
