import { closeSync, readSync } from 'node:fs';
import { decodeUtf8, JsonError, type JsonValue, parseJson } from '../../contract/strict-json.ts';
import { openPlain } from '../../verify/plain-file.ts';
import { jsonFaultText } from './fault-words.ts';

/** Longest line that is read; a longer one is reported and skipped, never held in memory. */
export const LINE_BYTES_MAX = 1_048_576;

const CHUNK_BYTES = 262_144;
const NEWLINE = 0x0a;

/** One line of a file without its line end; `bytes` is null for a line beyond the limit. */
export interface TextLine {
  readonly number: number;
  readonly bytes: Buffer | null;
  /** Where the line begins in the file. */
  readonly at: number;
}

/** How lines are read. */
interface ReadLinesOptions {
  readonly bytesMax?: number;
  /** Is given every byte of the file in order. */
  readonly onBytes?: (bytes: Uint8Array) => void;
}

/** Reads a file line by line in bounded memory. `bytes` is valid until the next line is asked for. */
export function* readLines(path: string, options: ReadLinesOptions = {}): Generator<TextLine> {
  const file = openPlain(path);
  try {
    yield* splitChunks(file, options);
  } finally {
    closeSync(file);
  }
}

function* splitChunks(file: number, options: ReadLinesOptions): Generator<TextLine> {
  const splitter = new LineSplitter(options);
  while (splitter.fill(file)) {
    for (let line = splitter.next(); line !== null; line = splitter.next()) yield line;
  }
  const last = splitter.rest();
  if (last !== null) yield last;
}

/** One buffer that holds the unfinished line and the chunk after it. */
class LineSplitter {
  readonly #bytesMax: number;
  readonly #buffer: Buffer;
  readonly #onBytes: ReadLinesOptions['onBytes'];
  /** Where the buffer begins in the file. */
  #base = 0;
  #start = 0;
  #end = 0;
  #number = 0;
  /** The unfinished line was already too long and its beginning is gone. */
  #overlong = false;

  constructor({ bytesMax = LINE_BYTES_MAX, onBytes }: ReadLinesOptions) {
    this.#bytesMax = bytesMax;
    this.#onBytes = onBytes;
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
    this.#base += this.#start;
    this.#start = 0;
    const read = readSync(file, this.#buffer, this.#end, CHUNK_BYTES, null);
    this.#onBytes?.(this.#buffer.subarray(this.#end, this.#end + read));
    this.#end += read;
    return read > 0;
  }

  next(): TextLine | null {
    const length = this.#buffer.subarray(this.#start, this.#end).indexOf(NEWLINE);
    if (length < 0) return null;
    const line = this.#take(length);
    this.#start += 1;
    return line;
  }

  /** The last line of a file that does not end in a line end. */
  rest(): TextLine | null {
    const length = this.#end - this.#start;
    return length > 0 || this.#overlong ? this.#take(length) : null;
  }

  #take(length: number): TextLine {
    const whole = !this.#overlong && length <= this.#bytesMax;
    const bytes = whole ? this.#buffer.subarray(this.#start, this.#start + length) : null;
    const at = this.#base + this.#start;
    this.#start += length;
    this.#number += 1;
    this.#overlong = false;
    return { number: this.#number, bytes, at };
  }
}

/** Where a line is no JSON, and why. */
export interface UnparsedLine {
  readonly field: string;
  readonly message: string;
}

/** The JSON value of a line that is to hold a reading or a row. */
export function parseLine(
  { bytes }: TextLine,
  stored: 'reading' | 'row',
): { readonly ok: JsonValue } | UnparsedLine {
  if (bytes === null) {
    const message = `longer than ${LINE_BYTES_MAX} bytes; store one ${stored} per line`;
    return { field: 'line', message };
  }
  try {
    return { ok: parseJson(decodeUtf8(bytes)) };
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return { field: error.path === '' ? 'line' : error.path, message: jsonFaultText(error) };
  }
}
