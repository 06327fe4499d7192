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
import { FOR_EVERYBODY } from '../http/cost.ts';
import { oncePerRelease, perRelease } from '../release/per-release.ts';
import { sha256 } from '../release/read-body.ts';
import type { ReleaseIndex, ReleaseReader } from '../release/release-index.ts';
import { BoundedMap } from '../system/bounded-map.ts';

const LINE_END = 0x0a;

/** Bytes of stored lists that are kept parsed for one release. */
const LISTS_BYTES_MAX = 8 * 1024 * 1024;
/** Bytes of a stored list that cost one unit: each line is parsed, put into its lists and hashed. */
const LIST_BYTES_A_UNIT = 1024;

/** Everybody whose filings are stored, and the form types that are stored for any of them. */
export const filersOf = perRelease(async (release: ReleaseIndex) => {
  const lines = await storedLines(FILERS_PATH, { release, spend: FOR_EVERYBODY });
  const filers = Array.from(lines, parseFilerLine);
  return {
    byCik: new Map(filers.map((filer) => [filer.cik, filer])),
    byTicker: new Map<string, FilerLine>(
      filers.flatMap((filer) => filer.tickers.map((name) => [name, filer])),
    ),
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

const listsIn = oncePerRelease(
  () => new BoundedMap<string, FilerLists>({ bytes: LISTS_BYTES_MAX, isByUse: true }),
);

/** All lists of a filer's stored filings, at the cost of who makes them be parsed. */
export async function listsOf(cik: string, reader: ReleaseReader): Promise<FilerLists> {
  const kept = listsIn(reader.release);
  const known = kept.get(cik);
  if (known !== undefined) return known;
  const lines = [...(await storedLines(filingListPath(cik), reader))];
  const bytes = lines.reduce((sum, line) => sum + line.length, 0);
  reader.spend(bytes / LIST_BYTES_A_UNIT);
  const made = new FilerLists(lines.map(parseFilingLine));
  kept.set(cik, made, bytes);
  return made;
}

/** The lines of a stored list without their ends, one after the other; none where the release has no such list. */
async function storedLines(
  path: string,
  { release, spend }: ReleaseReader,
): Promise<Iterable<string>> {
  return release.has(path) ? linesOf((await release.body(path, spend)).bytes) : [];
}

/** Each line is a text of its own: as pieces of one text they would hold all of it. */
function* linesOf(bytes: Buffer): Generator<string> {
  let from = 0;
  for (let end = bytes.indexOf(LINE_END); end !== -1; end = bytes.indexOf(LINE_END, from)) {
    yield bytes.toString('utf8', from, end);
    from = end + 1;
  }
}
