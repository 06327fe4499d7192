// Writes JSON files into the modules that TypeScript made of their imports: Node 20 warns of every program that imports JSON.
// A module keeps its time, by which the next build knows what it wrote.
import { readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { defined } from '../compiler/format/errors.ts';

const SOURCES = ['compiler/catalog/builtin-files.ts', 'compiler/catalog/name-files.ts'];
const IMPORT = /^import (\w+) from '(\.\/[\w/-]+\.json)' with \{ type: 'json' \};$/gm;
const LIST = /^export const (\w+): readonly unknown\[\] = (\[[\s\w,]+\]|\w+);$/gm;

for (const source of SOURCES) {
  const built = join('build', source.replace(/\.ts$/, '.js'));
  const { atime, mtime } = statSync(built);
  writeFileSync(built, inlined(source));
  utimesSync(built, atime, mtime);
}

/** The program of a source, with the files in place of their imports. Throws a RangeError if the source holds more. */
function inlined(source: string): string {
  const text = readFileSync(source, 'utf8');
  const rest = text
    .replace(IMPORT, '')
    .replace(LIST, '')
    .replace(/^\s*\/[/*].*$/gm, '');
  if (rest.trim() !== '') {
    throw new RangeError(`Cannot inline "${source}": it holds more than imports and lists`);
  }
  const files = [...text.matchAll(IMPORT)].map(([, file, path]) => {
    const json = readFileSync(
      join(dirname(source), defined(path, 'the path of an import')),
      'utf8',
    );
    // One line of JSON, which is JavaScript too.
    return `const ${file} = ${JSON.stringify(JSON.parse(json))};\n`;
  });
  const lists = [...text.matchAll(LIST)].map(
    ([, name, value]) => `export const ${name} = ${value};\n`,
  );
  return [...files, ...lists].join('');
}
