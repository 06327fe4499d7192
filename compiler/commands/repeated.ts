/**
 * Reads an option that may be given more than once, one value each time: one that takes several at once would swallow the
 * argument behind it.
 */
export function repeated(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value];
}
