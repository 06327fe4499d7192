import { describe, expect, it } from 'vitest';
import { bodySchemaOf } from '../../../compiler/contract/bodies.ts';
import { ENDPOINTS, type Endpoint } from '../../../compiler/contract/endpoints.ts';
import { outputExample } from '../../../gatekeeper/offer/output-example.ts';

describe('outputExample()', () => {
  it('outputExample() has fields for every paid row of the table', () => {
    for (const row of ENDPOINTS as readonly Endpoint[]) {
      if (row.priceUsd !== null) expect(Object.keys(outputExample(row)).length).toBeGreaterThan(1);
    }
  });

  it('outputExample() names only members that the body of a roster or document has', () => {
    const own =
      /^\/(trust|mcp|stable|stablecoin-deaths|shadow|pay)\b|(taiwan|japan|chokepoint)-region/;
    const rows = (ENDPOINTS as readonly Endpoint[]).filter(
      ({ path, priceUsd }) => priceUsd !== null && own.test(path),
    );
    expect(rows).toHaveLength(18);
    for (const row of rows) {
      const example = outputExample(row);
      const issues = bodySchemaOf(row)?.safeParse(example).error?.issues ?? [];
      // What an example leaves out is no fault of it.
      const wrong = issues.filter(({ path: [name] }) => name === undefined || name in example);
      const inside = wrong.filter(({ path }) => path.length <= 1);
      expect([row.path, inside]).toEqual([row.path, []]);
    }
  });

  it('outputExample() refuses a row that it cannot describe', () => {
    const row = { ...ENDPOINTS[0], file: 'unheard-of/{entity}.json', path: '/x' };
    expect(() => outputExample(row)).toThrow(/no example/);
  });
});
