import { closeSync, openSync, readSync } from 'node:fs';

/** Longest line that is read; a longer one is reported and skipped, never held in memory. */
export const LINE_BYTES_MAX = 1_048_576;

const CHUNK_BYTES = 262_144;
const NEWLINE = 0x0a;

/** One line of a file without its line end; `bytes` is null for a line beyond the limit. */
export interface Line {
  readonly number: number;
  readonly bytes: Uint8Array | null;
}

/** Reads a file line by line in bounded memory. `bytes` is valid until the next line is asked for. */
export function* readLines(path: string, bytesMax = LINE_BYTES_MAX): Generator<Line> {
  const file = openSync(path, 'r');
  try {
    yield* splitChunks(file, bytesMax);
  } finally {
    closeSync(file);
  }
}

function* splitChunks(file: number, bytesMax: number): Generator<Line> {
  const splitter = new LineSplitter(bytesMax);
  while (splitter.fill(file)) {
    for (let line = splitter.next(); line !== null; line = splitter.next()) yield line;
  }
  const last = splitter.rest();
  if (last !== null) yield last;
}

/** One buffer that holds the unfinished line and the chunk behind it. */
class LineSplitter {
  readonly #bytesMax: number;
  readonly #buffer: Buffer;
  #start = 0;
  #end = 0;
  #number = 0;
  /** The unfinished line was already too long and its beginning is gone. */
  #overlong = false;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
    this.#buffer = Buffer.allocUnsafe(bytesMax + CHUNK_BYTES);
  }

  /** Keeps what is unfinished, reads the next chunk; false at the end of the file. */
  fill(file: number): boolean {
    if (this.#end - this.#start > this.#bytesMax) {
      this.#overlong = true;
      this.#start = this.#end;
    }
    this.#buffer.copyWithin(0, this.#start, this.#end);
    this.#end -= this.#start;
    this.#start = 0;
    const read = readSync(file, this.#buffer, this.#end, CHUNK_BYTES, null);
    this.#end += read;
    return read > 0;
  }

  next(): Line | null {
    const length = this.#buffer.subarray(this.#start, this.#end).indexOf(NEWLINE);
    if (length < 0) return null;
    const line = this.#take(length);
    this.#start += 1;
    return line;
  }

  /** The last line of a file that does not end in a line end. */
  rest(): Line | null {
    const length = this.#end - this.#start;
    return length > 0 || this.#overlong ? this.#take(length) : null;
  }

  #take(length: number): Line {
    const whole = !this.#overlong && length <= this.#bytesMax;
    const bytes = whole ? this.#buffer.subarray(this.#start, this.#start + length) : null;
    this.#start += length;
    this.#number += 1;
    this.#overlong = false;
    return { number: this.#number, bytes };
  }
}
