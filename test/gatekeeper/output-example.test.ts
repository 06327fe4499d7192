import { describe, expect, it } from 'vitest';
import { ENDPOINTS, type Endpoint } from '../../compiler/contract/endpoints.ts';
import { outputExample } from '../../gatekeeper/output-example.ts';

describe('outputExample()', () => {
  it('outputExample() has fields for every paid row of the table', () => {
    for (const row of ENDPOINTS as readonly Endpoint[]) {
      if (row.priceUsd !== null) expect(Object.keys(outputExample(row)).length).toBeGreaterThan(1);
    }
  });

  it('outputExample() refuses a row that it cannot describe', () => {
    const row = { ...ENDPOINTS[0], file: 'unheard-of/{entity}.json', path: '/x' };
    expect(() => outputExample(row)).toThrow(/no example/);
  });
});
