import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
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
