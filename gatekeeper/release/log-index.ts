import { openNote } from '../../compiler/contract/checkpoint.ts';
import { firstWhere } from '../../compiler/contract/lists.ts';
import {
  type LogLine,
  type LogRun,
  leadOf,
  logLineStart,
  parseLogLine,
  runPath,
  runsOf,
  shardOfLead,
} from '../../compiler/contract/log-runs.ts';
import { CHECKPOINT_PATH } from '../../compiler/contract/tiles.ts';
import { FOR_EVERYBODY } from '../http/cost.ts';
import { releaseLeaf } from './log-tip.ts';
import { perRelease } from './per-release.ts';
import type { ReleaseIndex, ReleaseReader } from './release-index.ts';

const HASH_DIGITS = 64;

/** The runs of the log of a release, the newest first; none for a release without one. */
const logRuns = perRelease(async (release: ReleaseIndex): Promise<readonly LogRun[]> => {
  if (!release.has(CHECKPOINT_PATH)) return [];
  const { bytes } = await release.body(CHECKPOINT_PATH, FOR_EVERYBODY);
  const opened = openNote(bytes.toString('utf8'));
  if (opened === null) throw new RangeError(`Cannot read "${CHECKPOINT_PATH}": no checkpoint`);
  return runsOf(opened.checkpoint.size).reverse();
});

/** Entries of the log whose hash begins with these hex digits; throws when the disk does not allow it. Reads one file of each run. */
export async function findEntries(
  digits: string,
  { release, spend }: ReleaseReader,
): Promise<LogLine[]> {
  const found: LogLine[] = [];
  for (const run of await logRuns(release)) {
    const { bytes } = await release.body(runPath(run, shardOfLead(run, leadOf(digits))), spend);
    found.push(...linesFrom(bytes, logLineStart(digits)).map(parseLogLine));
    // A whole hash is there once.
    if (digits.length === HASH_DIGITS && found.length > 0) break;
  }
  const { line } = releaseLeaf(release);
  return line?.record_hash.startsWith(`sha256:${digits}`) === true ? [...found, line] : found;
}

/** Where a whole or shortened hash stands in the log. */
type LeafLookUp =
  | { state: 'not_found' }
  | { state: 'ambiguous'; matches: number }
  | { state: 'found'; hash: string; index: number };

/** Looks hex digits up in the index of the log; throws when the disk does not allow it. */
export async function findLeaf(digits: string, reader: ReleaseReader): Promise<LeafLookUp> {
  const entries = await findEntries(digits, reader);
  const [first] = entries;
  if (first === undefined) return { state: 'not_found' };
  if (entries.length > 1) return { state: 'ambiguous', matches: entries.length };
  return { state: 'found', hash: first.record_hash, index: first.position };
}

const LINE_END = 0x0a;
/** Lines that one search gives at most: a long list of them means that too little was asked for. */
const LINES_MAX = 64;

/** The lines of sorted bytes that begin with a text, found without reading the others. */
export function linesFrom(sorted: Buffer, opening: string): string[] {
  const wanted = Buffer.from(opening, 'latin1');
  const lines: string[] = [];
  let at = firstLine(sorted, wanted);
  while (
    lines.length < LINES_MAX &&
    at < sorted.length &&
    sorted.subarray(at, at + wanted.length).equals(wanted)
  ) {
    const end = endOfLine(sorted, at);
    lines.push(sorted.toString('utf8', at, end));
    at = end + 1;
  }
  return lines;
}

/** Where the first line begins that is not in front of the wanted text. */
function firstLine(sorted: Buffer, wanted: Buffer): number {
  const place = firstWhere(sorted.length, (at) => {
    const start = startOfLine(sorted, at);
    return wanted.compare(sorted, start, Math.min(start + wanted.length, sorted.length)) <= 0;
  });
  return place < sorted.length ? startOfLine(sorted, place) : sorted.length;
}

function startOfLine(sorted: Buffer, at: number): number {
  return at === 0 ? 0 : sorted.lastIndexOf(LINE_END, at - 1) + 1;
}

function endOfLine(sorted: Buffer, at: number): number {
  const end = sorted.indexOf(LINE_END, at);
  return end === -1 ? sorted.length : end;
}
