import {
  HASH_COUNT_PATH,
  type HashLine,
  type HashRun,
  hashLineStart,
  leadOf,
  parseHashCount,
  parseHashLine,
  runPath,
  runsOf,
  shardOfLead,
} from '../../../compiler/format/hash-index.ts';
import { firstWhere } from '../../../compiler/format/lists.ts';
import { FOR_EVERYBODY } from '../../wire/cost.ts';
import { perRelease, type ReleaseIndex, type ReleaseReader } from './release-index.ts';

const HASH_DIGITS = 64;

/** The runs of everything that was ever taken in, the newest first. */
const takenRuns = perRelease(async (release: ReleaseIndex): Promise<readonly HashRun[]> => {
  if (!release.has(HASH_COUNT_PATH)) return [];
  const { bytes } = await release.body(HASH_COUNT_PATH, FOR_EVERYBODY);
  return runsOf(parseHashCount(bytes.toString('latin1'))).reverse();
});

/**
 * What was ever taken in whose hash begins with these hex digits; throws when the disk does not allow it. Reads one file of
 * each run.
 */
export async function findTaken(
  digits: string,
  { release, spend }: ReleaseReader,
): Promise<HashLine[]> {
  const found: HashLine[] = [];
  for (const run of await takenRuns(release)) {
    const { bytes } = await release.body(runPath(run, shardOfLead(run, leadOf(digits))), spend);
    found.push(...linesFrom(bytes, hashLineStart(digits)).map(parseHashLine));
    // A whole hash is there once.
    if (digits.length === HASH_DIGITS && found.length > 0) break;
  }
  return found;
}

const LINE_END = 0x0a;
/** Lines that one search gives at most: a long list of them means that too little was asked for. */
const LINES_MAX = 64;

/** The lines of sorted bytes that begin with a text, found without reading the others. */
export function linesFrom(sorted: Buffer, opening: string): string[] {
  const wanted = Buffer.from(opening, 'latin1');
  const lines: string[] = [];
  const startOfLine = (place: number): number =>
    place === 0 ? 0 : sorted.lastIndexOf(LINE_END, place - 1) + 1;
  // Where the first line begins that is not in front of the wanted text.
  const place = firstWhere(sorted.length, (at) => {
    const start = startOfLine(at);
    return wanted.compare(sorted, start, Math.min(start + wanted.length, sorted.length)) <= 0;
  });
  let at = place < sorted.length ? startOfLine(place) : sorted.length;
  while (
    lines.length < LINES_MAX &&
    at < sorted.length &&
    sorted.subarray(at, at + wanted.length).equals(wanted)
  ) {
    const next = sorted.indexOf(LINE_END, at);
    const end = next === -1 ? sorted.length : next;
    lines.push(sorted.toString('utf8', at, end));
    at = end + 1;
  }
  return lines;
}
