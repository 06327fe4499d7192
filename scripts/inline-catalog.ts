// Writes the files of the built-in catalogue into the module that TypeScript made of their imports: Node 20 warns of every
// program that imports JSON. The module keeps its time, by which the next build knows what it wrote.
import { readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { defined } from '../compiler/format/defined.ts';

const SOURCE = 'compiler/catalog/builtin-files.ts';
const BUILT = join('build', SOURCE.replace(/\.ts$/, '.js'));
const IMPORT = /^import (\w+) from '(\.\/[\w/-]+\.json)' with \{ type: 'json' \};$/gm;
const LIST = /^export const BUILTIN_FILES: readonly unknown\[\] = \[\n((?: {2}\w+,\n)+)\];$/m;

const { atime, mtime } = statSync(BUILT);
writeFileSync(BUILT, inlined(readFileSync(SOURCE, 'utf8')));
utimesSync(BUILT, atime, mtime);

/** The program of the source, with the files in place of their imports. Throws a RangeError if the source holds more. */
function inlined(source: string): string {
  const list = LIST.exec(source)?.[1];
  const rest = source
    .replace(IMPORT, '')
    .replace(LIST, '')
    .replace(/^\s*\/[/*].*$/gm, '');
  if (list === undefined || rest.trim() !== '') {
    throw new RangeError(`Cannot inline "${SOURCE}": it holds more than imports and one list`);
  }
  const files = [...source.matchAll(IMPORT)].map(
    ([, name, path]) => `const ${name} = ${jsonOf(defined(path, 'the path of an import'))};\n`,
  );
  return `${files.join('')}export const BUILTIN_FILES = [${list}];\n`;
}

/** One line of JSON, which is JavaScript too. */
function jsonOf(path: string): string {
  return JSON.stringify(JSON.parse(readFileSync(join(dirname(SOURCE), path), 'utf8')));
}
