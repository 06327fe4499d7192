import type { LineSink } from './sorted-lines.ts';

/** Room for what is added. */
const ROOM_BYTES = 1 << 16;
const UTF8_BYTES_MAX = 3;

/** Edited lines as one piece of memory, which serves for one text after the other. */
export class GatheredLines implements LineSink {
  /** How the added lines become bytes. */
  readonly #encoding: 'utf8' | 'latin1';
  #bytes: Buffer;
  #length = 0;

  /** `expected` is about how many bytes are gathered at once. */
  constructor(encoding: 'utf8' | 'latin1', expected = 0) {
    this.#encoding = encoding;
    this.#bytes = Buffer.allocUnsafe(expected + ROOM_BYTES);
  }

  keep(bytes: Buffer, from: number, to: number): void {
    this.#makeRoom(to - from);
    this.#length += bytes.copy(this.#bytes, this.#length, from, to);
  }

  drop(): void {}

  add(line: string): void {
    this.#makeRoom(line.length * UTF8_BYTES_MAX);
    this.#length += this.#bytes.write(line, this.#length, this.#encoding);
  }

  /** What was gathered since the last time; valid until more is gathered. */
  take(): Buffer {
    const taken = this.#bytes.subarray(0, this.#length);
    this.#length = 0;
    return taken;
  }

  #makeRoom(more: number): void {
    const needed = this.#length + more;
    if (needed > this.#bytes.length) this.#grow(Math.max(needed, 2 * this.#bytes.length));
  }

  #grow(size: number): void {
    const grown = Buffer.allocUnsafe(size);
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}
