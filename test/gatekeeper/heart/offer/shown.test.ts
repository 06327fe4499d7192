import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BUILTIN } from '../../../../compiler/catalog/builtin.ts';
import { canonicalTarget, filePath } from '../../../../compiler/products/shapes/path.ts';
import type { Endpoint } from '../../../../compiler/products/shapes/product.ts';
import { answer } from '../../../../gatekeeper/heart/answers/answers.ts';
import type { Service } from '../../../../gatekeeper/heart/answers/service.ts';
import { serviceNameOf } from '../../../../gatekeeper/heart/offer/challenge.ts';
import { clientHint, mediaTypeOf, shownOf } from '../../../../gatekeeper/heart/offer/shown.ts';
import { FOR_EVERYBODY } from '../../../../gatekeeper/wire/cost.ts';
import { builtinOperation } from '../../../builtin-rows.ts';
import { FILINGS, filingSet, listingRow } from '../../../filing-rows.ts';
import { rosterFiles, rosterSet } from '../../../roster-rows.ts';
import { smallSet } from '../../../small-set.ts';
import { compileFolder, removeFolders, writeSnapshots } from '../../../snapshot-folder.ts';
import { compiledService, question, tinyOffers, tinyTokens } from '../../tiny-service.ts';

const RECORD = builtinOperation('/gauge');

describe('shownOf()', () => {
  it('reads the values of the request, however they are encoded', () => {
    const offers = tinyOffers(() => '/gauge?entity=a%20b&signal_id=c');
    const { example, mimeType } = shownOf(RECORD, '/gauge', offers);
    expect([example, mimeType]).toEqual([{ entity: 'a b', signal_id: 'c' }, 'application/json']);
  });

  it('has no example where nothing is answered, and refuses a request that nobody can send', () => {
    expect(
      shownOf(
        RECORD,
        '/gauge',
        tinyOffers(() => null),
      ).example,
    ).toBeNull();
    expect(shownOf(RECORD, '/gauge', new Map()).example).toBeNull();
    const twice = tinyOffers(() => '/gauge?a=1&a=2');
    expect(() => shownOf(RECORD, '/gauge', twice)).toThrow(/repeated/);
  });
});

const SERIES = builtinOperation('/gauge/history-series');

describe('mediaTypeOf()', () => {
  it.each([
    '/gauge/history-series?format=csv',
    '/gauge/history-series?entity=a&format=csv&signal_id=b',
  ])('%s is a table', (target) => {
    expect(mediaTypeOf(SERIES, target)).toBe('text/csv');
  });

  it.each([
    '/gauge/history-series?format=csvs',
    '/gauge/history-series?entity=format%3Dcsv',
    '/gauge/history-series?xformat=csv',
    '/gauge/history-series',
  ])('%s is JSON', (target) => {
    expect(mediaTypeOf(SERIES, target)).toBe('application/json');
  });

  it('is JSON for every other operation', () => {
    expect(mediaTypeOf(builtinOperation('/gauge/region'), '/gauge/region?format=csv')).toBe(
      'application/json',
    );
  });
});

const BUDGET_ROWS_MAX = 2;
const BASE = 'https://api.example.com';
const everything = tinyOffers(({ path }) => `${path}?entity=stored`);
const hintOf = (row: Endpoint, offers = everything) =>
  clientHint(shownOf(row, row.path, offers), BASE);

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
      /within_your_budget is cheaper; none of it answers this request\.$/,
    );
  });

  it('clientHint() knows what either client pays by itself, and is short', () => {
    const hint = (path: string) => hintOf(builtinOperation(path));
    expect(hint('/gauge/region')?.how_to).toMatch(/raise maxValue to 250000n\. @x402\/fetch pays/);
    expect(hint('/gauge/subscribe')?.how_to).toMatch(
      /@x402\/fetch refuses above 1 USD: set spendControls\.maxAmountPerPayment to '\$9\.90'\./,
    );
    for (const path of ['/gauge/region', '/gauge/subscribe'])
      expect(JSON.stringify(hint(path)).length).toBeLessThan(1000);
  });

  it('clientHint() leaves out what has nothing to answer, and says how the operation itself is called', () => {
    const one = tinyOffers(({ path }) => (path === '/gauge/ruler' ? '/gauge/ruler?a=b' : null));
    const hint = hintOf(builtinOperation('/gauge/region'), one);
    expect(hint?.within_your_budget.map(({ path }) => path)).toEqual(['/gauge/ruler']);
    expect(hint?.example).toContain("'https://api.example.com/gauge/region'");
  });
});

describe('serviceNameOf()', () => {
  it.each([
    ['Example Signals', 'Example Signals'],
    ['Signalpress quick start (sample data)', 'Signalpress quick start'],
    ['River readings (UK) of an example', 'River readings (UK) of an exampl'],
    ['Příklad', 'Pklad'],
    ['例', 'x402'],
  ])('says %j as %j', (issuerName, name) => {
    expect(serviceNameOf(issuerName)).toBe(name);
  });
});

const PAID = BUILTIN.operations.filter((row) => row.priceUsd !== null);

let service: Service;
beforeAll(async () => {
  const files = { ...smallSet(), ...filingSet([listingRow(), ...FILINGS], '2026-11-20T11Z') };
  // Without the entity that most examples of the table name.
  const moved = Object.entries({ ...files, ...rosterFiles(rosterSet()) }).map(
    ([path, rows]) => [path, String(rows).replaceAll('us-denver', 'us-fresno')] as const,
  );
  const { data } = await compileFolder(writeSnapshots(Object.fromEntries(moved)));
  const compiled = await compiledService(data, '2026-11-20T12:30:00Z');
  service = { ...compiled, operator: { ...compiled.operator, tokens: tinyTokens() } };
});
afterAll(removeFolders);

/** The challenge of a row in both versions. */
function shown(row: Endpoint) {
  const { body, headers } = service.challenger.challenge(row, row.path);
  const paymentRequired = new Map(headers).get('payment-required') ?? '';
  const v2 = JSON.parse(Buffer.from(paymentRequired, 'base64').toString());
  return { v1: JSON.parse(body.toString()), v2 };
}

/** Every request that a challenge shows: what v2 calls, with each further example of v1, and what the hint names. */
function requestsOf(row: Endpoint): string[] {
  const { v1, v2 } = shown(row);
  const values = v2.extensions?.bazaar.info.input.queryParams;
  const params = Object.entries<{ examples?: string[] }>(
    v1.accepts[0].outputSchema.input.queryParams,
  );
  const further = params.flatMap(([name, { examples = [] }]) =>
    examples.map((value) => canonicalTarget(row.path, { ...values, [name]: value })),
  );
  const hinted = (v1.client_hint?.within_your_budget ?? []).map(
    ({ example }: { example: string }) => example.slice(service.baseUrl.length),
  );
  const own = values === undefined ? [] : [canonicalTarget(row.path, values)];
  return [...own, ...further, ...hinted];
}

describe('a challenge', () => {
  it('shows only requests that this release answers', async () => {
    const requests = new Set(PAID.flatMap(requestsOf));
    expect([...requests].filter((request) => request.includes('us-denver'))).toEqual([]);
    expect(requests.size).toBeGreaterThan(50);
    for (const request of requests) {
      const { kind } = await answer(question(request), service);
      expect([request, kind]).toEqual([request, 'content']);
    }
  });

  it('shows a request exactly where the manifest says that something is sold', async () => {
    const { bytes } = await service.release.body(
      filePath(builtinOperation('/manifest'), { all: '1' }) ?? '',
      FOR_EVERYBODY,
    );
    const entries: { path: string; sells_now: boolean }[] = JSON.parse(bytes.toString()).entries;
    const selling = entries.filter((entry) => entry.sells_now).map(({ path }) => path);
    const paths = PAID.filter((row) => shown(row).v2.extensions !== undefined);
    const paid = new Set(PAID.map(({ path }) => path));
    expect(paths.map(({ path }) => path)).toEqual(selling.filter((path) => paid.has(path)));
    expect(paths.length).toBeLessThan(PAID.length);
  });

  it('names in its hint the call of what is asked for, also where nothing is stored for it', () => {
    const { v1 } = shown(builtinOperation('/gauge/region'));
    expect(v1.client_hint.example).toContain('/gauge/region?loc=us-stlouis');
    const empty = shown(builtinOperation('/gauge/rwa-region')).v1;
    expect(empty.client_hint.example).toContain("/gauge/rwa-region'");
    expect(JSON.stringify(empty)).not.toContain('<value>');
    expect(empty.accepts[0].outputSchema.input.discoverable).toBe(false);
  });
});
