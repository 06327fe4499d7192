import { cikOf, type FilingFacts } from '../../compiler/contract/filing.ts';
import {
  FILERS_PATH,
  type FilerLine,
  filingListPath,
  parseFilerLine,
  parseFilingLine,
} from '../../compiler/contract/filing-index.ts';
import { perRelease } from '../release/per-release.ts';
import type { ReleaseIndex } from '../release/release-index.ts';
import { storedLines } from '../release/stored-lines.ts';

/** Filers whose parsed lists are kept for one release. */
const FILER_LISTS_MAX = 64;

interface Filers {
  readonly byCik: ReadonlyMap<string, FilerLine>;
  readonly byTicker: ReadonlyMap<string, FilerLine>;
  /** Form types that are stored of anybody. */
  readonly forms: ReadonlySet<string>;
}

/** Everybody whose filings are stored. */
export const filersOf = perRelease(async (release: ReleaseIndex): Promise<Filers> => {
  const lines = await storedLines(FILERS_PATH, release);
  const filers = lines.map(parseFilerLine);
  return {
    byCik: new Map(filers.map((filer) => [filer.cik, filer])),
    byTicker: new Map(filers.flatMap((filer) => filer.tickers.map((name) => [name, filer]))),
    forms: new Set(filers.flatMap((filer) => filer.forms)),
  };
});

/** A filer by ticker or by any spelling of its CIK, in upper case. */
export async function findFiler(
  entity: string,
  release: ReleaseIndex,
): Promise<FilerLine | undefined> {
  const { byCik, byTicker } = await filersOf(release);
  return byTicker.get(entity) ?? byCik.get(cikOf(entity) ?? '');
}

const lists = perRelease(async () => new Map<string, readonly FilingFacts[]>());

/** All stored filings of a filer, newest first. */
export async function filingsOf(
  cik: string,
  release: ReleaseIndex,
): Promise<readonly FilingFacts[]> {
  const kept = await lists(release);
  const known = kept.get(cik);
  if (known !== undefined) return known;
  const filings = (await storedLines(filingListPath(cik), release)).map(parseFilingLine);
  const [oldest] = kept.keys();
  if (kept.size >= FILER_LISTS_MAX && oldest !== undefined) kept.delete(oldest);
  kept.set(cik, filings);
  return filings;
}
