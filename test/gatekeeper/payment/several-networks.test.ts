import { beforeEach, describe, expect, it } from 'vitest';
import type { Facilitator, FacilitatorRequest } from '../../../gatekeeper/money/facilitator.ts';
import { findNetwork, NETWORKS } from '../../../gatekeeper/money/networks.ts';
import { challenger } from '../../../gatekeeper/offer/challenge.ts';
import { settlersByNetwork } from '../../../gatekeeper/payment/by-network.ts';
import { freshNonce, headerOf, payer } from '../payer.ts';
import { bench, expectRefused, gauge, json, PAY_TO, receipt, TARGET } from '../payment-bench.ts';

const { base, polygon, avalanche } = NETWORKS;
const shop = challenger({
  baseUrl: 'https://api.example.com',
  payTo: PAY_TO,
  network: base,
  furtherNetworks: [polygon],
  serviceName: 'Example',
});
const terms = { 1: shop.terms(gauge, TARGET, 1), 2: shop.terms(gauge, TARGET, 2) } as const;
const onBase = payer(base);
const onPolygon = payer(polygon);

/** A purchase service over two networks. */
const selling = () => bench({ challenger: shop, verifyFirst: false });
let purchases: ReturnType<typeof selling>;
beforeEach(() => {
  purchases = selling();
});

describe('payments on several networks', () => {
  it.each([1, 2] as const)('are taken on each, by their own terms, version %i', async (version) => {
    const [first, second] = terms[version];
    if (second === undefined) throw new Error('no second network');
    const header = await onPolygon.header(second);
    const reply = await purchases.pay({ header, version });
    expect(reply.status).toBe(200);
    const name = version === 1 ? 'polygon' : 'eip155:137';
    const paidHeader = version === 1 ? 'x-payment-response' : 'payment-response';
    expect(receipt(reply, paidHeader)).toMatchObject({ success: true, network: name });
    expect(purchases.calls.settle[0]?.paymentRequirements).toStrictEqual(second);
    expect(second).toMatchObject({ network: name, asset: polygon.asset, extra: polygon.extra });
    const other = await purchases.pay({ header: await onBase.header(first), version });
    expect(other.status).toBe(200);
    expect(purchases.calls.settle[1]?.paymentRequirements).toStrictEqual(first);
  });

  it('signed for one network are refused for the other, whatever their header says', async () => {
    const [first, second] = terms[1];
    if (second === undefined) throw new Error('no second network');
    const forBase = await onBase.sign(PAY_TO, '10000');
    expectRefusedPair(await purchases.pay({ header: headerOf(second, forBase) }));
    const forPolygon = await onPolygon.sign(PAY_TO, '10000');
    expectRefusedPair(await purchases.pay({ header: headerOf(first, forPolygon) }));
    expect(purchases.calls.settle).toEqual([]);
  });

  it('of version 2 are refused with the asset of the other network', async () => {
    const [, second] = terms[2];
    if (second === undefined) throw new Error('no second network');
    const signed = await onPolygon.sign(PAY_TO, '10000');
    const header = headerOf({ ...second, asset: base.asset }, signed);
    const reply = await purchases.pay({ header, version: 2 });
    expect(json(reply).error).toMatch(/^invalid_payment_requirements/);
  });

  it('on a network that is not offered are refused and told where to pay', async () => {
    const elsewhere = { ...terms[1][0], network: 'avalanche', asset: avalanche.asset };
    const header = await payer(avalanche).header(elsewhere);
    const reply = await purchases.pay({ header });
    expect(reply.status).toBe(402);
    expect(json(reply).error).toMatch(/^invalid_network: .*entry of "accepts", such as "base"/);
    expect(json(reply).accepts.map(({ network }: { network: string }) => network)).toEqual([
      'base',
      'polygon',
    ]);
  });

  it('I5: with one nonce on both are two payments, each bound to its own request', async () => {
    const [first, second] = terms[1];
    if (second === undefined) throw new Error('no second network');
    const nonce = freshNonce();
    const one = headerOf(first, await onBase.sign(PAY_TO, '10000', { nonce }));
    const two = headerOf(second, await onPolygon.sign(PAY_TO, '10000', { nonce }));
    const target = '/gauge?entity=us-chicago&signal_id=airquality.aqi';
    expect((await purchases.pay({ header: one })).status).toBe(200);
    // The same transaction twice would prove one of them only.
    purchases.script.settle = async () => ({ verdict: 'settled', transaction: freshNonce() });
    expect((await purchases.pay({ header: two, target })).status).toBe(200);
    expect(purchases.calls.settle).toHaveLength(2);
    expect((await purchases.pay({ header: two, target })).status).toBe(200);
    const elsewhere = await purchases.pay({ header: two });
    expect(json(elsewhere).error).toMatch(/^payment_already_used/);
    expect(purchases.calls.settle).toHaveLength(2);
  });

  it('I2: after a restart are asked about on the network that they are for', async () => {
    const [, second] = terms[1];
    if (second === undefined) throw new Error('no second network');
    const asked: string[] = [];
    purchases = bench({
      challenger: shop,
      verifyFirst: false,
      evidence: async ({ network }) => {
        asked.push(network);
        return { state: 'unknown' };
      },
    });
    purchases.script.settle = async () => ({ verdict: 'none', detail: 'lost' });
    expect((await purchases.pay({ header: await onPolygon.header(second) })).status).toBe(503);
    purchases.restart();
    const [open] = await purchases.journal().unresolved(0, 10);
    expect(open?.key).toMatch(/^polygon\|0x3c499c542c/);
    await purchases.service().look(open?.key ?? '');
    expect(asked).toEqual(['polygon', 'polygon']);
  });
});

function expectRefusedPair(reply: Awaited<ReturnType<typeof purchases.pay>>): void {
  expect(reply.status).toBe(402);
  expect(json(reply).error).toMatch(/^invalid_exact_evm_payload_signature/);
  expect(json(reply).accepts).toHaveLength(2);
}

describe('settlersByNetwork()', () => {
  const settlerFor = (transaction: string): Facilitator => ({
    verify: async () => ({ verdict: 'valid' }),
    settle: async () => ({ verdict: 'settled', transaction }),
    supported: async () => ({
      verdict: 'supported',
      kinds: [{ x402Version: 1, scheme: 'exact', network: transaction }],
    }),
  });
  const requestOn = (name: string): FacilitatorRequest => {
    const { asset } = findNetwork(name) ?? base;
    return { paymentRequirements: { network: name, asset } } as unknown as FacilitatorRequest;
  };
  const settlers = settlersByNetwork([
    { network: base, facilitator: settlerFor('base') },
    { network: polygon, facilitator: settlerFor('polygon') },
  ]);

  it.each([
    ['base', 'base'],
    ['eip155:8453', 'base'],
    ['polygon', 'polygon'],
    ['eip155:137', 'polygon'],
  ])('sends a payment on %s to the settler of %s', async (network, transaction) => {
    expect(await settlers.settle(requestOn(network))).toMatchObject({ transaction });
    expect(await settlers.verify(requestOn(network))).toEqual({ verdict: 'valid' });
  });

  it('sends a payment on any other network to nobody', async () => {
    for (const network of ['avalanche', 'eip155:1', '']) {
      const nobody = { verdict: 'none', unsent: true };
      expect(await settlers.settle(requestOn(network))).toMatchObject(nobody);
      expect(await settlers.verify(requestOn(network))).toMatchObject(nobody);
    }
  });

  it('lists what each of them settles, and is silent where none answers', async () => {
    expect(await settlers.supported()).toMatchObject({
      kinds: [{ network: 'base' }, { network: 'polygon' }],
    });
    const silent: Facilitator = {
      ...settlerFor(''),
      supported: async () => ({ verdict: 'none', detail: 'down' }),
    };
    const none = settlersByNetwork([
      { network: base, facilitator: silent },
      { network: polygon, facilitator: silent },
    ]);
    expect(await none.supported()).toMatchObject({ verdict: 'none', detail: 'down' });
  });
});

describe('a challenge for one network', () => {
  it('has one entry, as before', async () => {
    expectRefused(
      await bench().pay({ header: await onPolygon.header(terms[1][1] ?? terms[1][0]) }),
      /invalid_network/,
    );
  });
});
