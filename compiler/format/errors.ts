/** The message of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Whether an error has a code, as those of the system and of Node do: `ENOENT`. */
export function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

/** The code of an error; null where it has none. */
export function codeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error ? String(error.code) : null;
}

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
