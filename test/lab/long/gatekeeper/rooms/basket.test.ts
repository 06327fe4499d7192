import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { JsonValue } from '../../../../../compiler/format/strict-json.ts';
import {
  BASKET_ANSWERS_BYTES_MAX,
  BASKET_BODY_BYTES_MAX,
  type BasketBody,
  basketOf,
  isSoldPart,
} from '../../../../../compiler/products/shapes/basket.ts';
import { verifyBody } from '../../../../../compiler/verify/verify-body.ts';
import type { Service } from '../../../../../gatekeeper/heart/answers/service.ts';
import { basket } from '../../../../../gatekeeper/rooms/basket.ts';
import type { Facilitator, SettleOutcome } from '../../../../../gatekeeper/settle/facilitator.ts';
import { furtherTokens, NETWORKS } from '../../../../../gatekeeper/settle/networks.ts';
import type { Requirements, RequirementsV1 } from '../../../../../gatekeeper/settle/payment.ts';
import type { Gatekeeper } from '../../../../../gatekeeper/start.ts';
import type { X402Header } from '../../../../../gatekeeper/wire/header-facts.ts';
import { jsonReply } from '../../../../../gatekeeper/wire/reply.ts';
import { sampleGate, servedShop } from '../../../../gate.ts';
import { payer } from '../../../../gatekeeper/payer.ts';
import { BUYER_ADDRESS } from '../../../../gatekeeper/tiny-gate.ts';
import { tinyFiles } from '../../../../gatekeeper/tiny-release.ts';
import { jsonOf, question, tinyService } from '../../../../gatekeeper/tiny-service.ts';
import { type CompiledSample, compiledSample } from '../../../../shop.ts';
import {
  AS_OF,
  compileFolder,
  removeFolders,
  writeSnapshots,
} from '../../../../snapshot-folder.ts';
import { LEVEL, TIDE_PRICES, type TideTerms, tideFiles, WAVES } from '../../../../tide-shop.ts';

interface Shown {
  readonly request: string;
  readonly price_usd?: string;
  readonly not_sold?: string;
}

/** The 402 of a basket. */
interface Quote {
  readonly error: string;
  readonly accepts: [RequirementsV1];
  readonly basket: { readonly total_usd: string; readonly parts: readonly Shown[] };
}

/** Sends a text as it is, or a list of requests. */
function postBasket(
  at: Gatekeeper,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const text = typeof body === 'string' ? body : JSON.stringify({ requests: body });
  return fetch(`${at.url}/gauge/basket`, {
    method: 'POST',
    body: text,
    headers: { ...BUYER_ADDRESS, ...headers },
  });
}

async function quotedBasket(at: Gatekeeper, requests: readonly string[]): Promise<Quote> {
  const response = await postBasket(at, requests);
  expect(response.status).toBe(402);
  return (await response.json()) as Quote;
}

/** A payment of these terms, or of others in their place. */
async function signedFor(terms: Requirements, over: Partial<RequirementsV1> = {}) {
  const asked = { ...terms, ...over } as Requirements;
  return { 'x-payment': await payer(NETWORKS['base-sepolia']).header(asked) };
}

const NETWORK = NETWORKS['base-sepolia'];
const DENVER = '/gauge?entity=us-denver&signal_id=airquality.aqi';
const CHICAGO = '/gauge?entity=us-chicago&signal_id=airquality.aqi';
const AIR = '/gauge/air?loc=us-denver';
const REGION = '/gauge/region?loc=us-chicago';

let sample: CompiledSample;
let gate: Gatekeeper;
beforeAll(async () => {
  sample = await compiledSample();
  gate = await sampleGate(sample.data, { receipts: true });
});
afterAll(async () => {
  await gate.close();
  removeFolders();
});

const post = (
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
  at = gate,
): Promise<Response> => postBasket(at, body, headers);
const quoteOf = (requests: readonly string[], at = gate): Promise<Quote> =>
  quotedBasket(at, requests);

/** What was not sold, by its place from 1. */
function unsold({
  basket: { parts },
}: Pick<Quote, 'basket'>): readonly (readonly [number, string])[] {
  return parts.flatMap(({ not_sold }, at) =>
    not_sold === undefined ? [] : [[at + 1, not_sold] as const],
  );
}

describe('answers that are gathered for payments', () => {
  it('I43: are of 16 baskets at once; a payment more waits, unasked, and is sold after them', async () => {
    const service = await tinyService();
    const held: (() => void)[] = [];
    const sell = vi.fn(async () => jsonReply(200, {}));
    const holding: Service = {
      ...service,
      purchases: {
        ...service.purchases,
        transferOf: async () => ({ value: '10000', token: NETWORK }),
        open: async () => ({ sell }),
      },
      rooms: {
        ...service.rooms,
        proven: (content) => new Promise((resolve) => held.push(() => resolve(content))),
      },
    };
    const asked = question(
      '/gauge/basket',
      '',
      Buffer.from(JSON.stringify({ requests: [DENVER] })),
    );
    const paymentHeaders: X402Header[] = [{ kind: 'payment', text: '', version: 1 }];
    const send = async () => jsonOf(await basket({ ...asked, paymentHeaders }, holding));
    const first = Array.from({ length: 16 }, send);
    await vi.waitFor(() => expect(held).toHaveLength(16), 60_000);
    expect(await send()).toMatchObject({ status: 503, retryable: true });
    expect([held.length, sell.mock.calls.length]).toEqual([16, 0]);
    for (const release of held) release();
    expect((await Promise.all(first)).map(({ status }) => status)).toEqual(Array(16).fill(200));
    const next = send();
    await vi.waitFor(() => expect(held).toHaveLength(17), 60_000);
    held[16]?.();
    expect(await next).toMatchObject({ status: 200 });
  });
});

describe('a quote', () => {
  it('asks for the sum of the prices, exactly, and shows each', async () => {
    const quote = await quoteOf([DENVER, AIR, REGION]);
    expect(quote.accepts[0].maxAmountRequired).toBe('265000');
    expect(quote.basket).toEqual({
      total_usd: '0.265',
      parts: [
        { request: DENVER, price_usd: '0.01' },
        { request: AIR, price_usd: '0.005' },
        { request: REGION, price_usd: '0.25' },
      ],
    });
    expect(quote.accepts[0].outputSchema).toMatchObject({ input: { method: 'POST' } });
  });

  it('names what has no answer and does not charge it', async () => {
    const nowhere = '/gauge?signal_id=airquality.aqi&entity=us-nowhere';
    const quote = await quoteOf([nowhere, DENVER]);
    expect(quote.accepts[0].maxAmountRequired).toBe('10000');
    const list = /^Not charged\. Try GET \/gauge\/catalog\?signal_id=airquality\.aqi - /;
    expect(unsold(quote)).toEqual([[1, expect.stringMatching(list)]]);
  });

  it.each([
    ['/gauge/coverage', /^free; send it alone/],
    ['/gauge/watch?items=environment:us-denver', /^opened by a token/],
    ['/gauge/subscribe', /^a token is sold alone/],
    ['/gauge/basket', /^a basket cannot/],
    ['/verify', /^a POST that is free/],
    ['/merkle/proof', /^retired/],
    ['/nowhere', /^no operation/],
    ['gauge', /must be a path/],
    ['/gauge', /required parameter missing: signal_id, entity/],
    ['/gauge/history-series?format=csv&signal_id=airquality.aqi&entity=us-denver', /^a table is/],
    ['/gauge?signal_id=airquality.aqi&entity=us-denver', /^the same as request 1/],
  ])('says why %s is not in it', async (request, words) => {
    const quote = await quoteOf([DENVER, request]);
    expect(quote.accepts[0].maxAmountRequired).toBe('10000');
    expect(unsold(quote)).toEqual([[2, expect.stringMatching(words)]]);
  });

  it('is a 422 where nothing can be sold, with a request that can', async () => {
    const response = await post(['/gauge/coverage', '/gauge?signal_id=airquality.aqi&entity=x']);
    expect(response.status).toBe(422);
    const body = (await response.json()) as { error: string; example_request: string };
    expect(body).toMatchObject({ no_charge: true, miss: 'no_data', basket: { total_usd: '0' } });
    expect((await fetch(gate.url + body.example_request)).status).toBe(402);
  });

  it.each([
    ['{}', 400, 'its only member must be "requests"'],
    ['[]', 400, 'not an object'],
    ['{"requests":[],"x":1}', 400, 'its only member'],
    ['{"requests":[]}', 400, '"requests" is empty'],
    ['{"requests":"/gauge"}', 400, '"requests" must be a list'],
    ['{"requests":[1]}', 400, 'request 1 must be a text'],
    ['{"requests":["/gauge"],"requests":["/gauge"]}', 400, 'the key appears twice'],
    [JSON.stringify({ requests: Array.from({ length: 31 }, () => DENVER) }), 400, '31 requests'],
    [`{"requests":["${'x'.repeat(BASKET_BODY_BYTES_MAX)}"]}`, 413, 'longer than 65536 bytes'],
  ])('refuses the body %.40s', async (text, status, words) => {
    const response = await post(text);
    const body = (await response.json()) as { error: string };
    expect([response.status, body.error]).toEqual([status, expect.stringContaining(words)]);
  });

  it('is asked by POST alone', async () => {
    const response = await fetch(`${gate.url}/gauge/basket`);
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
  });

  it('costs what as many free requests cost', async () => {
    const service = await tinyService();
    const body = Buffer.from(JSON.stringify({ requests: Array(30).fill(DENVER) }));
    let units = 0;
    const asked = question('/gauge/basket', 'application/json', body);
    const spend = (more: number): void => {
      units += more;
    };
    await basket({ ...asked, spend }, service);
    expect(units).toBeGreaterThanOrEqual(30);
  });

  it('refuses by name what is longer together than one body may be', async () => {
    const files = tinyFiles();
    const long = Buffer.from(JSON.stringify({ text: 'x'.repeat(BASKET_ANSWERS_BYTES_MAX / 2) }));
    for (const city of ['us-denver', 'us-chicago']) {
      files.set(`record/airquality.aqi/${city}.json`, long);
    }
    const service = await tinyService({ files });
    const ask = async (requests: readonly string[]) => {
      const body = Buffer.from(JSON.stringify({ requests }));
      return jsonOf(await basket(question('/gauge/basket', '', body), service));
    };
    expect(await ask([DENVER])).toMatchObject({ status: 402 });
    expect(await ask([DENVER, CHICAGO])).toMatchObject({
      status: 413,
      error: expect.stringContaining('8388608 bytes together from request 2 on'),
    });
  });
});

describe('a purchase', () => {
  const requests = [DENVER, '/gauge/coverage', AIR, REGION];

  it.each(['x-payment', 'payment-signature'])(
    'delivers each answer with its citation, by %s',
    async (name) => {
      const response = await post(requests);
      const v2 = Buffer.from(response.headers.get('payment-required') ?? '', 'base64').toString();
      const quote = (await response.json()) as Quote;
      const [terms] = name === 'x-payment' ? quote.accepts : JSON.parse(v2).accepts;
      const sold = await post(requests, { [name]: await payer(NETWORK).header(terms) });
      expect(sold.status).toBe(200);
      expect(sold.headers.get('cache-control')).toBe('private, no-store');
      const body = (await sold.json()) as BasketBody;
      expect(body.parts.map((part) => isSoldPart(part))).toEqual([true, false, true, true]);
      expect(body).toMatchObject({ total_usd: '0.265', parts: [{ request: DENVER }, {}, {}, {}] });
      const report = verifyBody(body as JsonValue, { trust: [sample.did] });
      expect(report.checks.filter(({ status }) => status === 'fail')).toEqual([]);
      expect([report.verdict, report.issuer]).toEqual(['verified', sample.did]);
    },
  );

  it('is delivered again, byte for byte, and buys no other basket', async () => {
    const [terms] = (await quoteOf(requests)).accepts;
    const headers = await signedFor(terms);
    const first = await post(requests, headers);
    const bytes = await first.text();
    expect(first.status).toBe(200);
    // Space and order of members are not part of what was asked.
    const again = await post(`{ "requests" : ${JSON.stringify(requests)} }`, headers);
    expect([again.status, await again.text()]).toEqual([200, bytes]);
    const receipt = 'x-payment-response';
    expect(again.headers.get(receipt)).toBe(first.headers.get(receipt));
    const other = await post([...requests].reverse(), headers);
    expect([other.status, ((await other.json()) as Quote).error.split(':')[0]]).toEqual([
      402,
      'payment_already_used',
    ]);
    const single = await fetch(gate.url + DENVER, { headers });
    expect(single.status).toBe(402);
  });

  it.each(['264999', '265001', '1', '0', '9'.repeat(30)])(
    'takes the sum alone, not %s',
    async (maxAmountRequired) => {
      const [terms] = (await quoteOf(requests)).accepts;
      const response = await post(requests, await signedFor(terms, { maxAmountRequired }));
      const body = (await response.json()) as Quote;
      expect([response.status, body.error]).toEqual([
        402,
        expect.stringMatching(/^basket_changed/),
      ]);
      expect(body.accepts[0].maxAmountRequired).toBe('265000');
    },
  );

  describe('in another token than USDC', () => {
    const setting = ['18:Euro Test', '8:Yen Test'].map((text, at) => {
      const [decimals, name] = text.split(':');
      return `base-sepolia:0x${`e${at}`.repeat(20)}:${name}:1:${decimals}`;
    });
    const tokens = furtherTokens(setting.join(','));
    const opened = (state = mkdtempSync(join(tmpdir(), 'basket-tokens-'))) =>
      sampleGate(sample.data, { settings: { state, tokens: setting.join(',') } });
    let shop: Gatekeeper;
    beforeAll(async () => {
      shop = await opened();
    });
    afterAll(() => shop.close());
    const AMOUNTS = ['265000000000000000', '26500000'];

    it.each([0, 1])('is sold at par, at %i, and for no other amount of it', async (at) => {
      const token = tokens[at] ?? NETWORK;
      const terms = (await quoteOf(requests, shop)).accepts.at(at + 1) as unknown as RequirementsV1;
      expect(terms).toMatchObject({ asset: token.asset, maxAmountRequired: AMOUNTS[at] });
      const own = payer(token);
      for (const step of [-1n, 1n]) {
        const maxAmountRequired = `${BigInt(terms.maxAmountRequired) + step}`;
        const wrong = { 'x-payment': await own.header({ ...terms, maxAmountRequired }) };
        const refused = await post(requests, wrong, shop);
        expect(refused.status).toBe(402);
        expect(((await refused.json()) as Quote).error).toMatch(/^basket_changed/);
      }
      const headers = { 'x-payment': await own.header(terms) };
      const sold = await post(requests, headers, shop);
      const bytes = await sold.text();
      expect(sold.status).toBe(200);
      const again = await post(requests, headers, shop);
      expect([again.status, await again.text()]).toEqual([200, bytes]);
    });

    it('is refused for the amount in USDC, signed for another token', async () => {
      const [terms] = (await quoteOf(requests, shop)).accepts;
      for (const token of tokens) {
        const headers = { 'x-payment': await payer(token).header(terms) };
        const response = await post(requests, headers, shop);
        expect(response.status).toBe(402);
      }
    });

    it.each([0, 1])('is delivered again after token %i left the settings', async (at) => {
      const state = mkdtempSync(join(tmpdir(), 'basket-tokens-'));
      const before = await opened(state);
      const asked = await post(requests, {}, before);
      const v2 = Buffer.from(asked.headers.get('payment-required') ?? '', 'base64').toString();
      const own = payer(tokens[at] ?? NETWORK);
      const terms = JSON.parse(v2).accepts.at(at + 1);
      const known = { 'payment-signature': await own.header(terms) };
      const first = await post(requests, known, before);
      const sold = await first.text();
      expect(first.status).toBe(200);
      await before.close();
      const after = await sampleGate(sample.data, { settings: { state } });
      const again = await post(requests, known, after);
      expect([again.status, await again.text()]).toEqual([200, sold]);
      const late = { 'payment-signature': await own.header(terms) };
      const refused = await post(requests, late, after);
      expect([refused.status, ((await refused.json()) as Quote).error]).toEqual([
        402,
        expect.stringMatching(/^basket_changed/),
      ]);
      await after.close();
    });
  });

  it('is a fresh quote for what cannot be read, for a receipt, and for two payments', async () => {
    const [terms] = (await quoteOf(requests)).accepts;
    const both = { ...(await signedFor(terms)), 'x-receipt': 'spr1.x.y' };
    for (const [headers, reason] of [
      [{ 'x-payment': 'nothing' }, 'invalid_payload'],
      [{ 'x-receipt': 'spr1.x.y' }, 'invalid_payload'],
      [both, 'invalid_payload'],
    ] as const) {
      const response = await post(requests, headers);
      const body = (await response.json()) as Quote;
      expect([response.status, body.error.split(':')[0]]).toEqual([402, reason]);
      expect(body.basket.total_usd).toBe('0.265');
    }
  });
});

describe('a body that lies about its basket', () => {
  const lies: readonly (readonly [string, (body: BasketBody) => unknown])[] = [
    [
      'an answer under the request of another',
      ({ parts: [a, b], ...rest }) => {
        if (a === undefined || b === undefined) throw new Error('too few parts');
        return {
          ...rest,
          parts: [
            { ...a, request: b.request },
            { ...b, request: a.request },
          ],
        };
      },
    ],
    ['another sum', (body) => ({ ...body, total_usd: '0.01' })],
    [
      'a changed reading',
      (body) => JSON.parse(JSON.stringify(body).replace('"us-denver"', '"us-dallas"')),
    ],
  ];
  it.each(lies)('with %s does not verify', async (_, change) => {
    const [terms] = (await quoteOf([DENVER, CHICAGO])).accepts;
    const sold = await post([DENVER, CHICAGO], await signedFor(terms));
    const body = (await sold.json()) as BasketBody;
    expect(verifyBody(body as JsonValue, { trust: [sample.did] }).verdict).toBe('verified');
    const report = verifyBody(change(body) as JsonValue, { trust: [sample.did] });
    expect(report.verdict).toBe('failed');
  });
});

it('an answer under a request that nobody knows is not called verified', async () => {
  const [terms] = (await quoteOf([DENVER])).accepts;
  const body = (await (await post([DENVER], await signedFor(terms))).json()) as BasketBody;
  const parts = body.parts.map((part) => ({ ...part, request: '/gauge/other?x=1' }));
  const report = verifyBody({ ...body, parts } as JsonValue, { trust: [sample.did] });
  expect(report.verdict).toBe('unsigned');
});

it('of prices in whole dollars is read and verified like any other', async () => {
  const prices = { ...TIDE_PRICES, '/gauge': '2' };
  const root = writeSnapshots(tideFiles({ catalog: { prices } }));
  const { data } = await compileFolder(root, { asOf: AS_OF });
  const shop = await sampleGate(data, { tokens: false });
  const [terms] = (await quoteOf([LEVEL, WAVES], shop)).accepts;
  const sold = await post([LEVEL, WAVES], await signedFor(terms), shop);
  const body = (await sold.json()) as JsonValue;
  await shop.close();
  expect(basketOf(body)).toMatchObject({ total_usd: '4.00', parts: [{ price_usd: '2' }, {}] });
  expect(basketOf({ ...(body as object), total_usd: '4.' } as JsonValue)).toBeNull();
});

describe('a release between quote and purchase', () => {
  afterAll(removeFolders);

  interface Switch {
    /** Whether the basket is paid for before the release. */
    readonly isBought?: boolean;
    /** How the first settlement ends. */
    readonly first?: SettleOutcome;
    /** Requests that are sent with the payment afterwards. */
    readonly asked?: readonly string[];
  }
  const SETTLED: SettleOutcome = { verdict: 'settled', transaction: `0x${'5e'.repeat(32)}` };

  /** A shop of an own catalogue that is quoted, and then compiled anew. */
  async function switched(
    before: TideTerms,
    after: TideTerms,
    { isBought = false, first: outcome = SETTLED, asked = [LEVEL, WAVES] }: Switch = {},
  ) {
    const calls: string[] = [];
    const facilitator: Facilitator = {
      verify: async () => ({ verdict: 'valid' }),
      settle: async ({ paymentRequirements }) => {
        calls.push(JSON.stringify(paymentRequirements));
        return calls.length === 1 ? outcome : SETTLED;
      },
      supported: async () => ({ verdict: 'none', detail: '' }),
    };
    const state = mkdtempSync(join(tmpdir(), 'signalpress-state-'));
    const settings = { tokens: false, settings: { state }, facilitator };
    const root = writeSnapshots(tideFiles(before));
    const { data } = await compileFolder(root, { asOf: AS_OF });
    const first = await sampleGate(data, settings);
    const [terms] = (await quotedBasket(first, [LEVEL, WAVES])).accepts;
    const headers = await signedFor(terms);
    const sold = isBought ? await (await postBasket(first, [LEVEL, WAVES], headers)).text() : null;
    await first.close();
    writeSnapshots(tideFiles(after), root);
    await compileFolder(root, { asOf: AS_OF, data, acceptCatalogChanges: true });
    const later = await sampleGate(data, settings);
    const answer = await postBasket(later, asked, headers);
    const text = await answer.text();
    await later.close();
    return { status: answer.status, text, sold, calls };
  }
  const dearer = { catalog: { prices: { ...TIDE_PRICES, '/gauge': '0.03' } } };
  const cheaper = { catalog: { prices: { ...TIDE_PRICES, '/gauge': '0.01' } } };
  const freed: TideTerms = { waves: { free: ['latest'] } };

  it.each([
    ['costs more', dearer, '60000'],
    ['costs less', cheaper, '20000'],
    ['gives a part away', freed, '20000'],
  ])('that %s: nothing is charged, and the quote is fresh', async (_, after, sum) => {
    const { status, text, calls } = await switched({}, after);
    const body = JSON.parse(text) as Quote;
    expect([status, body.error]).toEqual([402, expect.stringMatching(/^basket_changed/)]);
    expect([body.accepts[0].maxAmountRequired, calls]).toEqual([sum, []]);
  });

  it.each<[string, TideTerms, number]>([
    ['other requests at the same sum: nothing is charged', { level: { free: ['latest'] } }, 402],
    ['the same requests: sold at the quoted sum', { waves: { free: ['latest'] } }, 200],
  ])('that the same service opens, of %s', async (_, before, status) => {
    const after: TideTerms = { waves: { free: ['latest'] } };
    const settings = { tokens: false, pollMs: 20 };
    const shop = await servedShop(tideFiles(before), settings);
    const [terms] = (await quotedBasket(shop.gate, [LEVEL, WAVES])).accepts;
    writeSnapshots(tideFiles(after), shop.snapshots);
    const { release } = await compileFolder(shop.snapshots, {
      data: shop.data,
      acceptCatalogChanges: true,
    });
    await expect
      .poll(async () => (await fetch(`${shop.gate.url}/.well-known/release.json`)).json())
      .toMatchObject({ sequence: release.sequence });
    const answer = await postBasket(shop.gate, [LEVEL, WAVES], await signedFor(terms));
    const body = (await answer.json()) as Quote;
    await shop.gate.close();
    expect(terms.maxAmountRequired).toBe('20000');
    expect(answer.status).toBe(status);
    if (status === 402) expect(body.error).toMatch(/^basket_changed/);
  });

  it('that changes nothing of it: is sold at the quoted sum', async () => {
    const { status, calls } = await switched({}, {});
    expect([status, calls.length]).toEqual([200, 1]);
    expect(JSON.parse(calls[0] ?? '')).toMatchObject({ maxAmountRequired: '40000' });
  });

  it('that gives a part away after the purchase: the same bytes again, no second charge', async () => {
    const { status, text, sold, calls } = await switched({}, freed, { isBought: true });
    expect([status, text, calls.length]).toEqual([200, sold, 1]);
  });

  describe('that sells no baskets any more', () => {
    const without: TideTerms = { catalog: { leftOut: ['/gauge/basket'] } };

    it('what was bought before: the same bytes again, no second charge', async () => {
      const { status, text, sold, calls } = await switched({}, without, { isBought: true });
      expect([status, text, calls.length]).toEqual([200, sold, 1]);
    });

    it('what is in doubt: settled for its buyer, by the terms that were signed', async () => {
      const first: SettleOutcome = { verdict: 'none', detail: 'no answer in time' };
      const terms = { isBought: true, first };
      const { status, text, sold, calls } = await switched({}, without, terms);
      expect(sold).toContain('is not known yet');
      expect([status, basketOf(JSON.parse(text))?.total_usd]).toEqual([200, '0.04']);
      expect(JSON.parse(calls[1] ?? '')).toMatchObject({
        maxAmountRequired: '40000',
        outputSchema: { input: { method: 'POST' } },
      });
    });

    it('nothing is sold, and no payment delivers another basket', async () => {
      const asked = [WAVES, LEVEL];
      for (const terms of [{}, { asked }, { isBought: true, asked }, { asked: [] }]) {
        const { status, calls } = await switched({}, without, terms);
        expect([status, calls.length]).toEqual([404, 'isBought' in terms ? 1 : 0]);
      }
    });
  });
});
