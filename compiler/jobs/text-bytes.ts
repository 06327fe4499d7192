import { sharedBytes } from './shared-bytes.ts';

const BYTES_AT_FIRST = 262_144;
/** UTF-8 takes no more of one UTF-16 unit. */
const UNIT_BYTES_MAX = 3;

/** Texts as UTF-8, one behind the other in one memory that other threads can read, and that serves again once it is cleared. */
export class TextBytes {
  #memory = sharedBytes(0);
  #end = 0;

  /** Adds a text, or one that is UTF-8 already; the bytes of it are valid until the next one is added. */
  add(text: string | Uint8Array): Uint8Array {
    const start = this.#end;
    if (typeof text === 'string') {
      this.#makeRoom(text.length * UNIT_BYTES_MAX);
      this.#end += this.#memory.write(text, start, 'utf8');
    } else {
      this.#makeRoom(text.length);
      this.#memory.set(text, start);
      this.#end += text.length;
    }
    return this.#memory.subarray(start, this.#end);
  }

  /** All texts; valid until it is cleared. */
  all(): Uint8Array {
    return this.#memory.subarray(0, this.#end);
  }

  clear(): void {
    this.#end = 0;
  }

  #makeRoom(more: number): void {
    const { length } = this.#memory;
    if (this.#end + more <= length) return;
    const grown = sharedBytes(Math.max(BYTES_AT_FIRST, 2 * length, this.#end + more));
    grown.set(this.all());
    this.#memory = grown;
  }
}
