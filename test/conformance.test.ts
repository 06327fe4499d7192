import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BUILTIN } from '../compiler/catalog/builtin.ts';
import { parseJson } from '../compiler/format/strict-json.ts';
import { formOf } from '../compiler/products/products.ts';
import type { Endpoint } from '../compiler/products/shapes/product.ts';
import { verifyBody } from '../compiler/verify/verify-body.ts';
import { NETWORKS } from '../gatekeeper/settle/networks.ts';
import type { RequirementsV1 } from '../gatekeeper/settle/payment.ts';
import type { Gatekeeper } from '../gatekeeper/start.ts';
import { OPERATIONS, type Operation, WITHOUT_DATA } from './conformance-table.ts';
import { sampleGate } from './gate.ts';
import { payer } from './gatekeeper/payer.ts';
import { tinyData } from './gatekeeper/tiny-release.ts';
import { type CompiledSample, compiledSample } from './shop.ts';
import { removeFolders } from './snapshot-folder.ts';

const NETWORK = NETWORKS['base-sepolia'];

let sample: CompiledSample;
let gate: Gatekeeper;
/** Another gatekeeper, over a release without rosters and documents. */
let empty: Gatekeeper;

beforeAll(async () => {
  sample = await compiledSample();
  const tiny = tinyData();
  gate = await sampleGate(sample.data);
  empty = await sampleGate(tiny);
});
afterAll(async () => {
  await Promise.all([gate.close(), empty.close()]);
  removeFolders();
});

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
  readonly text: string;
}

interface Asked {
  readonly at?: Gatekeeper;
  readonly query?: string;
  readonly payment?: string;
}

async function ask({ path, method, body }: Operation, asked: Asked = {}): Promise<Answer> {
  const { at = gate, query = '', payment } = asked;
  const response = await fetch(at.url + path + (query === '' ? '' : `?${query}`), {
    method: method ?? 'GET',
    headers: {
      ...(payment === undefined ? {} : { 'x-payment': payment }),
      ...(body === undefined
        ? {}
        : { 'content-type': 'application/json', accept: 'application/json' }),
    },
    ...(body === undefined ? {} : { body }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
  return {
    status: response.status,
    headers: response.headers,
    body: isJson ? JSON.parse(text) : {},
    text,
  };
}

/** Pays what the challenge of the bare path asks for, in the name of this query. */
async function pay(row: Operation, asked: Asked): Promise<Answer> {
  const challenge = await ask(row, asked.at === undefined ? {} : { at: asked.at });
  const [terms] = challenge.body.accepts as [RequirementsV1];
  return ask(row, { ...asked, payment: await payer(NETWORK).header(terms) });
}

const dollars = (price: string): string =>
  String(BigInt(price.replace('.', '')) * 10n ** BigInt(6 - (price.split('.')[1]?.length ?? 0)));

function expectChallenge({ status, headers, body }: Answer, { path, price }: Operation): void {
  const [terms] = body.accepts as [RequirementsV1];
  const above = Number(price) > 0.1;
  expect([path, status, terms.maxAmountRequired]).toEqual([path, 402, dollars(price ?? '')]);
  expect([path, terms.maxTimeoutSeconds, terms.scheme]).toEqual([path, 300, 'exact']);
  expect([path, body.x402Version, 'client_hint' in body]).toEqual([path, 1, above]);
  expect(headers.get('cache-control'), path).toBe('no-store');
  const v2 = Buffer.from(headers.get('payment-required') ?? '', 'base64').toString('utf8');
  expect(JSON.parse(v2).accepts[0].amount, path).toBe(dollars(price ?? ''));
}

function expectNotCharged({ status, headers, body }: Answer, path: string, miss?: string): void {
  expect([path, status, body.no_charge]).toEqual([path, 422, true]);
  expect(String(body.error).slice(0, 200), path).toMatch(/^Not charged\. Try GET \//);
  if (miss !== undefined) expect([path, body.miss]).toEqual([path, miss]);
  expect(headers.get('x-payment-response'), path).toBeNull();
  expect(headers.get('cache-control'), path).toBe('no-store');
}

/** A 200 with everything that its row promises. */
function expectSold({ status, headers, text, body }: Answer, row: Operation): void {
  const { path } = row;
  expect([path, status]).toEqual([path, 200]);
  const receipt = Buffer.from(headers.get('x-payment-response') ?? '', 'base64').toString('utf8');
  expect(JSON.parse(receipt), path).toMatchObject({ success: true, network: 'base-sepolia' });
  expect(headers.get('cache-control'), path).toBe('private, no-store');
  expectSchema(row, body);
  if (!SEALED_APART.has(path)) {
    const report = verifyBody(parseJson(text), { trust: [sample.did] });
    expect(
      report.checks.filter((each) => each.status === 'fail'),
      path,
    ).toEqual([]);
    expect([path, report.verdict]).toEqual([path, 'verified']);
  }
}

/** Nothing of the issuer's is in a token, and a settlement answer quotes the citation of a stored filing. */
const SEALED_APART = new Set(['/gauge/subscribe', '/resolve', '/resolve/proposer']);

function expectSchema({ path }: Operation, body: unknown): void {
  const schema = formOf(endpointOf(path))?.body;
  if (schema === undefined) return;
  expect([path, schema.safeParse(body).error?.issues ?? []]).toEqual([path, []]);
}

/** The row of the program's own table, which the hand-written one is compared with. */
function endpointOf(path: string): Endpoint {
  const rows = BUILTIN.operations as readonly Endpoint[];
  const form = path.replace(/\/sha256:.*$/, '/:record_hash');
  const row = rows.find((one) => one.path === form);
  if (row === undefined) throw new Error(`no row for ${path}`);
  return row;
}

const isToken = ({ path }: Operation): boolean => endpointOf(path).token;
const sold = OPERATIONS.filter((row) => row.price !== null);
const stocked = sold.filter(({ path }) => !(path in WITHOUT_DATA));
const bare = sold.filter(({ path }) => path in WITHOUT_DATA);
const baskets = OPERATIONS.filter(({ sum }) => sum !== undefined);
const free = OPERATIONS.filter((row) => row.price === null && !isToken(row) && !row.sum);
const gated = OPERATIONS.filter(isToken);

describe('the conformance table', () => {
  it('has one row for each of the 94 operations, each of them free, sold, sold by the sum or opened by a token', () => {
    expect(OPERATIONS).toHaveLength(94);
    const named = OPERATIONS.map(({ path }) => endpointOf(path).path);
    expect(named).toEqual(BUILTIN.operations.map((row) => row.path));
    expect(sold.length + free.length + gated.length + baskets.length).toBe(94);
    expect(Object.keys(WITHOUT_DATA).filter((path) => !named.includes(path))).toEqual([]);
  });

  it('declares a strict schema for every answer that is ours to shape', () => {
    // A tool server answers in JSON-RPC, a retired path not at all, and agent cards have a format of their own.
    const others = [
      '/mcp',
      '/merkle/proof',
      '/.well-known/agent-card.json',
      '/.well-known/agent.json',
    ];
    const without = BUILTIN.operations.filter((row) => formOf(row)?.body === undefined);
    expect(without.map(({ path }) => path).filter((path) => !others.includes(path))).toEqual([]);
  });

  it('looks every reading of a watchlist up in the census of its signal', async () => {
    const subscribe = OPERATIONS.find(({ path }) => path === '/gauge/subscribe') as Operation;
    const { token } = (await pay(subscribe, {})).body;
    const watch = OPERATIONS.find(({ path }) => path === '/gauge/watch') as Operation;
    const seen = JSON.stringify(
      (await ask(watch, { query: `${watch.valid}&token=${token}` })).body,
    );
    const census = JSON.parse(sample.text('census/airquality.aqi.json')) as {
      rows: { entity: string; record_hash: string }[];
    };
    const row = census.rows.find(({ entity }) => entity === 'us-denver');
    expect(seen).toContain(`"record_hash":"${row?.record_hash}"`);
    expect(seen).not.toContain(
      census.rows.find(({ entity }) => entity === 'us-chicago')?.record_hash,
    );
  });

  it('has the prices of the program, which every description repeats (completeness.test.ts)', () => {
    for (const { path, price } of sold)
      expect([path, endpointOf(path).priceUsd]).toEqual([path, price]);
  });
});

describe('sold operations', () => {
  it.each(sold)('$path without a query asks for $price USD, whatever is stored', async (row) => {
    expectChallenge(await ask(row), row);
  });

  it.each(stocked)('$path unpaid, with data, asks for $price USD', async (row) => {
    expectChallenge(await ask(row, { query: row.valid }), row);
  });

  it.each(stocked)('$path paid delivers a body that fits its schema and verifies', async (row) => {
    expectSold(await pay(row, { query: row.valid }), row);
  });

  it.each(sold.filter((row) => row.path !== '/gauge/subscribe'))(
    '$path paid, without data, is not charged',
    async (row) => {
      const asked = row.none === null ? { at: empty, query: row.valid } : { query: row.none };
      expectNotCharged(await pay(row, asked), row.path);
      expectNotCharged(
        await ask(row, asked.query === '' ? { ...asked, query: 'proof=1' } : asked),
        row.path,
      );
    },
  );

  it.each(sold)('$path names what is missing, and asks for nothing', async (row) => {
    if (row.missing === null) {
      // Nothing is required, but an unknown parameter is refused, paid or not.
      for (const answer of [await ask(row, { query: 'x=1' }), await pay(row, { query: 'x=1' })]) {
        expectNotCharged(answer, row.path, 'illegal_value');
      }
      return;
    }
    const [query, names] = row.missing;
    for (const answer of [await ask(row, { query }), await pay(row, { query })]) {
      expectNotCharged(answer, row.path, 'missing_parameter');
      expect([row.path, answer.body.missing_params]).toEqual([row.path, names]);
    }
  });

  it.each(sold.filter(({ illegal, none }) => illegal !== null || none !== null))(
    '$path refuses a value that is not legal, paid or not',
    async (row) => {
      const query = row.illegal ?? row.none ?? '';
      for (const answer of [await ask(row, { query }), await pay(row, { query })]) {
        expectNotCharged(answer, row.path, row.illegal === null ? undefined : 'illegal_value');
      }
    },
  );

  it.each(bare)(
    '$path has nothing in the sample: empty_line, and an example that answers',
    async (row) => {
      const answer = await ask(row, { query: row.valid === '' ? 'proof=1' : row.valid });
      expectNotCharged(answer, row.path);
      const example = await fetch(gate.url + String(answer.body.example_request));
      expect([200, 402], row.path).toContain(example.status);
    },
  );
});

describe('free operations', () => {
  /** What is answered to those whose plain answer is no 200. */
  const OTHER: Readonly<Record<string, number>> = {
    '/merkle/proof': 410,
  };

  it.each(free)('$path answers at once, and takes no payment', async (row) => {
    const expected = OTHER[row.path] ?? 200;
    const header = await payer(NETWORK).header((await terms()) as RequirementsV1);
    for (const payment of [undefined, header]) {
      const answer = await ask(row, {
        query: row.valid,
        ...(payment === undefined ? {} : { payment }),
      });
      expect([row.path, answer.status]).toEqual([row.path, expected]);
      expect(Buffer.byteLength(answer.text), row.path).toBeLessThan(2_000_000);
      expect(answer.headers.get('x-payment-response'), row.path).toBeNull();
      if (expected === 200 && row.method === undefined) expectSchema(row, answer.body);
    }
  });

  it.each(free)('$path without a query answers, or says what is missing', async (row) => {
    const { status, body } = await ask(row);
    if (row.missing === null) {
      expect([row.path, status]).toEqual([row.path, OTHER[row.path] ?? 200]);
      return;
    }
    const usage = row.path === '/gauge/verify';
    expect([row.path, status, body.no_charge]).toEqual([row.path, usage ? 400 : 422, true]);
  });

  it.each(free.filter(({ missing }) => missing !== null))(
    '$path names what is missing',
    async (row) => {
      const [query, names] = row.missing ?? ['', []];
      const { status, body } = await ask(row, { query });
      if (row.path === '/gauge/verify') expect([status, body.no_charge]).toEqual([400, true]);
      else
        expect([status, body.miss, body.missing_params]).toEqual([422, 'missing_parameter', names]);
    },
  );

  it.each(free.filter(({ illegal }) => illegal !== null))(
    '$path refuses an illegal value',
    async (row) => {
      const { status, body } = await ask(row, { query: row.illegal ?? '' });
      if (row.path === '/gauge/verify') expect([status, body.no_charge]).toEqual([400, true]);
      else expect([row.path, status, body.miss]).toEqual([row.path, 422, 'illegal_value']);
    },
  );

  it.each(free.filter(({ none }) => none !== null))(
    '$path says when nothing is stored',
    async (row) => {
      expectNotCharged(await ask(row, { query: row.none ?? '' }), row.path, 'no_data');
    },
  );
});

async function terms(): Promise<unknown> {
  const { body } = await ask(OPERATIONS[0] as Operation);
  return (body.accepts as unknown[])[0];
}

describe('operations that cost what their body asks for', () => {
  it.each(baskets)('$path asks for $sum USD, and delivers what verifies', async (row) => {
    const quote = await ask(row);
    expectChallenge(quote, { ...row, price: row.sum ?? null });
    const [terms] = quote.body.accepts as [RequirementsV1];
    expectSold(await ask(row, { payment: await payer(NETWORK).header(terms) }), row);
  });

  it.each(baskets)(
    '$path refuses a payment of another sum, and a body that asks for nothing',
    async (row) => {
      const [terms] = (await ask(row)).body.accepts as [RequirementsV1];
      const less = { ...terms, maxAmountRequired: '1' };
      const { status, body } = await ask(row, { payment: await payer(NETWORK).header(less) });
      expect([status, String(body.error).split(':')[0]]).toEqual([402, 'basket_changed']);
      expect((await ask({ ...row, body: '{}' })).status).toBe(400);
    },
  );
});

describe('look-ups of a hash that was published', () => {
  it('answer with the forms of a hit, each by its schema', async () => {
    const { record_hash } = JSON.parse(sample.text('record/airquality.aqi/us-denver.json'));
    const rows: readonly Operation[] = [
      { ...(OPERATIONS[0] as Operation), path: `/proof/${record_hash}` },
      { ...(OPERATIONS[0] as Operation), path: `/v/${record_hash}` },
    ];
    for (const row of rows) {
      const { status, body } = await ask(row);
      expect([row.path, status, body.found]).toEqual([row.path, 200, true]);
      expectSchema(row, body);
    }
    const anchor = OPERATIONS.find(({ path }) => path === '/gauge/anchor') as Operation;
    for (const query of [`hash=${record_hash}`, 'day=2026-11-20']) {
      const { status, body } = await ask(anchor, { query });
      expect([query, status]).toEqual([query, 200]);
      expectSchema(anchor, body);
    }
  });
});

describe('operations that a token opens', () => {
  it.each(gated)('$path is closed without one, bare, asked and paid', async (row) => {
    const header = await payer(NETWORK).header((await terms()) as RequirementsV1);
    for (const asked of [{}, { query: row.valid }, { query: row.valid, payment: header }]) {
      const { status, body, headers } = await ask(row, asked);
      expect([row.path, status, body.code]).toEqual([row.path, 401, 'missing_token']);
      expect(body.mint).toBe('/gauge/subscribe');
      expect(headers.get('x-payment-response')).toBeNull();
    }
  });

  it.each(gated)('$path is closed to a token that is not ours', async (row) => {
    const { status, body } = await ask(row, { query: 'token=nobody.signed.this' });
    expect([row.path, status, body.code]).toEqual([row.path, 401, 'invalid_token']);
  });

  it('opens all of them with a token that was bought, as a header and as a parameter', async () => {
    const subscribe = OPERATIONS.find(({ path }) => path === '/gauge/subscribe') as Operation;
    const { token } = (await pay(subscribe, {})).body;
    for (const row of gated) {
      const query = `${row.valid === '' ? '' : `${row.valid}&`}token=${token}`;
      const answer = await ask(row, { query });
      expect([row.path, answer.status]).toEqual([row.path, 200]);
      expectSchema(row, answer.body);
      const bearer = await fetch(`${gate.url}${row.path}?${row.valid}`, {
        headers: { authorization: `Bearer ${token}` },
      });
      expect([row.path, bearer.status]).toEqual([row.path, 200]);
      if (row.missing === null) continue;
      const missing = await ask(row, { query: `${row.missing[0]}&token=${token}` });
      expectNotCharged(missing, row.path, 'missing_parameter');
    }
  });
});
