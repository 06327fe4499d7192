// What a report says to a person: one of three verdicts, and at most six lines. What is not shown is a warning. The checks behind
// it are for `--verbose` and `--json`.

import type { BodyCheck, BodyCheckName } from './body-check.ts';
import { type BodyAbout, type ProvenReport, type ProvenVerdict, TIME_OF } from './demand-checks.ts';
import { STILL } from './key-rule.ts';
import { NOBODY } from './logged-check.ts';
import { UNMET } from './policy-check.ts';

export const READS = {
  verified: 'verified',
  failed: 'failed',
  open: 'cannot be judged',
} as const;

/** Which of the three each verdict of a report is. */
export const READ_AS: Readonly<Record<ProvenVerdict, keyof typeof READS>> = {
  verified: 'verified',
  partly_verified: 'verified',
  failed: 'failed',
  issuer_unknown: 'open',
  unsigned: 'open',
  unproven: 'open',
};

/** What a failed check means, the one that matters most first. */
const MEANS_BY_CHECK: Readonly<Partial<Record<BodyCheckName, string>>> = {
  json: 'it cannot be read in one way only',
  content: 'it was altered after it was signed',
  record_hash: 'a reading in it was altered',
  citation: 'its signed statement does not hold for you',
  anchor: 'its key did not count when it was published',
  expect: 'it answers another request than yours',
  max_age: 'it is older than you allow',
  logged: 'its proof does not show that it was the answer',
  series: 'its rows are not those that were signed',
  request_time: 'its words of age do not follow from what was signed',
  inclusion: 'its proof does not hold',
  checkpoint: 'its proof does not hold',
  consistency: 'it contradicts itself',
};

export const NAME_ISSUER =
  'name the issuer that you trust, with --issuer or a trust file ("signalpress trust init URL")';

/** What is left open, and the one thing to do about it. */
const TO_DO = {
  issuer_unknown: NAME_ISSUER,
  unproven:
    'buy it again with its proof, or say with --expect that your request left it out (proof=0)',
  past: 'its key has ended, and nothing here shows that it is older; pass the log of its issuer, which may show it: --mirror FOLDER, kept by "signalpress verify URL --mirror FOLDER"',
  unsigned: 'get the signed body that it is a part of, and verify that',
} as const;

/** A part of a verdict that is good for less than the whole body; null for a whole one. */
export function verifiedOnly({ verdict, checks }: Pick<ProvenReport, 'verdict' | 'checks'>) {
  if (verdict !== 'partly_verified') return null;
  return checks.some(({ check }) => check === 'inclusion')
    ? 'the inclusion of its hash only'
    : 'its citation only';
}

/** The first line: the verdict, what it is about, and why or what to do. `named` is the target as its reader wrote it. */
export function verdictLine(named: string, report: ProvenReport): string {
  const { verdict, checks } = report;
  const read = READ_AS[verdict];
  if (read === 'verified') {
    const only = verifiedOnly(report);
    return `${READS.verified}${only === null ? '' : `: ${only}`}  ${named}`;
  }
  if (read === 'failed') return `${READS.failed}: ${meaningOf(worstOf(checks))}  ${named}`;
  const isPast = checks.some(({ check, status }) => check === 'anchor' && status !== 'pass');
  const todo = verdict === 'unsigned' && isPast ? 'past' : (verdict as keyof typeof TO_DO);
  return `${READS.open}  ${named}: ${TO_DO[todo]}`;
}

function meaningOf({ check, where, detail }: BodyCheck): string {
  if (where.endsWith('_citation.issuer_DID')) return 'its key is none that you trust for that time';
  if (detail.startsWith(UNMET)) return 'the witnesses that you demand have not seen it';
  return MEANS_BY_CHECK[check] ?? 'a check of it failed';
}

/** Members that are named, of those that do not agree with what is signed or with each other. */
const NAMED_MAX = 5;

function disagreeing(checks: readonly BodyCheck[]): string[] {
  const [, ...others] = failedOf(checks);
  if (others.length === 0) return [];
  const named = others
    .slice(0, NAMED_MAX)
    .map(({ check, where }) => (where === '' ? check : where));
  const more = others.length - named.length;
  return [
    `  Disagrees too: ${named.join(', ')}${more > 0 ? ` and ${more} more: see --verbose` : ''}`,
  ];
}

/** Failed checks, the one that says most first. */
function failedOf(checks: readonly BodyCheck[]): BodyCheck[] {
  const failed = checks.filter(({ status }) => status === 'fail');
  const names = Object.keys(MEANS_BY_CHECK);
  return failed.sort((a, b) => names.indexOf(a.check) - names.indexOf(b.check));
}

function worstOf(checks: readonly BodyCheck[]): BodyCheck {
  const [worst] = failedOf(checks);
  if (worst === undefined) throw new TypeError('Cannot tell why it failed: no check did');
  return worst;
}

export interface PlainReader {
  /** The issuers that the reader named. */
  readonly issuers: readonly string[];
  /** Whether the reader named anybody, be it by root keys. */
  readonly pinned: boolean;
  /** The trust file that names them; they stand in the command without one. */
  readonly namedBy?: string | undefined;
  /** Clock of the reader, milliseconds since 1970. */
  readonly now?: number | undefined;
}

/** The report on a body in at most six lines. */
export function plainLines(named: string, report: ProvenReport, reader: PlainReader): string[] {
  const first = verdictLine(named, report);
  const { verdict, checks, issuer } = report;
  if (verdict === 'failed') {
    const { check, where, detail } = worstOf(checks);
    const at = where === '' ? '' : ` at ${where}`;
    return [
      first,
      `  Do not rely on it. ${capital(check)}${at}: ${detail}`,
      ...disagreeing(checks),
      issuer === null ? '  It names nobody as its issuer' : `  It names as its issuer ${issuer}`,
    ];
  }
  const lines = [first, signerLine(report, reader), ...aboutLines(report), loggedLine(checks)];
  const warnings = warningsOf(report, reader);
  return warnings.length === 0 ? lines : [...lines, `  Warning: ${warnings.join('; ')}`];
}

function signerLine({ issuer }: ProvenReport, { issuers, pinned, namedBy }: PlainReader): string {
  if (issuer === null) return '  Warning: nobody signed all of it';
  if (!pinned)
    return `  Warning: signed by ${issuer}, whom you did not name: anybody can make a key`;
  const whose = issuers.includes(issuer) ? 'the issuer' : 'a key of the issuer';
  return `  Signed by ${issuer}, ${whose} that ${namedBy === undefined ? 'you named' : `"${namedBy}" names`}`;
}

/** Longest text of a body that is repeated. */
const QUOTED_MAX = 300;

function aboutLines({ about, checks, verdict }: ProvenReport): string[] {
  if (about === null) {
    const shown = checks.find(({ check, status }) => check === 'inclusion' && status === 'pass');
    if (shown !== undefined) return ['  Shows that a hash was published, not what it stands for'];
    return verdict === 'unsigned' ? [] : ['  Holds several answers; --verbose lists each'];
  }
  const { subject, fact, answers } = about;
  const said = subject === null ? fact : `${subject}: ${fact}`;
  const stated = said.length > QUOTED_MAX ? `${said.slice(0, QUOTED_MAX)} …` : said;
  const spoken = spokenIn(checks);
  return [
    `  States: ${stated}; ${ageText(about)}${spoken === null ? '' : `; ${spoken}`}`,
    answers === null
      ? '  Warning: it says of no request that it answers it'
      : `  Answers ${answerText(answers, checks)}`,
  ];
}

/** The request that it answers, and whether that is the one of its reader. */
function answerText(answers: string, checks: readonly BodyCheck[]): string {
  const isCompared = checks.some(({ check, status }) => check === 'expect' && status === 'pass');
  return isCompared
    ? `your request, GET ${answers}`
    : `GET ${answers}, which was not compared with your request (--expect)`;
}

/** When its words of age are of, such as "said fresh at T, 48 h ago by your clock"; null for a body without any. */
function spokenIn(checks: readonly BodyCheck[]): string | null {
  const words = checks.find(({ check, status }) => check === 'request_time' && status === 'pass');
  const [spoken = null] = words?.detail.split(';') ?? [];
  return spoken?.replace('the clock of the judge', 'your clock') ?? null;
}

function ageText({ observed_at, time_of, age_hours: age }: BodyAbout): string {
  if (observed_at === null) return 'no time of observation';
  const old =
    age === null ? '' : age < 0 ? ', still to come by your clock' : `, ${age} h ago by your clock`;
  return `${TIME_OF[time_of]} is of ${observed_at}${old}`;
}

function loggedLine(checks: readonly BodyCheck[]): string {
  const logged = checks.filter(({ check }) => check === 'logged' || check === 'checkpoint');
  const open = logged.find(({ status }) => status !== 'pass');
  if (open !== undefined) return `  Warning: not shown to be logged: ${open.detail}`;
  const [found, ...more] = new Set(logged.map(({ detail }) => detail));
  if (found === undefined) return '  Warning: not shown to be logged: it brings no proof of a log';
  return more.length === 0
    ? `  Logged: ${found}`
    : `  Logged: each of its ${logged.length} answers, by ${more.length + 1} proofs; --verbose lists them`;
}

/** Checks that have a line of their own, or say nothing where nothing is the matter. */
const TOLD: ReadonlySet<BodyCheckName> = new Set(['logged', 'checkpoint', 'cover', 'record_hash']);

function warningsOf({ checks, release, verdict }: ProvenReport, reader: PlainReader): string[] {
  const { now = Number.NaN } = reader;
  const unseen = checks.some(({ check, detail }) => check === 'logged' && detail.includes(NOBODY));
  const end = release?.valid_until ?? null;
  const isOver = end !== null && Date.parse(end) < now;
  const open = checks.filter(
    ({ check, where, status }) =>
      status === 'not_applicable' && !TOLD.has(check) && !where.endsWith('issuer_DID'),
  );
  const uncovered = checks.find(({ check, status }) => check === 'cover' && status !== 'pass');
  return [
    ...(verdict === 'unsigned' && uncovered !== undefined ? [uncovered.detail] : []),
    ...(unseen
      ? ['nobody else saw its log, so only its issuer says that all see the same one']
      : []),
    ...(spokenIn(checks)?.includes(' ago ') === true
      ? ['what it says of its age is of that time: ask again for the answer of now']
      : []),
    ...keyWarnings(checks),
    ...(isOver ? [`its release was valid until ${end}`] : []),
    // What to do about it stands in the first line.
    ...new Set(open.map(({ detail }) => detail.split('; pass ')[0] ?? '')),
  ];
}

/** Keys that have ended, whose bodies the log shows to be older. */
function keyWarnings(checks: readonly BodyCheck[]): string[] {
  return checks.flatMap(({ check, status, detail }) =>
    check === 'anchor' && status === 'pass' && detail.includes(STILL) ? [detail] : [],
  );
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1).replaceAll('_', ' ');
}
