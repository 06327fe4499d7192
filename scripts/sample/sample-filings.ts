import { builtinLine } from '../../compiler/contract/catalog/builtin.ts';
import { isoTime } from '../../compiler/contract/iso-time.ts';
import { SAMPLE_AS_OF, weekCollectedAt } from './sample-times.ts';

const TICKERS = builtinLine('filing').entities;

/** Until when the lists below tell; later they move on by whole quarters. */
const FILED_UNTIL = SAMPLE_AS_OF.slice(0, 10);
const SOURCE = 'sample-generator';

type Filing = readonly [form: string, day: string, event: string | null, items?: string];

/** What every sample filer filed; times of acceptance follow from the place in this list. */
const EVERYBODY: readonly Filing[] = [
  ['10-Q', '2025-11-05', '2025-09-30'],
  ['10-K', '2026-02-12', '2025-12-31'],
  ['8-K', '2026-04-21', '2026-04-21', '2.02,9.01'],
  ['10-Q', '2026-05-06', '2026-03-31'],
  ['8-K', '2026-06-11', '2026-06-09', '5.02'],
  ['10-Q', '2026-08-05', '2026-06-30'],
  ['4', '2026-09-03', '2026-09-01'],
  ['10-Q', '2026-11-04', '2026-09-30'],
];

/** Cases that an even sample would not hold, by ticker. */
const EXCEPTIONS: Readonly<Record<string, readonly Filing[]>> = {
  // an amendment beside its original
  BA: [['10-K/A', '2026-04-30', '2025-12-31']],
  // two filings of one form on one day
  NVDA: [['4', '2026-09-03', '2026-09-02']],
  // a notice of late filing
  AMC: [['NT 10-K', '2026-03-02', '2025-12-31']],
  // a form under its new name
  GME: [['SCHEDULE 13D', '2026-01-20', '2026-01-15']],
};

export function sampleFilings(label: string, hour: string): Map<string, string> {
  const collected_at = weekCollectedAt(hour);
  const header = { collected_at, source: SOURCE, source_tier: null, grade: label };
  let quarters = 0;
  while (monthsLater(FILED_UNTIL, quarters * 3 + 3) <= hour.slice(0, 10)) quarters += 1;
  const months = quarters * 3;
  const later: LaterQuarter = (day) => monthsLater(day, months);
  const rows = TICKERS.flatMap((ticker, at) => {
    // Numbers that the regulator has not given to anybody.
    const cik = String(9_900_000_001 + at);
    const listing = { kind: 'listing', cik, name: `Sample filer ${ticker}`, tickers: [ticker] };
    const filings = [...EVERYBODY, ...(EXCEPTIONS[ticker] ?? [])].map((filing) =>
      moved(filing, later),
    );
    return [
      { ...listing, from: null, pages: [], source_ref: null },
      ...filings.map((filing, number) => filingRow(cik, filing, number)),
      ...(ticker === 'CVNA' ? [otherListing(cik, later)] : []),
    ];
  });
  const text = [{ header }, ...rows].map((row) => `${JSON.stringify(row)}\n`).join('');
  return new Map([[`${collected_at.slice(0, 10)}/filing.submission.ndjson`, text]]);
}

/** Moves a day of the lists to its place in this sample. */
type LaterQuarter = (day: string) => string;

/** The same day some months later; the end of a month stays one. */
function monthsLater(day: string, months: number): string {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  const lastOf = (monthIndex: number) => new Date(Date.UTC(year, monthIndex + 1, 0)).getUTCDate();
  const isLast = date === lastOf(month - 1);
  const last = lastOf(month - 1 + months);
  const moved = Date.UTC(year, month - 1 + months, isLast ? last : Math.min(date, last));
  return isoTime(moved).slice(0, 10);
}

function moved([form, day, event, items]: Filing, later: LaterQuarter): Filing {
  const days = [later(day), event === null ? null : later(event)] as const;
  return items === undefined ? [form, ...days] : [form, ...days, items];
}

function filingRow(cik: string, [form, day, event_time, items = '']: Filing, number: number) {
  return {
    kind: 'filing',
    cik,
    accession: `${cik}-26-${String(number + 1).padStart(6, '0')}`,
    form,
    items: items.split(',').filter((item) => item !== ''),
    event_time,
    filing_date: day,
    disclosure_time: `${day}T${String(13 + (number % 8)).padStart(2, '0')}:05:00Z`,
    acceptance_basis: 'utc',
    source_ref: null,
  };
}

/** A second source that tells another day of the annual report. */
function otherListing(cik: string, later: LaterQuarter): object {
  const row = filingRow(cik, moved(['10-K', '2026-02-13', '2025-12-31'], later), 1);
  return { ...row, source: 'sample-second-source' };
}
