import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const { dependencies, devDependencies, exports, files } = JSON.parse(
  readFileSync(join(ROOT, 'package.json'), 'utf8'),
) as {
  dependencies: Readonly<Record<string, string>>;
  devDependencies: Readonly<Record<string, string>>;
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

  it('exports the client, its errors and the judge', () => {
    expect(Object.keys(exports)).toEqual(['./client', './client/error', './verify']);
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

describe('package-lock.json', () => {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Readonly<Record<string, { readonly dev?: true; readonly devOptional?: true }>>;
  };
  const isLeftOut = (name: string): boolean => packages[`node_modules/${name}`]?.dev === true;

  // viem asks for an optional peer "typescript". A package of that name would be installed in production too,
  // so the compiler stands under another one.
  it('keeps what only development needs out of "npm ci --omit=dev"', () => {
    expect(Object.keys(devDependencies).filter((name) => !isLeftOut(name))).toEqual([]);
    expect(Object.keys(packages)).not.toContain('node_modules/typescript');
  });

  it('leaves in what production needs', () => {
    expect(Object.keys(dependencies).filter(isLeftOut)).toEqual([]);
  });
});
