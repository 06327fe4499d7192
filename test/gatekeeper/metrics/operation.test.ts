import { describe, expect, it } from 'vitest';
import { BUILTIN } from '../../../compiler/contract/catalog/builtin.ts';
import { Operations } from '../../../gatekeeper/metrics/operation.ts';
import { TIDES } from '../../tide-catalog.ts';

const HASH = `sha256:${'ab'.repeat(32)}`;

describe('Operations', () => {
  it.each([
    ['/gauge', 200, '/gauge'],
    ['/gauge', 402, '/gauge'],
    [`/v/${HASH}`, 200, '/v/:record_hash'],
    ['/healthz', 200, '/healthz'],
    ['/metrics', 200, '/metrics'],
    ['/llms.txt', 200, 'file'],
    ['/log/tile/0/000', 304, 'file'],
    ['/nowhere', 404, 'unknown'],
    ['/nowhere', 405, 'unknown'],
    ['(refused)', 429, 'refused'],
    ['(refused target)', 400, 'refused'],
  ])('names %s with %i "%s"', (path, status, operation) => {
    expect(new Operations(() => BUILTIN).of(path, status)).toBe(operation);
  });

  it('names the bundles of the catalogue that is served, and no others', () => {
    const operations = new Operations(() => TIDES);
    expect(operations.of('/gauge/tide-region', 402)).toBe('/gauge/tide-region');
    expect(operations.of('/gauge/environment-region', 404)).toBe('unknown');
  });

  it('makes no name of what strangers ask, however many they are', () => {
    const operations = new Operations(() => BUILTIN);
    const names = new Set<string>();
    for (let at = 0; at < 20_000; at += 1) {
      names.add(operations.of(`/made-up/${at}`, 404));
      names.add(operations.of(`/v/${at}`, 422));
      names.add(operations.of(`/log/tile/0/${at}`, 200));
    }
    expect([...names].sort()).toEqual(['/v/:record_hash', 'file', 'unknown']);
  });
});
