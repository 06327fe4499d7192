import { appendFileSync, closeSync, mkdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { openPlain } from '../system/plain-file.ts';
import { ReusedBytes } from './reused-bytes.ts';

const ROOM_AT_FIRST = 32_768;
/** Of a group at a time; no line is as long. */
const PIECE_BYTES = 2_097_152;
const NEWLINE = 0x0a;

/** How lines stand in bytes, and in which groups. */
interface LineForm {
  /** Where the line that begins at a place ends. */
  readonly endOf: (bytes: Buffer, start: number) => number;
  /** The group of that line, a number below `groups`. */
  readonly groupOf: (bytes: Buffer, start: number) => number;
  readonly groups: number;
}

/** Lines by their groups, in memory that does not grow. */
export class LineSpill {
  readonly #folder: string;
  readonly #form: LineForm;
  readonly #bytesMax: number;
  #held = Buffer.alloc(0);
  /** Lines of each group are put together here; then it is what is held. */
  #spare = Buffer.alloc(0);
  #length = 0;
  /** Where the lines of each group end in what is held, as long as they stand together. */
  #ends: Float64Array | null = null;
  /** Groups of which lines went to the disk. */
  readonly #spilt = new Set<number>();
  readonly #taken = new ReusedBytes();

  /** What is more than `bytesMax` goes to the disk, into `folder`. */
  constructor(folder: string, form: LineForm, bytesMax: number) {
    this.#folder = folder;
    this.#form = form;
    this.#bytesMax = bytesMax;
  }

  /** Adds whole lines. */
  add(lines: Uint8Array): void {
    if (this.#length > 0 && this.#length + lines.length > this.#bytesMax) this.#flush();
    this.#makeRoom(this.#length + lines.length);
    this.#held.set(lines, this.#length);
    this.#length += lines.length;
    this.#ends = null;
  }

  /** All lines of a group in the order in which they were added; valid until others are taken or one is added. */
  take(group: number): Buffer {
    const held = this.#heldOf(group);
    return this.#spilt.has(group) ? this.#taken.file(this.#pathOf(group), held) : held;
  }

  /** The same, some lines at a time, of a group of lines of text that may be too long for the memory. */
  *pieces(group: number): Generator<Buffer> {
    if (this.#spilt.has(group)) yield* piecesOf(this.#pathOf(group));
    yield this.#heldOf(group);
  }

  /** File of the lines of a group that are not held; there is none where all are. Lines in it come before those that are held. */
  #pathOf(group: number): string {
    return join(this.#folder, String(group));
  }

  /** Lines of a group that are held; valid until one is added. */
  #heldOf(group: number): Buffer {
    this.#ends ??= this.#arrange();
    const from = group === 0 ? 0 : this.#ends[group - 1];
    return this.#held.subarray(from, this.#ends[group]);
  }

  #arrange(): Float64Array {
    const lines = this.#held.subarray(0, this.#length);
    if (this.#spare.length < lines.length) this.#spare = Buffer.allocUnsafe(this.#held.length);
    const ends = this.#starts(lines);
    for (let at = 0; at < lines.length; ) {
      const end = this.#form.endOf(lines, at);
      const group = this.#form.groupOf(lines, at);
      const to = ends[group] ?? 0;
      ends[group] = to + lines.copy(this.#spare, to, at, end);
      at = end;
    }
    [this.#held, this.#spare] = [this.#spare, this.#held];
    return ends;
  }

  /** Where the lines of each group are to begin. */
  #starts(lines: Buffer): Float64Array {
    const { endOf, groupOf, groups } = this.#form;
    const starts = new Float64Array(groups + 1);
    for (let at = 0; at < lines.length; ) {
      const end = endOf(lines, at);
      const group = groupOf(lines, at);
      if (!(group >= 0 && group < groups))
        throw new RangeError(`Cannot group a line: ${group} is no group`);
      starts[group + 1] = (starts[group + 1] ?? 0) + end - at;
      at = end;
    }
    for (let group = 1; group < starts.length; group += 1) {
      starts[group] = (starts[group] ?? 0) + (starts[group - 1] ?? 0);
    }
    return starts;
  }

  #flush(): void {
    mkdirSync(this.#folder, { recursive: true });
    for (let group = 0; group < this.#form.groups; group += 1) {
      const lines = this.#heldOf(group);
      if (lines.length === 0) continue;
      appendFileSync(this.#pathOf(group), lines);
      this.#spilt.add(group);
    }
    this.#length = 0;
    // Room that one long piece took is not kept.
    if (this.#held.length > this.#bytesMax) {
      this.#held = Buffer.alloc(0);
      this.#spare = Buffer.alloc(0);
    }
  }

  #makeRoom(needed: number): void {
    const { length } = this.#held;
    if (needed <= length) return;
    const doubled = Math.min(this.#bytesMax, 2 * length);
    const grown = Buffer.allocUnsafe(Math.max(ROOM_AT_FIRST, doubled, needed));
    this.#held.copy(grown, 0, 0, this.#length);
    this.#held = grown;
  }
}

/** Whole lines of a file, each piece valid until the next one is asked for. */
function* piecesOf(path: string): Generator<Buffer> {
  const file = openPlain(path);
  const room = Buffer.allocUnsafe(PIECE_BYTES);
  try {
    for (let at = 0; ; ) {
      const piece = room.subarray(0, readSync(file, room, 0, room.length, at));
      const whole = piece.lastIndexOf(NEWLINE) + 1;
      if (whole === 0) return;
      yield piece.subarray(0, whole);
      at += whole;
    }
  } finally {
    closeSync(file);
  }
}
