import type { Command } from 'commander';
import type { CommandSettings } from '../commands/command-settings.ts';
import { grouped } from '../contract/grouped.ts';
import { archiveFolder, openArchive, READINGS_FOLDER } from '../fetch/archive.ts';
import { printed } from '../verify/report-text.ts';
import { EXIT, type VerifyOutcome } from '../verify/verify-outcome.ts';
import { type FileFinding, type ReplayReport, replay } from './replay.ts';

/** Findings of one kind that are written out; the rest is counted. */
const LINES_MAX = 20;

const HELP = `
Everything in the archive is imported again, into memory. Each file must come out as it is stored, byte for byte.

Exit codes:
  0  every stored file follows from the archive
  1  a file differs, a payload was altered or is missing, or this cannot run at all
  2  nothing differs, but some files are not shown: written by hand, of a payload that the archive
     lacks, or imported by another version of an importer
`;

interface ReplayFlags {
  readonly snapshots: string;
  readonly archive?: string;
}

/** Defines `replay`. */
export function defineReplay(command: Command, { print, exit }: CommandSettings): void {
  command
    .option('--snapshots <folder>', 'folder of batches', READINGS_FOLDER)
    .option('--archive <folder>', 'folder of the archive (default: "archive" below the snapshots)')
    .addHelpText('after', HELP)
    .action(({ snapshots, archive = archiveFolder(snapshots) }: ReplayFlags) => {
      const report = replay({ snapshots, archive: openArchive(archive) });
      print(replayText(report).trimEnd());
      exit(replayExit(report));
    });
}

/** What the exit code of a replay says. */
export function replayExit({ differs, damaged, unshown }: ReplayReport): VerifyOutcome['exitCode'] {
  if (differs.length > 0 || damaged.length > 0) return EXIT.failed;
  return unshown.length > 0 ? EXIT.undecided : EXIT.verified;
}

const VERDICT = {
  [EXIT.verified]: 'replay equal',
  [EXIT.failed]: 'replay DIFFERS',
  [EXIT.undecided]: 'replay equal as far as the archive goes',
} as const;

/** The report for people; the first file that differs comes first. */
export function replayText(report: ReplayReport): string {
  const { fetches, equal, differs, unshown, damaged, refused, waiting } = report;
  return printed([
    `${VERDICT[replayExit(report)]}: ${fetches} fetches imported again, ${equal} files the same`,
    ...some('DIFFERS', differs.toSorted(byPath).map(findingText)),
    ...some('DAMAGED', damaged),
    ...some('unshown', byReason(unshown.toSorted(byPath))),
    ...some('refused', refused),
    ...some('waiting', waiting),
  ]);
}

function byPath(a: FileFinding, b: FileFinding): number {
  return a.path < b.path ? -1 : 1;
}

function findingText({ path, line, reason }: FileFinding): string {
  return `${path}:${line}  ${reason}`;
}

/** One line for all files of one reason. */
function byReason(findings: readonly FileFinding[]): string[] {
  return [...grouped(findings, ({ reason }) => reason)].map(([reason, [first, ...others]]) => {
    const more = others.length === 0 ? '' : ` and ${others.length} more files`;
    return `${first.path}:${first.line}${more}  ${reason}`;
  });
}

function some(kind: string, lines: readonly string[]): string[] {
  const shown = lines.slice(0, LINES_MAX).map((line) => `  ${kind}  ${line}`);
  const rest = lines.length - shown.length;
  return rest > 0 ? [...shown, `           … and ${rest} more`] : shown;
}
