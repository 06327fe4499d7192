import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { parseSignedReceipt } from '../../../compiler/contract/receipt.ts';
import type { JsonObject } from '../../../compiler/contract/strict-json.ts';
import { isSignedBy } from '../../../compiler/verify/verify-citation.ts';
import { verifyReceipt } from '../../../compiler/verify/verify-receipt.ts';
import type { Reply } from '../../../gatekeeper/http/reply.ts';
import { serviceSigner } from '../../../gatekeeper/money/service-signer.ts';
import { listedSigner, listingKeys, SIGNER_DID, SIGNER_SEED } from '../listed-signer.ts';
import { NOW_S } from '../payer.ts';
import { alice, bench, header, receipt, TARGET, v1, v2 } from '../payment-bench.ts';
import { tinyKey } from '../tiny-release.ts';

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
