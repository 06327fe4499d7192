import { defined } from '../../contract/defined.ts';
import { firstWhere } from '../../contract/lists.ts';
import { type LogRun, logLineText } from '../../contract/log-runs.ts';
import { byteAt, FIRST_BYTES } from '../publish/hash-lines.ts';
import { LineSpill } from '../publish/line-spill.ts';
import { endOf } from '../publish/sorted-lines.ts';
import { HEX_AT, POSITION_AT, type RunSource } from './run-lines.ts';

/** Of lines in memory, before they go to the disk. */
const HELD_BYTES_MAX = 4_000_000;
const COMMA = 0x2c;
const DIGIT_0 = 0x30;

/** Lines of some runs, in memory that does not grow. */
export class RunSpill implements RunSource {
  readonly runs: readonly LogRun[];
  readonly #lines: LineSpill;

  /** `folder` holds what is too much for the memory. */
  constructor(folder: string, runs: readonly LogRun[]) {
    this.runs = runs;
    const groupOf = (lines: Buffer, start: number): number =>
      this.#numberOf(positionAt(lines, start)) * FIRST_BYTES + byteAt(lines, start + HEX_AT);
    const form = { endOf, groupOf, groups: runs.length * FIRST_BYTES };
    this.#lines = new LineSpill(folder, form, HELD_BYTES_MAX);
  }

  /** Adds an entry, which is in one of the runs. */
  add(hex: string, position: number, facts: string): void {
    this.#lines.add(Buffer.from(logLineText(hex, position, facts)));
  }

  lines(run: LogRun, first: number): Buffer {
    return this.#lines.take(this.#numberOf(run.start) * FIRST_BYTES + first);
  }

  /** Number of the run that an entry belongs to. */
  #numberOf(position: number): number {
    const startsBehind = (at: number): boolean =>
      defined(this.runs[at], 'the run').start > position;
    return firstWhere(this.runs.length, startsBehind) - 1;
  }
}

/** The position that the line from a place on states. */
function positionAt(lines: Buffer, start: number): number {
  let position = 0;
  for (let at = start + POSITION_AT; lines[at] !== COMMA; at += 1) {
    position = 10 * position + (lines[at] ?? COMMA) - DIGIT_0;
  }
  return position;
}
