/** Lists of our own in the shape of the global file of MODIS. */
const HEADER =
  'latitude,longitude,brightness,scan,track,acq_date,acq_time,satellite,confidence,version,bright_t31,frp,daynight';

export interface Fire {
  readonly at?: readonly [latitude: number, longitude: number];
  readonly day?: string;
  readonly time?: string;
  readonly confidence?: string;
  readonly power?: string;
  readonly satellite?: string;
  readonly version?: string;
}

export const FIRES_NOTE = {
  url: 'https://firms.modaps.eosdis.nasa.gov/data/active_fire/modis-c6.1/csv/MODIS_C6_1_Global_24h.csv',
  fetched_at: '2026-11-20T11:05:00Z',
  http_status: 200,
};

/** The text of a list that begins a day and a half before its newest row. */
export function fireList(fires: readonly Fire[], ends: readonly Fire[] = ENDS): string {
  return `${[HEADER, ...[...ends, ...fires].map(row)].join('\n')}\n`;
}

/** Two pixels in the Sahara, which no region holds. */
const ENDS: readonly Fire[] = [
  { at: [20, 10], day: '2026-11-19', time: '0020' },
  { at: [20, 11], day: '2026-11-20', time: '1000' },
];

function row(fire: Fire): string {
  const { at: [latitude, longitude] = [38.5, -121.25], day = '2026-11-20', time = '0910' } = fire;
  const { confidence = '72', power = '12.5', satellite = 'T', version = '6.1NRT' } = fire;
  return [
    latitude,
    longitude,
    '312.4',
    '1.2',
    '1.1',
    day,
    time,
    satellite,
    confidence,
    version,
    '290.1',
    power,
    'D',
  ].join(',');
}
