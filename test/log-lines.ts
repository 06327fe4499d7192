import {
  HASH_COUNT_PATH,
  HASH_INDEX_FOLDER,
  type HashLine,
  parseHashLine,
} from '../compiler/format/hash-index.ts';

/** What was ever taken in: every line of the look-up of hashes, from the files of a release. */
export function logLinesIn(files: Iterable<readonly [path: string, content: unknown]>): HashLine[] {
  return [...files]
    .filter(([path]) => path.startsWith(`${HASH_INDEX_FOLDER}/`) && path !== HASH_COUNT_PATH)
    .flatMap(([, content]) => String(content).split('\n').slice(0, -1))
    .map(parseHashLine);
}
