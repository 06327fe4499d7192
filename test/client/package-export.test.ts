import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const { exports, files } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  exports: Readonly<Record<string, { readonly types: string; readonly default: string }>>;
  files: readonly string[];
};

describe('package.json', () => {
  it.each(Object.entries(exports))('exports %s from a source that is built and packed', (_, to) => {
    const built = to.default.replace('./', '');
    expect(existsSync(join(ROOT, built.replace('build/', '').replace(/js$/, 'ts')))).toBe(true);
    expect(to.types).toBe(to.default.replace(/js$/, 'd.ts'));
    expect(files.some((folder) => built.startsWith(`${folder}/`))).toBe(true);
  });

  it('exports the client and its errors', () => {
    expect(Object.keys(exports)).toEqual(['./client', './client/error']);
  });

  it('packs what its README sends a reader to, and no source', () => {
    const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
    const named = [...readme.matchAll(/(?:\]\(|python3 )([\w/.-]+\.(?:md|py))/g)].map(
      ([, file = '']) => file,
    );
    const isPacked = (file: string): boolean =>
      files.some((packed) => file === packed || file.startsWith(`${packed}/`));
    expect(named).toEqual(expect.arrayContaining(['scripts/verify_record.py', 'SECURITY.md']));
    expect(named.filter((file) => !isPacked(file))).toEqual([]);
    const sources = ['compiler/cli.ts', 'scripts/demo.ts', 'test/docs.test.ts'];
    expect(sources.filter(isPacked)).toEqual([]);
  });
});
