/** Stages of sites by site and time of 2026-11-20 (HH:MM, or a whole ISO time). */
export type Stages = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** A small USGS water answer of our own. */
export function gaugeAnswer(stages: Stages): string {
  const timeSeries = Object.entries(stages).map(([site, points]) => ({
    sourceInfo: { siteName: 'RIVER AT TOWN', siteCode: [{ value: site }] },
    variable: {
      variableCode: [{ value: '00065' }],
      noDataValue: -999999,
      options: { option: [{ optionCode: '00000' }] },
    },
    values: [
      {
        method: [],
        value: Object.entries(points).map(([time, value]) => ({
          value: String(value),
          qualifiers: ['P'],
          dateTime: time.length === 5 ? `2026-11-20T${time}:00Z` : time,
        })),
      },
    ],
  }));
  return JSON.stringify({ value: { timeSeries } });
}
