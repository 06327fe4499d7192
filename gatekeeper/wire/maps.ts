/** How many entries are set before the iterator of a map is renewed. */
const RENEWED_AFTER = 1024;

/** A map that makes room: the entry that was set longest ago goes first. */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #entriesMax: number;
  readonly #bytesMax: number;
  readonly #isByUse: boolean;
  /** Of the entries that have some. */
  readonly #bytesOf = new Map<Key, number>();
  #bytes = 0;
  /**
   * Kept for a while, because a new iterator steps over all that was deleted before: 25 microseconds in a map of 10,000.
   * Not kept for good, because it holds what the map has given up since it was used.
   */
  #byAge = this.keys();
  #sets = 0;

  /** `bytes` bounds the sum of what set() is told. With `isByUse` an entry that is read is the newest again. */
  constructor(bounds: number | { entries?: number; bytes?: number; isByUse?: true }) {
    super();
    const { entries, bytes, isByUse } = typeof bounds === 'number' ? { entries: bounds } : bounds;
    this.#entriesMax = entries ?? Number.POSITIVE_INFINITY;
    this.#bytesMax = bytes ?? Number.POSITIVE_INFINITY;
    this.#isByUse = isByUse ?? false;
  }

  get bytes(): number {
    return this.#bytes;
  }

  override get(key: Key): Value | undefined {
    const value = super.get(key);
    if (this.#isByUse && value !== undefined) this.#setLast(key, value);
    return value;
  }

  /** An entry that is set again is the newest; one that alone is beyond the bound is not kept. */
  override set(key: Key, value: Value, bytes = 0): this {
    if (bytes > this.#bytesMax) return this;
    this.#forgetBytes(key);
    this.#setLast(key, value);
    if (bytes > 0) this.#bytesOf.set(key, bytes);
    this.#bytes += bytes;
    while (this.size > this.#entriesMax || this.#bytes > this.#bytesMax) this.#dropOldest();
    return this;
  }

  override delete(key: Key): boolean {
    this.#forgetBytes(key);
    return super.delete(key);
  }

  override clear(): void {
    this.#bytesOf.clear();
    this.#bytes = 0;
    super.clear();
  }

  #setLast(key: Key, value: Value): void {
    this.#sets += 1;
    if (this.#sets % RENEWED_AFTER === 0) this.#byAge = this.keys();
    super.delete(key);
    super.set(key, value);
  }

  #dropOldest(): void {
    // An iterator that has come to an end stays there; the entry that was just set keeps it from that.
    const { value: key } = this.#byAge.next();
    this.delete(key as Key);
  }

  #forgetBytes(key: Key): void {
    if (this.#bytes === 0) return;
    this.#bytes -= this.#bytesOf.get(key) ?? 0;
    this.#bytesOf.delete(key);
  }
}

/** What was worked out for one object, which holds it: each value once, by the function that makes it. */
export class OwnValues {
  readonly #values = new Map<unknown, unknown>();

  /** The value that `make` makes of the owner. What throws or rejects is not kept, and is tried again. */
  once<Owner, Value>(make: (owner: Owner) => Value, owner: Owner): Value {
    if (this.#values.has(make)) return this.#values.get(make) as Value;
    const value = make(owner);
    this.#values.set(make, value);
    if (value instanceof Promise) value.catch(() => this.#values.delete(make));
    return value;
  }
}

/** How many there are of each key; one that has none takes no memory. */
export class Counts<Key> {
  readonly #counts = new Map<Key, number>();

  of(key: Key): number {
    return this.#counts.get(key) ?? 0;
  }

  add(key: Key, change: 1 | -1): void {
    const count = this.of(key) + change;
    if (count === 0) this.#counts.delete(key);
    else this.#counts.set(key, count);
  }
}
