import { NOTE_CHARS_MAX, openNote } from '../contract/checkpoint.ts';
import { decodeUtf8 } from '../contract/strict-json.ts';
import { reason } from './body-check.ts';
import { type Disk, nodeDisk, readAll } from './disk.ts';
import { givenKeys } from './given-keys.ts';
import { trustedBy } from './key-trust.ts';
import { type PolicyTrust, witnessWords } from './policy-check.ts';
import { issuerLine, printed, VERDICT } from './report-text.ts';
import { type LogReport, verifyLog } from './verify-log.ts';
import { exitOf, jsonText, noRelease, undecided, type VerifyOutcome } from './verify-outcome.ts';

/** Faults that are written out; the rest is counted. */
const LINES_MAX = 20;

interface VerifyLogCommandOptions extends PolicyTrust {
  readonly issuer?: readonly string[];
  readonly root?: readonly string[];
  /** A list of issuer keys, or a release folder with one; it may know of a revocation that the release hides. */
  readonly keys?: string;
  readonly json?: boolean;
  /** File of a checkpoint that was saved before. */
  readonly since?: string;
  readonly disk?: Disk;
}

/** `verify --log DIR`: judges the whole log of a release, and that it grew from a checkpoint that was seen before. */
export function runVerifyLog(target: string, options: VerifyLogCommandOptions): VerifyOutcome {
  const { issuer, root, since, disk = nodeDisk, json: isJson = false, policy, now } = options;
  try {
    const trusted = trustedBy(issuer, root);
    const { keys } = options.keys === undefined ? {} : givenKeys(disk, options.keys, trusted);
    const known = keys === undefined ? {} : { keys };
    const demanded = {
      ...(policy === undefined ? {} : { policy }),
      ...(now === undefined ? {} : { now }),
    };
    const seen = since === undefined ? {} : { since: noteIn(since, disk) };
    const why = noRelease(disk, target);
    if (why !== null) return undecided(target, why, isJson);
    const report = verifyLog(target, { ...trusted, ...known, ...seen, ...demanded, disk });
    const pinned = trusted.trust !== 'any';
    const text = isJson
      ? jsonText({ target, issuer_pinned: pinned, ...report })
      : logText(target, report, pinned);
    return { exitCode: exitOf(report.verdict), text };
  } catch (error) {
    return undecided(target, reason(error), isJson);
  }
}

function noteIn(file: string, disk: Disk): string {
  if (disk.entry(file) === null)
    throw new RangeError(`Cannot read "${file}" of --since: no such file`);
  const note = decodeUtf8(readAll(disk.named(file), NOTE_CHARS_MAX));
  if (openNote(note) !== null) return note;
  throw new RangeError(
    `Cannot use "${file}" of --since: not the signed note of a checkpoint; save /log/checkpoint as it is`,
  );
}

/** The report on a log: the verdict, what failed by file, what was looked at, and the proof of a fork. */
function logText(target: string, report: LogReport, pinned: boolean): string {
  const { verdict, faults, faultCount, evidence } = report;
  const shown = faults.slice(0, LINES_MAX);
  const rest = faultCount - shown.length;
  return printed([
    `${VERDICT[verdict]}  log of ${target}`,
    ...shown.map(
      ({ file, where, detail }) => `  FAIL  ${[file, where].join('  ').trimEnd()}  ${detail}`,
    ),
    ...(rest > 0 ? [`        … and ${rest} more`] : []),
    `  ${report.entries} entries hashed again, ${report.checkpoints} checkpoints, each the start of the next`,
    `  ${report.records} published record hashes found in the log`,
    `  timestamps: ${report.anchors.confirmed} lead to a Bitcoin block (headers not checked), ${report.anchors.pending} pending`,
    ...report.witnessed.map((each) => `  ${witnessWords(each)}`),
    ...(evidence.length === 0 ? [] : ['  keep these two notes: they cannot both be of one log']),
    ...evidence.flatMap((note) => note.split('\n').map((line) => `  | ${line}`)),
    issuerLine(report.head?.issuer_did ?? null, pinned),
  ]);
}
