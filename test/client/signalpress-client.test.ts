import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { PendingPayment } from '../../compiler/client/client-error.ts';
import { ClientError, type ClientErrorCode } from '../../compiler/client/client-error.ts';
import type { Fetch, PayingFetch } from '../../compiler/client/payment-trip.ts';
import { type ClientOptions, signalpressClient } from '../../compiler/client/signalpress-client.ts';
import { SERIES_CSV_HEADER } from '../../compiler/products/shapes/series.ts';
import { localFacilitator } from '../../gatekeeper/settle/facilitator/local-facilitator.ts';
import type { Facilitator } from '../../gatekeeper/settle/facilitator.ts';
import { NETWORKS } from '../../gatekeeper/settle/networks.ts';
import type { Gatekeeper } from '../../gatekeeper/start.ts';
import { startGate } from '../gate.ts';
import { NOW_MS, payer } from '../gatekeeper/payer.ts';
import { type Shop, smallShop } from '../shop.ts';

const REDELIVERIES_MAX = 5;
const PAIR = { signal_id: 'airquality.aqi', entity: 'us-denver' } as const;

let release: Shop;
let gate: Gatekeeper;
let settled = 0;
let signatures = 0;
const waits: number[] = [];

/** Settles like the local one, and counts charges rather than calls. */
function counting(): Facilitator {
  const real = localFacilitator({ clock: () => NOW_MS });
  const transactions = new Set<string>();
  return {
    ...real,
    async settle(request) {
      const outcome = await real.settle(request);
      if (outcome.verdict === 'settled') transactions.add(outcome.transaction);
      settled = transactions.size;
      return outcome;
    },
  };
}

beforeAll(async () => {
  release = await smallShop();
  const by = { clock: () => NOW_MS, facilitator: counting() };
  gate = await startGate({ data: release.data }, by);
});
afterAll(async () => {
  await gate.close();
  release.dispose();
});
beforeEach(() => {
  signatures = 0;
  waits.length = 0;
});

/** A wallet as the published wrappers are: asks, signs what is asked for, sends it with the payment. */
const wallet: PayingFetch = (inner) => async (input, init) => {
  const asked = await inner(input, init);
  if (asked.status !== 402) return asked;
  const { accepts } = (await asked.json()) as { accepts: [never] };
  signatures += 1;
  const header = await payer(NETWORKS['base-sepolia']).header(accepts[0]);
  return inner(input, { ...init, headers: { 'X-PAYMENT': header } });
};

function client(options: Partial<ClientOptions> = {}) {
  const wait = async (ms: number): Promise<void> => {
    waits.push(ms);
  };
  return signalpressClient({
    baseUrl: gate.url,
    issuer: release.did,
    pay: wallet,
    wait,
    clock: () => NOW_MS,
    ...options,
  });
}

/** What a fetch does with a paid request, by its turn; the last one goes on. */
function faulty(...faults: readonly ((send: () => Promise<Response>) => Promise<Response>)[]): {
  readonly fetch: Fetch;
  readonly seen: string[];
} {
  const seen: string[] = [];
  let turn = 0;
  const send: Fetch = async (input, init) => {
    const request = new Request(input, init);
    const value = request.headers.get('x-payment');
    if (value === null) return fetch(request);
    seen.push(value);
    const fault = faults[Math.min(turn, faults.length - 1)];
    turn += 1;
    return fault === undefined ? fetch(request) : fault(() => fetch(request));
  };
  return { fetch: send, seen };
}
const honest = (send: () => Promise<Response>): Promise<Response> => send();
const unreached = async (): Promise<Response> => {
  throw new TypeError('fetch failed');
};

async function failure(work: Promise<unknown>): Promise<ClientError> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ClientError);
  return error as ClientError;
}
const code = async (work: Promise<unknown>): Promise<ClientErrorCode> => (await failure(work)).code;

describe('get()', () => {
  it('returns a free answer, with parameters in the query or in the path', async () => {
    const compact = await client().get('/gauge/coverage', { ...PAIR, summary: '1' });
    expect(compact).toMatchObject({ signals: [{ signal_id: PAIR.signal_id }] });
    const bought = await client().buy('/gauge', PAIR);
    const { record_hash } = bought.body as { record_hash: string };
    const found = await client().get('/v/:record_hash', { record_hash });
    expect(found).toMatchObject({ found: true, verified: true, entity: PAIR.entity });
  });

  it('says what the service says of what it has not', async () => {
    const error = await failure(client().get('/gauge/history-preview', { ...PAIR, entity: 'x' }));
    expect(error.code).toBe('not_charged');
    expect(error.message).toMatch(/^Not charged\. Try GET /);
    expect(error.facts).toMatchObject({ status: 422, answer: { no_charge: true } });
  });

  it('signs nothing for a service that sends it elsewhere', async () => {
    const moved = createServer((request, response) => {
      response.writeHead(308, { location: gate.url + request.url }).end();
    });
    await new Promise<void>((resolve) => moved.listen(0, '127.0.0.1', resolve));
    const { port } = moved.address() as AddressInfo;
    const away = client({ baseUrl: `http://127.0.0.1:${port}` });
    const error = await failure(away.buy('/gauge', PAIR));
    expect([error.code, signatures]).toEqual(['failed', 0]);
    expect(error.message).toContain('nothing was signed');
    expect(await away.get('/gauge/preview')).toMatchObject({ catalog: '/gauge/catalog' });
    moved.close();
  });

  it('names a service that is not there', async () => {
    const nowhere = client({ fetch: unreached });
    expect(await code(nowhere.get('/gauge/preview'))).toBe('failed');
    expect(await code(nowhere.buy('/gauge', PAIR))).toBe('failed');
  });

  it('refuses what the table does not know before anything is sent', async () => {
    const untyped = client({ fetch: unreached }) as unknown as {
      get(path: string, params?: object): Promise<unknown>;
    };
    await expect(untyped.get('/gauge/sample', { enity: 'x' })).rejects.toThrow(
      'unknown parameter "enity"; legal parameters: signal_id',
    );
    await expect(untyped.get('/gauge/raw', {})).rejects.toThrow('signal_id,entity is missing');
    await expect(untyped.get('/mcp')).rejects.toThrow('not a GET');
    await expect(untyped.get('/nowhere')).rejects.toThrow(RangeError);
  });
});

const silent: Fetch = (input) =>
  new Promise((_, reject) => {
    const { signal } = input as Request;
    signal.addEventListener('abort', () => reject(signal.reason));
  });

/** Answers without an end, and how many of them are still read. */
function endless(status: number): { readonly fetch: Fetch; readonly open: () => number } {
  let open = 0;
  const piece = new Uint8Array(4_194_304).fill(0x20);
  const answer = async (): Promise<Response> => {
    open += 1;
    const body = new ReadableStream({
      pull: (stream) => stream.enqueue(piece),
      cancel: () => {
        open -= 1;
      },
    });
    return new Response(body, { status });
  };
  return { fetch: answer, open: () => open };
}

describe('a service that is silent or babbles', () => {
  it('is not waited for without end', async () => {
    const patient = client({ fetch: silent, timeoutMs: 20 });
    expect(await code(patient.get('/gauge/preview'))).toBe('failed');
    expect(await code(patient.buy('/gauge', PAIR))).toBe('failed');
  });

  it('is a failure while nothing is paid', async () => {
    const babble = client({ fetch: async () => new Response('<html>', { status: 200 }) });
    const error = await failure(babble.get('/gauge/preview'));
    expect([error.code, error.message]).toEqual([
      'failed',
      expect.stringMatching(/no readable answer$/),
    ]);
  });

  it('is listened to for 64 MB, and not once more with a payment', async () => {
    const babble = endless(200);
    const error = await failure(client({ fetch: babble.fetch }).get('/gauge/preview'));
    expect([error.code, error.message]).toEqual([
      'failed',
      expect.stringMatching(/: longer than 67108864 bytes$/),
    ]);
    expect(babble.open()).toBe(0);
    expect(await code(client({ fetch: endless(402).fetch }).buy('/gauge', PAIR))).toBe('failed');
    expect(signatures).toBe(0);
    const sold = endless(200);
    const { fetch: paid, seen } = faulty(() => sold.fetch(''));
    const unread = await failure(client({ fetch: paid }).buy('/gauge', PAIR));
    expect([unread.code, unread.message]).toEqual([
      'unverified',
      expect.stringMatching(/longer than 67108864 bytes; redeliver this error's payment$/),
    ]);
    expect([seen.length, sold.open(), signatures]).toEqual([1, 0, 1]);
    const bought = await client().redeliver(unread.facts.payment as PendingPayment);
    expect(bought.report?.verdict).toBe('verified');
  });

  it('signs nothing for a price that is none', async () => {
    for (const accepts of [
      [],
      [{ maxAmountRequired: '1e3' }],
      [{ maxAmountRequired: '9'.repeat(31) }],
    ]) {
      const vague = async () => Response.json({ accepts }, { status: 402 });
      expect(await code(client({ fetch: vague }).buy('/gauge', PAIR))).toBe('failed');
    }
    expect(signatures).toBe(0);
  });

  it('gives the payment back when what was sold is no JSON', async () => {
    const { fetch: torn } = faulty(async (send) => {
      const { headers } = await send();
      return new Response('{"nature":', { status: 200, headers });
    });
    const error = await failure(client({ fetch: torn }).buy('/gauge', PAIR));
    expect(error.code).toBe('unverified');
    const bought = await client().redeliver(error.facts.payment as PendingPayment);
    expect(bought.report?.verdict).toBe('verified');
  });

  it('sells without a receipt that can be read', async () => {
    const { fetch: torn } = faulty(async (send) => {
      const answer = await send();
      const headers = new Headers(answer.headers);
      headers.set('x-payment-response', '%%%');
      return new Response(await answer.text(), { status: 200, headers });
    });
    const bought = await client({ fetch: torn }).buy('/gauge', PAIR);
    expect([bought.receipt, bought.report?.verdict]).toEqual([null, 'verified']);
  });

  it('I5: gives the payment back when the payer fails after it signed', async () => {
    const before = settled;
    const clumsy: PayingFetch = (inner, maxAtomic) => async (input) => {
      await wallet(inner, maxAtomic)(input);
      throw new Error('the payer forgot');
    };
    const error = await failure(client({ pay: clumsy }).buy('/gauge', PAIR));
    expect([error.code, error.message]).toEqual([
      'unsettled',
      expect.stringMatching(/do not sign a new one/),
    ]);
    await client().redeliver(error.facts.payment as PendingPayment);
    expect([settled - before, signatures]).toEqual([1, 1]);
  });
});

describe('buy()', () => {
  it('pays once and returns the body, verified', async () => {
    const before = settled;
    const bought = await client().buy('/gauge', PAIR);
    expect(bought.body).toMatchObject({ ...PAIR, current: { aqi_index: 64 } });
    expect(bought.report?.verdict).toBe('verified');
    expect(bought.receipt).toMatchObject({ network: 'base-sepolia', payer: /^0x/ });
    expect([settled - before, signatures]).toEqual([1, 1]);
  });

  it('calls a fetch by itself, as that of a browser demands', async () => {
    function strictFetch(this: unknown, ...request: Parameters<typeof fetch>) {
      if (this !== undefined) throw new TypeError('Illegal invocation');
      return fetch(...request);
    }
    const buyer = client({ fetch: strictFetch });
    expect((await buyer.buy('/gauge', PAIR)).report?.verdict).toBe('verified');
    expect(await buyer.get('/gauge/sample')).toHaveProperty('sample');
    expect(() => ({ strictFetch }).strictFetch('data:,')).toThrow('Illegal invocation');
  });

  it('refuses an answer that speaks of a moment to come', async () => {
    const dateless: typeof fetch = async (...request) => {
      const { status, headers, body } = await fetch(...request);
      const kept = [...headers].filter(([name]) => name !== 'date');
      return new Response(body, { status, headers: kept });
    };
    const buying = client({ clock: () => NOW_MS - 3_600_000, fetch: dateless }).buy('/gauge', PAIR);
    await expect(buying).rejects.toMatchObject({
      code: 'unverified',
      message: expect.stringContaining('still to come'),
    });
  });

  it('tells the payment before it is sent', async () => {
    const reported: PendingPayment[] = [];
    const { fetch: watched, seen } = faulty(honest);
    const onSigned = (payment: PendingPayment): void => {
      expect(seen).toEqual([]);
      reported.push(payment);
    };
    const bought = await client({ onSigned, fetch: watched }).buy('/gauge', PAIR);
    expect(reported).toEqual([bought.payment]);
    expect(seen).toEqual([bought.payment.value]);
  });

  it('does not send a payment that could not be kept', async () => {
    const { fetch: watched, seen } = faulty(honest);
    const onSigned = async (): Promise<void> => {
      throw new Error('no space left');
    };
    const error = await failure(client({ onSigned, fetch: watched }).buy('/gauge', PAIR));
    expect([error.code, error.facts.payment, seen]).toEqual(['refused', undefined, []]);
    expect(error.message).toMatch(/nothing was sent$/);
  });

  it('I5: a lost answer is one charge and the same bytes', async () => {
    const before = settled;
    let lost = '';
    const { fetch: lossy, seen } = faulty(async (send) => {
      const answer = await send();
      expect(answer.status).toBe(200);
      lost = await answer.text();
      throw new TypeError('fetch failed');
    }, honest);
    const bought = await client({ fetch: lossy }).buy('/gauge', PAIR);
    expect(bought.text).toBe(lost);
    expect(seen).toHaveLength(2);
    expect(new Set(seen).size).toBe(1);
    expect([settled - before, signatures]).toEqual([1, 1]);
  });

  it('asks again for an answer that is cut off in its body', async () => {
    const before = settled;
    const { fetch: cut, seen } = faulty(async (send) => {
      const answer = await send();
      const body = new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode('{"nature":'));
          controller.error(new TypeError('terminated'));
        },
      });
      return new Response(body, { status: 200, headers: answer.headers });
    }, honest);
    const bought = await client({ fetch: cut }).buy('/gauge', PAIR);
    expect(bought.report?.verdict).toBe('verified');
    expect([seen.length, settled - before]).toEqual([2, 1]);
  });

  it('sends the same payment again after a 503, and waits as long as it is asked to', async () => {
    const before = settled;
    const { fetch: busy, seen } = faulty(
      async () => Response.json({}, { status: 503, headers: { 'retry-after': '5' } }),
      async () => Response.json({}, { status: 503, headers: { 'retry-after': '86400' } }),
      async () => Response.json({}, { status: 502 }),
      honest,
    );
    await client({ fetch: busy }).buy('/gauge', PAIR);
    expect([new Set(seen).size, seen.length, settled - before]).toEqual([1, 4, 1]);
    expect(waits).toEqual([5000, 10_000, 2000]);
  });

  it('gives the payment back when no answer comes at all, and redeliver() takes it', async () => {
    const before = settled;
    const { fetch: dead, seen } = faulty(async (send) => {
      await send();
      return unreached();
    });
    const error = await failure(client({ fetch: dead }).buy('/gauge', PAIR));
    expect(error.code).toBe('unsettled');
    expect(error.message).toMatch(/do not sign a new one/);
    expect(seen).toHaveLength(REDELIVERIES_MAX + 1);
    expect([settled - before, signatures]).toEqual([1, 1]);
    const bought = await client().redeliver(error.facts.payment as PendingPayment);
    expect(bought.body).toMatchObject(PAIR);
    expect([settled - before, signatures]).toEqual([1, 1]);
  });

  it('signs nothing above the cap and shows how to raise it', async () => {
    const error = await failure(client().buy('/gauge/region', { loc: 'us-denver' }));
    expect(error.code).toBe('too_expensive');
    expect(error.message).toMatch(/^Cannot buy for 0\.25 USD: maxUsd is 0\.10; raise maxUsd/);
    expect(error.message).toMatch(/raise maxValue to 250000n/);
    expect(error.facts.clientHint).toMatchObject({ required_atomic: 250_000 });
    expect(signatures).toBe(0);
  });

  it('raises the cap as far as told, for the call or for all of them, and tells the wallet', async () => {
    const caps: bigint[] = [];
    const pay: PayingFetch = (inner, maxAtomic) => {
      caps.push(maxAtomic);
      return wallet(inner, maxAtomic);
    };
    const loc = { loc: 'us-denver' };
    const bought = await client({ pay }).buy('/gauge/region', loc, { maxUsd: '0.25' });
    expect(bought.report?.verdict).toBe('verified');
    await client({ pay, maxUsd: '0.3' }).buy('/gauge/region', loc);
    expect(caps).toEqual([250_000n, 300_000n]);
    const short = client({ pay }).buy('/gauge/region', loc, { maxUsd: '0.249999' });
    expect(await code(short)).toBe('too_expensive');
  });

  it('does not send a payment above the cap, whatever the wallet signed', async () => {
    const { fetch: watched, seen } = faulty(honest);
    const generous: PayingFetch = (inner) => async (input, init) => {
      const { accepts } = (await (await inner(input, init)).json()) as { accepts: [object] };
      const more = { ...accepts[0], maxAmountRequired: '9000000' } as never;
      const header = await payer(NETWORKS['base-sepolia']).header(more);
      return inner(input, { headers: { 'X-PAYMENT': header } });
    };
    const careless = client({ pay: generous, fetch: watched });
    expect(await code(careless.buy('/gauge', PAIR))).toBe('too_expensive');
    const vague: PayingFetch = (inner) => async (input) => {
      await inner(input);
      return inner(input, { headers: { 'X-PAYMENT': 'e30=' } });
    };
    expect(await code(client({ pay: vague, fetch: watched }).buy('/gauge', PAIR))).toBe('refused');
    expect(seen).toEqual([]);
  });

  it('says why a wallet or the service refused', async () => {
    const poor: PayingFetch = (inner) => async (input) => {
      await inner(input);
      throw new Error('no funds');
    };
    const error = await failure(client({ pay: poor }).buy('/gauge', PAIR));
    expect([error.code, (error.cause as Error).message]).toEqual(['refused', 'no funds']);
    const wrong: PayingFetch = (inner) => async (input) => {
      const { accepts } = (await (await inner(input)).json()) as { accepts: [object] };
      const less = { ...accepts[0], maxAmountRequired: '1' } as never;
      const header = await payer(NETWORKS['base-sepolia']).header(less);
      return inner(input, { headers: { 'X-PAYMENT': header } });
    };
    const refused = await failure(client({ pay: wrong }).buy('/gauge', PAIR));
    expect([refused.code, refused.facts.status]).toEqual(['refused', 402]);
    const nothing = await failure(client().buy('/gauge', { ...PAIR, entity: 'us-nowhere' }));
    expect([nothing.code, signatures]).toEqual(['not_charged', 0]);
    const { pay: _, ...free } = { pay: wallet, baseUrl: gate.url, issuer: release.did };
    await expect(signalpressClient(free).buy('/gauge', PAIR)).rejects.toThrow(TypeError);
  });

  it.each<[string, (text: string) => string, RegExp]>([
    ['a changed digit', (text) => text.replace('"aqi_index":64', '"aqi_index":65'), /Cannot rely/],
    ['a cut-out citation', (text) => text.replace('"_citation"', '"_citations"'), /Cannot rely/],
    [
      'a record of another place',
      () => JSON.stringify(release.delivered('record/filing.insider/~41~41~50~4c.json', NOW_MS)),
      /the body answers "\/gauge\?entity=AAPL&signal_id=filing\.insider", not/,
    ],
  ])('keeps %s from passing, and keeps it as evidence', async (_, alter, words) => {
    const { fetch: forging } = faulty(async (send) => {
      const answer = await send();
      const text = alter(await answer.text());
      return new Response(text, { status: 200, headers: answer.headers });
    });
    const buyer = client({ fetch: forging, demandsProof: false });
    const error = await failure(buyer.buy('/gauge', PAIR));
    expect(error.code).toBe('unverified');
    expect(error.message).toMatch(words);
    expect(error.facts.purchase?.text).toMatch(/^\{/);
  });

  /** Pays for one request and gets the answer of another one, which the service signed as well. */
  const swapped = (target: string): ReturnType<typeof faulty> =>
    faulty(async (send) => {
      const { headers } = await send();
      const other = await fetch(gate.url + target);
      const { accepts } = (await other.json()) as { accepts: [never] };
      const header = await payer(NETWORKS['base-sepolia']).header(accepts[0]);
      const paid = await fetch(gate.url + target, { headers: { 'X-PAYMENT': header } });
      expect(paid.status).toBe(200);
      return new Response(await paid.text(), { headers });
    });

  it.each([
    '/gauge/region?loc=us-stlouis',
    '/gauge?entity=us-denver&signal_id=airquality.aqi',
    '/gauge/census?signal_id=airquality.aqi',
  ])('takes %s for no bundle of another place', async (target) => {
    const { fetch: swapping } = swapped(target);
    const call = { maxUsd: '0.25' };
    const buy = (options: Partial<ClientOptions>) =>
      client(options).buy('/gauge/region', { loc: 'us-denver' }, call);
    const error = await failure(buy({ fetch: swapping }));
    expect(error.code).toBe('unverified');
    expect(error.message).toContain(
      `the body answers "${target}", not "/gauge/region?loc=us-denver"`,
    );
    expect((await buy({})).report?.verdict).toBe('verified');
  });

  it.each(['text/csv', 'text/plain', 'application/json'])(
    'judges what was asked for, whatever %s is said to be in it',
    async (type) => {
      const saying = (text: string) =>
        faulty(async (send) => {
          const { headers } = await send();
          const reported = new Headers(headers);
          reported.set('content-type', type);
          return new Response(text, { headers: reported });
        });
      const table = `${SERIES_CSV_HEADER}\r\n1,2\r\n`;
      for (const text of [table, 'null', '[]', '"x"', '{}']) {
        const buying = client({ fetch: saying(text).fetch }).buy('/gauge', PAIR);
        expect([text, await code(buying)]).toEqual([text, 'unverified']);
      }
      const buyTable = (text: string) =>
        client({ fetch: saying(text).fetch }).buy('/gauge/history-series', {
          ...PAIR,
          format: 'csv',
        });
      const bought = await buyTable(table);
      expect([bought.body, bought.report, bought.text]).toEqual([null, null, table]);
      for (const text of ['a,b\r\n1,2\r\n', '{}', '', SERIES_CSV_HEADER]) {
        expect([text, await code(buyTable(text))]).toEqual([text, 'unverified']);
      }
    },
  );

  it('takes an unsigned body only of what nobody can sign at the request', async () => {
    const offer = (await (await fetch(`${gate.url}/gauge`)).json()) as object;
    const shop = (body: object): Fetch => {
      return async (input) => {
        const paid = (input as Request).headers.has('x-payment');
        return paid ? Response.json(body) : Response.json(offer, { status: 402 });
      };
    };
    const ends = '2026-12-21T12:00:00Z';
    const token = { token: 'a.b', plan: 'watchlist', expires_at: ends, days: 30 };
    const minted = await client({ fetch: shop(token) }).buy('/gauge/subscribe');
    expect([minted.body, minted.report?.verdict]).toEqual([token, 'unsigned']);
    const unsigned = client({ fetch: shop({ nature: 'x' }) }).buy('/gauge', PAIR);
    expect(await code(unsigned)).toBe('unverified');
    for (const other of [{ ...token, plan: 'all' }, { ...token, more: 1 }, { days: 30 }, {}]) {
      const wrong = client({ fetch: shop(other) }).buy('/gauge/subscribe');
      expect([other, await code(wrong)]).toEqual([other, 'unverified']);
    }
  });

  it('believes no other issuer', async () => {
    const other = release.did.replace(/.{4}$/, 'AAAA');
    expect(await code(client({ issuer: other }).buy('/gauge', PAIR))).toBe('unverified');
  });

  it('is not made without an issuer, whose absence would cost every purchase', () => {
    for (const issuer of ['', 'acme', 'did:web:example.org', undefined as unknown as string]) {
      expect(() => client({ issuer })).toThrow(/"issuer" is not a did:key; pass the DID/);
    }
  });

  it('redelivers nothing to somebody else', async () => {
    const { payment } = await client().buy('/gauge', PAIR);
    const { fetch: watched, seen } = faulty(honest);
    const elsewhere = { ...payment, url: 'https://other.example/gauge' };
    const sent = client({ fetch: watched }).redeliver(elsewhere);
    await expect(sent).rejects.toThrow(TypeError);
    expect(seen).toEqual([]);
    expect((await client().redeliver(payment)).report?.verdict).toBe('verified');
  });

  it('pays for no request that has no answer, whatever the service delivers', async () => {
    const { fetch: swapping } = swapped('/gauge/region?loc=us-denver');
    const fixed: Fetch = (input) => {
      const { url, headers } = input as Request;
      return swapping(new Request(url.replace('nowhere', 'us-denver'), { headers }));
    };
    const nowhere = client({ fetch: fixed }).buy(
      '/gauge/region',
      { loc: 'nowhere' },
      { maxUsd: '0.25' },
    );
    const error = await failure(nowhere);
    expect([error.code, error.message]).toEqual([
      'refused',
      expect.stringContaining('nothing was signed'),
    ]);
    const region = { loc: 'us-denver' };
    const { payment } = await client().buy('/gauge/region', region, { maxUsd: '0.25' });
    const url = payment.url.replace('us-denver', 'nowhere');
    const again = await failure(client({ fetch: fixed }).redeliver({ ...payment, url }));
    expect([again.code, again.message]).toEqual([
      'unverified',
      expect.stringContaining('no answer exists'),
    ]);
  });
});
