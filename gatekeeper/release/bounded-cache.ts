import { AgedMap } from '../system/bounded-map.ts';

/** Bytes of bodies kept in memory when the operator sets nothing else; the system keeps the files that are read often. */
export const MEMORY_BYTES = 32 * 1024 * 1024;

interface Weighed<Value> {
  readonly value: Value;
  readonly bytes: number;
}

/** Values by key, least recently used first out, bounded by the bytes that they hold. */
export class BoundedCache<Key, Value> {
  readonly #bytesMax: number;
  readonly #values = new AgedMap<Key, Weighed<Value>>();
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
    this.#values.set(key, known);
    return known.value;
  }

  /** Keeps a value of so many bytes unless it alone is beyond the bound; the oldest ones make room. */
  set(key: Key, value: Value, bytes: number): void {
    if (bytes > this.#bytesMax) return;
    this.#bytes += bytes - (this.#values.get(key)?.bytes ?? 0);
    this.#values.set(key, { value, bytes });
    while (this.#bytes > this.#bytesMax) this.#bytes -= this.#values.dropOldest()?.bytes ?? 0;
  }
}
