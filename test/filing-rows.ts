import { ndjson, type SnapshotFiles } from './snapshot-folder.ts';

/** Rows of `filing.submission` for tests; nothing of it was filed. */
export const CIK = '0000123456';
const shared = {
  cik: CIK,
  collected_at: '2026-11-20T11:00:00Z',
  source: 'sec-edgar',
  source_tier: 'T1',
};

export function listingRow(more: object = {}) {
  return {
    kind: 'listing',
    ...shared,
    name: 'Example Corp',
    tickers: ['EXMP'],
    from: null,
    pages: [],
    source_ref: 'https://data.sec.gov/submissions/CIK0000123456.json',
    ...more,
  };
}

/** A filing by its serial number: `filingRow(7, ['10-K', '2026-02-01'])`. */
export function filingRow(
  serial: number,
  [form, filing_date]: readonly [string, string],
  more: object = {},
) {
  return {
    kind: 'filing',
    ...shared,
    accession: `0000123456-26-${String(serial).padStart(6, '0')}`,
    form,
    items: [],
    event_time: null,
    filing_date,
    disclosure_time: `${filing_date}T15:00:00Z`,
    acceptance_basis: 'utc',
    source_ref: `https://www.sec.gov/Archives/edgar/data/123456/${serial}.htm`,
    ...more,
  };
}

/** Snapshot files that hold these rows in one batch. */
export function filingSet(rows: readonly object[], batch = '2026-11-20T10Z'): SnapshotFiles {
  return { [`${batch}/filing.submission.ndjson`]: ndjson(rows) };
}

/** A filer with one of each case. */
export const FILINGS = [
  filingRow(1, ['10-K', '2026-02-01'], { event_time: '2025-12-31' }),
  filingRow(2, ['10-Q', '2026-05-01']),
  filingRow(3, ['10-Q/A', '2026-05-20']),
  filingRow(4, ['8-K', '2026-06-01'], { items: ['2.02', '9.01'] }),
  filingRow(5, ['8-K', '2026-07-01'], { items: ['5.02'] }),
  filingRow(6, ['4', '2026-08-03']),
  filingRow(7, ['4', '2026-08-03'], { disclosure_time: '2026-08-03T16:00:00Z' }),
  filingRow(8, ['SC 13G', '2024-02-01']),
  filingRow(9, ['SCHEDULE 13G', '2026-02-02']),
  filingRow(10, ['NT 10-K', '2026-03-02'], {
    disclosure_time: null,
    acceptance_basis: 'undetermined',
  }),
  filingRow(11, ['20-F', '2026-04-01']),
  filingRow(11, ['20-F', '2026-04-02'], { source: 'other-index', source_tier: 'T2' }),
  filingRow(12, ['6-K/A', '2026-04-05']),
];
