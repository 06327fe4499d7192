import type { Disk } from '../system/disk.ts';
import type { BodyCheck } from './body-check.ts';
import type { ProvenReport, ProvenVerdict } from './demand-checks.ts';
import { NOBODY } from './logged-check.ts';
import { NAME_ISSUER, type PlainReader, plainLines, READ_AS, READS } from './plain-verdict.ts';
import { type Witnessed, witnessWords } from './policy-check.ts';
import { COUNTED, type Counted, type ReleaseFault } from './release-fault.ts';
import { isReleaseFolder } from './release-head.ts';
import type { ReceiptReport } from './verify-receipt.ts';
import type { ReleaseReport } from './verify-release.ts';

/** Faults that are written out; the rest is counted. */
const LINES_MAX = 20;

interface Pinning {
  readonly pinned: boolean;
}

export interface FetchedFrom {
  readonly from: string;
  readonly facts: {
    readonly fetched_files: number;
    readonly fetched_bytes: number;
    /** Files that went on where an earlier run ended. */
    readonly resumed_files: number;
    readonly held_files: number;
    /** Descriptions that were read where clients read them. */
    readonly compared_descriptions: number;
    readonly seconds: number;
    /** The first files that were not given as listed. */
    readonly not_given: readonly string[];
  };
  readonly faults: readonly ReleaseFault[];
}

const STATUS = { fail: 'FAIL', pass: 'ok', not_applicable: '-' } as const;
/** The first line of a report about something else than a body: the verdict, and what to do where it is open. */
export function firstLine(
  verdict: 'verified' | 'failed' | 'issuer_unknown' | 'unlisted',
  target: string,
): string {
  if (verdict === 'verified' || verdict === 'failed') return `${READS[verdict]}  ${target}`;
  const list = 'pass the list that names its key, in a trust file or with --mirror';
  return `${READS.open}  ${target}: ${verdict === 'unlisted' ? list : NAME_ISSUER}`;
}

export function receiptText({ verdict, receipt, checks }: ReceiptReport): string {
  const said = receipt === null ? [] : Object.entries(receipt);
  return printed([
    firstLine(verdict, 'receipt'),
    ...said.map(([name, value]) => `  ${name} ${value}`),
    ...checks.map(({ check, status, detail }) => `  ${STATUS[status]} ${check}: ${detail}`),
  ]);
}

/** Six lines at most; with `verbose`, all checks behind them. */
export function bodyText(
  target: string,
  report: ProvenReport,
  { verbose = false, ...reader }: PlainReader & { readonly verbose?: boolean | undefined },
): string {
  const lines = plainLines(target, report, reader);
  return printed(verbose ? [...lines, ...checkLines(report.checks)] : lines);
}

/** Every check, those that fail first. */
function checkLines(checks: readonly BodyCheck[]): string[] {
  return (['fail', 'pass', 'not_applicable'] as const).flatMap((status) =>
    checks.filter((each) => each.status === status).map(checkLine),
  );
}

/** Bodies choose their own words: nothing of them may steer a terminal or pretend to be a line. */
export function printed(lines: readonly string[]): string {
  const plain = lines.map((line) =>
    line.replace(
      /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
      (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`,
    ),
  );
  return `${plain.join('\n')}\n`;
}

function checkLine({ check, where, status, detail }: BodyCheck): string {
  const subject = where === '' ? '' : `${where}  `;
  return `  ${STATUS[status].padEnd(5)} ${check.padEnd(13)} ${subject}${detail}`;
}

/** Who signed, and that anybody could have where no issuer was pinned. */
export function issuerLine(issuer: string | null, pinned: boolean): string {
  if (issuer === null) return '  It names no issuer';
  if (pinned) return `  Signed by ${issuer}, of the issuer that you named`;
  return `  Warning: signed by ${issuer}, whom you did not name: anybody can make a key`;
}

export function releaseText(
  target: string,
  report: ReleaseReport,
  { pinned, facts }: Pinning & { readonly facts?: FetchedFrom['facts'] | undefined },
): string {
  const { head } = report;
  const isPublic = report.part?.isPublic === true && report.verdict !== 'failed';
  return printed([
    firstLine(report.verdict, `${target}${isPublic ? ' (its public part only)' : ''}`),
    ...faultLines(report),
    ...(head === null ? [] : headLines(report, head)),
    ...evidenceLines(report.evidence),
    ...(facts === undefined ? [] : fetchedLines(facts)),
    issuerLine(head?.issuer_did ?? null, pinned),
  ]);
}

export function faultLines({ faults, faultCount }: Pick<ReleaseReport, 'faults' | 'faultCount'>) {
  const failed = faults.slice(0, LINES_MAX).map(({ file, where, detail }) => {
    const subject = where === '' ? file : `${file}  ${where}`;
    return `  FAIL  ${subject}  ${detail}`;
  });
  const rest = faultCount - failed.length;
  return rest > 0 ? [...failed, `        … and ${rest} more`] : failed;
}

/** The two notes that prove a fork. */
export function evidenceLines(notes: readonly string[]): string[] {
  return [
    ...(notes.length === 0 ? [] : ['  keep these two notes: they cannot both be of one log']),
    ...notes.flatMap((note) => note.split('\n').map((line) => `  | ${line}`)),
  ];
}

function fetchedLines({ not_given: notGiven, ...facts }: FetchedFrom['facts']): string[] {
  const { fetched_files: files, fetched_bytes: bytes, held_files: held, seconds } = facts;
  const compared = facts.compared_descriptions;
  const size = (bytes / 1e6).toFixed(1);
  return [
    `  fetched ${files} files (${size} MB) in ${seconds} s; ${held} were here; compared ${compared} descriptions with what is served`,
    ...notGiven.map((line) => `  the service did not give ${line}`),
  ];
}

/** Who else saw the log; that nobody is known to have is a warning. */
export function witnessLines(witnessed: readonly Witnessed[]): string[] {
  const nobody = `  Warning: its log is ${NOBODY} that you named: only its issuer says that everybody sees the same one`;
  return witnessed.length === 0 ? [nobody] : witnessed.map((each) => `  ${witnessWords(each)}`);
}

function headLines(report: ReleaseReport, head: NonNullable<ReleaseReport['head']>): string[] {
  const { bytes, ownTables, part, strayCount, strays, checked } = report;
  const megabytes = (bytes / 1e6).toFixed(1);
  return [
    `  release ${head.sequence} as of ${head.as_of}, published at ${head.base_url} (${megabytes} MB)`,
    ...(part?.isPublic === true
      ? [`  public part: ${part.held} of ${part.of} files; what is sold was not looked at`]
      : []),
    ...Object.entries(checked).map(
      ([name, count]) => `  ${String(count).padStart(9)}  ${COUNTED[name as Counted]}`,
    ),
    ...witnessLines(report.witnessed),
    ...(report.keys === null ? [] : [`  ${report.keys}`]),
    ...(strayCount === 0
      ? []
      : [`  note: ${strayCount} files or releases that nothing reads: ${strays[0]}`]),
    ...(ownTables
      ? []
      : [
          '  compiled from other tables than those of this program: what joins records or rows was not made again',
        ]),
  ];
}

export const EXIT = { verified: 0, failed: 1, undecided: 2 } as const;

const NO_RELEASE = 'a folder without "release.json" and without a "current" link to a release';

export interface VerifyOutcome {
  readonly exitCode: (typeof EXIT)[keyof typeof EXIT];
  readonly text: string;
}

/** The exit code of a verdict, which is that of how it reads. */
export function exitOf(verdict: ProvenVerdict): VerifyOutcome['exitCode'] {
  const read = READ_AS[verdict];
  return read === 'open' ? EXIT.undecided : EXIT[read];
}

export function jsonText(report: object): string {
  return `${JSON.stringify(report, null, 2)}\n`;
}

export function undecided(target: string, why: string, isJson: boolean): VerifyOutcome {
  const text = isJson
    ? jsonText({ target, verdict: 'undecided', reason: why })
    : `${READS.open}  ${target}: ${why}\n`;
  return { exitCode: EXIT.undecided, text };
}

/** Why a path cannot be judged as a release; null where it can. */
export function noRelease(disk: Disk, path: string): string | null {
  const kind = disk.entry(path)?.kind;
  if (kind === undefined) return 'no such file or folder';
  if (kind !== 'file' && isReleaseFolder(disk, path)) return null;
  return kind === 'folder' ? NO_RELEASE : 'a file, where a release or data folder is needed';
}
