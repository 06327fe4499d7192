/** Answers of our own in the shape of the BLS public data API. */
interface Figure {
  readonly year: string;
  readonly month: number;
  readonly value: string;
  readonly code?: string;
}

export function blsAnswer(series: Readonly<Record<string, readonly Figure[]>>) {
  return {
    status: 'REQUEST_SUCCEEDED',
    responseTime: 100,
    message: [],
    Results: {
      series: Object.entries(series).map(([seriesID, figures]) => ({
        seriesID,
        data: figures.map(({ year, month, value, code }) => ({
          year,
          period: `M${String(month).padStart(2, '0')}`,
          value,
          footnotes: [code === undefined ? {} : { code, text: 'preliminary' }],
        })),
      })),
    },
  };
}

/** Newest first; a month without a figure, and the mean of a year. */
export const BLS_ANSWER = blsAnswer({
  LNS14000000: [
    { year: '2026', month: 10, value: '4.4', code: 'P' },
    { year: '2026', month: 9, value: '-' },
    { year: '2026', month: 8, value: '4.3' },
    { year: '2025', month: 13, value: '4.2' },
  ],
  CES0000000001: [{ year: '2026', month: 10, value: '159000' }],
});
