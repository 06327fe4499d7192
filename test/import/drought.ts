/** Statistics of our own in the shape of the drought service; areas are text there, shares are numbers. */
export type Classes = readonly [
  none: number,
  d0: number,
  d1: number,
  d2: number,
  d3: number,
  d4: number,
];

const SERVICE = 'https://usdmdataservices.unl.edu/api/StateStatistics/';
const note = (type: string, aoi: string) => ({
  url: `${SERVICE}${type}?aoi=${aoi}&startdate=11/1/2026&enddate=11/20/2026&statisticsType=1`,
  fetched_at: '2026-11-20T11:05:00Z',
  http_status: 200,
});
export const areaNote = (aoi = '') => note('GetDroughtSeverityStatisticsByArea', aoi);
export const shareNote = (aoi = '') => note('GetDroughtSeverityStatisticsByAreaPercent', aoi);

export function shares(stateAbbreviation: string, classes: Classes, over: object = {}) {
  const [none, d0, d1, d2, d3, d4] = classes;
  const mapDate = '2026-11-17T00:00:00';
  return {
    mapDate,
    stateAbbreviation,
    ...{ none, d0, d1, d2, d3, d4 },
    validStart: mapDate,
    validEnd: '2026-11-23T23:59:59',
    statisticFormatID: 1,
    ...over,
  };
}

/** The same as areas, in text with separators of thousands. */
export function areas(state: string, classes: Classes, over: object = {}) {
  const row = shares(state, classes);
  const text = (value: number) => value.toLocaleString('en-US', { minimumFractionDigits: 2 });
  const { none, d0, d1, d2, d3, d4 } = row;
  const texts = { none, d0, d1, d2, d3, d4 };
  const written = Object.entries(texts).map(([name, value]) => [name, text(value)]);
  return { ...row, ...Object.fromEntries(written), ...over };
}
