import { ndjson, reading, type SnapshotFiles } from './snapshot-folder.ts';

/** A hand-made set of snapshots that touches every kind of body; nothing of it was observed. */

const DENVER = 'us-denver';
const day = (date: string, hour = '10') => ({
  observed_at: `${date}T${hour}:00:00Z`,
  collected_at: `${date}T11:30:00Z`,
});
const lifecycle = (state: string) => ({
  lifecycle: {
    state,
    birth_at: '1997-12-11',
    end_at: null,
    death_type: null,
    context: { note: 'none' },
  },
});
const YEARS = [2021, 2022, 2023, 2024, 2025];

/** Three November days of each year before, so that percentiles and shares exist. */
function pastAqi(): SnapshotFiles {
  const files = YEARS.flatMap((year) =>
    [17, 18, 19].map((date) => {
      const of = `${year}-11-${date}`;
      const row = reading(DENVER, { aqi_index: date * 3 + (year % 10) }, day(of));
      return [`${of}/airquality.aqi.ndjson`, ndjson([row])];
    }),
  );
  const stale = reading('us-stlouis', { aqi_index: 40 }, day('2026-11-18'));
  return { ...Object.fromEntries(files), '2026-11-18/airquality.aqi.ndjson': ndjson([stale]) };
}

const RIVER = {
  entity_name: 'Sample River at Denver',
  thresholds: { action: 10, minor: 12, moderate: 14, major: 18 },
  qualifiers: ['P'],
  grade: 'provisional',
  validation_status: 'provisional, subject to revision',
};
const TWO_SOURCES = [
  { name: 'a', value: 4.1, weight: 1, as_of: '2026-11-20T10:00:00Z', independent: true },
  { name: 'b', value: 4.3, weight: 1, as_of: '2026-11-20T10:00:00Z', independent: true },
];

const NOW: Readonly<Record<string, readonly object[]>> = {
  'airquality.aqi': [
    reading(DENVER, { aqi_index: 120, band: 'unhealthy-sensitive' }, { entity_name: 'Denver, CO' }),
  ],
  'airquality.pm25': [
    reading(DENVER, { pm25_ugm3: 40.2 }),
    reading('us-stlouis', { pm25_ugm3: 9 }),
  ],
  'precipitation.daily': [reading(DENVER, { precip_mm: 0 })],
  'precipitation.wetness30d': [reading(DENVER, { precip_30d_mm: 12.5 })],
  'hydrology.river-level': [reading('06714000', { band: 'minor', stage_ft: 13.6 }, RIVER)],
  'agriculture.drought': [reading('us-iowa', { soil_moisture_percentile_pct: 20 })],
  'agriculture.heat': [reading('us-iowa', { tmax_c: null })],
  'shipping.sea-state': [reading('hormuz', { wave_height_m: 2.5 })],
  'filing.delinquency': [reading('AAPL', { nt_24mo_count: 0 }, { source_tier: null })],
  'hurricane.active-storms': [
    reading('atlantic', { storm_count: 1, extra: 'x', band: 'major', max_wind_kt: 100 }),
  ],
  'severe-convection.forecast-risk-env': [
    reading('central-kansas', { outlook_category_index: 2, band: 'slight' }),
  ],
  'nas.ground_ops': [reading('bos', { max_delay_min: 45, band: 'gdp', avg_delay_min: 20 })],
  'climate-policy.lifecycle': [
    reading('kyoto-protocol', { state: 'ended' }, lifecycle('ended')),
    reading('x/../y', { state: 'operating' }, lifecycle('operating')),
  ],
  'climate-policy.distress-events': [reading('kyoto-protocol', { distress_events_90d_count: 2 })],
  'tariff-policy.lifecycle': [
    reading('kyoto-protocol', { state: 'expired' }, lifecycle('expired')),
  ],
  'crypto.spot': [reading('btc', { price_usd: 90_123.45 }), reading('Btc', { price_usd: 1 })],
  'macro.unemployment': [
    reading('us', { unemployment_pct: 4.2 }, { sources: TWO_SOURCES, uncertainty: '0.1' }),
  ],
};
/** A later batch: a revision, a repeat and a new reading. */
const LATER: Readonly<Record<string, readonly object[]>> = {
  'crypto.spot': [
    reading('btc', { price_usd: 90_123.5 }, { collected_at: '2026-11-20T11:45:00Z' }),
    reading('Btc', { price_usd: 1 }, { collected_at: '2026-11-20T11:45:00Z' }),
  ],
  'nas.ground_ops': [
    reading('bos', { avg_delay_min: 25, band: 'gdp' }, { ...day('2026-11-20', '11') }),
  ],
};

/** Snapshot files of the set, by path. */
export function smallSet(): SnapshotFiles {
  const batch = (name: string, signals: Readonly<Record<string, readonly object[]>>) =>
    Object.entries(signals).map(([id, rows]) => [`${name}/${id}.ndjson`, ndjson(rows)]);
  return {
    ...pastAqi(),
    ...Object.fromEntries(batch('2026-11-20T10Z', NOW)),
    ...Object.fromEntries(batch('2026-11-20T11Z', LATER)),
  };
}

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
