import { describe, expect, it } from 'vitest';
import { BUILTIN } from '../../../compiler/catalog/builtin.ts';
import { canonicalRequest, route } from '../../../compiler/catalog/route.ts';
import { findStaticFile, STATIC_FILES } from '../../../compiler/catalog/static-files.ts';
import { allCases, fresh } from './free-cases.ts';

const hash = `sha256:${'ab'.repeat(32)}`;
const pairs = ['signal_id=airquality.aqi&entity=us-denver'];
const row = { hash, bytes: 160 * 1024 };
const publicFiles = [`/release/${'ab'.repeat(32)}/well-known/keys.json`];
const CASES = allCases({
  ...{ pairs, hashes: [hash], record: '{"record_hash":"x"}' },
  ...{ row, publicFiles },
});

/** The operation of the table that a target asks for, by its own path. */
function pathOf(target: string): string {
  const request = canonicalRequest(target);
  const routed = 'status' in request ? undefined : route(request, BUILTIN);
  return routed?.endpoint.path ?? target;
}

describe('allCases()', () => {
  it('asks every operation of the table and every kind of file', () => {
    const asked = new Set(CASES.map(({ target }) => pathOf(target(1))));
    const rows = BUILTIN.operations.filter(({ token }) => !token);
    expect(rows.map(({ path }) => path).filter((path) => !asked.has(path))).toEqual([]);
    const found = CASES.map(({ target }) => findStaticFile(target(1))?.row.path);
    // Only a log that was stamped has timestamps.
    const files = STATIC_FILES.filter(({ path }) => path !== 'log/anchor/');
    expect(files.filter(({ path }) => !found.includes(path))).toEqual([]);
  });

  it('names each once and gives every one a price', () => {
    expect(new Set(CASES.map(({ name }) => name)).size).toBe(CASES.length);
    for (const { name, units } of CASES) expect([name, units >= 1]).toEqual([name, true]);
    const long = CASES.filter(({ name }) => name.includes('longest file'));
    expect(long.map(({ units }) => units)).toEqual([11, 11]);
  });

  it('makes texts that differ and are the same in every run', () => {
    expect(new Set(Array.from({ length: 5000 }, (_, n) => fresh(n, 8))).size).toBe(5000);
    expect(fresh(7, 64)).toBe(fresh(7, 64));
    expect(fresh(7, 64)).toHaveLength(64);
  });
});
