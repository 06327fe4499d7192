import { describe, expect, it } from 'vitest';
import { BUILTIN } from '../../../compiler/contract/catalog/builtin.ts';
import type { Endpoint } from '../../../compiler/contract/endpoints.ts';
import { anyRequest, clientHint, shownOf } from '../../../gatekeeper/offer/shown.ts';
import { builtinOperation } from '../../builtin-rows.ts';
import { tinyOffers } from '../tiny-offers.ts';

const BUDGET_ROWS_MAX = 8;
const BASE = 'https://api.example.com';
const everything = tinyOffers(({ path }) => `${path}?entity=stored`);
const hintOf = (row: Endpoint, offers = everything) => {
  const shown = shownOf(row, row.path, offers);
  return clientHint(shown, BASE, anyRequest(shown));
};

describe('clientHint()', () => {
  it('clientHint() speaks exactly above 0.10 USD', () => {
    const hinted = BUILTIN.operations
      .filter((row) => row.priceUsd !== null && hintOf(row) !== null)
      .map((row) => row.priceUsd);
    expect(new Set(hinted)).toEqual(new Set(['0.25', '0.35', '9.90']));
    expect(hintOf(builtinOperation('/pay/tier3'))).toBeNull();
  });

  it('clientHint() lists a bounded number of cheaper operations with the requests of the release', () => {
    const rows = hintOf(builtinOperation('/gauge/subscribe'))?.within_your_budget ?? [];
    expect(rows).toHaveLength(BUDGET_ROWS_MAX);
    for (const row of rows) expect(row.example).toBe(`${BASE}${row.path}?entity=stored`);
  });

  it('I64: clientHint() says that its examples are not what was asked for', () => {
    expect(hintOf(builtinOperation('/gauge/region'))?.how_to).toMatch(
      /with examples of their own; none of them answers this request\.$/,
    );
  });

  it('clientHint() leaves out what has nothing to answer, and says how the operation itself is called', () => {
    const one = tinyOffers(({ path }) => (path === '/gauge/ruler' ? '/gauge/ruler?a=b' : null));
    const hint = hintOf(builtinOperation('/gauge/region'), one);
    expect(hint?.within_your_budget.map(({ path }) => path)).toEqual(['/gauge/ruler']);
    expect(hint?.example).toContain("'https://api.example.com/gauge/region'");
  });
});
