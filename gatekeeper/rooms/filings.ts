import { cikOf } from '../../compiler/contract/filing.ts';
import {
  FILERS_PATH,
  type FilerLine,
  parseFilerLine,
  type SettlementIndex,
} from '../../compiler/contract/filing-index.ts';
import { costOfParsing, FOR_EVERYBODY } from '../http/cost.ts';
import { oncePerRelease, perRelease } from '../release/per-release.ts';
import type { ReleaseIndex, ReleaseReader } from '../release/release-index.ts';
import { BoundedMap } from '../system/bounded-map.ts';

const LINE_END = 0x0a;

/** Bytes of indexes of answers that are kept parsed for one release. */
const INDEXES_BYTES_MAX = 8 * 1024 * 1024;

/** Everybody whose filings are stored. */
const filersOf = perRelease(async (release: ReleaseIndex) => {
  const lines = await storedLines(FILERS_PATH, { release, spend: FOR_EVERYBODY });
  const filers = Array.from(lines, parseFilerLine);
  return {
    byCik: new Map(filers.map((filer) => [filer.cik, filer])),
    byTicker: new Map<string, FilerLine>(
      filers.flatMap((filer) => filer.tickers.map((name) => [name, filer])),
    ),
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

const indexes = oncePerRelease(
  () => new BoundedMap<string, SettlementIndex>({ bytes: INDEXES_BYTES_MAX, isByUse: true }),
);

/** The answers about one form of a filer, at the cost of who makes their index be parsed; null where there is none. */
export async function settlementIndex(
  path: string,
  { release, spend }: ReleaseReader,
): Promise<SettlementIndex | null> {
  const kept = indexes(release);
  const known = kept.get(path);
  if (known !== undefined) return known;
  if (!release.has(path)) return null;
  const { bytes } = await release.body(path, spend);
  spend(costOfParsing(bytes.length));
  const made: SettlementIndex = JSON.parse(bytes.toString('utf8'));
  kept.set(path, made, bytes.length);
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
