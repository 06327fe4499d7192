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
