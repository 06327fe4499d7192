/** Why a compile refuses its input; a closed list. */
export type ProblemCode =
  | 'no_snapshots'
  | 'bad_name'
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
export const PROBLEMS_SHOWN_MAX = 50;

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

function report(problems: readonly Problem[]): string {
  const shown = problems.slice(0, PROBLEMS_SHOWN_MAX).map((problem) => `  ${problemText(problem)}`);
  const rest = problems.length - shown.length;
  const tail = rest > 0 ? [`  … and ${rest} more`] : [];
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
  return [`Cannot compile: ${count}, nothing was published`, ...shown, ...tail].join('\n');
}
