/** One row: what `want` holds is said by the file's own test, `error` is why the input is refused. */
export interface Vector {
  readonly comment: string;
  readonly input: unknown;
  readonly want?: unknown;
  readonly error?: unknown;
}
