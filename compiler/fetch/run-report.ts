import { defined } from '../contract/defined.ts';
import type { RunStatus, SourceStatus } from '../contract/run-status.ts';
import { NO_SOURCE_STATUS } from './run-status.ts';
import type { SourceReport, StepReport } from './sources-runner.ts';

/** Exit codes of `fetch` and `run`. */
export const RUN_EXIT = { well: 0, failed: 1, partly: 3 } as const;
const ERROR_CHARS_MAX = 160;

/** What a step did, a line for each thing worth telling; nothing where nothing was done. */
export function stepText({ sources, settled, release, status }: StepReport): string[] {
  const { last_error, is_due } = status.compile;
  return [
    ...sources.flatMap(sourceText),
    ...(settled > 0 ? [`${settled} revised readings that waited for this hour are stored`] : []),
    ...(release === null ? [] : [`Release ${release} is published`]),
    ...(is_due && last_error !== null ? [`Nothing was published: ${last_error}`] : []),
  ];
}

function sourceText({ outcome, taken, failure }: SourceReport): string[] {
  const { source, answered, changed, remarks, isCut } = outcome;
  const rows = taken.reduce((sum, one) => sum + one.rows, 0);
  const waiting = taken.reduce((sum, one) => sum + one.waiting, 0);
  const waits = waiting === 0 ? '' : `, ${waiting} revised wait for the next hour`;
  const skipped = taken.flatMap((one) => one.skipped).reduce((sum, one) => sum + one.count, 0);
  const skips = skipped === 0 ? '' : `, ${skipped} skipped`;
  return [
    `${source}: ${answered} answers, ${changed} changed, ${rows} rows${waits}${skips}`,
    ...[...remarks, ...taken.flatMap((one) => one.remarks)].map((text) => `  note: ${text}`),
    ...(isCut ? ['  cut short; it goes on next time'] : []),
    ...(failure === null || isCut ? [] : [`  FAILED: ${failure}`]),
  ];
}

/** How every source stands, as a table. */
export function statusTable(status: RunStatus, ids: readonly string[]): string {
  const head = ['source', 'state', 'last success', 'last change', 'next due', 'failures', 'error'];
  const rows = ids.map((id) => statusRow(id, status.sources[id] ?? NO_SOURCE_STATUS));
  return tableText([head, ...rows]);
}

function statusRow(id: string, own: SourceStatus): string[] {
  const { last_success, last_change, next_due, consecutive_failures, last_error } = own;
  const error = (last_error ?? '').replace(/\s+/g, ' ');
  const isLong = error.length > ERROR_CHARS_MAX;
  return [
    id,
    stateOf(own),
    last_success ?? '-',
    last_change ?? '-',
    next_due ?? 'now',
    String(consecutive_failures),
    isLong ? `${error.slice(0, ERROR_CHARS_MAX)}…` : error,
  ];
}

function stateOf({ last_attempt, consecutive_failures, waiting }: SourceStatus): string {
  if (last_attempt === null) return 'new';
  if (consecutive_failures > 0) return 'FAILING';
  return waiting > 0 ? `ok, ${waiting} wait` : 'ok';
}

/** Columns of text, two blanks between them. */
export function tableText(rows: readonly (readonly string[])[]): string {
  const width = (at: number): number =>
    Math.max(...rows.map((row) => defined(row[at], 'the cell').length));
  const line = (row: readonly string[]): string =>
    row.map((text, at) => text.padEnd(width(at))).join('  ');
  return rows.map((row) => line(row).trimEnd()).join('\n');
}

/** 0 when all is well, 3 when some source fails and the others are published, 1 when nothing is. */
export function exitCodeOf({ sources, compile }: RunStatus, ids: readonly string[]): number {
  const failing = ids.filter((id) => (sources[id]?.consecutive_failures ?? 0) > 0);
  if (compile.last_error !== null || (ids.length > 0 && failing.length === ids.length)) {
    return RUN_EXIT.failed;
  }
  return failing.length > 0 ? RUN_EXIT.partly : RUN_EXIT.well;
}
