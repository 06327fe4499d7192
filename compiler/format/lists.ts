/** Items by a key of theirs, in the order in which the keys first occur. */
export function grouped<Item, Key>(
  items: Iterable<Item>,
  keyOf: (item: Item) => Key,
): Map<Key, [Item, ...Item[]]> {
  const groups = new Map<Key, [Item, ...Item[]]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

/** The first text that comes a second time; undefined where each comes once. */
export function firstTwice(texts: Iterable<string>): string | undefined {
  const seen = new Set<string>();
  for (const text of texts) {
    if (seen.has(text)) return text;
    seen.add(text);
  }
  return undefined;
}

/** The first of `length` places at which a condition holds that holds from there on; `length` where it never does. */
export function firstWhere(length: number, holds: (at: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Works on each item, so many at once; the first error stops all of them, and is thrown once they have ended. */
export async function atOnce<T>(
  items: readonly T[],
  parallel: number,
  work: (item: T, at: number) => Promise<void>,
): Promise<void> {
  const rest = items.entries();
  const errors: unknown[] = [];
  const one = async (): Promise<void> => {
    for (const [at, item] of rest) {
      if (errors.length > 0) return;
      await work(item, at).catch((error: unknown) => errors.push(error));
    }
  };
  await Promise.all(Array.from({ length: parallel }, one));
  if (errors.length > 0) throw errors[0];
}
