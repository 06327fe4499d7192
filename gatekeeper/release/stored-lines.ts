import type { ReleaseReader } from './release-index.ts';

/** The lines of a stored list without their ends; none where the release has no such list. */
export async function storedLines(
  path: string,
  { release, spend }: ReleaseReader,
): Promise<string[]> {
  if (!release.has(path)) return [];
  const { bytes } = await release.body(path, spend);
  return bytes.toString('utf8').split('\n').slice(0, -1);
}
