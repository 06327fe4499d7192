import { BUILTIN } from '../../compiler/contract/catalog/builtin.ts';
import type { Shelf } from '../../compiler/stages/describe/examples.ts';
import { described, forSale, manifestBody } from '../../compiler/stages/describe/manifest.ts';

/** Files of a release with their manifests, as compile describes what is stored. */
export function describedFiles(stored: ReadonlyMap<string, Buffer>): Map<string, Buffer> {
  const files = new Map(stored);
  const shelf: Shelf = {
    has: (path) => stored.has(path),
    under: (prefix) => [...stored.keys()].sort().filter((path) => path.startsWith(prefix)),
    read: (path) => stored.get(path) ?? Buffer.alloc(0),
  };
  const { entries } = described(shelf, BUILTIN, true);
  const put = (path: string, shown: typeof entries): void => {
    files.set(path, Buffer.from(JSON.stringify(manifestBody(shown))));
  };
  put('well-known/manifest.json', forSale(entries));
  put('all/well-known/manifest.json', entries);
  for (const card of ['agent-card', 'agent']) {
    files.set(`well-known/${card}.json`, Buffer.from('{"skills":[]}'));
  }
  return files;
}
