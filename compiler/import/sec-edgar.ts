import { z } from 'zod';
import { cikOf, FILING_COLLECTION } from '../contract/filing.ts';
import { newestFirst } from '../contract/settle-filings.ts';
import type { FilingRow, StoredFiling } from '../stages/intake/filing-row.ts';
import { type Columns, columnsSchema, EDGAR_SOURCE, readColumns } from './edgar-columns.ts';
import { filingReadings, openWindows } from './edgar-signals.ts';
import type { FetchNote } from './fetch-note.ts';
import { ImportError } from './import-error.ts';
import { type Imported, parsePayload, SkipCount } from './payload.ts';

const pageSchema = z.looseObject({ filingFrom: z.iso.date(), filingTo: z.iso.date() });
const submissionsSchema = z.looseObject({
  cik: z.union([z.string(), z.int().transform(String)]),
  name: z.string().min(1),
  tickers: z.array(z.string()),
  filings: z.looseObject({ recent: columnsSchema, files: z.array(pageSchema) }),
});
type Submissions = z.infer<typeof submissionsSchema>;

/** An older page names its filer in its address only. */
const PAGE_ADDRESS = /CIK(\d{10})-submissions-\d{3}\.json$/;

/**
 * Makes filing rows, and from a main list also the three filing signals, of one answer of the SEC's submissions
 * service. Throws an ImportError when it is no such answer, or when the fetch is older than what it lists.
 */
export function importSubmissions(
  bytes: Uint8Array,
  note: FetchNote,
  subject = note.url,
): Imported {
  const value = parsePayload(bytes, subject);
  const main = submissionsSchema.safeParse(value);
  if (main.success) return mainList(main.data, note, subject);
  const page = columnsSchema.safeParse(value);
  if (page.success) return olderPage(page.data, note, subject);
  const [issue] = main.error.issues;
  const state = `not a list of submissions (${issue?.path.join('.')}: ${issue?.message}); fetch it again`;
  throw new ImportError({ subject, state }, { cause: main.error });
}

function mainList(submissions: Submissions, note: FetchNote, subject: string): Imported {
  const cik = cikOf(submissions.cik);
  if (cik === null) throw new ImportError({ subject, state: 'cik is no number; fetch it again' });
  const skips = new SkipCount();
  const collected_at = note.fetched_at;
  const { recent, files } = submissions.filings;
  const { basis, filings } = readColumns(recent, { cik, collected_at }, skips);
  refuseFuture(filings, note, subject);
  const inOrder = [...filings].sort(newestFirst);
  const days = filings.map(({ filing_date }) => filing_date).sort();
  const from = files.length === 0 ? null : (days[0] ?? collected_at.slice(0, 10));
  const tickers = submissions.tickers.map((ticker) => ticker.toUpperCase());
  const listing: FilingRow = {
    kind: 'listing',
    cik,
    collected_at,
    ...EDGAR_SOURCE,
    name: submissions.name,
    tickers,
    from,
    pages: files
      .map(({ filingFrom, filingTo }) => ({ from: filingFrom, to: filingTo }))
      .sort((a, b) => (a.to < b.to ? 1 : -1)),
    source_ref: note.url,
  };
  const list = {
    entity: tickers[0] ?? cik,
    entity_name: submissions.name,
    cik,
    collected_at,
    from,
  };
  return {
    readings: filingReadings({ ...list, filings: inOrder }),
    rows: new Map([[FILING_COLLECTION, [listing, ...inOrder]]]),
    skipped: skips.list(),
    remarks: [basisRemark(basis), ...windowRemarks(list)],
  };
}

function olderPage(columns: Columns, note: FetchNote, subject: string): Imported {
  const cik = PAGE_ADDRESS.exec(note.url)?.[1];
  if (cik === undefined) {
    const state =
      'an older page of submissions, which does not name its filer; give --note with its address, …/CIK0000320193-submissions-001.json';
    throw new ImportError({ subject, state });
  }
  const skips = new SkipCount();
  const collected_at = note.fetched_at;
  const { basis, filings } = readColumns(columns, { cik, collected_at }, skips);
  refuseFuture(filings, note, subject);
  const inOrder = [...filings].sort(newestFirst);
  const days = filings.map(({ filing_date }) => filing_date).sort();
  const [from] = days;
  const to = days.at(-1);
  if (from === undefined || to === undefined) {
    throw new ImportError({ subject, state: 'an older page without filings; fetch it again' });
  }
  const page: FilingRow = { kind: 'page', cik, collected_at, ...EDGAR_SOURCE, from, to };
  return {
    readings: new Map(),
    rows: new Map([[FILING_COLLECTION, [page, ...inOrder]]]),
    skipped: skips.list(),
    remarks: [basisRemark(basis)],
  };
}

/** A list cannot hold what was accepted after it was fetched: then the note is another payload's. */
function refuseFuture(filings: readonly StoredFiling[], note: FetchNote, subject: string): void {
  const fetched = Date.parse(note.fetched_at);
  const late = filings.find(({ disclosure_time }) => Date.parse(disclosure_time ?? '') > fetched);
  if (late === undefined) return;
  const state = `${late.accession} was accepted at ${late.disclosure_time}, after the fetch at ${note.fetched_at}; correct the fetch note`;
  throw new ImportError({ subject, state });
}

function basisRemark(basis: string): string {
  const words: Readonly<Record<string, string>> = {
    utc: 'its hours prove that the acceptance times are UTC',
    'new-york':
      'its hours prove that the acceptance times are New York time with a Z; converted to UTC',
  };
  return (
    words[basis] ??
    'its hours do not tell whether acceptance times are UTC or New York time; only filing dates are used'
  );
}

function windowRemarks(list: { from: string | null; collected_at: string }): string[] {
  const open = openWindows(list);
  if (open.length === 0) return [];
  return [
    `its list begins on ${list.from}, so counts over ${open.join(' and ')} days are null; older filings stand on its other pages`,
  ];
}
