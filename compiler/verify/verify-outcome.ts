import type { ProvenVerdict } from './demand-checks.ts';
import type { Disk } from './disk.ts';
import { isReleaseFolder } from './release-root.ts';

/** What the exit code of `verify` says. */
export const EXIT = { verified: 0, failed: 1, undecided: 2 } as const;

const NO_RELEASE = 'a folder without "release.json" and without a "current" link to a release';

export interface VerifyOutcome {
  readonly exitCode: (typeof EXIT)[keyof typeof EXIT];
  readonly text: string;
}

/**
 * The exit code of a verdict: what nobody signed, or nobody knows who, or nothing shows to be logged, is not judged. A proof,
 * or a body of another issuer's form, is taken for what it is.
 */
export function exitOf(verdict: ProvenVerdict): VerifyOutcome['exitCode'] {
  if (verdict === 'partly_verified') return EXIT.verified;
  return verdict === 'verified' || verdict === 'failed' ? EXIT[verdict] : EXIT.undecided;
}

/** A report for machines. */
export function jsonText(report: object): string {
  return `${JSON.stringify(report, null, 2)}\n`;
}

/** The outcome for a target that nothing can be said of, and why. */
export function undecided(target: string, why: string, isJson: boolean): VerifyOutcome {
  const text = isJson
    ? jsonText({ target, verdict: 'undecided', reason: why })
    : `cannot be judged  ${target}\n  ${why}\n`;
  return { exitCode: EXIT.undecided, text };
}

/** Why a path cannot be judged as a release; null where it can. */
export function noRelease(disk: Disk, path: string): string | null {
  const kind = disk.entry(path)?.kind;
  if (kind === undefined) return 'no such file or folder';
  if (kind !== 'file' && isReleaseFolder(disk, path)) return null;
  return kind === 'folder' ? NO_RELEASE : 'a file, where a release or data folder is needed';
}
