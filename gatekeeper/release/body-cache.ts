/** Bytes of bodies kept in memory when the operator sets nothing else. */
export const MEMORY_BYTES = 128 * 1024 * 1024;

/** Values by key, least recently used first out, bounded by the bytes that they hold. */
export class BodyCache<Value extends { readonly bytes: Buffer }> {
  readonly bytesMax: number;
  readonly #values = new Map<string, Value>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): Value | undefined {
    const value = this.#values.get(key);
    if (value === undefined) return undefined;
    this.#values.delete(key);
    this.#values.set(key, value);
    return value;
  }

  /** Keeps a value unless it alone is beyond the bound; the oldest ones make room. */
  set(key: string, value: Value): void {
    if (value.bytes.length > this.bytesMax) return;
    this.#drop(key);
    this.#values.set(key, value);
    this.#bytes += value.bytes.length;
    for (const oldest of this.#values.keys()) {
      if (this.#bytes <= this.bytesMax) return;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    const value = this.#values.get(key);
    if (value === undefined) return;
    this.#values.delete(key);
    this.#bytes -= value.bytes.length;
  }
}
