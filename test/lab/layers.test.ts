import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const FOLDERS = ['compiler', 'gatekeeper', 'scripts', 'test'];
const IMPORT = /(?:\bfrom|\bimport\(|^import) ?'(\.[^']+)'/gm;

/** What users run in `scripts/` has tests of its own; all other tests start it as a program. */
const REACHES_SCRIPTS = /^test\/(lab\/long\/)?scripts\//;

/** What one source imports and should not. */
function wrongArrows(path: string, text: string): string[] {
  const imported = [...text.matchAll(IMPORT)].map(([, name = '']) =>
    normalize(join(dirname(path), name)),
  );
  const isWrong = (target: string): boolean => {
    if (target.startsWith('test/')) {
      if (path.startsWith('test/lab/')) return false;
      return !path.startsWith('test/') || target.startsWith('test/lab/');
    }
    return (
      target.startsWith('scripts/') && !path.startsWith('scripts/') && !REACHES_SCRIPTS.test(path)
    );
  };
  return imported.filter(isWrong).map((target) => `${path} imports ${target}`);
}

const sources = FOLDERS.flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.[jt]s$/.test(name) && !name.includes('node_modules'))
    .map((name) => join(folder, name)),
);

describe('the lab and the scripts', () => {
  it('are imported by no product code, and the lab by nothing else', () => {
    const all = sources.map((path) => wrongArrows(path, readFileSync(join(ROOT, path), 'utf8')));
    expect(all.flat()).toEqual([]);
    expect(all.length).toBeGreaterThan(1000);
  });

  it.each([
    ['compiler/cli/cli.ts', '../../test/lab/campaign.ts', 1],
    ['gatekeeper/start.ts', '../scripts/terminal-style.ts', 1],
    ['compiler/cli/cli.ts', '../../test/small-set.ts', 1],
    ['scripts/demo.ts', '../test/lab/bench.ts', 1],
    ['test/verify/verify-body.test.ts', '../lab/campaign.ts', 1],
    ['test/verify/verify-body.test.ts', '../../scripts/demo.ts', 1],
    ['test/scripts/demo.test.ts', '../../scripts/demo.ts', 0],
    ['test/lab/long/scripts/demo.test.ts', '../../../../scripts/demo.ts', 0],
    ['test/lab/bench.ts', '../../scripts/sample/sample-files.ts', 1],
    ['test/lab/bench.ts', './campaign.ts', 0],
  ])('%s may import %s or not', (path, target, wrong) => {
    expect(wrongArrows(path, `import { it } from '${target}';\n`)).toHaveLength(wrong);
    expect(wrongArrows(path, `await import('${target}');\n`)).toHaveLength(wrong);
  });
});
