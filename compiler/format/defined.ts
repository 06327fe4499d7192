/**
 * The value itself. Throws a TypeError that names it where there is none: for what our own code guarantees, so that a
 * mistake of ours never becomes an empty text or a 0. Bad input gets an error of its own instead.
 */
export function defined<Value>(value: Value, name: string): NonNullable<Value> {
  if (value === undefined || value === null) {
    throw new TypeError(`Cannot go on without ${name}: it is ${value}`);
  }
  return value;
}
