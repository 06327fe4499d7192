import type { ReleaseReader } from './release-index.ts';

const LINE_END = 0x0a;

/** The lines of a stored list without their ends, one after the other; none where the release has no such list. */
export async function storedLines(
  path: string,
  { release, spend }: ReleaseReader,
): Promise<Iterable<string>> {
  return release.has(path) ? linesOf((await release.body(path, spend)).bytes) : [];
}

/** Each line is a text of its own: as pieces of one text they would hold all of it. */
function* linesOf(bytes: Buffer): Generator<string> {
  let from = 0;
  for (let end = bytes.indexOf(LINE_END); end !== -1; end = bytes.indexOf(LINE_END, from)) {
    yield bytes.toString('utf8', from, end);
    from = end + 1;
  }
}
