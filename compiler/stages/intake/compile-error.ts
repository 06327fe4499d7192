import { grouped } from '../../contract/grouped.ts';

/** Why a compile refuses its input; a closed list. */
type ProblemCode =
  | 'no_snapshots'
  | 'bad_name'
  | 'bad_catalog'
  | 'bad_line'
  | 'bad_field'
  | 'unknown_entity'
  | 'foreign_unit'
  | 'conflict'
  | 'too_many_readings'
  | 'too_many_rejects'
  | 'bad_setting'
  | 'cannot_publish'
  | 'log_refused';

/** One thing that is wrong, with the place to look. */
export interface Problem {
  readonly code: ProblemCode;
  /** Path as the user knows it, relative to the snapshots folder. */
  readonly file: string;
  readonly line?: number;
  readonly field?: string;
  readonly message: string;
}

/** Most problems that a report spells out; the rest are counted. */
const PROBLEMS_SHOWN_MAX = 50;

/** Bad input of a compile: every problem gathered, nothing written. */
export class CompileError extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(report(problems));
    this.name = 'CompileError';
    this.problems = problems;
  }
}

/** One problem as one line: file:line field: message. */
export function problemText(problem: Problem): string {
  const line = problem.line === undefined ? '' : `:${problem.line}`;
  const field = problem.field === undefined ? '' : ` ${problem.field}:`;
  return `${problem.file}${line}${field} ${problem.message}`;
}

/** The order of a report: by file and line. */
export function byPlace(a: Problem, b: Problem): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  return (a.line ?? 0) - (b.line ?? 0);
}

function report(problems: readonly Problem[]): string {
  const files = grouped(problems, ({ file }) => file);
  const isAll = problems.length <= PROBLEMS_SHOWN_MAX;
  const share = isAll ? problems.length : Math.max(1, Math.floor(PROBLEMS_SHOWN_MAX / files.size));
  const shown = [...files].slice(0, PROBLEMS_SHOWN_MAX);
  const others = files.size - shown.length;
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
  return [
    `Cannot compile: ${count}, nothing was published`,
    ...shown.flatMap(([file, own]) => fileLines(file, own, share)),
    ...(others > 0 ? [`  … and in ${others} more files`] : []),
  ].join('\n');
}

/** Every file is named, so that all can be corrected before the next compile. */
function fileLines(file: string, problems: readonly Problem[], share: number): string[] {
  const shown = problems.slice(0, share).map((problem) => `  ${problemText(problem)}`);
  const rest = problems.length - shown.length;
  return rest > 0 ? [...shown, `  … and ${rest} more in ${file}`] : shown;
}
