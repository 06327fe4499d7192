import { cikOf, type HashedFiling } from '../../compiler/contract/filing.ts';
import {
  FILERS_PATH,
  type FilerLine,
  filingListPath,
  parseFilerLine,
  parseFilingLine,
} from '../../compiler/contract/filing-index.ts';
import {
  type FilingList,
  filingLists,
  type ListName,
  listKey,
  type ProvenList,
  provenList,
} from '../../compiler/contract/filing-lists.ts';
import { sha256 } from '../release/log-files.ts';
import { perRelease } from '../release/per-release.ts';
import type { ReleaseIndex } from '../release/release-index.ts';
import { storedLines } from '../release/stored-lines.ts';

/** How many filers' parsed lists are kept for one release. */
const FILER_LISTS_MAX = 64;

interface Filers {
  readonly byCik: ReadonlyMap<string, FilerLine>;
  readonly byTicker: ReadonlyMap<string, FilerLine>;
  /** Form types that are stored for any filer. */
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

/** The lists of a filer, each hashed when it is first asked for. */
class FilerLists {
  readonly #lists: ReadonlyMap<string, FilingList<HashedFiling>>;
  readonly #proven = new Map<string, ProvenList<HashedFiling>>();

  constructor(filings: readonly HashedFiling[]) {
    this.#lists = new Map(filingLists(filings).map((list) => [listKey(list), list]));
  }

  find(name: ListName): ProvenList<HashedFiling> | null {
    const key = listKey(name);
    const list = this.#lists.get(key);
    if (list === undefined) return null;
    const proven = this.#proven.get(key) ?? provenList(list, sha256);
    this.#proven.set(key, proven);
    return proven;
  }
}

const lists = perRelease(async () => new Map<string, FilerLists>());

/** All lists of a filer's stored filings. */
export async function listsOf(cik: string, release: ReleaseIndex): Promise<FilerLists> {
  const kept = await lists(release);
  const known = kept.get(cik);
  if (known !== undefined) return known;
  const lines = await storedLines(filingListPath(cik), release);
  const made = new FilerLists(lines.map(parseFilingLine));
  const [oldest] = kept.keys();
  if (kept.size >= FILER_LISTS_MAX && oldest !== undefined) kept.delete(oldest);
  kept.set(cik, made);
  return made;
}
