import type { Cutoff } from '../../format/cutoff.ts';
import { encodeSegment } from './path.ts';
import type { FilingCoverage, ListGap } from './settle-filings.ts';

/** Internal list of every filer, one JSON array a line, sorted by CIK. */
export const FILERS_PATH = 'index/filers.txt';
/** Folder of everything about filers, one folder each. */
export const FILINGS_FOLDER = 'filing/';

/** One filer of the list, with what its stored filings cover. */
export interface FilerLine extends FilingCoverage {
  /** When the list was last looked at. */
  readonly collected_at: string;
  readonly cik: string;
  readonly name: string;
  readonly tickers: readonly string[];
  readonly forms: readonly string[];
}

/** Folder of all that is stored of one filer. */
export function filerFolder(cik: string): string {
  return `${FILINGS_FOLDER}${encodeSegment(cik)}/`;
}

/** Where a part of a filer's filings stands, oldest filings first. */
export function filingRecordsPath(cik: string, part: number): string {
  return `${filerFolder(cik)}records/${part}.json`;
}

/** Filings of one part: a free look-up of a hash parses it. */
export const FILINGS_A_PART = 100;

/** Which answers there are about one form of a filer; no file where no filing of the form is stored. */
export function settlementIndexPath(cik: string, form: string): string {
  return `${filerFolder(cik)}index/${encodeSegment(form)}.json`;
}

export type SettlementPath = '/resolve' | '/resolve/proposer';
export const SETTLEMENT_PATHS: readonly SettlementPath[] = ['/resolve', '/resolve/proposer'];

/** Where a signed answer stands; `file` as the index names it. */
export function settlementPath(cik: string, path: SettlementPath, file: string): string {
  return `${filerFolder(cik)}${path === '/resolve' ? 'resolve' : 'proposer'}/${file}`;
}

/** The answer about a form that is not stored, or about the items of a form that are not. */
export function restFile(form: string): string {
  return `${encodeSegment(form)}/rest.json`;
}

/** The answer about every cutoff that is not before the last look. */
export const LATER_FILE = 'later.json';

/** One answer: for cutoffs from `valid_from` on, before `valid_until`. */
export type IndexedInterval = readonly [valid_from: string, valid_until: string, file: string];

/** The answers about one form of a filer by item, the form without an item first; both operations have the same. */
export interface SettlementIndex {
  readonly lists: readonly ({ readonly event_class: string | null } & Readonly<
    Record<Cutoff['basis'], readonly IndexedInterval[]>
  >)[];
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
