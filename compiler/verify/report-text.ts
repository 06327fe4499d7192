import type { BodyCheck } from './body-check.ts';
import type { ProvenReport, ProvenVerdict } from './demand-checks.ts';
import type { Disk } from './disk.ts';
import { NOBODY } from './logged-check.ts';
import { NAME_ISSUER, type PlainReader, plainLines, READ_AS, READS } from './plain-verdict.ts';
import { type Witnessed, witnessWords } from './policy-check.ts';
import { COUNTED, type Counted, type ReleaseFault } from './release-fault.ts';
import { isReleaseFolder } from './release-head.ts';
import type { ReceiptReport } from './verify-receipt.ts';
import type { ReleaseReport } from './verify-release.ts';

/** Lines of one kind that are written out; the rest is counted. */
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
/** How a report about something else than a body reads. */
const VERDICT = {
  verified: READS.verified,
  failed: READS.failed,
  issuer_unknown: READS.open,
  unlisted: READS.open,
} as const;

/** Its first line: the verdict, and what to do where it is open. */
export function firstLine(verdict: keyof typeof VERDICT, target: string): string {
  const todo = {
    issuer_unknown: `: ${NAME_ISSUER}`,
    unlisted: ': pass the list that names its key, in a trust file or with --mirror',
  };
  const tail = verdict in todo ? todo[verdict as keyof typeof todo] : '';
  return `${VERDICT[verdict]}  ${target}${tail}`;
}

const SHOWN: Readonly<Record<BodyCheck['check'], string>> = {
  json: 'readable',
  citation: 'the statement, its hash, its signature and its key belong together',
  anchor: 'the key that signed was valid when the release was published',
  cover: 'the citation is about the whole body',
  content: 'the signed content hash is the hash of this body',
  record_hash: 'recomputed from the hash core',
  series: 'the rows are the end of the signed chain',
  consistency: 'what the body says twice agrees',
  request_time: 'age and freshness are those of the moment that it names',
  inclusion: 'the proof leads from the hash to the root',
  checkpoint: 'the note states the tree of the proof, signed by a key that is known',
  logged: 'the proof that came with it leads to a release in the log',
  echo: 'words of the request',
  expect: 'the body answers the request that was expected',
  max_age: 'as young as demanded',
};

/** Checks whose detail is what they have shown. */
const SAYS_ITSELF: ReadonlySet<BodyCheck['check']> = new Set([
  'request_time',
  'logged',
  'expect',
  'max_age',
]);

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

function checkLines(checks: readonly BodyCheck[]): string[] {
  const of = (status: BodyCheck['status']) =>
    checks.filter((each) => each.status === status && !isNoise(each));
  const broken = new Set(of('fail').map(({ check }) => check));
  const shown = ({ check, detail }: BodyCheck): string => {
    if (SAYS_ITSELF.has(check)) return detail;
    return broken.has(check) ? 'the rest of it passed' : SHOWN[check];
  };
  return [
    ...some(of('fail').map(checkLine)),
    ...grouped(of('pass'), shown),
    ...grouped(of('not_applicable'), ({ detail }) => detail),
  ];
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

/** Links of lineage have a check of their own, and a cover only tells when there is none. */
function isNoise({ check, where, status }: BodyCheck): boolean {
  if (check === 'cover') return status === 'pass';
  return check === 'record_hash' && status !== 'fail' && where.includes('data_lineage.');
}

function checkLine({ check, where, status, detail }: BodyCheck): string {
  const subject = where === '' ? '' : `${where}  `;
  return `  ${STATUS[status].padEnd(5)} ${check.padEnd(13)} ${subject}${detail}`;
}

function grouped(checks: readonly BodyCheck[], say: (check: BodyCheck) => string): string[] {
  const groups = new Map<string, BodyCheck[]>();
  for (const each of checks) {
    const key = `${each.check} ${say(each)}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [each]);
    else group.push(each);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const count = group.length > 1 ? `${group.length} × ` : '';
    return [checkLine({ ...first, where: '', detail: count + say(first) })];
  });
}

function some(lines: readonly string[]): string[] {
  const rest = lines.length - LINES_MAX;
  const shown = lines.slice(0, LINES_MAX);
  return rest > 0 ? [...shown, `        … and ${rest} more like these`] : shown;
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
