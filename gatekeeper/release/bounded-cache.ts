/** Bytes of bodies kept in memory when the operator sets nothing else. */
export const MEMORY_BYTES = 128 * 1024 * 1024;

interface Weighed<Value> {
  readonly value: Value;
  readonly bytes: number;
}

/** Values by key, least recently used first out, bounded by the bytes that they hold. */
export class BoundedCache<Key, Value> {
  readonly #bytesMax: number;
  readonly #values = new Map<Key, Weighed<Value>>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(key: Key): Value | undefined {
    const known = this.#values.get(key);
    if (known === undefined) return undefined;
    this.#values.delete(key);
    this.#values.set(key, known);
    return known.value;
  }

  /** Keeps a value of so many bytes unless it alone is beyond the bound; the oldest ones make room. */
  set(key: Key, value: Value, bytes: number): void {
    if (bytes > this.#bytesMax) return;
    this.#drop(key);
    this.#values.set(key, { value, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#values.keys()) {
      if (this.#bytes <= this.#bytesMax) return;
      this.#drop(oldest);
    }
  }

  #drop(key: Key): void {
    const known = this.#values.get(key);
    if (known === undefined) return;
    this.#values.delete(key);
    this.#bytes -= known.bytes;
  }
}
