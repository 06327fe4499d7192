import { beforeEach, describe, expect, it } from 'vitest';
import { challenger } from '../../../../gatekeeper/heart/offer/challenge.ts';
import { settlersByNetwork } from '../../../../gatekeeper/heart/payment/open-settlement-services.ts';
import type {
  Facilitator,
  FacilitatorRequest,
  SettleOutcome,
} from '../../../../gatekeeper/settle/facilitator.ts';
import { findNetwork, furtherTokens, NETWORKS } from '../../../../gatekeeper/settle/networks.ts';
import type { Requirements } from '../../../../gatekeeper/settle/payment.ts';
import { saying } from '../../chain-reader.ts';
import { freshNonce, headerOf, payer } from '../../payer.ts';
import { bench, expectRefused, gauge, json, PAY_TO, receipt, TARGET } from '../../payment-bench.ts';

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
      evidence: saying(async ({ network }) => {
        asked.push(network);
        return { state: 'unknown' };
      }),
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

describe('payments for a token that left the settings', () => {
  const EURO = `0x${'e1'.repeat(20)}`;
  const [euro = base] = furtherTokens(`base:${EURO}:Euro Test:1:18`);
  const own = { baseUrl: 'https://api.example.com', payTo: PAY_TO, serviceName: 'Example' };
  const wide = challenger({ ...own, network: base, furtherNetworks: [polygon, euro] });
  const narrow = challenger({ ...own, network: base });
  const CASES = [
    { token: polygon, version: 1 },
    { token: polygon, version: 2 },
    // Version 1 names no token: it is found by those that payments of before were in.
    { token: euro, version: 1 },
    { token: euro, version: 2 },
  ] as const;
  /** Version 1 names no token: by what it signed, it is for another amount of the one that is offered. */
  const NOT_OFFERED =
    /^invalid_(network|payment_requirements|exact_evm_payload_authorization_value)/;
  const OTHER = '/gauge?entity=us-boise&signal_id=airquality.aqi';

  /** A payment that is taken, and the same purchases after a restart without its token. */
  async function taken({ token, version }: (typeof CASES)[number], outcome?: SettleOutcome) {
    let offered = wide;
    purchases = bench({
      verifyFirst: false,
      get challenger() {
        return offered;
      },
    });
    if (outcome !== undefined) purchases.script.settle = async () => outcome;
    const { caip2, name, asset } = token;
    const isIts = (entry: Requirements): boolean =>
      entry.network === (version === 1 ? name : caip2) && entry.asset === asset;
    const found = wide.terms(gauge, TARGET, version).find(isIts);
    if (found === undefined) throw new Error('not offered');
    const sign = () => payer(token).header(found);
    const header = await sign();
    const first = await purchases.pay({ header, version });
    offered = narrow;
    purchases.restart();
    purchases.wait();
    const pay = (by: string, target?: string) =>
      purchases.pay({ header: by, version, ...(target === undefined ? {} : { target }) });
    return { first, header, sign, pay };
  }

  it.each(CASES)(
    'settled: the same answer and receipt, $token.name version $version',
    async (of) => {
      const { first, header, pay } = await taken(of);
      expect(first.status).toBe(200);
      expect(await pay(header)).toStrictEqual(first);
      expect(purchases.calls.settle).toHaveLength(1);
    },
  );

  it.each(CASES)(
    'in doubt: stay a doubt, so that nobody signs twice, $token.name version $version',
    async (of) => {
      const { first, header, pay } = await taken(of, { verdict: 'none', detail: 'lost' });
      const again = await pay(header);
      expect([first.status, again.status]).toEqual([503, 503]);
      expect(json(again).error).toMatch(/do not sign a new one/);
      expect(purchases.calls.settle).toHaveLength(1);
    },
  );

  it.each(CASES)('buy nothing else and nothing new, $token.name version $version', async (of) => {
    const { header, pay, sign } = await taken(of);
    for (const reply of [await pay(header, OTHER), await pay(await sign())]) {
      expectRefused(reply, NOT_OFFERED);
    }
    const refusal: SettleOutcome = { verdict: 'refused', reason: 'insufficient_funds' };
    const closed = await taken(of, { ...refusal, isProven: true });
    expect(closed.first.status).toBe(402);
    expectRefused(await closed.pay(closed.header), NOT_OFFERED);
  });

  it('a journal that cannot be read: a doubt, and it is reported', async () => {
    const reported: unknown[] = [];
    const { header } = await taken(CASES[0]);
    const journal = purchases.journal();
    const find = async (): Promise<never> => {
      throw new Error('disk');
    };
    const report = (error: unknown) => reported.push(String(error));
    const broken = bench({ challenger: narrow, journal: { ...journal, find }, report });
    expect((await broken.pay({ header })).status).toBe(503);
    expect(reported).toEqual(['Error: disk']);
  });
});

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
