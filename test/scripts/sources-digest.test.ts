import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { sourcesDigest, stampPath } from '../../scripts/sources-digest.ts';
import { buildProblem } from '../build-state.ts';
import { makeFolder, removeFolders } from '../snapshot-folder.ts';

afterAll(removeFolders);

/** A repository with one source in each folder, built as it is. */
function builtRoot(): string {
  const root = makeFolder();
  for (const folder of ['compiler', 'gatekeeper', 'scripts', 'build', 'test/lab']) {
    mkdirSync(join(root, folder), { recursive: true });
    if (folder !== 'build') writeFileSync(join(root, folder, 'one.ts'), 'export {};\n');
  }
  writeFileSync(stampPath(root), sourcesDigest(root));
  return root;
}

const OLD = 'The build is older than its sources; run npm run build';

describe('buildProblem()', () => {
  it('finds nothing wrong with the build of these sources, whatever else changes', () => {
    const root = builtRoot();
    expect(buildProblem(root)).toBeNull();
    writeFileSync(join(root, 'test/one.ts'), 'export const a = 1;\n');
    writeFileSync(join(root, 'test/lab/one.test.ts'), 'export const a = 1;\n');
    writeFileSync(join(root, 'compiler/README.md'), 'words');
    // Written again, as a rebase does it: the bytes count, not their time.
    writeFileSync(join(root, 'compiler/one.ts'), 'export {};\n');
    expect(buildProblem(root)).toBeNull();
  });

  it.each<[string, (root: string) => void]>([
    ['changed', (root) => writeFileSync(join(root, 'gatekeeper/one.ts'), 'export { };\n')],
    ['new', (root) => writeFileSync(join(root, 'scripts/two.js'), '')],
    ['another experiment', (root) => writeFileSync(join(root, 'test/lab/one.ts'), '')],
    ['gone', (root) => rmSync(join(root, 'compiler/one.ts'))],
  ])('says what to do about a source that is %s', (_, change) => {
    const root = builtRoot();
    change(root);
    expect(buildProblem(root)).toBe(OLD);
  });

  it('says what to do without a whole build', () => {
    const root = builtRoot();
    rmSync(stampPath(root));
    expect(buildProblem(root)).toBe('There is no whole build; run npm run build');
  });
});
