import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, extname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { built } from '../command-runs.ts';

const ROOT = join(import.meta.dirname, '../..');
const { bin, dependencies, devDependencies, exports, files } = JSON.parse(
  readFileSync(join(ROOT, 'package.json'), 'utf8'),
) as {
  bin: Readonly<Record<string, string>>;
  dependencies: Readonly<Record<string, string>>;
  devDependencies: Readonly<Record<string, string>>;
  exports: Readonly<Record<string, { readonly types: string; readonly default: string }>>;
  files: readonly string[];
};

/** Whether an entry of `files` takes a path in. */
const isPacked = (path: string): boolean =>
  files.some((entry) => {
    if (entry.includes('/*.')) return `${dirname(path)}/*${extname(path)}` === entry;
    return path === entry || path.startsWith(`${entry}/`);
  });

/** What a built file loads of this package. */
const LOADS = [
  /^(?:import|export)\b[^'"\n]*["'](\.[^'"\n]+\.js)["']/gm,
  /\bimport\(["'](\.[^'"\n]+\.js)["']\)/g,
  /new URL\(["'](\.[^'"\n]+\.js)["'], import\.meta\.url\)/g,
];
/** Only started where there is no bundle. */
const UNBUNDLED = ['build/compiler/cli/cli.js', 'build/gatekeeper/main.js'];

/** Every file that a built one loads, itself or by others, below the package. */
function loadedFrom(entry: string): Set<string> {
  const found = new Set([entry]);
  for (const path of found) {
    const source = readFileSync(built(path.replace('build/', '')), 'utf8');
    // Comments name types of other files.
    const text = source.replace(/^\s*\/\*[\s\S]*?\*\//gm, '');
    const names = LOADS.flatMap((form) => [...text.matchAll(form)].map(([, name = '']) => name));
    const paths = names.map((name) => join(dirname(path), name));
    for (const one of paths) if (!UNBUNDLED.includes(one)) found.add(one);
  }
  return found;
}

describe('package.json', () => {
  it.each(Object.entries(exports))('exports %s from a source that is built and packed', (_, to) => {
    const built = to.default.replace('./', '');
    expect(existsSync(join(ROOT, built.replace('build/', '').replace(/js$/, 'ts')))).toBe(true);
    expect(to.types).toBe(to.default.replace(/js$/, 'd.ts'));
    expect(files.some((folder) => built.startsWith(`${folder}/`))).toBe(true);
  });

  it('exports the client, its facts, its errors and the judge', () => {
    expect(Object.keys(exports)).toEqual([
      './client',
      './client/fact',
      './client/error',
      './verify',
    ]);
  });

  it.each([
    ...Object.values(bin),
    ...Object.values(exports).map((to) => to.default.replace('./', '')),
    'build/compiler/bundle/signal-worker.js',
    'build/compiler/bundle/verify-worker.js',
  ])('packs whatever %s loads (needs a build)', (entry) => {
    const loaded = [...loadedFrom(entry)];
    expect(loaded.filter((path) => !isPacked(path))).toEqual([]);
    expect(loaded.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it('packs what the programs start, and no module that only stands in a bundle', () => {
    const started = [
      'compiler/bundle/cli.js',
      'gatekeeper/bundle.js',
      'gatekeeper/signature-worker.js',
    ];
    const loaded = Object.values(bin).flatMap((entry) => [...loadedFrom(entry)]);
    expect(loaded).toEqual(expect.arrayContaining(started.map((path) => `build/${path}`)));
    const unbundled = ['compiler/cli/compile.js', 'compiler/cli/cli.js', 'gatekeeper/start.js'];
    expect(unbundled.filter((path) => existsSync(built(path)))).toEqual(unbundled);
    expect(unbundled.filter((path) => isPacked(`build/${path}`))).toEqual([]);
  });

  it('packs every file of the client in Python', () => {
    const python = join(ROOT, 'compiler/client/python');
    const modules = readdirSync(python).filter((name) => name.endsWith('.py'));
    expect(modules.length).toBeGreaterThan(3);
    expect(modules.filter((name) => !isPacked(`compiler/client/python/${name}`))).toEqual([]);
  });

  it('packs what its README sends a reader to, and no source', () => {
    const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
    const named = [...readme.matchAll(/(?:\]\(|python3 )([\w/.-]+\.(?:md|py))/g)].map(
      ([, file = '']) => file,
    );
    expect(named).toEqual(
      expect.arrayContaining(['compiler/client/python/signalpress_verify.py', 'SECURITY.md']),
    );
    expect(named.filter((file) => !isPacked(file))).toEqual([]);
    const sources = ['compiler/cli/cli.ts', 'scripts/demo.ts', 'test/docs.test.ts'];
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

const IMPORT = /^(?:import|export)\s(?!type\s)[^;]*?from '([^']+)';/gm;

/** Every file and package that a file needs at run time. */
function graph(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const [, from = ''] of readFileSync(join(ROOT, file), 'utf8').matchAll(IMPORT)) {
    if (!from.startsWith('.')) seen.add(from);
    else graph(relative(ROOT, join(ROOT, dirname(file), from)), seen);
  }
  return seen;
}

describe.each(['signalpress-client', 'verify'])('%s.ts runs in browsers', (entry) => {
  const needed = [...graph(`compiler/client/${entry}.ts`)];

  it('needs format, products, catalog, verifier and pure packages alone', () => {
    const files = needed.filter((one) => one.endsWith('.ts'));
    expect(files.length).toBeGreaterThan(20);
    expect(
      files.filter((one) => !/^compiler\/(client|format|catalog|products|verify)\//.test(one)),
    ).toEqual([]);
    expect(needed.filter((one) => !one.endsWith('.ts') || one.startsWith('node:')).sort()).toEqual([
      '@noble/ed25519',
      '@noble/hashes/sha2.js',
      '@noble/hashes/utils.js',
      '@scure/base',
      'fast-json-stable-stringify',
      'zod',
    ]);
  });

  it('names nothing that Node alone has', () => {
    for (const file of needed.filter((one) => one.endsWith('.ts'))) {
      expect(readFileSync(join(ROOT, file), 'utf8')).not.toMatch(
        /\b(Buffer\.|process\.|require\()/,
      );
    }
  });

  it('would see a file of Node', () => {
    expect([...graph('compiler/verify/verify-release.ts')]).toContain('node:fs');
  });
});
