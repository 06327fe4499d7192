import { FILED_FIELDS, type FilingFacts, type HashedFiling, SOURCE_FIELDS } from './filing.ts';
import { encodeSegment } from './path.ts';
import type { FilingCoverage, ListGap } from './settle-filings.ts';

/** Internal list of every filer, one JSON array a line, sorted by CIK. */
export const FILERS_PATH = 'index/filers.txt';
/** Folder of everything about filers, one folder each. */
export const FILINGS_FOLDER = 'filing/';

/** One filer of the list, with what its stored filings cover. */
export interface FilerLine extends FilingCoverage {
  readonly cik: string;
  readonly name: string;
  readonly tickers: readonly string[];
  readonly forms: readonly string[];
}

/** Internal list of a filer's filings, one JSON array a line, newest first. */
export function filingListPath(cik: string): string {
  return `index/filings/${encodeSegment(cik)}.txt`;
}

/** Where one listing of a filing stands. */
export function filingPath(
  cik: string,
  filing: Pick<FilingFacts, 'form' | 'accession' | 'source'>,
) {
  const name = `${encodeSegment(filing.accession)}.${encodeSegment(filing.source)}.json`;
  return `${FILINGS_FOLDER}${encodeSegment(cik)}/${encodeSegment(filing.form)}/${name}`;
}

/** Where the signed statement of what is stored of a filer stands. */
export function filerPath(cik: string): string {
  return `${FILINGS_FOLDER}${encodeSegment(cik)}/filer.json`;
}

/** Text of one line of FILERS_PATH, with its line end. */
export function formatFilerLine(filer: FilerLine): string {
  const { cik, name, tickers, collected_at, covered_from, gaps, forms } = filer;
  return `${JSON.stringify([cik, name, tickers, collected_at, covered_from, gaps, forms])}\n`;
}

/** The inverse of formatFilerLine, of one line without its line end. */
export function parseFilerLine(line: string): FilerLine {
  const [cik, name, tickers, collected_at, covered_from, gaps, forms] = JSON.parse(line) as [
    string,
    string,
    string[],
    string,
    string | null,
    ListGap[],
    string[],
  ];
  return { cik, name, tickers, collected_at, covered_from, gaps, forms };
}

/** Members of a line of a filer's list, in their order; the rest of a hash core follows from them and the filer. */
const LIST_COLUMNS = [
  ...FILED_FIELDS,
  ...SOURCE_FIELDS,
  'record_hash',
] as const satisfies readonly (keyof HashedFiling)[];

/** Text of one line of a filer's list, with its line end. */
export function formatFilingLine(filing: HashedFiling): string {
  return `${JSON.stringify(LIST_COLUMNS.map((name) => filing[name]))}\n`;
}

/** The inverse of formatFilingLine, of one line without its line end. */
export function parseFilingLine(line: string): HashedFiling {
  const values = JSON.parse(line) as readonly unknown[];
  const members = LIST_COLUMNS.map((name, at) => [name, values[at]]);
  return Object.fromEntries(members) as HashedFiling;
}
