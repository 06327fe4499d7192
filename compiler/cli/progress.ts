import type { Progress } from '../publish/publish-run.ts';
import { CHANGE_KINDS, type ChangeCounts, type ChangeKind } from '../release/catalog-changes.ts';
import type { Screen } from '../system/command-settings.ts';
import { errorText } from '../system/error-text.ts';
import type { VerifyProgress } from '../verify/verify-release.ts';
import type { CompileSummary } from './compile.ts';

const BAR_CELLS = 28;
const STAGE_TEXT = { read: 'compiling', join: 'joining', publish: 'publishing' } as const;

/** A reporter for one compile; call `done` when it ends. */
export function progressReporter(screen: Screen, clock: () => number) {
  let stage = '';
  let written = 0;
  return {
    step(progress: Progress): void {
      if (screen.isTTY) screen.write(`\r\u001b[2K${barText(progress)}`);
      else if (progress.stage !== stage) screen.write(`${STAGE_TEXT[progress.stage]} …\n`);
      else if (clock() - written < PAUSE_MS) return;
      else screen.write(`${STAGE_TEXT[stage]} ${countText(progress)}\n`);
      stage = progress.stage;
      written = clock();
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
  return `${STAGE_TEXT[stage].padEnd(10)} ${bar} ${percent} %  ${countText({ stage, done, total, label })}`;
}

function countText({ stage, done, total, label }: Progress): string {
  return stage === 'read' ? `${done} of ${total}  ${label}` : label;
}

/** Where there is no terminal: a line for each so many percent, but not more often than this. */
const STEP_PERCENT = 10;
const PAUSE_MS = 5_000;
const VERBS: Readonly<Record<string, string>> = { files: 'verifying', fetching: 'fetching' };

/**
 * How far one verification is. A terminal gets a moving line, gone when the last file is looked at; anything else gets a line
 * now and then, and none of a short run. `clock` is in milliseconds.
 */
export function verifyProgress(screen: Screen, clock: () => number) {
  let [last, written] = [clock(), 0];
  return ({ done, total, label }: VerifyProgress): void => {
    const percent = total > 0 ? Math.floor((100 * done) / total) : 100;
    const verb = VERBS[label];
    const isLast = verb === undefined;
    const line = isLast
      ? ''
      : `${verb} ${String(percent).padStart(3)} %  ${done} of ${total} files`;
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

const NAMES_SHOWN_MAX = 5;
const CHANGE_TEXT: Readonly<Record<ChangeKind, string>> = {
  new: 'new',
  newer: 'with a new reading',
  revised: 'revised',
  older: 'back at an earlier reading',
  gone: 'gone',
};

/** The closing words of a compile. `ms` is how long it took. */
export function summaryText(summary: CompileSummary, ms: number): string {
  const { release, folder, files, bytes, changes } = summary;
  const { counts } = release;
  const notes = [
    counts.revisions > 0 ? `${number(counts.revisions)} revised` : '',
    counts.repeats > 0 ? `${number(counts.repeats)} seen again` : '',
  ].filter((note) => note !== '');
  const tail = notes.length > 0 ? ` (${notes.join(', ')})` : '';
  return [
    `Release ${release.sequence} is published.`,
    `  readings  ${number(counts.readings)} of ${number(counts.entities)} series${tail}`,
    `  records   ${number(counts.records)}, bundles ${number(counts.bundles)}`,
    `  changed   ${changes === null ? 'not known: the previous release is damaged' : changesText(changes)}`,
    `  files     ${number(files)}, ${(bytes / 1e6).toFixed(1)} MB`,
    `  issuer    ${release.issuer_name}, ${release.issuer_did}`,
    `  as of     ${release.as_of}`,
    `  folder    ${folder}`,
    `  took      ${(ms / 1000).toFixed(1)} s`,
    ...overlapText(summary),
    ...rejectsText(summary),
    ...acceptedText(summary.catalogChanges),
    ...changedText(summary.changed),
    ...summary.keyWarnings,
    ...cleanupFailuresText(summary.cleanupFailures),
  ].join('\n');
}

function overlapText({ overlapSigned }: CompileSummary): string[] {
  if (overlapSigned === null) return [];
  const unused = 'the overlap key is not valid at this time and signed nothing: leave it out';
  return [`  log       ${overlapSigned ? 'signed by the overlap key too' : unused}`];
}

function number(value: number): string {
  return value.toLocaleString('en-US');
}

export function changesText(changes: ChangeCounts): string {
  const kinds = CHANGE_KINDS.filter((kind) => changes[kind] > 0);
  const parts = kinds.map((kind, at) => {
    const count = changes[kind];
    const subject = at > 0 ? '' : count === 1 ? ' record' : ' records';
    return `${number(count)}${subject} ${CHANGE_TEXT[kind]}`;
  });
  return parts.length === 0 ? 'no record' : parts.join(', ');
}

function acceptedText(changes: readonly string[]): string[] {
  if (changes.length === 0) return [];
  return ['Accepted: the catalogue changes what was sold', ...changes.map((text) => `  ${text}`)];
}

function changedText(changed: readonly string[]): string[] {
  if (changed.length === 0) return [];
  const names = changed.slice(0, NAMES_SHOWN_MAX).map((name) => `"${name}"`);
  const rest = changed.length - names.length;
  const list = rest > 0 ? `${names.join(', ')} and ${number(rest)} more` : names.join(', ');
  return [
    `Warning: snapshot files changed after an earlier compile read them: ${list}; this release holds what they hold now. Store a correction in a new batch`,
  ];
}

export function cleanupFailuresText(cleanupFailures: readonly unknown[]): string[] {
  return cleanupFailures.map(
    (error) =>
      `Warning: published, but what the next compile needs could not be saved. ${errorText(error)}`,
  );
}

function rejectsText({ release, rejects }: CompileSummary): string[] {
  if (rejects === null) return [];
  const count = (release.counts.rejects ?? 0).toLocaleString('en-US');
  return [
    `Warning: bad lines left out: ${count}; "${rejects}" says why; correct them and store them again`,
  ];
}
