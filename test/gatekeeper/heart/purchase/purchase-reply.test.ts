import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../compiler/format/strict-json.ts';
import { parseSignedReceipt } from '../../../../compiler/products/shapes/receipt.ts';
import { isSignedBy } from '../../../../compiler/verify/verify-citation.ts';
import { verifyReceipt } from '../../../../compiler/verify/verify-receipt.ts';
import {
  type PurchaseOutcome,
  purchaseReply,
} from '../../../../gatekeeper/heart/purchase/purchase-reply.ts';
import { serviceSigner } from '../../../../gatekeeper/settle/extensions.ts';
import type { Reply } from '../../../../gatekeeper/wire/reply.ts';
import { listedSigner, listingKeys, NOW_S, SIGNER_DID, SIGNER_SEED } from '../../payer.ts';
import {
  alice,
  bench,
  gauge,
  header,
  json,
  receipt,
  shop,
  TARGET,
  TX,
  v1,
  v2,
} from '../../payment-bench.ts';
import { tinyKey } from '../../tiny-release.ts';

type TenderedRequest = Parameters<typeof purchaseReply>[1];

const KEY = 'base-sepolia|0xa|0xb|0xc';
const usual = { endpoint: gauge, target: TARGET };
const asked = (version: 1 | 2): TenderedRequest => ({
  ...usual,
  paymentHeader: { kind: 'payment', version, text: '' },
  tender: {
    ...{ key: KEY, resource: `GET ${TARGET}`, version, paidBy: null },
    paidHeader: (transaction, extensions) => [
      'x-payment-response',
      extensions === undefined ? transaction : JSON.stringify(extensions),
    ],
  },
});
const byReceipt: TenderedRequest = { ...asked(1), paymentHeader: { kind: 'receipt', text: '' } };
const unknown: PurchaseOutcome = { kind: 'unknown', waitMs: 4001 };
const body = Buffer.from('a,b\n');
const paid: PurchaseOutcome = {
  kind: 'paid',
  delivery: { body, contentType: 'text/csv' },
  transaction: TX,
  settledMs: 1_763_640_000_999,
};

describe('purchaseReply()', () => {
  it('purchaseReply() carries what was bought and the proof of the one who asks', () => {
    const one = purchaseReply(paid, asked(1), { challenger: shop });
    expect(one).toMatchObject({ status: 200, body });
    expect(header(one, 'content-type')).toBe('text/csv');
    expect(header(one, 'cache-control')).toBe('private, no-store');
    expect(header(one, 'x-payment-response')).toBe(TX);
    expect(() => purchaseReply(paid, { ...asked(1), tender: null }, { challenger: shop })).toThrow(
      'not read',
    );
  });

  it('I12: purchaseReply() gives no receipt and no cache time to anything but a 200', () => {
    const refusal = { reason: 'insufficient_funds', error: 'too little' };
    const outcomes: [PurchaseOutcome, number][] = [
      [{ kind: 'refused', refusal }, 402],
      [unknown, 503],
      [{ kind: 'failed', error: 'x', retryS: 7 }, 503],
    ];
    for (const [outcome, status] of outcomes) {
      const reply = purchaseReply(outcome, asked(1), { challenger: shop });
      expect(reply.status).toBe(status);
      expect(header(reply, 'cache-control')).toBe('no-store');
      expect(header(reply, 'x-payment-response')).toBeUndefined();
    }
  });

  it('purchaseReply() starts a refusal with its reason, in both versions of the challenge', () => {
    const refusal = { reason: 'insufficient_funds', error: 'too little' };
    const reply = purchaseReply({ kind: 'refused', refusal }, asked(2), { challenger: shop });
    expect(json(reply).error).toBe('insufficient_funds: too little');
    const required = Buffer.from(header(reply, 'payment-required') ?? '', 'base64').toString();
    expect(JSON.parse(required).error).toBe('insufficient_funds: too little');
  });

  it('I9: purchaseReply() asks for the same payment under the header that carried it', () => {
    expect(json(purchaseReply(unknown, asked(1), { challenger: shop })).error).toContain(
      'Send the same X-PAYMENT again',
    );
    expect(json(purchaseReply(unknown, asked(2), { challenger: shop })).error).toContain(
      'Send the same PAYMENT-SIGNATURE again',
    );
    expect(json(purchaseReply(unknown, byReceipt, { challenger: shop })).error).toContain(
      'the same X-RECEIPT again',
    );
    expect(json(purchaseReply(unknown, asked(1), { challenger: shop })).retry_after_s).toBe(5);
    const outcome: PurchaseOutcome = { kind: 'failed', error: 'x', retryS: 7 };
    const failed = purchaseReply(outcome, asked(1), { challenger: shop });
    expect(json(failed)).toMatchObject({ error: 'Not charged. x', retry_after_s: 7 });
    expect(header(failed, 'retry-after')).toBe('7');
  });
});

const BASE = 'https://api.example.com';
const on = (signer = listedSigner(), isSimulated = false) => ({
  receipts: { signer, baseUrl: BASE, isSimulated },
});

/** The receipt in a reply, its signature checked; null without one. */
function signedIn(reply: Reply) {
  expect(reply.status).toBe(200);
  const { extensions } = receipt(reply, 'payment-response');
  if (extensions === undefined) return null;
  const { format, signature } = extensions['offer-receipt'].info.receipt;
  expect(format).toBe('jws');
  const parsed = parseSignedReceipt(signature);
  if (typeof parsed === 'string') throw new Error(parsed);
  expect(isSignedBy(parsed.did, parsed.signed, parsed.signature)).toBe(true);
  return { jws: signature as string, did: parsed.did, payload: parsed.payload };
}

const hashOf = (body: Reply['body']) => `sha256:${createHash('sha256').update(body).digest('hex')}`;

describe('a signed receipt', () => {
  it('binds payer, resource, transaction and the bytes that were delivered', async () => {
    const purchases = bench(on());
    const reply = await purchases.pay({ header: await alice.header(v2), version: 2 });
    expect(signedIn(reply)).toMatchObject({
      did: SIGNER_DID,
      payload: {
        version: 1,
        network: 'eip155:8453',
        resourceUrl: BASE + TARGET,
        payer: alice.address.toLowerCase(),
        issuedAt: NOW_S,
        transaction: receipt(reply, 'payment-response').transaction,
        bodyHash: hashOf(reply.body),
      },
    });
  });

  it('is the same when the answer is delivered again, later, after a restart, and elsewhere', async () => {
    const purchases = bench(on());
    const identifier = 'order-2026-11-23-01';
    const order = { header: await alice.header(v2), version: 2, identifier } as const;
    const first = signedIn(await purchases.pay(order));
    purchases.script.now += 5_000_000;
    expect(signedIn(await purchases.pay(order))?.jws).toBe(first?.jws);
    purchases.restart();
    expect(signedIn(await purchases.pay(order))?.jws).toBe(first?.jws);
    expect(purchases.calls.settle).toHaveLength(1);
  });

  it('is the same for another signature under the same payment identifier', async () => {
    const purchases = bench(on());
    const named = async () => {
      const payment = JSON.parse(Buffer.from(await alice.header(v2), 'base64').toString());
      const info = { required: false, id: 'order-2026-11-23-01' };
      const text = JSON.stringify({ ...payment, extensions: { 'payment-identifier': { info } } });
      return { header: Buffer.from(text).toString('base64'), version: 2 } as const;
    };
    const first = signedIn(await purchases.pay(await named()));
    purchases.script.now += 60_000;
    expect(signedIn(await purchases.pay(await named()))?.jws).toBe(first?.jws);
    expect(purchases.calls.settle).toHaveLength(1);
  });

  it('after a rotation of its key, the new key signs the same statement', async () => {
    const next = { did: tinyKey(8).did, seed: '08'.repeat(32) };
    let signer = listedSigner();
    const current = {
      did: '',
      show: () => {},
      fault: (atMs?: number) => signer.fault(atMs),
      sign: (payload: JsonObject) => signer.sign(payload),
    };
    const purchases = bench(on(current));
    const order = { header: await alice.header(v2), version: 2 } as const;
    const first = signedIn(await purchases.pay(order));
    signer = listedSigner(listingKeys({ did: next.did }), next.seed);
    purchases.script.now += 60_000;
    const second = signedIn(await purchases.pay(order));
    expect([first?.did, second?.did]).toEqual([SIGNER_DID, next.did]);
    expect(second?.payload).toEqual(first?.payload);
  });

  it.each([
    ['a second after', 1000, false],
    ['at the time of', 0, true],
  ])(
    'of a key that counts from %s the sale on, it is one that holds or none',
    async (_, ms, is) => {
      const since = new Date(NOW_S * 1000 + ms).toISOString();
      const keys = listingKeys({ since });
      // The clock of the signer is past the beginning of its key, as that of a redelivery is.
      const signer = serviceSigner({ seed: SIGNER_SEED, clock: () => NOW_S * 1000 + 60_000 });
      signer.show(keys);
      const purchases = bench(on(signer));
      const reply = await purchases.pay({ header: await alice.header(v2), version: 2 });
      const signed = signedIn(reply);
      expect(signed !== null).toBe(is);
      if (signed === null) return;
      const trust = { trust: [tinyKey(1).did], keys };
      expect(verifyReceipt(signed.jws, trust, {}).verdict).toBe('verified');
    },
  );

  it.each([
    ['its key is not listed', listedSigner({ ...listingKeys(), receipt_keys: [] })],
    ['its key ended', listedSigner(listingKeys({ until: '2026-11-20T00:00:00Z' }))],
  ])('is absent where %s, and the answer is delivered', async (_, signer) => {
    const purchases = bench(on(signer));
    const reply = await purchases.pay({ header: await alice.header(v2), version: 2 });
    expect(signedIn(reply)).toBeNull();
    expect(receipt(reply, 'payment-response').success).toBe(true);
  });

  it('a signer that fails after the charge is reported, and the answer is delivered', async () => {
    const reported: unknown[] = [];
    const broken = {
      ...listedSigner(),
      sign: () => {
        throw new Error('no key');
      },
    };
    const report = (error: unknown) => reported.push(error);
    const purchases = bench({ ...on(broken), report });
    const reply = await purchases.pay({ header: await alice.header(v2), version: 2 });
    expect(signedIn(reply)).toBeNull();
    expect(String(reported)).toContain('no key');
    expect(purchases.calls.settle).toHaveLength(1);
  });

  it('says that no money moved where payments are simulated', async () => {
    const purchases = bench(on(listedSigner(), true));
    const simulated = signedIn(await purchases.pay({ header: await alice.header(v2), version: 2 }));
    expect(simulated?.payload.simulated).toBe(true);
  });

  it('is absent where nobody asked for extensions: in version 1, off, and for what is refused', async () => {
    const one = await bench(on()).pay({ header: await alice.header(v1) });
    expect(receipt(one)).not.toHaveProperty('extensions');
    const off = await bench().pay({ header: await alice.header(v2), version: 2 });
    expect(signedIn(off)).toBeNull();
    const refused = bench(on());
    refused.script.settle = async () => ({ verdict: 'refused', reason: 'insufficient_funds' });
    const reply = await refused.pay({ header: await alice.header(v2), version: 2 });
    expect([reply.status, header(reply, 'payment-response')]).toEqual([402, undefined]);
  });
});
