import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { makeFolder, removeFolders } from '../../../snapshot-folder.ts';

afterAll(removeFolders);
const STAMP = join(import.meta.dirname, '../../../../scripts/build-stamp.js');

function stamp(root: string, what: string): { status: number | null; stdout: string } {
  const { status, stdout } = spawnSync(process.execPath, [STAMP, what], {
    cwd: root,
    encoding: 'utf8',
  });
  return { status, stdout };
}

/** A repository with one source in each folder, built as it is. */
function builtRoot(): string {
  const root = makeFolder();
  for (const folder of ['compiler', 'gatekeeper', 'scripts', 'build/compiler', 'test/lab']) {
    mkdirSync(join(root, folder), { recursive: true });
    writeFileSync(join(root, folder, 'one.ts'), 'export {};\n');
  }
  writeFileSync(join(root, 'package-lock.json'), '{}');
  expect(stamp(root, 'write').status).toBe(0);
  return root;
}

const isFresh = (root: string): boolean => stamp(root, 'fresh').status === 0;
const OLD = 'The build is older than its sources; run npm run build';

describe('build-stamp.js', () => {
  it('finds nothing to build in what was built, whatever words change', () => {
    const root = builtRoot();
    expect([stamp(root, 'problem').stdout, isFresh(root)]).toEqual(['', true]);
    writeFileSync(join(root, 'test/lab/one.test.ts'), 'export const a = 1;\n');
    writeFileSync(join(root, 'compiler/README.md'), 'words');
    writeFileSync(join(root, 'build/.tsbuildinfo-check'), '{}');
    // Written again, as a rebase does it: the bytes count, not their time.
    writeFileSync(join(root, 'compiler/one.ts'), 'export {};\n');
    expect([stamp(root, 'problem').stdout, isFresh(root)]).toEqual(['', true]);
  });

  it.each<[string, (root: string) => void]>([
    ['changed', (root) => writeFileSync(join(root, 'gatekeeper/one.ts'), 'export { };\n')],
    ['new', (root) => writeFileSync(join(root, 'scripts/two.js'), '')],
    ['another experiment', (root) => writeFileSync(join(root, 'test/lab/one.ts'), '')],
    ['gone', (root) => rmSync(join(root, 'compiler/one.ts'))],
  ])('says what to do about a source that is %s', (_, change) => {
    const root = builtRoot();
    change(root);
    expect([stamp(root, 'problem').stdout, isFresh(root)]).toEqual([OLD, false]);
  });

  it('builds again for what the lab may import, while tests run the programs as they are', () => {
    const root = builtRoot();
    writeFileSync(join(root, 'test/one.ts'), 'export const a = 1;\n');
    expect([stamp(root, 'problem').stdout, isFresh(root)]).toEqual(['', false]);
  });

  it.each<[string, (root: string) => void]>([
    ['other packages', (root) => writeFileSync(join(root, 'package-lock.json'), '{"a":1}')],
    ['a style', (root) => writeFileSync(join(root, 'compiler/one.css'), '')],
    ['a file of the build that is gone', (root) => rmSync(join(root, 'build/compiler/one.ts'))],
    [
      'a file of the build that was written since',
      (root) => utimesSync(join(root, 'build/compiler/one.ts'), 1, 1),
    ],
  ])('builds again for %s', (_, change) => {
    const root = builtRoot();
    change(root);
    expect(isFresh(root)).toBe(false);
  });

  it('says what to do without a whole build', () => {
    const root = builtRoot();
    rmSync(join(root, 'build/.sources'));
    const { stdout } = stamp(root, 'problem');
    expect([stdout, isFresh(root)]).toEqual(['There is no whole build; run npm run build', false]);
  });
});
