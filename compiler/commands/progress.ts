import type { CompileSummary, Progress } from '../compile.ts';
import type { VerifyProgress } from '../verify/verify-release.ts';
import { errorText } from './error-text.ts';

const BAR_CELLS = 28;
const STAGE_TEXT = { read: 'compiling', join: 'joining', publish: 'publishing' } as const;

/** Where progress goes: a terminal gets one moving line, anything else a line a stage. */
export interface Screen {
  readonly isTTY: boolean;
  write(text: string): void;
}

/** A reporter for one compile; call `done` when it ends. */
export function progressReporter(screen: Screen) {
  let stage = '';
  return {
    step(progress: Progress): void {
      if (screen.isTTY) screen.write(`\r\u001b[2K${barText(progress)}`);
      else if (progress.stage !== stage) screen.write(`${STAGE_TEXT[progress.stage]} …\n`);
      stage = progress.stage;
    },
    done(): void {
      if (screen.isTTY) screen.write('\r\u001b[2K');
    },
  };
}

function barText({ stage, done, total, label }: Progress): string {
  const share = stage === 'read' && total > 0 ? done / total : 1;
  const full = Math.round(share * BAR_CELLS);
  const bar = '█'.repeat(full) + '░'.repeat(BAR_CELLS - full);
  const percent = `${Math.floor(share * 100)}`.padStart(3);
  return `${STAGE_TEXT[stage].padEnd(10)} ${bar} ${percent} %  ${label}`;
}

/** Where there is no terminal: a line for each so many percent, but not more often than this. */
const STEP_PERCENT = 10;
const PAUSE_MS = 5_000;

/**
 * How far one verification is. A terminal gets a moving line, gone when the last file is looked at; anything else gets a line
 * now and then, and none of a short run. `clock` is in milliseconds.
 */
export function verifyProgress(screen: Screen, clock: () => number) {
  let [last, written] = [clock(), 0];
  return ({ done, total, label }: VerifyProgress): void => {
    const percent = total > 0 ? Math.floor((100 * done) / total) : 100;
    const isLast = label !== 'files';
    const line = isLast ? '' : `verifying ${String(percent).padStart(3)} %  ${done} files`;
    if (screen.isTTY) {
      screen.write(`\r\u001b[2K${line}`);
      return;
    }
    const now = clock();
    if (now - last < PAUSE_MS || (!isLast && percent < written + STEP_PERCENT)) return;
    screen.write(isLast ? `verifying ${label} …\n` : `${line}\n`);
    [last, written] = [now, percent];
  };
}

/** The closing words of a compile. `ms` is how long it took. */
export function summaryText(summary: CompileSummary, ms: number): string {
  const { release, folder, files, bytes } = summary;
  const { counts } = release;
  const number = (value: number): string => value.toLocaleString('en-US');
  const notes = [
    counts.revisions > 0 ? `${number(counts.revisions)} revised` : '',
    counts.repeats > 0 ? `${number(counts.repeats)} seen again` : '',
  ].filter((note) => note !== '');
  const tail = notes.length > 0 ? ` (${notes.join(', ')})` : '';
  return [
    `Release ${release.sequence} is published.`,
    `  readings  ${number(counts.readings)} of ${number(counts.entities)} series${tail}`,
    `  records   ${number(counts.records)}, bundles ${number(counts.bundles)}`,
    `  files     ${number(files)}, ${(bytes / 1e6).toFixed(1)} MB`,
    `  issuer    ${release.issuer_name}, ${release.issuer_did}`,
    `  as of     ${release.as_of}`,
    `  folder    ${folder}`,
    `  took      ${(ms / 1000).toFixed(1)} s`,
    ...rejectsText(summary),
    ...untidyText(summary.untidy),
  ].join('\n');
}

/** Warnings after a release that is published all the same. */
export function untidyText(untidy: readonly unknown[]): string[] {
  return untidy.map(
    (error) =>
      `Warning: published, but what the next compile needs could not be put away. ${errorText(error)}`,
  );
}

function rejectsText({ release, rejects }: CompileSummary): string[] {
  if (rejects === null) return [];
  const count = (release.counts.rejects ?? 0).toLocaleString('en-US');
  return [
    `Warning: bad lines left out: ${count}; read why in "${rejects}" and store them corrected`,
  ];
}
