import { LEAD_DIGITS, LEADS, type LogRun, logLineStart } from '../../contract/log-runs.ts';
import { FIRST_BYTES } from '../publish/hash-lines.ts';
import { findLine, textOrder } from '../publish/sorted-lines.ts';

/** Where the digits of the hash begin in a line of a run. */
export const HEX_AT = logLineStart('').length;
/** Hex digits of a hash. */
export const HEX_DIGITS = 64;
/** Where the position begins. */
export const POSITION_AT = HEX_AT + HEX_DIGITS + '",'.length;
/** How many leads begin with one byte. */
export const LEADS_OF_A_BYTE = LEADS / FIRST_BYTES;

/** Lines of the index of a log. */
export interface RunSource {
  readonly runs: readonly LogRun[];
  /** Lines of a run whose hash begins with a byte, in any order; valid until others are asked for. */
  lines(run: LogRun, first: number): Buffer;
}

/** Of sorted lines those with a lead from one on up to another, which is not included. */
export function linesBetween(lines: Buffer, from: number, to: number): Buffer {
  return lines.subarray(startOf(lines, from), startOf(lines, to));
}

function startOf(lines: Buffer, lead: number): number {
  if (lead === LEADS) return lines.length;
  const start = logLineStart(lead.toString(16).padStart(LEAD_DIGITS, '0'));
  return findLine({ bytes: lines, order: textOrder }, start).start;
}
