const BYTES_AT_FIRST = 262_144;
/** UTF-8 takes no more of one UTF-16 unit. */
const UNIT_BYTES_MAX = 3;

/** Texts as UTF-8, one behind the other in one memory of their own, which can be given to another thread without a copy. */
export class TextBytes {
  #memory = Buffer.allocUnsafeSlow(0);
  #end = 0;

  /** Adds a text; the bytes of it are valid until the next one is added. */
  add(text: string): Uint8Array {
    this.#makeRoom(text.length * UNIT_BYTES_MAX);
    const start = this.#end;
    this.#end += this.#memory.write(text, start, 'utf8');
    return this.#memory.subarray(start, this.#end);
  }

  all(): Uint8Array<ArrayBuffer> {
    return this.#memory.subarray(0, this.#end);
  }

  #makeRoom(more: number): void {
    const { length } = this.#memory;
    if (this.#end + more <= length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(BYTES_AT_FIRST, 2 * length, this.#end + more));
    grown.set(this.all());
    this.#memory = grown;
  }
}
