import { parsePaymentRequired } from '@x402/core/schemas';
import { ExactEvmScheme } from '@x402/evm';
import {
  decodePaymentResponseHeader,
  wrapFetchWithPayment as wrapFetchV2,
  wrapFetchWithPaymentFromConfig,
  x402Client,
} from '@x402/fetch';
import axios from 'axios';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PaymentRequirementsSchema, x402ResponseSchema } from 'x402/types';
import { withPaymentInterceptor } from 'x402-axios';
import { createSigner, decodeXPaymentResponse, wrapFetchWithPayment } from 'x402-fetch';
import { BUILTIN } from '../../compiler/catalog/builtin.ts';
import type { PayingFetch } from '../../compiler/client/payment-trip.ts';
import { signalpressClient } from '../../compiler/client/signalpress-client.ts';
import { decodePayment } from '../../gatekeeper/heart/payment/payment-header.ts';
import { openShop, PAYEE, type Shop } from './shop.ts';

/**
 * The published clients of both protocol versions buy from the real gatekeeper, unchanged and with
 * throw-away wallets. They live in a package of their own because they bring much along; the
 * facilitator holds what it is sent to the published schemas too. Run with npm run test:interop.
 */
const PAID = BUILTIN.operations.filter((row) => row.priceUsd !== null);
const RECORD = '/gauge?signal_id=airquality.aqi&entity=us-denver';
const RULER = '/gauge/ruler?signal_id=airquality.aqi&entity=us-denver';
const BUNDLE = '/gauge/region?loc=us-denver';
const NO_DATA = '/gauge?signal_id=airquality.aqi&entity=us-nowhere';
/** The published schema knows fewer errors than the published servers send; no client looks at them. */
const challengeSchema = x402ResponseSchema.omit({ error: true });
const BUNDLE_MAX = 250_000n;

type Body = Record<string, unknown>;

let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop.close());

/** What happened at the facilitator while something else ran. */
async function settledBy(work: () => Promise<unknown>): Promise<readonly string[]> {
  const before = shop.facilitator.settled.length;
  await work();
  return shop.facilitator.settled.slice(before);
}

async function expectVerified(body: string): Promise<void> {
  expect(await shop.verify(body)).toMatchObject({ status: 0 });
}

async function payingFetch(maxValue?: bigint): Promise<typeof fetch> {
  const signer = await createSigner('base', generatePrivateKey());
  return wrapFetchWithPayment(fetch, signer, maxValue) as typeof fetch;
}

describe('402 challenges', () => {
  it.each(PAID)('x402 1.2 accepts every entry of $path', async ({ path, priceUsd }) => {
    const response = await fetch(shop.url + path);
    expect(response.status).toBe(402);
    const body = challengeSchema.parse(await response.json());
    const entries = body.accepts?.map((entry) => PaymentRequirementsSchema.parse(entry)) ?? [];
    expect(entries.map((entry) => Number(entry.maxAmountRequired) / 1e6)).toEqual([
      Number(priceUsd),
    ]);
  });

  it.each(PAID)('@x402/core accepts the PAYMENT-REQUIRED header of $path', async ({ path }) => {
    const response = await fetch(shop.url + path);
    const header = Buffer.from(response.headers.get('payment-required') ?? '', 'base64');
    const parsed = parsePaymentRequired(JSON.parse(header.toString('utf8')));
    expect(parsed).toMatchObject({ success: true, data: { x402Version: 2 } });
  });

  it('x402 1.2 refuses an entry whose amount is no integer, so the schemas do look', () => {
    const entry = { scheme: 'exact', network: 'base', maxAmountRequired: '0.01', payTo: PAYEE };
    expect(PaymentRequirementsSchema.safeParse(entry).success).toBe(false);
    expect(parsePaymentRequired({ x402Version: 2, accepts: [entry] }).success).toBe(false);
  });
});

describe('@x402/fetch', () => {
  it.each(PAID)(
    'leaves room for the longest signature in a payment for $path',
    async ({ path }) => {
      let sent = '';
      const watched: typeof fetch = async (input, init) => {
        const request = new Request(input, init);
        sent = request.headers.get('payment-signature') ?? '';
        return sent === '' ? fetch(request) : Response.json({});
      };
      const client = new ExactEvmScheme(privateKeyToAccount(generatePrivateKey()));
      const schemes = [{ network: 'eip155:8453' as const, client }];
      const pay = wrapFetchWithPaymentFromConfig(watched, { schemes, spendControls: false });
      await pay(shop.url + path);
      const payment = JSON.parse(Buffer.from(sent, 'base64').toString('utf8'));
      expect(payment.payload.signature).toHaveLength(132);
      // The typed client names each purchase.
      const info = { required: false, id: 'f'.repeat(32) };
      const name = { ...payment.extensions['payment-identifier'], info };
      const extensions = { ...payment.extensions, 'payment-identifier': name };
      const of = (bytes: number) => {
        const signature = `0x${'77'.repeat(bytes)}`;
        const long = { ...payment, extensions, payload: { ...payment.payload, signature } };
        return decodePayment(Buffer.from(JSON.stringify(long)).toString('base64'), 2);
      };
      expect(of(2048)).toMatchObject({ version: 2 });
      expect(of(2049)).toMatchObject({ error: expect.stringContaining('longer than 2048 bytes') });
    },
  );
});

describe('a basket', () => {
  const body = JSON.stringify({ requests: [RECORD, RULER, NO_DATA] });
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body };

  it('is taken by the published schemas of both versions', async () => {
    const response = await fetch(`${shop.url}/gauge/basket`, init);
    expect(response.status).toBe(402);
    const header = Buffer.from(response.headers.get('payment-required') ?? '', 'base64');
    expect(parsePaymentRequired(JSON.parse(header.toString('utf8')))).toMatchObject({
      success: true,
    });
    const challenge = challengeSchema.parse(await response.json());
    const entries = challenge.accepts?.map((entry) => PaymentRequirementsSchema.parse(entry));
    expect(entries?.map((entry) => entry.maxAmountRequired)).toEqual(['15000']);
  });

  it('is bought by x402-fetch 1.2 and by @x402/fetch with one payment, and verifies', async () => {
    const client = new ExactEvmScheme(privateKeyToAccount(generatePrivateKey()));
    const schemes = [{ network: 'eip155:8453' as const, client }];
    const newer = wrapFetchWithPaymentFromConfig(fetch, { schemes, spendControls: false });
    for (const pay of [await payingFetch(), newer]) {
      const settled = await settledBy(async () => {
        const response = await pay(`${shop.url}/gauge/basket`, init);
        expect(response.status).toBe(200);
        const text = await response.text();
        await expectVerified(text);
        expect(await shop.verify(text.replace('"aqi_index":', '"aqi_index":1'))).toMatchObject({
          status: 1,
        });
      });
      expect(settled).toHaveLength(1);
    }
  });
});

describe('x402-fetch 1.2', () => {
  it.each([RECORD, RULER])('buys %s, gets a receipt, and the body verifies', async (target) => {
    const pay = await payingFetch();
    const settled = await settledBy(async () => {
      const response = await pay(shop.url + target);
      expect(response.status).toBe(200);
      const receipt = decodeXPaymentResponse(response.headers.get('x-payment-response') ?? '');
      expect(receipt).toMatchObject({ success: true, network: 'base' });
      expect(shop.facilitator.settled).toContain(receipt.transaction);
      await expectVerified(await response.text());
    });
    expect(settled).toHaveLength(1);
  });

  it('buys a body that no longer verifies once a digit of it is changed', async () => {
    const pay = await payingFetch();
    const body = await (await pay(shop.url + RECORD)).text();
    const changed = body.replace('"aqi_index":', '"aqi_index":1');
    expect(changed).not.toBe(body);
    expect(await shop.verify(changed)).toMatchObject({ status: 1 });
  });

  it('buys with a plain viem account, which names no chain', async () => {
    const account = privateKeyToAccount(generatePrivateKey());
    const response = await wrapFetchWithPayment(fetch, account as never)(shop.url + RECORD);
    expect(response.status).toBe(200);
  });

  it('buys a bundle once its maximum is raised', async () => {
    const pay = await payingFetch(BUNDLE_MAX);
    const response = await pay(shop.url + BUNDLE);
    expect(response.status).toBe(200);
    await expectVerified(await response.text());
  });

  it('refuses a bundle by itself on its usual maximum, as client_hint says', async () => {
    const pay = await payingFetch();
    const settled = await settledBy(async () => {
      await expect(pay(shop.url + BUNDLE)).rejects.toThrow('exceeds maximum');
    });
    expect(settled).toEqual([]);
    const challenge = (await (await fetch(shop.url + BUNDLE)).json()) as Body;
    expect(challenge.client_hint).toMatchObject({ required_atomic: Number(BUNDLE_MAX) });
  });

  it('gets 422 for a pair without data and pays nothing', async () => {
    const pay = await payingFetch();
    const settled = await settledBy(async () => {
      const response = await pay(shop.url + NO_DATA);
      expect(response.status).toBe(422);
      expect(await response.json()).toMatchObject({ no_charge: true });
    });
    expect(settled).toEqual([]);
  });

  it('gets the example_request of a 422 for its money', async () => {
    const pay = await payingFetch();
    const refused = (await (await pay(shop.url + NO_DATA)).json()) as Body;
    const response = await pay(
      new URL(String(refused.example_request).replace(/^GET /, ''), shop.url),
    );
    expect(response.status).toBe(200);
  });
});

describe('x402-axios 0.7', () => {
  it('buys a record and gets a receipt', async () => {
    const signer = await createSigner('base', generatePrivateKey());
    const client = withPaymentInterceptor(axios.create({ baseURL: shop.url }), signer as never);
    const response = await client.get(RECORD);
    expect(response.status).toBe(200);
    const receipt = decodeXPaymentResponse(response.headers['x-payment-response']);
    expect(shop.facilitator.settled).toContain(receipt.transaction);
    await expectVerified(JSON.stringify(response.data));
  });

  it('gets 422 for a pair without data and pays nothing', async () => {
    const signer = await createSigner('base', generatePrivateKey());
    const client = withPaymentInterceptor(axios.create({ baseURL: shop.url }), signer as never);
    const settled = await settledBy(async () => {
      await expect(client.get(NO_DATA)).rejects.toMatchObject({ response: { status: 422 } });
    });
    expect(settled).toEqual([]);
  });
});

describe('@x402/fetch 2.27', () => {
  const client = (): ExactEvmScheme =>
    new ExactEvmScheme(privateKeyToAccount(generatePrivateKey()));

  it.each([RECORD, RULER, BUNDLE])(
    'buys %s over version 2 and the body verifies',
    async (target) => {
      const schemes = [{ network: 'eip155:8453' as const, client: client() }];
      const pay = wrapFetchWithPaymentFromConfig(fetch, { schemes });
      const settled = await settledBy(async () => {
        const response = await pay(shop.url + target);
        expect(response.status).toBe(200);
        const receipt = decodePaymentResponseHeader(response.headers.get('payment-response') ?? '');
        expect(receipt).toMatchObject({ success: true, network: 'eip155:8453' });
        expect(shop.facilitator.settled).toContain(receipt.transaction);
        await expectVerified(await response.text());
      });
      expect(settled).toHaveLength(1);
    },
  );

  it('buys with the wildcard network that its guide shows', async () => {
    const pay = wrapFetchV2(fetch, new x402Client().register('eip155:*', client()));
    expect((await pay(shop.url + RECORD)).status).toBe(200);
  });

  it('does not pay on a network that is not offered', async () => {
    const schemes = [{ network: 'eip155:84532' as const, client: client() }];
    const pay = wrapFetchWithPaymentFromConfig(fetch, { schemes });
    const settled = await settledBy(() => expect(pay(shop.url + RECORD)).rejects.toThrow());
    expect(settled).toEqual([]);
  });

  it('gets 422 for a pair without data and pays nothing', async () => {
    const schemes = [{ network: 'eip155:8453' as const, client: client() }];
    const pay = wrapFetchWithPaymentFromConfig(fetch, { schemes });
    const settled = await settledBy(async () => {
      expect((await pay(shop.url + NO_DATA)).status).toBe(422);
    });
    expect(settled).toEqual([]);
  });
});

describe('the facilitator', () => {
  it('understood everything that it was sent', () => {
    expect(shop.facilitator.settled.length).toBeGreaterThan(0);
    expect(shop.facilitator.problems).toEqual([]);
  });

  it('would have noticed what the published schemas refuse', async () => {
    const body = JSON.stringify({ x402Version: 1, paymentPayload: {}, paymentRequirements: {} });
    const response = await fetch(`${shop.facilitator.url}/verify`, { method: 'POST', body });
    expect(response.status).toBe(400);
  });
});

describe('the typed client pays with the published wrappers', () => {
  const wallets: readonly (readonly [string, () => Promise<PayingFetch>])[] = [
    [
      'x402-fetch 1.2',
      async () => {
        const signer = await createSigner('base', generatePrivateKey());
        return (inner, maxAtomic) => wrapFetchWithPayment(inner, signer, maxAtomic) as typeof fetch;
      },
    ],
    [
      '@x402/fetch 2.27',
      async () => {
        const scheme = new ExactEvmScheme(privateKeyToAccount(generatePrivateKey()));
        const schemes = [{ network: 'eip155:8453' as const, client: scheme }];
        return (inner) => wrapFetchWithPaymentFromConfig(inner, { schemes }) as typeof fetch;
      },
    ],
  ];
  const pair = { signal_id: 'airquality.aqi', entity: 'us-denver' } as const;

  it.each(wallets)('%s: a record, and a bundle once the cap is raised', async (_, wallet) => {
    const { url: baseUrl, did: issuer } = shop;
    const client = signalpressClient({ baseUrl, issuer, pay: await wallet() });
    const settled = await settledBy(async () => {
      const { text, receipt } = await client.buy('/gauge', pair);
      await expectVerified(text);
      expect(receipt?.transaction).toMatch(/^0x/);
      const loc = { loc: 'us-denver' };
      await expect(client.buy('/gauge/region', loc)).rejects.toMatchObject({
        code: 'too_expensive',
      });
      await client.buy('/gauge/region', loc, { maxUsd: '0.25' });
    });
    expect(settled).toHaveLength(2);
  });

  it.each(wallets)('%s: a lost answer is one charge', async (_, wallet) => {
    const sent: string[] = [];
    const lossy: typeof fetch = async (input, init) => {
      const { headers } = new Request(input, init);
      const [v1, v2] = ['x-payment', 'payment-signature'].map((name) => headers.get(name));
      const answer = await fetch(input, init);
      const payment = v1 ?? v2;
      if (payment == null) return answer;
      const named = v1 === null ? JSON.parse(atob(payment)).extensions['payment-identifier'] : {};
      expect(named.info?.id ?? headers.get('payment-identifier')).toMatch(/^[0-9a-f]{32}$/);
      sent.push(payment);
      if (sent.length === 1) throw new TypeError('fetch failed');
      return answer;
    };
    const { url: baseUrl, did: issuer } = shop;
    const client = signalpressClient({ baseUrl, issuer, pay: await wallet(), fetch: lossy });
    const settled = await settledBy(() => client.buy('/gauge', pair));
    expect([sent.length, new Set(sent).size, settled.length]).toEqual([2, 1, 1]);
  });
});
