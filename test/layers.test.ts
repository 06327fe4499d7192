import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const SIDES = ['compiler', 'gatekeeper'];
const IMPORT = /(?:\bfrom|\bimport\(|^import) ?'(\.[^']+)'/gm;

interface Source {
  readonly path: string;
  readonly text: string;
}

const sources: readonly Source[] = SIDES.flatMap((side) =>
  readdirSync(join(ROOT, side), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(side, name))
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') })),
);

/** Pairs of folders that import each other; types count, because who reads a file has to read what it names. */
function pairsOf(all: readonly Source[]): string[] {
  const arrows = new Set(
    all.flatMap(({ path, text }) =>
      [...text.matchAll(IMPORT)].map(
        ([, name = '']) => `${dirname(path)} ${dirname(normalize(join(dirname(path), name)))}`,
      ),
    ),
  );
  return [...arrows].filter((arrow) => {
    const [from = '', to = ''] = arrow.split(' ');
    return from < to && arrows.has(`${to} ${from}`);
  });
}

describe('the folders of compiler and gatekeeper', () => {
  it('never import each other', () => {
    expect(pairsOf(sources)).toEqual([]);
    expect(sources.length).toBeGreaterThan(400);
    const pair = [
      { path: 'compiler/format/a.ts', text: "import { b } from '../system/b.ts';" },
      { path: 'compiler/system/b.ts', text: "const { a } = await import('../format/a.ts');" },
    ];
    expect(pairsOf(pair)).toEqual(['compiler/format compiler/system']);
  });

  it('lie in rooms, each with its rule in biome.json', () => {
    const { overrides } = JSON.parse(readFileSync(join(ROOT, 'biome.json'), 'utf8')) as {
      readonly overrides: readonly { readonly includes: readonly string[] }[];
    };
    const ruled = new Set(overrides.flatMap(({ includes }) => includes));
    const rooms = new Set(
      sources
        .map(({ path }) => path.split('/'))
        .flatMap(([side, room, ...rest]) => (rest.length === 0 ? [] : [`${side}/${room}/**`])),
    );
    expect([...rooms].filter((room) => !ruled.has(room))).toEqual([]);
    expect(rooms.size).toBeGreaterThan(15);
  });
});
