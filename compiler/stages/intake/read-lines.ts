import { closeSync, openSync, readSync } from 'node:fs';

/** Longest line that is read; a longer one is reported and skipped, never held in memory. */
export const LINE_BYTES_MAX = 1_048_576;

const CHUNK_BYTES = 262_144;
const NEWLINE = 0x0a;

/** One line of a file without its line end; `bytes` is null for a line beyond LINE_BYTES_MAX. */
export interface Line {
  readonly number: number;
  readonly bytes: Uint8Array | null;
}

/** Reads a file line by line in bounded memory. `bytes` is valid until the next line is asked for. */
export function* readLines(path: string): Generator<Line> {
  const file = openSync(path, 'r');
  try {
    yield* splitChunks(file);
  } finally {
    closeSync(file);
  }
}

function* splitChunks(file: number): Generator<Line> {
  const splitter = new LineSplitter();
  while (splitter.fill(file)) {
    for (let line = splitter.next(); line !== null; line = splitter.next()) yield line;
  }
  const last = splitter.rest();
  if (last !== null) yield last;
}

/** One buffer that holds the unfinished line and the chunk behind it. */
class LineSplitter {
  readonly #buffer = Buffer.allocUnsafe(LINE_BYTES_MAX + CHUNK_BYTES);
  #start = 0;
  #end = 0;
  #number = 0;
  /** The unfinished line was already too long and its beginning is gone. */
  #overlong = false;

  /** Keeps what is unfinished, reads the next chunk; false at the end of the file. */
  fill(file: number): boolean {
    if (this.#end - this.#start > LINE_BYTES_MAX) {
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
    const whole = !this.#overlong && length <= LINE_BYTES_MAX;
    const bytes = whole ? this.#buffer.subarray(this.#start, this.#start + length) : null;
    this.#start += length;
    this.#number += 1;
    this.#overlong = false;
    return { number: this.#number, bytes };
  }
}
