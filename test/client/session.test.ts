import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ClientError } from '../../compiler/client/client-error.ts';
import { mcpServer } from '../../compiler/client/mcp-server.ts';
import { shopTools } from '../../compiler/client/shop-tools.ts';
import { type ClientOptions, signalpressClient } from '../../compiler/client/signalpress-client.ts';
import { localFacilitator } from '../../gatekeeper/settle/facilitator/local-facilitator.ts';
import type { Gatekeeper } from '../../gatekeeper/start.ts';
import { startGate } from '../gate.ts';
import { NOW_MS } from '../gatekeeper/payer.ts';
import { type Shop, smallShop } from '../shop.ts';
import { payingFetch } from './python-gate.ts';

/** What one client buys in its life: by words, within a budget, and until its caller gives up. */
const RECORD = '/gauge?signal_id=airquality.aqi&entity=us-denver';
const transactions = new Set<string>();
let shop: Shop;
let gate: Gatekeeper;
beforeAll(async () => {
  shop = await smallShop();
  const real = localFacilitator({ clock: () => NOW_MS });
  const facilitator: typeof real = {
    ...real,
    async settle(request) {
      const outcome = await real.settle(request);
      if (outcome.verdict === 'settled') transactions.add(outcome.transaction);
      return outcome;
    },
  };
  gate = await startGate({ data: shop.data }, { clock: () => NOW_MS, facilitator });
});
afterAll(async () => {
  await gate.close();
  shop.dispose();
});
beforeEach(() => transactions.clear());

const client = (options: Partial<ClientOptions> = {}) =>
  signalpressClient({
    baseUrl: gate.url,
    issuer: shop.did,
    pay: payingFetch,
    wait: async () => undefined,
    clock: () => NOW_MS,
    ...options,
  });
const errorOf = (work: Promise<unknown>): Promise<ClientError> =>
  work.then(
    () => {
      throw new Error('bought');
    },
    (error) => error,
  );
/** Loses the first answers to a payment. */
function losing(count: number, then: () => void = () => undefined) {
  const sent: string[] = [];
  const lossy: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    const payment = request.headers.get('x-payment');
    const answer = await fetch(request);
    if (payment === null) return answer;
    sent.push(payment);
    if (sent.length > count) return answer;
    if (sent.length === count) then();
    throw new TypeError('fetch failed');
  };
  return { sent, fetch: lossy };
}
/** A service that answers a search otherwise. */
function searching(more: object): typeof fetch {
  return async (input, init) => {
    const answer = await fetch(input, init);
    if (!new Request(input, init).url.includes('/gauge/search')) return answer;
    return Response.json({ ...((await answer.json()) as object), ...more });
  };
}

describe('buy()', () => {
  it('takes what a search found, and a path with its query, and says what was paid', async () => {
    const [found] = await client().search('air quality in Denver');
    if (found === undefined) throw new Error('nothing found');
    const { paidUsd, payment } = await client().buy(found);
    expect(payment.url).toBe(gate.url + found.request.replace(/^GET /, ''));
    expect([paidUsd, (await client().quote(found)).priceUsd]).toEqual([
      found.price_usd,
      found.price_usd,
    ]);
    const record = await client().buy(RECORD);
    expect(record).toMatchObject({ paidUsd: '0.01', body: { entity: 'us-denver' } });
    expect(transactions.size).toBe(2);
  });

  it.each(['http://elsewhere.example/gauge?x=1', 'gauge?signal_id=x'])(
    'refuses %s',
    async (request) => {
      const found = { id: '', title: '', answers: '', price_usd: null, request };
      await expect(client().buy(found)).rejects.toThrow('not a path?query of the service');
      expect(transactions.size).toBe(0);
    },
  );

  it('stays within the budget, whatever ends a purchase and however many run', async () => {
    const { fetch } = losing(6);
    const one = client({ maxTotalUsd: '0.02', fetch });
    const unsettled = await errorOf(one.buy(RECORD));
    expect(unsettled.code).toBe('unsettled');
    const two = await Promise.allSettled([one.buy(RECORD), one.buy(RECORD)]);
    expect(two.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const over = await errorOf(one.buy(RECORD));
    expect([over.code, over.message.includes('0.02 of maxTotalUsd 0.02 are spent')]).toEqual([
      'too_expensive',
      true,
    ]);
    expect(transactions.size).toBe(2);
  });

  it('gives back what a wallet did not sign', async () => {
    const refusing = client({
      maxTotalUsd: '0.01',
      pay: (ask) => async (input) => {
        await ask(input);
        throw new Error('no');
      },
    });
    expect((await errorOf(refusing.buy(RECORD))).code).toBe('refused');
    expect((await errorOf(refusing.buy(RECORD))).code).toBe('refused');
  });

  it('ends when its caller gives up: with the payment if one was sent, and else with nothing sent', async () => {
    const giveUp = new AbortController();
    const { sent, fetch } = losing(1, () => giveUp.abort());
    const { code, facts } = await errorOf(client({ fetch }).buy(RECORD, { signal: giveUp.signal }));
    expect([code, sent.length, facts.payment?.value]).toEqual(['unsettled', 1, sent[0]]);
    const early = await errorOf(client().buy(RECORD, { signal: AbortSignal.abort() }));
    expect([early.code, transactions.size]).toEqual(['failed', 1]);
  });

  it.each([0, 2])('sends a payment again %i times where a call says so', async (retries) => {
    const { sent, fetch } = losing(9);
    expect((await errorOf(client({ fetch }).buy(RECORD, { retries }))).code).toBe('unsettled');
    expect([sent.length, new Set(sent).size]).toEqual([retries + 1, 1]);
  });
});

describe('ask()', () => {
  it('buys the best result, and says which', async () => {
    const [best] = await client().search('air quality in Denver');
    const { found, text, report } = await client().ask('air quality in Denver');
    expect([found, report?.verdict]).toEqual([best, 'verified']);
    expect(text).toContain('us-denver');
  });

  it('buys nothing where words are open, nothing is sold or the cap is lower', async () => {
    const [found] = await client().search('air quality in Denver');
    const open = searching({ results: [{ ...found, open: ['generation'] }] });
    const asked = (fetch: typeof globalThis.fetch) =>
      errorOf(client({ fetch }).ask('air in Denver'));
    const said = await asked(open);
    expect([said.code, said.message]).toEqual([
      'not_charged',
      expect.stringMatching(/leaves "generation" open; nothing was signed.*\/gauge/),
    ]);
    expect((await asked(searching({ note: 'Paris is not measured here' }))).message).toContain(
      'Paris is',
    );
    expect((await asked(searching({ results: [] }))).code).toBe('not_charged');
    expect((await asked(searching({ results: [{}] }))).code).toBe('failed');
    const dear = client().ask('air quality in Denver', { maxUsd: '0.001' });
    expect((await errorOf(dear)).code).toBe('too_expensive');
    expect(transactions.size).toBe(0);
  });
});

describe('mcpServer()', () => {
  const line = async (message: unknown) => {
    const answer = mcpServer(shopTools(client(), { maxUsd: '0.05' }), '1.0.0');
    const text = await answer(typeof message === 'string' ? message : JSON.stringify(message));
    return text === null ? null : JSON.parse(text);
  };
  const call = (method: string, params: object = {}) =>
    line({ jsonrpc: '2.0', id: 1, method, params });
  const buy = async (args: object) => {
    const { result } = await call('tools/call', { name: 'buy', arguments: args });
    return { isError: result.isError, ...JSON.parse(result.content[0].text) };
  };

  it('buys within the cap of its owner, and refuses above it without a signature', async () => {
    expect(await buy({ request: RECORD })).toMatchObject({ verdict: 'verified', paid_usd: '0.01' });
    const dear = await buy({ request: '/gauge/region?loc=us-denver', max_usd: '9' });
    expect(dear).toMatchObject({ isError: true, code: 'too_expensive' });
    expect(await buy({ request: RECORD, max_usd: '0.001' })).toMatchObject({ isError: true });
    expect(transactions.size).toBe(1);
  });

  it('shakes hands, and answers what is none of its methods as JSON-RPC says', async () => {
    const hello = await call('initialize', { protocolVersion: '2025-06-18' });
    expect(hello.result.protocolVersion).toBe('2025-06-18');
    expect((await call('initialize', { protocolVersion: '1' })).result.protocolVersion).toBe(
      '2025-11-25',
    );
    expect((await call('ping')).result).toEqual({});
    expect((await call('tools/call', { name: 'steal' })).error.code).toBe(-32602);
    expect((await call('resources/list')).error.code).toBe(-32601);
    expect((await line('{')).error.code).toBe(-32700);
    expect((await line([])).error.code).toBe(-32600);
    expect(await line({ jsonrpc: '2.0', method: 'notifications/initialized' })).toBeNull();
    expect(await line({ jsonrpc: '2.0', id: 1, result: {} })).toBeNull();
  });
});
