/** Tables of our own in the shape of NOAA daily summaries, FRED series and NOAA vegetation means. */
export const DAILY_URL =
  'https://www.ncei.noaa.gov/access/services/data/v1?dataset=daily-summaries&stations=USW00024233&units=metric';

export interface DailyRow {
  readonly day: string;
  readonly rain: string;
  readonly flags?: string;
}
const dayAt = (index: number) => new Date(Date.UTC(2026, 9, 1 + index)).toISOString().slice(0, 10);
/** October 2026, 0.1 mm more each day. */
export const daily: readonly DailyRow[] = Array.from({ length: 31 }, (_, index) => ({
  day: dayAt(index),
  rain: (index / 10).toFixed(1),
}));

/** The agency pads its numbers. */
export function stationTable(rows: readonly DailyRow[] = daily): string {
  const lines = rows.map(({ day, rain, flags }) =>
    ['USW00024233', day, rain === '1,5' ? rain : `"   ${rain}"`, `"${flags ?? ',,W'}"`].join(','),
  );
  return `${['STATION,DATE,PRCP,PRCP_ATTRIBUTES', ...lines].join('\n')}\n`;
}

/** A table of FRED with columns by series id; months from January 2025 on. */
export function fredTable(
  series: Readonly<Record<string, readonly string[]>>,
  date = 'observation_date',
) {
  const [first = []] = Object.values(series);
  const months = first.map((_, index) => dayOf(index));
  const rows = months.map((month, at) => [
    month,
    ...Object.values(series).map((values) => values[at]),
  ]);
  return `${[[date, ...Object.keys(series)], ...rows].map((row) => row.join(',')).join('\n')}\n`;
}
const dayOf = (index: number) => new Date(Date.UTC(2025, index, 1)).toISOString().slice(0, 10);

const WEEKS = [
  '2019,51, 0.047,248.34, 30.00, 81.39, 55.69,',
  '2019,52, 0.043,247.88, 29.62, 77.40, 53.51,',
  '2020, 1,-1.000, -1.00, -1.00, -1.00, -1.00,',
  '2020, 2, 0.053,260.31, 45.01, 39.46, 39.99,',
  '2020, 3,-1.000, -1.00, -1.00, -1.00, -1.00,',
];
export const PROVINCE_TITLE =
  "Mean data for UKR  Province= 6: Donets'k,  from 1981 to 2020, weekly";

/** The first row stands in the line of the title. */
export function provinceText(weeks: readonly string[] = WEEKS, title = PROVINCE_TITLE): string {
  return `${title}<br><tt><pre>${weeks.join('\n')}\n</pre></tt>`;
}
