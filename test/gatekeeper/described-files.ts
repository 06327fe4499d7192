import { manifestBody, manifestEntries } from '../../compiler/stages/describe/manifest.ts';
import { storedBodies } from '../../compiler/stages/describe/stored-bodies.ts';
import { tinyFiles } from './tiny-release.ts';

/** The files of a tiny release with its manifest, as compile describes what is stored. */
export function describedFiles(): Map<string, Buffer> {
  const files = tinyFiles();
  const stored = storedBodies({
    has: (path) => files.has(path),
    under: (prefix) => [...files.keys()].sort().filter((path) => path.startsWith(prefix)),
    read: (path) => files.get(path) ?? Buffer.alloc(0),
  });
  const entries = manifestEntries(stored, { reading: null });
  const put = (path: string, shown: typeof entries): void => {
    files.set(path, Buffer.from(JSON.stringify(manifestBody(shown))));
  };
  put(
    'well-known/manifest.json',
    entries.filter((entry) => entry.sells_now),
  );
  put('all/well-known/manifest.json', entries);
  return files;
}
