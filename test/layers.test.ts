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

/** The files that may open others for reading, one in each program. */
const READERS = ['compiler/system/plain-file.ts', 'gatekeeper/wire/plain-file.ts'];
/** A folder is opened for a sync, and the journal for its own, after it was written here. */
const SYNCS = ['compiler/system/replace-file.ts', 'gatekeeper/heart/journal/group-commit.ts'];
/** An old body is opened for writing alone, and waits for nobody. */
const WRITES_OVER = 'compiler/release/spare-files.ts';
const IMPORTS = /import \{([^}]*)\} from 'node:fs(?:\/promises)?'/g;
/** What opens a file and waits for it, where it is a pipe. */
const WAITING = ['readFile', 'readFileSync', 'createReadStream', 'open'];

/** Whether a source reads a file in another way than through the one of its program. */
function readsItself(text: string): boolean {
  const names = [...text.matchAll(IMPORTS)].flatMap(([, list = '']) => list.split(','));
  const opens = text.split('\n').filter((line) => /\bopenSync\(/.test(line));
  return (
    names.some((name) => WAITING.includes(name.trim().split(' ')[0] ?? '')) ||
    opens.some((line) => !/, '(?:w|wx|a)'[,)]/.test(line)) ||
    /import (?:\* as )?\w+ from 'node:fs/.test(text)
  );
}

describe('reads of files', () => {
  it('are left to one file in each program, which waits for nobody', () => {
    const others = sources.filter(
      ({ path }) => ![...READERS, ...SYNCS, WRITES_OVER].includes(path),
    );
    expect(others.filter(({ text }) => readsItself(text)).map(({ path }) => path)).toEqual([]);
    const text = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
    for (const path of [...READERS, WRITES_OVER]) expect(text(path)).toContain('O_NONBLOCK');
  });

  it.each([
    ["import { mkdirSync, readFileSync } from 'node:fs';", true],
    ["import {\n  mkdirSync,\n  open,\n} from 'node:fs/promises';", true],
    ["const file = openSync(path, 'r');", true],
    ["const file = openSync(join(a, b), 'r');", true],
    ["import * as fs from 'node:fs';", true],
    ["import { open as o } from 'node:fs/promises';", true],
    ["import { openSync } from 'node:fs';\nconst file = openSync(path, 'wx');", false],
  ])('would be found in %j', (text, expected) => {
    expect(readsItself(text)).toBe(expected);
  });
});
