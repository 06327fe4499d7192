import { grouped } from '../format/lists.ts';

/** Why a compile refuses its input; a closed list. */
type FaultCode =
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
export interface InputFault {
  readonly code: FaultCode;
  /** Path as the user knows it, relative to the snapshots folder. */
  readonly file: string;
  readonly line?: number;
  readonly field?: string;
  readonly message: string;
}

/** Most faults that a report spells out; the rest are counted. */
const FAULTS_SHOWN_MAX = 50;

/** Bad input of a compile: every fault gathered, nothing written. */
export class CompileError extends Error {
  readonly faults: readonly InputFault[];

  constructor(faults: readonly InputFault[]) {
    super(report(faults));
    this.name = 'CompileError';
    this.faults = faults;
  }
}

/** One fault as one line: file:line field: message. */
export function faultText(fault: InputFault): string {
  const line = fault.line === undefined ? '' : `:${fault.line}`;
  const field = fault.field === undefined ? '' : ` ${fault.field}:`;
  return `${fault.file}${line}${field} ${fault.message}`;
}

/** The order of a report: by file and line. */
export function byPlace(a: InputFault, b: InputFault): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  return (a.line ?? 0) - (b.line ?? 0);
}

function report(faults: readonly InputFault[]): string {
  const files = grouped(faults, ({ file }) => file);
  const isAll = faults.length <= FAULTS_SHOWN_MAX;
  const share = isAll ? faults.length : Math.max(1, Math.floor(FAULTS_SHOWN_MAX / files.size));
  const shown = [...files].slice(0, FAULTS_SHOWN_MAX);
  const others = files.size - shown.length;
  const count = faults.length === 1 ? '1 problem' : `${faults.length} problems`;
  return [
    `Cannot compile: ${count}, nothing was published`,
    ...shown.flatMap(([file, own]) => fileLines(file, own, share)),
    ...(others > 0 ? [`  … and in ${others} more files`] : []),
  ].join('\n');
}

/** Every file is named, so that all can be corrected before the next compile. */
function fileLines(file: string, faults: readonly InputFault[], share: number): string[] {
  const shown = faults.slice(0, share).map((fault) => `  ${faultText(fault)}`);
  const rest = faults.length - shown.length;
  return rest > 0 ? [...shown, `  … and ${rest} more in ${file}`] : shown;
}

/** The remembered state does not match the files; a full compile does not need it. */
export class ForgottenError extends Error {
  override readonly name = 'ForgottenError';
}
