import type { BodyCheck } from './body-check.ts';
import type { BodyReport } from './verify-body.ts';
import type { ReleaseReport } from './verify-release.ts';

/** Lines of one kind that are written out; the rest is counted. */
const LINES_MAX = 20;

interface Pinning {
  readonly pinned: boolean;
}

const STATUS = { fail: 'FAIL', pass: 'ok', not_applicable: '-' } as const;
const VERDICT = {
  verified: 'verified',
  failed: 'FAILED',
  unsigned: 'cannot be judged: not signed',
} as const;

/** The report on one body: the verdict, then one line a check, what failed first. */
export function bodyText(target: string, report: BodyReport, { pinned }: Pinning): string {
  const of = (status: BodyCheck['status']) =>
    report.checks.filter((each) => each.status === status).map(checkLine);
  const lines = [
    `${VERDICT[report.verdict]}  ${target}`,
    ...some(of('fail')),
    ...some(of('pass')),
    ...some(of('not_applicable')),
    issuerLine(report.issuer, pinned),
  ];
  return `${lines.join('\n')}\n`;
}

function checkLine({ check, where, status, detail }: BodyCheck): string {
  const subject = where === '' ? '' : `${where}  `;
  return `  ${STATUS[status].padEnd(5)} ${check.padEnd(13)} ${subject}${detail}`;
}

function some(lines: readonly string[]): string[] {
  const rest = lines.length - LINES_MAX;
  const shown = lines.slice(0, LINES_MAX);
  return rest > 0 ? [...shown, `        … and ${rest} more like these`] : shown;
}

function issuerLine(issuer: string | null, pinned: boolean): string {
  if (issuer === null) return '  issuer: none is named';
  if (pinned) return `  issuer: ${issuer}`;
  return `  issuer not pinned: pass --issuer ${issuer} to say whom you trust`;
}

/** The report on a release: the verdict, what failed by file, then what was looked at. */
export function releaseText(target: string, report: ReleaseReport, { pinned }: Pinning): string {
  const { head, faults, faultCount } = report;
  const failed = faults.slice(0, LINES_MAX).map(({ file, where, detail }) => {
    const subject = where === '' ? file : `${file}  ${where}`;
    return `  FAIL  ${subject}  ${detail}`;
  });
  const rest = faultCount - failed.length;
  const lines = [
    `${VERDICT[report.verdict]}  ${target}`,
    ...failed,
    ...(rest > 0 ? [`        … and ${rest} more`] : []),
    ...(head === null ? [] : headLines(report, head)),
    issuerLine(head?.issuer_did ?? null, pinned),
  ];
  return `${lines.join('\n')}\n`;
}

function headLines(report: ReleaseReport, head: NonNullable<ReleaseReport['head']>): string[] {
  const { files, bytes, records, signatures, ownTables } = report;
  const megabytes = (bytes / 1e6).toFixed(1);
  return [
    `  release ${head.sequence} as of ${head.as_of}, published at ${head.base_url}`,
    `  ${files} files (${megabytes} MB), ${records} records and ${signatures} signatures recomputed`,
    ...(ownTables ? [] : ['  compiled from other tables than those of this program']),
  ];
}
