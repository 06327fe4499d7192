/** How many entries are set before the iterator of a map is renewed. */
const RENEWED_AFTER = 1024;

/** A map that knows its oldest entry: the one that was set longest ago. */
export class AgedMap<Key, Value> extends Map<Key, Value> {
  /**
   * Kept for a while, because a new iterator steps over all that was deleted before: 25 microseconds in a map of 10,000.
   * Not kept for good, because it holds what the map has given up since it was used.
   */
  #byAge = this.keys();
  #sets = 0;

  /** An entry that is set again is the newest. */
  override set(key: Key, value: Value): this {
    this.#sets += 1;
    if (this.#sets % RENEWED_AFTER === 0) this.#byAge = this.keys();
    this.delete(key);
    return super.set(key, value);
  }

  /** Removes the oldest entry and gives its value; undefined when there is none. */
  dropOldest(): Value | undefined {
    // An iterator that has come to an end stays there.
    if (this.size === 0) return undefined;
    const key = this.#byAge.next().value as Key;
    const value = this.get(key);
    this.delete(key);
    return value;
  }
}

/** A map of at most `max` entries: what was set longest ago makes room. */
export class BoundedMap<Key, Value> extends AgedMap<Key, Value> {
  readonly #max: number;

  constructor(max: number) {
    super();
    this.#max = max;
  }

  override set(key: Key, value: Value): this {
    super.set(key, value);
    while (this.size > this.#max) this.dropOldest();
    return this;
  }
}
