/** Answers of our own in the shape of the hourly grid monitor. */
const NEWEST = Date.parse('2026-11-20T10:00:00Z');
const HOUR = 3_600_000;

export const demandNote = (...respondents: string[]) => ({
  url: `https://api.eia.gov/v2/electricity/rto/region-data/data/?frequency=hourly&data[0]=value${respondents.map((code) => `&facets[respondent][]=${code}`).join('')}`,
  fetched_at: '2026-11-20T11:05:00Z',
  http_status: 200,
});

export type Value = number | string | null;

/** A row of one hour of a series such as `SWPP D`, counted from the newest measured one. */
export function hourRow(series: string, hour: number, value: Value) {
  const [respondent, type] = series.split(' ');
  const period = new Date(NEWEST + hour * HOUR).toISOString().slice(0, 13);
  const names = { 'respondent-name': 'Example', 'type-name': 'Example' };
  return { period, respondent, type, ...names, value, 'value-units': 'megawatthours' };
}

/** A day of demand that ends with `last` after a peak of `peak`, and a day ahead with `ahead` at most. */
export function authorityDay(
  respondent: string,
  [peak, last, ahead]: readonly [number, number, number],
) {
  const back = Array.from({ length: 24 }, (_, index) => {
    const mw = index === 0 ? last : index === 9 ? peak : peak - 1000 - index;
    return hourRow(`${respondent} D`, -index, mw);
  });
  const forward = Array.from({ length: 14 }, (_, index) =>
    hourRow(`${respondent} DF`, index + 1, index === 6 ? ahead : ahead - 500),
  );
  return [...back, ...forward, hourRow(`${respondent} TI`, 0, -12)];
}

export function demandAnswer(data: readonly object[], over: object = {}) {
  const head = { total: String(data.length), dateFormat: 'YYYY-MM-DD"T"HH24', frequency: 'hourly' };
  return { response: { ...head, data, ...over }, apiVersion: '2.1.4' };
}
