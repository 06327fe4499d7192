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
