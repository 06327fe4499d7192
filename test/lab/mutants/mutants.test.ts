import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { makeFolder, removeFolders } from '../../snapshot-folder.ts';
import { changesOf, judged, treeOf } from './mutants.ts';

afterAll(removeFolders);

const made = (source: string): string[] =>
  changesOf(source).map(({ from, to, text }) => source.slice(0, from) + text + source.slice(to));

describe('changesOf()', () => {
  it.each([
    ['a < b;', ['a <= b;']],
    ['f(3 > (x));', [';', 'f(3 >= (x));', 'f(4 > (x));']],
    ['const t = on && 20;', ['const t = on || 20;', 'const t = on && 10;']],
    [
      'if (é) await open(true);',
      ['if (!(é)) await open(true);', 'if (é) ;', 'if (é) await open(false);'],
    ],
  ])('changes one place of %s at a time', (source, wanted) => {
    expect(made(source)).toEqual(wanted);
  });

  it.each([
    'type A = 3 | 4; interface B { readonly c: 5 }',
    "const x = y as Foo<'s', 3>;",
    '// 3 < 4\n/* f(5); */',
    "const s = 'a < 3';",
    'log.info(3);',
    'throw new RangeError(String(n - 1));',
    'const RETRY_MS = 400;',
    "import x from './x3.ts';",
  ])('leaves %s alone', (source) => {
    expect(made(source)).toEqual([]);
  });
});

/** A tree with one product file and one test. */
function planted(test: string): string {
  const root = makeFolder();
  for (const folder of ['compiler/room', 'test'])
    mkdirSync(join(root, folder), { recursive: true });
  symlinkSync(resolve('node_modules'), join(root, 'node_modules'));
  writeFileSync(join(root, 'package.json'), '{"type":"module"}');
  const limit = 'export const isFull = (count: number): boolean => count >= limit();\n';
  writeFileSync(join(root, 'compiler/room/limit.ts'), `const limit = () => 30;\n${limit}`);
  writeFileSync(
    join(root, 'test/limit.test.ts'),
    `import { expect, it } from 'vitest';\nimport { isFull } from '../compiler/room/limit.ts';\n${test}`,
  );
  return root;
}

describe('judged()', () => {
  it.each([
    ['a weak test', "it('is full', () => expect(isFull(99)).toBe(true));", null],
    ['a strong test', "it('is full', () => expect(isFull(30)).toBe(true));", 'test/limit.test.ts'],
    ['a test that fails by itself', "it('is full', () => expect(isFull(30)).toBe(false));", null],
  ])('says whether %s notices a comparison that is turned', async (_, test, by) => {
    const root = planted(test);
    const tree = treeOf(root);
    const path = 'compiler/room/limit.ts';
    expect([...tree.rooms]).toEqual([['compiler/room', [path]]]);
    const original = readFileSync(join(root, path), 'utf8');
    const [change] = changesOf(original).filter(({ text }) => text === '>');
    if (change === undefined) throw new RangeError('Cannot judge: no comparison to turn');
    expect(await judged(tree, { path, change })).toEqual({ by, ran: 1, reach: 1 });
    expect(readFileSync(join(root, path), 'utf8')).toBe(original);
  });
});
