import { z } from 'zod';
import { cikOf, FILING_COLLECTION } from '../../../contract/filing.ts';
import { neutralFault } from '../../../contract/neutral-text.ts';
import { newestFirst } from '../../../contract/settle-filings.ts';
import type { StoredFiling, StoredFilingRow } from '../../../stages/intake/filing-row.ts';
import {
  fetchAgain,
  ImportError,
  type Imported,
  type OtherKind,
  type Payload,
  parsePayload,
  readable,
  refuseOtherKinds,
} from '../../payload.ts';
import type { Source } from '../../source.ts';
import {
  type Columns,
  columnsSchema,
  EDGAR_SOURCE,
  type ListBasis,
  type ListHole,
  type ListOf,
  type ReadColumns,
  readColumns,
} from './edgar-columns.ts';
import { readOwnership, TICKER_CIKS } from './edgar-ownership.ts';
import { filingReadings, openWindows } from './edgar-signals.ts';

const pageSchema = z.looseObject({
  name: z.string().regex(/^CIK\d{10}-submissions-\d{3}\.json$/),
  filingCount: z.int().min(1),
  filingFrom: z.iso.date(),
  filingTo: z.iso.date(),
});
type FilingPage = z.infer<typeof pageSchema>;
const submissionsSchema = z.looseObject({
  cik: z.union([z.string(), z.int().transform(String)]),
  name: z.string().min(1),
  tickers: z.array(z.string()),
  filings: z.looseObject({ recent: columnsSchema, files: z.array(pageSchema) }),
});
type Submissions = z.infer<typeof submissionsSchema>;

/** An older page names its filer in its address only. */
const PAGE_ADDRESS = /CIK(\d{10})-submissions-\d{3}\.json$/;
const NAMED_FILER = /CIK(\d{10})/g;
/** Where a main list leaves older filings to pages; one as long that names no page may have been cut. */
const LIST_ROWS = 1000;

const INSTEAD = 'import the submissions of the filer (CIK##########.json)';
const OTHERS: readonly OtherKind[] = [
  {
    begins: /^<\?xml[^>]*>\s*<Error>\s*<Code>NoSuchKey/,
    is: 'an answer that there is no such filer, which is not a filer without filings; check the CIK',
  },
  {
    begins: /<feed\s[^>]*http:\/\/www\.w3\.org\/2005\/Atom/,
    is: `a feed of the newest filings of all filers, once for each party, which is whole for nobody; ${INSTEAD}`,
  },
  {
    begins: /^Description:\s+Daily Index/,
    is: `a daily index of all filers, which holds one day of each; ${INSTEAD}`,
  },
  {
    begins: /^\{"\d+":\s*\{"cik_str"/,
    is: `a list of tickers and their CIK, without filings; ${INSTEAD}`,
  },
];
/** Bytes that tell a form of insiders from a list. */
const HEAD_BYTES = 1024;
const OWNERSHIP = /^(\uFEFF|\u00EF\u00BB\u00BF)?(<\?xml[^>]*>)?\s*<ownershipDocument>/;

/**
 * Makes filing rows, and from a main list also the three filing signals, of one answer of the SEC's submissions
 * service. Throws an ImportError when it is no such answer, when the fetch is older than what it lists, and when a row
 * cannot be read: a form is "not filed" only in a list of which every row was understood.
 */
function readSubmissions(payload: Payload): Imported {
  const { bytes, subject } = payload;
  refuseOtherKinds(payload, OTHERS);
  if (OWNERSHIP.test(new TextDecoder('latin1').decode(bytes.subarray(0, HEAD_BYTES))))
    return readOwnership(payload);
  const value = parsePayload(bytes, subject);
  const main = submissionsSchema.safeParse(value);
  if (main.success) return mainList(main.data, payload);
  const page = columnsSchema.safeParse(value);
  if (page.success) return olderPage(page.data, payload);
  const [issue] = main.error.issues;
  const state = `not a list of submissions (${issue?.path.join('.')}: ${issue?.message}); fetch it again`;
  throw new ImportError({ subject, state }, { cause: main.error });
}

function mainList(submissions: Submissions, payload: Payload): Imported {
  const { note } = payload;
  const cik = cikOf(submissions.cik);
  if (cik === null) throw fetchAgain(payload, 'cik is not a number');
  const collected_at = note.fetched_at;
  const { recent, files } = submissions.filings;
  const { basis, filings, hole } = readRows(recent, { cik, collected_at }, payload);
  const inOrder = [...filings].sort(newestFirst);
  const oldest = inOrder.at(-1)?.filing_date ?? collected_at.slice(0, 10);
  refuseWrongPages(files, { cik, oldest }, payload);
  const isCut = files.length > 0 || filings.length >= LIST_ROWS;
  const from = hole?.wholeFrom ?? (isCut ? oldest : null);
  const tickers = submissions.tickers.map((ticker) => ticker.toUpperCase());
  const name = nameOf(submissions.name, cik);
  const listing: StoredFilingRow = {
    kind: 'listing',
    cik,
    collected_at,
    ...EDGAR_SOURCE,
    name,
    tickers,
    from,
    // A hole keeps the older pages out of reach: what they hold does not go on to the day that the list is whole from.
    pages: hole === null ? files.map(announced) : [],
    acceptance_basis: basis,
    source_ref: note.url,
  };
  const list = { entity: tickers[0] ?? cik, entity_name: name, cik, collected_at, from };
  return {
    readings: filingReadings({ ...list, filings: inOrder }),
    rows: new Map([[FILING_COLLECTION, [listing, ...inOrder]]]),
    skipped: [],
    remarks: [
      BASIS_REMARKS[basis],
      ...holeRemarks(hole),
      ...windowRemarks(list),
      ...nameRemarks(submissions.name),
    ],
  };
}

const announced = ({ filingFrom, filingTo, filingCount }: FilingPage) => {
  return { from: filingFrom, to: filingTo, count: filingCount };
};

/** A registered name that is not stored is left out, and the filer named by its number. */
function nameOf(name: string, cik: string): string {
  return neutralFault(name) === null ? name : `filer ${cik}`;
}

function olderPage(columns: Columns, payload: Payload): Imported {
  const { note, subject } = payload;
  const cik = PAGE_ADDRESS.exec(note.url)?.[1];
  if (cik === undefined) {
    const state =
      'an older page of submissions, which does not name its filer; give --note with its address, …/CIK0000320193-submissions-001.json';
    throw new ImportError({ subject, state });
  }
  const collected_at = note.fetched_at;
  const { basis, filings, hole } = readRows(columns, { cik, collected_at }, payload);
  const inOrder = [...filings].sort(newestFirst);
  const [newest] = inOrder;
  if (newest === undefined) throw fetchAgain(payload, 'an older page without filings');
  const from = hole?.wholeFrom ?? inOrder.at(-1)?.filing_date ?? newest.filing_date;
  const span = { from, to: newest.filing_date, count: filings.length, acceptance_basis: basis };
  const page: StoredFilingRow = { kind: 'page', cik, collected_at, ...EDGAR_SOURCE, ...span };
  const whole: readonly StoredFilingRow[] = from <= newest.filing_date ? [page] : [];
  return {
    readings: new Map(),
    rows: new Map([[FILING_COLLECTION, [...whole, ...inOrder]]]),
    skipped: [],
    remarks: [BASIS_REMARKS[basis], ...holeRemarks(hole)],
  };
}

/** The rows of a list of the filer that the payload is of. */
function readRows(columns: Columns, of: ListOf, payload: Payload): ReadColumns {
  refuseForeign(of.cik, payload);
  const read = readable(payload, () => readColumns(columns, of));
  refuseFuture(read.filings, payload);
  return read;
}

/** The filer of a payload is the one that its address and its file are named after. */
function refuseForeign(cik: string, { note, subject }: Payload): void {
  const named = [...`${note.url} ${subject}`.matchAll(NAMED_FILER)].map(([, digits]) => digits);
  const other = named.find((digits) => digits !== cik);
  if (other === undefined) return;
  const state = `it is about CIK${cik}, but its address or name is about CIK${other}; correct the fetch note`;
  throw new ImportError({ subject, state });
}

/** The pages of a filer are numbered from 001 on, newest first, and none reaches into what is newer. */
function refuseWrongPages(
  files: readonly FilingPage[],
  { cik, oldest }: { readonly cik: string; readonly oldest: string },
  payload: Payload,
): void {
  let newer = oldest;
  for (const [at, page] of files.entries()) {
    const name = `CIK${cik}-submissions-${String(at + 1).padStart(3, '0')}.json`;
    const isNext = page.name === name && page.filingFrom <= page.filingTo && page.filingTo <= newer;
    if (!isNext) {
      const state = `filings.files.${at} is not the page ${name} of the days before ${newer}`;
      throw fetchAgain(payload, state);
    }
    newer = page.filingFrom;
  }
}

/** A list cannot hold what was accepted after it was fetched: then the note is another payload's. */
function refuseFuture(filings: readonly StoredFiling[], { note, subject }: Payload): void {
  const fetched = Date.parse(note.fetched_at);
  const late = filings.find(({ disclosure_time }) => Date.parse(disclosure_time ?? '') > fetched);
  if (late === undefined) return;
  const state = `${late.accession} was accepted at ${late.disclosure_time}, after the fetch at ${note.fetched_at}; correct the fetch note`;
  throw new ImportError({ subject, state });
}

const BASIS_REMARKS: Readonly<Record<ListBasis, string>> = {
  utc: 'its hours prove that the acceptance times are UTC',
  'new-york':
    'its hours prove that the acceptance times are New York time with a Z; converted to UTC',
  undetermined:
    'its hours do not tell whether acceptance times are UTC or New York time; the other lists of the filer in this batch decide, else only filing dates are used',
  contradictory:
    'its hours fit neither UTC nor New York time alone, so no acceptance time is taken; only filing dates are used',
};

function nameRemarks(name: string): string[] {
  const fault = neutralFault(name);
  return fault === null ? [] : [`the name of the filer is left out: ${fault}`];
}

function holeRemarks(hole: ListHole | null): string[] {
  if (hole === null) return [];
  return [`it holds ${hole.what}, so it is whole only from ${hole.wholeFrom} on`];
}

function windowRemarks(list: { from: string | null; collected_at: string }): string[] {
  const open = openWindows(list);
  if (open.length === 0) return [];
  return [
    `its list is whole from ${list.from} on, so counts over ${open.join(' and ')} days are null; older filings are on its other pages`,
  ];
}

/** The list of a filer, by its ticker or CIK; throws a RangeError for a ticker that the line does not name. */
function submissionsAddress(entity: string): string {
  const cik = TICKER_CIKS.get(entity.toUpperCase()) ?? cikOf(entity);
  if (cik !== null) return `https://data.sec.gov/submissions/CIK${cik}.json`;
  const state = 'its CIK is not known; give the CIK of the filer, such as 0000320193';
  throw new RangeError(`Cannot fetch filings of "${entity}": ${state}`);
}

/** Submissions of one filer: https://www.sec.gov/search-filings/edgar-application-programming-interfaces */
export const secEdgar: Source = {
  id: 'sec-edgar',
  agency: 'US Securities and Exchange Commission, EDGAR',
  version: 2,
  format: 'json',
  feeds: ['filing.delinquency', 'filing.material-events', 'filing.insider', FILING_COLLECTION],
  read: readSubmissions,
  fetch: {
    hosts: ['data.sec.gov', 'www.sec.gov'],
    addresses: ({ entities }) =>
      (entities.length === 0 ? [...TICKER_CIKS.keys()] : entities).map(submissionsAddress),
    everyMinutes: 60,
    perMinute: 300,
    needsContact: true,
  },
};
