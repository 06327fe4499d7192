import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const IMPORT = /(?:^(?:import|export)\s(?!type\s)[^;']*?\sfrom|^import|import\() ?'([^']+)'/gm;

/** Every file and package that the program of the page needs, at once or later. */
function graph(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  if (!file.endsWith('.ts')) return seen;
  for (const [, from = ''] of readFileSync(join(ROOT, file), 'utf8').matchAll(IMPORT)) {
    if (!from.startsWith('.')) seen.add(from);
    else graph(relative(ROOT, join(ROOT, dirname(file), from)), seen);
  }
  return seen;
}

const PROGRAMS = ['main', 'pay', 'thing'].map((name) => `compiler/page/${name}.ts`);
const needed = [...new Set(PROGRAMS.flatMap((file) => [...graph(file)]))];
const sources = needed.filter((one) => one.endsWith('.ts'));
const text = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

describe('the program of the page', () => {
  it('sees the views that are loaded later', () => {
    expect(sources).toEqual(
      expect.arrayContaining(['compiler/page/map-view.ts', 'compiler/client/verify.ts']),
    );
  });

  it('needs pure packages alone, and nothing of Node', () => {
    const packages = needed.filter((one) => !/^compiler\//.test(one));
    expect(packages.sort()).toEqual([
      '@noble/ed25519',
      '@noble/hashes/sha2.js',
      '@noble/hashes/utils.js',
      '@scure/base',
      'd3-geo',
      'd3-selection',
      'd3-zoom',
      'fast-json-stable-stringify',
      'topojson-client',
      'uqr',
      'us-atlas/states-10m.json',
      'viem/accounts',
      'world-atlas/countries-110m.json',
      'zod',
    ]);
    for (const file of sources)
      expect(text(file)).not.toMatch(/\b(Buffer\.|process\.(?!env\.WALLET_KEY)|require\()/);
  });

  it('asks this origin alone, and writes neither styles nor programs into the page', () => {
    const own = sources.filter((one) => one.startsWith('compiler/page/'));
    expect(own.length).toBeGreaterThan(10);
    for (const file of own) {
      const code = text(file).replaceAll('http://www.w3.org/2000/svg', '');
      expect([file, code.match(/https?:\/\/[a-z]/g)]).toEqual([file, null]);
      expect([
        file,
        code.match(/\beval\(|new Function|insertAdjacentHTML|innerHTML|outerHTML|style="/g),
      ]).toEqual([file, null]);
    }
  });
});
