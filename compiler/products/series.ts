import { oneOf, optional, paid, pair, rowCores } from './shapes/product.ts';
import { SERIES_DAYS_MAX, SERIES_FILE, seriesSchema } from './shapes/series.ts';

/** Days of a series that is asked for without `days`. */
export const SERIES_DAYS_DEFAULT = 400;

export const SERIES = paid('/gauge/history-series', {
  tag: '[BATCH+PROOF]',
  params: {
    ...pair,
    days: {
      type: 'integer',
      required: false,
      description: 'days to look back',
      examples: ['30'],
      default: String(SERIES_DAYS_DEFAULT),
      min: 1,
      max: SERIES_DAYS_MAX,
    },
    format: {
      ...optional(
        oneOf('json, csv (unsigned), or csv-signed (a line of JSON, then the table)', [
          'json',
          'csv',
          'csv-signed',
        ]),
      ),
      default: 'json',
    },
    verifiable: rowCores,
  },
  answer: 'series',
  file: SERIES_FILE,
  kind: 'series and segments',
  term: { word: 'series', holdsLatest: true },
  summary: 'full retained series, oldest first',
  guide:
    'Answers how a signal read at one entity day by day, as a signed chain of rows. Not the latest reading alone, which costs less, and no forecast.',
  body: seriesSchema,
});
