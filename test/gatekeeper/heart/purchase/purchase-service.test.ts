import { registerExactEvmScheme } from '@x402/evm/exact/client';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { privateKeyToAccount } from 'viem/accounts';
import { describe, expect, it } from 'vitest';
import { BUILTIN } from '../../../../compiler/catalog/builtin.ts';
import { atomicAmount } from '../../../../compiler/products/shapes/price.ts';
import type { Endpoint } from '../../../../compiler/products/shapes/product.ts';
import type { purchaseService } from '../../../../gatekeeper/heart/purchase/purchase-service.ts';
import type { Journal } from '../../../../gatekeeper/settle/journal.ts';
import { priceOf } from '../../../../gatekeeper/settle/payment.ts';
import type { Reply } from '../../../../gatekeeper/wire/reply.ts';
import { saying } from '../../chain-reader.ts';
import {
  encoded,
  headerOf,
  NOW_MS,
  NOW_S,
  payer,
  paymentObject,
  type SignedPayment,
} from '../../payer.ts';
import {
  alice,
  type Bench,
  type Bought,
  bench,
  buy,
  expectRefused,
  freshJournal,
  gauge,
  HERE,
  header,
  json,
  keyOf,
  network,
  PAY_TO,
  receipt,
  settled,
  shop,
  TARGET,
  tick,
  v1,
  v2,
} from '../../payment-bench.ts';

type Fields = Record<string, unknown>;

const b64 = (text: string | Uint8Array): string => Buffer.from(text).toString('base64');

/** Header values that are no v1 payment, each made from a good one; name -> value. */
function malformedPayments({ authorization, signature }: SignedPayment): [string, string][] {
  const good: Fields = {
    x402Version: 1,
    scheme: 'exact',
    network: 'base',
    payload: { signature, authorization },
  };
  const text = JSON.stringify(good);
  const whole = (fields: Fields) => encoded({ ...good, ...fields });
  const payload = (fields: Fields) => whole({ payload: { signature, authorization, ...fields } });
  const auth = (fields: Fields) => payload({ authorization: { ...authorization, ...fields } });
  const without = (name: string) =>
    payload({
      authorization: Object.fromEntries(Object.entries(authorization).filter(([k]) => k !== name)),
    });
  const twice = (from: string, to: string) => b64(text.replace(from, to));
  return [
    ['empty', ''],
    ['blank', ' '],
    ['not base64', '%%%'],
    ['base64url letters', encoded({ x: '???>>>' }).replaceAll('/', '_')],
    [
      'without its padding',
      b64(`${text} `.padEnd(Math.ceil((text.length + 1) / 3) * 3 + 1)).replaceAll('=', ''),
    ],
    ['joined repeat', `${encoded(good)}, ${encoded(good)}`],
    ['good one, then junk', `${encoded(good)}, BAD`],
    ['inner blank', ` ${encoded(good)}`],
    ['junk character inside', encoded(good).replace(/^(.{8})/, '$1\u00e9')],
    ['too long', encoded({ ...good, pad: 'x'.repeat(8192) })],
    ['not JSON', b64('hello')],
    ['text after the JSON', b64(`${text} {}`)],
    ['bad UTF-8', b64(Uint8Array.of(0x22, 0xff, 0x22))],
    ['byte order mark', b64(`\ufeff${text}`)],
    ['duplicate key', twice('"scheme"', '"scheme":"exact","scheme"')],
    ['duplicate value', twice('"value"', '"value":"1","value"')],
    ['reserved key', twice('"scheme"', '"__proto__":{},"scheme"')],
    ['null', b64('null')],
    ['array', b64('[]')],
    ['string', b64('"x"')],
    ['deep', b64('['.repeat(500) + ']'.repeat(500))],
    ['version 2 in a v1 header', whole({ x402Version: 2 })],
    ['version 3', whole({ x402Version: 3 })],
    ['version as text', whole({ x402Version: '1' })],
    ['no version', whole({ x402Version: undefined })],
    ['scheme upto', whole({ scheme: 'upto' })],
    ['scheme empty', whole({ scheme: '' })],
    ['scheme number', whole({ scheme: 1 })],
    ['network unknown', whole({ network: 'ethereum' })],
    ['network of the test chain', whole({ network: 'base-sepolia' })],
    ['network as CAIP-2', whole({ network: 'eip155:8453' })],
    ['no payload', whole({ payload: undefined })],
    ['payload null', whole({ payload: null })],
    ['payload of another scheme', payload({ permit2Authorization: {} })],
    ['no signature', payload({ signature: undefined })],
    ['signature without 0x', payload({ signature: signature.slice(2) })],
    ['signature of 64 bytes', payload({ signature: signature.slice(0, -2) })],
    ['signature of 66 bytes', payload({ signature: `${signature}00` })],
    ['signature of a contract wallet', payload({ signature: `0x${'ab'.repeat(400)}` })],
    ['signature with odd digits', payload({ signature: `${signature}0` })],
    ['signature not hex', payload({ signature: signature.replace(/.$/, 'g') })],
    ['signature with v 0', payload({ signature: `${signature.slice(0, -2)}00` })],
    ['signature with v 29', payload({ signature: `${signature.slice(0, -2)}1d` })],
    ['signature of zeros', payload({ signature: `0x${'00'.repeat(64)}1b` })],
    ['signature flipped', payload({ signature: flipped(signature) })],
    ...Object.keys(authorization).map((n): [string, string] => [`no ${n}`, without(n)]),
    ['extra authorization key', auth({ spender: authorization.to })],
    ['from not an address', auth({ from: '0x12' })],
    ['from of somebody else', auth({ from: `0x${'1'.repeat(40)}` })],
    ['to of somebody else', auth({ to: `0x${'1'.repeat(40)}` })],
    ['value as number', auth({ value: Number(authorization.value) })],
    ['value as hex', auth({ value: '0x2710' })],
    ['value with leading zero', auth({ value: `0${authorization.value}` })],
    ['value with blank', auth({ value: ` ${authorization.value}` })],
    ['value negative', auth({ value: '-1' })],
    ['value with point', auth({ value: '10000.0' })],
    ['value empty', auth({ value: '' })],
    ['value beyond uint256', auth({ value: String(2n ** 256n) })],
    ['value of 79 digits', auth({ value: '9'.repeat(79) })],
    ['value raised after signing', auth({ value: `${authorization.value}0` })],
    ['validBefore stretched after signing', auth({ validBefore: `${authorization.validBefore}0` })],
    ['validAfter moved after signing', auth({ validAfter: '0' })],
    ['nonce of 31 bytes', auth({ nonce: authorization.nonce.slice(0, -2) })],
    ['nonce without 0x', auth({ nonce: authorization.nonce.slice(2) })],
    ['nonce swapped after signing', auth({ nonce: `0x${'2'.repeat(64)}` })],
    ['nonce as array', auth({ nonce: [authorization.nonce] })],
  ];
}

function flipped(signature: string): string {
  const digit = signature[10] === '0' ? '1' : '0';
  return signature.slice(0, 10) + digit + signature.slice(11);
}

type PurchaseServiceOptions = Parameters<typeof purchaseService>[0];

async function expectOnePrice(purchases: Bench, endpoint: Endpoint, version: 1 | 2): Promise<void> {
  const target = endpoint.path;
  const price = atomicAmount(endpoint.priceUsd ?? '');
  const asked = JSON.parse(shop.challenge(endpoint, target).body.toString()).accepts[0];
  const terms = shop.terms(endpoint, target, version)[0];
  const order = { endpoint, target, version };
  const value = String(BigInt(price) - 1n);
  const less = await purchases.pay({ ...order, header: await alice.header(terms, { value }) });
  expectRefused(less, /authorization_value/);
  const paid = await purchases.pay({ ...order, header: await alice.header(terms) });
  expect(paid.status).toBe(200);
  for (const request of [purchases.calls.verify.at(-1), purchases.calls.settle.at(-1)]) {
    expect(request?.paymentPayload.payload.authorization.value).toBe(price);
    expect(request?.paymentRequirements).toStrictEqual(terms);
  }
  expect([priceOf(terms), asked.maxAmountRequired]).toEqual([price, price]);
}

describe('open() and sell()', () => {
  it('verifies, settles, then answers with the body and a receipt', async () => {
    const purchases = bench();
    const reply = await purchases.pay({ header: await alice.header(v1) });
    expect(reply.status).toBe(200);
    expect(json(reply)).toEqual({ body: 1 });
    expect(header(reply, 'cache-control')).toBe('private, no-store');
    expect(receipt(reply)).toEqual({
      success: true,
      transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      network: 'base',
      payer: alice.address,
    });
    expect(purchases.calls).toMatchObject({ deliver: 1 });
    expect([purchases.calls.verify.length, purchases.calls.settle.length]).toEqual([1, 1]);
  });

  it('answers a v2 payment with PAYMENT-RESPONSE and the CAIP-2 name', async () => {
    const purchases = bench();
    const reply = await purchases.pay({ header: await alice.header(v2), version: 2 });
    expect(reply.status).toBe(200);
    expect(receipt(reply, 'payment-response')).toMatchObject({ network: 'eip155:8453' });
    expect(header(reply, 'x-payment-response')).toBeUndefined();
    expect(purchases.calls.settle[0]).toMatchObject({ x402Version: 2, paymentRequirements: v2 });
  });

  it('asks the facilitator to settle alone when it is told so, after the same local checks', async () => {
    const purchases = bench({ verifyFirst: false });
    const low = await alice.header(v1, { value: '1' });
    expectRefused(await purchases.pay({ header: low }), /authorization_value/);
    expect(purchases.calls.settle).toEqual([]);
    expect((await purchases.pay({ header: await alice.header(v1) })).status).toBe(200);
    expect([purchases.calls.verify.length, purchases.calls.settle.length]).toEqual([0, 1]);
  });

  it('settles an overpayment as it was signed', async () => {
    const purchases = bench();
    const reply = await purchases.pay({ header: await alice.header(v1, { value: '15000' }) });
    expect(reply.status).toBe(200);
    const { payload } = purchases.calls.settle[0]?.paymentPayload ?? {};
    expect(payload?.authorization.value).toBe('15000');
  });

  it('I13: asks, checks and settles one price on every paid row of the table', async () => {
    const purchases = bench();
    const rows = BUILTIN.operations.filter((row) => row.priceUsd !== null);
    for (const row of rows) {
      await expectOnePrice(purchases, row, 1);
      await expectOnePrice(purchases, row, 2);
    }
    expect(purchases.calls.settle).toHaveLength(2 * rows.length);
    expect(purchases.calls.verify).toHaveLength(2 * rows.length);
  });

  it('I1: refuses every malformed payment with a reason and asks nobody', async () => {
    const purchases = bench();
    const forms = malformedPayments(await alice.sign(PAY_TO, '10000'));
    expect(forms.length).toBeGreaterThan(60);
    for (const [name, value] of forms) {
      const reply = await purchases.pay({ header: value });
      expect(reply.status, name).toBe(402);
      expect(json(reply).error, name).toMatch(/^[a-z0-9_]+: .+/);
      expect(json(reply).accepts, name).toHaveLength(1);
    }
    expect([purchases.calls.verify, purchases.calls.settle]).toEqual([[], []]);
  });

  it('I14: refuses early, late and low payments without asking anybody', async () => {
    const purchases = bench();
    for (const overrides of [
      { validAfter: String(NOW_S + 60) },
      { validBefore: String(NOW_S + 5) },
      { value: '9999' },
      { to: `0x${'cd'.repeat(20)}` },
    ]) {
      expectRefused(
        await purchases.pay({ header: await alice.header(v1, overrides) }),
        /invalid_exact/,
      );
    }
    expect([purchases.calls.verify, purchases.calls.settle]).toEqual([[], []]);
  });

  it('I14: tells a smart account what the facilitator does not', async () => {
    const purchases = bench();
    purchases.script.verify = async () => ({ verdict: 'invalid', reason: 'invalid_payload' });
    const reply = await purchases.pay({ header: await alice.header(v1) });
    expectRefused(reply, /invalid_payload: payer must be a plain externally-owned account/);
    expect(purchases.calls.settle).toEqual([]);
  });
});

describe('open() and sell() with a published client', () => {
  /** A fetch that buys: the challenge without a payment, a purchase with one. */
  const fetchOf = (purchases: Bench, shown: (reply: Response) => Response) => {
    return async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
      const { headers } = new Request(input, init);
      const one = headers.get('x-payment');
      const value = one ?? headers.get('payment-signature');
      if (value !== null)
        return response(await purchases.pay({ header: value, version: one ? 1 : 2 }));
      return shown(response(shop.challenge(gauge, TARGET)));
    };
  };
  const response = ({ status, headers, body }: Reply) =>
    new Response(body.toString(), { status, headers: headers.map(([key, value]) => [key, value]) });
  const client = new x402Client();
  registerExactEvmScheme(client, { signer: privateKeyToAccount(`0x${'01'.repeat(32)}`) });

  it('sells to a v2 client, which reads the header', async () => {
    const purchases = bench({ clock: Date.now });
    const paying = wrapFetchWithPayment(
      fetchOf(purchases, (reply) => reply),
      client,
    );
    const reply = await paying(`https://api.example.com${TARGET}`);
    expect(reply.status).toBe(200);
    expect(reply.headers.get('payment-response')).not.toBeNull();
    expect(purchases.calls.settle[0]?.x402Version).toBe(2);
  });

  it('sells to a v1 client, which reads the body', async () => {
    const purchases = bench({ clock: Date.now });
    const bodyOnly = (reply: Response) => {
      reply.headers.delete('payment-required');
      return reply;
    };
    const paying = wrapFetchWithPayment(fetchOf(purchases, bodyOnly), client);
    const reply = await paying(`https://api.example.com${TARGET}`);
    expect(reply.status).toBe(200);
    expect(reply.headers.get('x-payment-response')).not.toBeNull();
    expect(purchases.calls.settle[0]?.x402Version).toBe(1);
  });
});

describe('open() and sell() once', () => {
  const inOtherBytes = async (): Promise<[string, 1 | 2][]> => {
    const signed = await alice.sign(PAY_TO, '10000');
    const upper = (hex: string) => `0x${hex.slice(2).toUpperCase()}`;
    const { authorization, signature } = signed;
    const shouted = {
      signature: upper(signature) as `0x${string}`,
      authorization: {
        ...authorization,
        from: upper(authorization.from),
        nonce: upper(authorization.nonce),
      },
    };
    const object = paymentObject(v1, signed);
    const spaced = Buffer.from(JSON.stringify(object, null, 2)).toString('base64');
    const turned = encoded(Object.fromEntries(Object.entries(object).reverse()));
    return [
      [headerOf(v1, signed), 1],
      [headerOf(v1, shouted), 1],
      [spaced, 1],
      [turned, 1],
      [headerOf(v2, signed), 2],
    ];
  };

  it('I3: settles 50 parallel copies once and gives each the same body', async () => {
    for (const delay of [0, 1, 5]) {
      const purchases = bench();
      purchases.script.settle = () => tick(delay).then(settled);
      const one = await alice.header(v1);
      const copies = Array.from({ length: 50 }, async (_, at) => {
        await tick(at % 3);
        return purchases.pay({ header: one });
      });
      const replies = await Promise.all(copies);
      for (const reply of replies) {
        expect(reply.status).toBe(200);
        expect(json(reply)).toEqual({ body: 1 });
      }
      expect(purchases.calls.settle).toHaveLength(1);
    }
  });

  it('I3: knows one payment in other bytes and in the other version', async () => {
    const purchases = bench();
    purchases.script.settle = () => tick(2).then(settled);
    const forms = await inOtherBytes();
    const send = () => forms.map(([value, version]) => purchases.pay({ header: value, version }));
    const replies = [...(await Promise.all(send())), ...(await Promise.all(send()))];
    expect(replies.map((reply) => reply.status)).toEqual(Array(10).fill(200));
    expect(purchases.calls.settle).toHaveLength(1);
  });

  it('I4: serves 60 different payments of one payer at once', async () => {
    const purchases = bench();
    let hung = 0;
    purchases.script.settle = async () => {
      hung += 1;
      return hung <= 40 ? new Promise(() => {}) : settled();
    };
    for (let at = 0; at < 40; at++) void purchases.pay({ header: await alice.header(v1) });
    while (hung < 40) await tick(1);
    const headers = await Promise.all(Array.from({ length: 60 }, () => alice.header(v1)));
    const replies = await Promise.all(headers.map((value) => purchases.pay({ header: value })));
    expect(replies.map((reply) => reply.status)).toEqual(Array(60).fill(200));
  });

  it('I5: opens one resource per authorization, in parallel, in sequence and after a restart', async () => {
    const purchases = bench();
    const forms = await inOtherBytes();
    const others: Partial<Bought>[] = [
      { target: '/gauge?entity=us-boise&signal_id=airquality.aqi' },
      { target: '/gauge' },
      { method: 'POST' },
      ...BUILTIN.operations
        .filter(({ path, priceUsd }) => priceUsd !== null && path !== gauge.path)
        .map((endpoint) => ({ endpoint, target: endpoint.path })),
    ];
    expect(3 * others.length * forms.length).toBeGreaterThan(300);
    const elsewhere = () =>
      others.flatMap((other) =>
        forms.map(([value, version]) => purchases.pay({ ...other, header: value, version })),
      );
    const bought = purchases.pay({ header: forms[0]?.[0] ?? '' });
    for (const reply of await Promise.all(elsewhere())) {
      expectRefused(reply, /payment_already_used/);
    }
    expect((await bought).status).toBe(200);
    for (const reply of await Promise.all(elsewhere())) {
      expectRefused(reply, /payment_already_used/);
    }
    purchases.restart();
    for (const reply of await Promise.all(elsewhere())) {
      expectRefused(reply, /payment_already_used/);
    }
    expect(purchases.calls.settle).toHaveLength(1);
  });

  it('I5: delivers what was bought while the same payment is sent for other requests', async () => {
    const purchases = bench();
    const value = await alice.header(v1);
    const other = '/gauge?entity=us-boise&signal_id=airquality.aqi';
    const first = await purchases.pay({ header: value });
    for (let round = 0; round < 3; round++) {
      const orders = Array.from({ length: 40 }, (_, at) => (at % 3 === 2 ? TARGET : other));
      const replies = await Promise.all(
        orders.map((target) => purchases.pay({ header: value, target })),
      );
      for (const [at, reply] of replies.entries()) {
        if (orders[at] === TARGET) expect(reply).toStrictEqual(first);
        else expectRefused(reply, /payment_already_used/);
      }
      purchases.restart();
    }
    expect(purchases.calls.settle).toHaveLength(1);
  });

  it('I5: gives a bought body to nobody with another signature or other fields', async () => {
    const purchases = bench();
    const signed = await alice.sign(PAY_TO, '10000');
    await purchases.pay({ header: headerOf(v1, signed) });
    const { authorization } = signed;
    const { nonce } = authorization;
    const resigned = await alice.sign(PAY_TO, '20000', { nonce });
    const mallory = await payer(network, 'mallory').sign(PAY_TO, '10000', { nonce });
    const stolen = { ...mallory, authorization };
    expectRefused(await purchases.pay({ header: headerOf(v1, resigned) }), /payment_already_used/);
    expectRefused(await purchases.pay({ header: headerOf(v1, stolen) }), /payload_signature/);
    expect(purchases.calls.settle).toHaveLength(1);
  });

  it('I2: delivers a settled payment again, byte for byte, after a restart and past its window', async () => {
    const purchases = bench();
    const value = await alice.header(v1);
    const order = { header: value, identifier: 'pay_0123456789abcdef' };
    const first = await purchases.pay(order);
    purchases.restart();
    purchases.script.now = NOW_MS + 20 * 86_400_000;
    const { deliver } = purchases.script;
    purchases.script.deliver = async () => {
      throw new Error('gone');
    };
    const again = await purchases.pay(order);
    expect(again).toStrictEqual(first);
    expect([purchases.calls.verify.length, purchases.calls.settle.length]).toEqual([1, 1]);
    purchases.script.deliver = deliver;
    const fresh = await alice.header(v1);
    expectRefused(await purchases.pay({ header: fresh }), /valid_before/);
  });
});

describe('open() and sell() failing', () => {
  it('I8: neither verifies nor settles when the answer cannot be made', async () => {
    const purchases = bench();
    const value = await alice.header(v1);
    purchases.script.deliver = async () => {
      throw new Error('EIO');
    };
    const reply = await purchases.pay({ header: value });
    expect(reply.status).toBe(503);
    expect(json(reply)).toMatchObject({ retryable: true });
    expect(json(reply).error).toContain('Not charged');
    expect(reply.body.toString()).not.toContain('EIO');
    expect([purchases.calls.verify.length, purchases.calls.settle.length]).toEqual([0, 0]);
  });

  it('I8: has the body in hand before it verifies, and is settled before it answers', async () => {
    const purchases = bench();
    const order: string[] = [];
    purchases.script.deliver = async () => {
      order.push('deliver');
      return { body: Buffer.from('x'), contentType: 'text/plain' };
    };
    purchases.script.verify = async () => {
      order.push('verify');
      return { verdict: 'valid' };
    };
    purchases.script.settle = async () => {
      const entry = await purchases.journal().find(keyOf(value));
      order.push(`settle while ${entry?.state}`);
      return settled();
    };
    const value = await alice.header(v1);
    await purchases.pay({ header: value });
    const entry = await purchases.journal().find(keyOf(value));
    order.push(`answer while ${entry?.state}`);
    expect(order).toEqual(['deliver', 'verify', 'settle while settling', 'answer while settled']);
  });

  it('I10: burns nothing with a refusal: the same authorization works afterwards', async () => {
    const refusals: ((purchases: Bench) => void)[] = [
      (purchases) => {
        purchases.script.verify = async () => ({
          verdict: 'invalid',
          reason: 'insufficient_funds',
        });
      },
      (purchases) => {
        purchases.script.verify = async () => ({ verdict: 'none', detail: 'down' });
      },
      (purchases) => {
        purchases.script.verify = async () => {
          throw new Error('down');
        };
      },
      (purchases) => {
        purchases.script.settle = async () => ({
          verdict: 'refused',
          reason: 'insufficient_funds',
        });
      },
      (purchases) => {
        purchases.script.deliver = async () => {
          throw new Error('EIO');
        };
      },
    ];
    for (const refuse of refusals) {
      const purchases = bench();
      const { verify, settle, deliver } = purchases.script;
      const signed = await alice.sign(PAY_TO, '10000');
      const value = headerOf(v1, signed);
      const forged = { ...signed, signature: `0x${'11'.repeat(64)}1b` as const };
      refuse(purchases);
      expect([402, 503]).toContain((await purchases.pay({ header: headerOf(v1, forged) })).status);
      expect([402, 503]).toContain((await purchases.pay({ header: value })).status);
      Object.assign(purchases.script, { verify, settle, deliver });
      expectRefused(await purchases.pay({ header: headerOf(v1, forged) }), /signature/);
      expect((await purchases.pay({ header: value })).status).toBe(200);
    }
  });

  it('I10: lets a refused authorization buy something else', async () => {
    const purchases = bench();
    purchases.script.settle = async () => ({ verdict: 'refused', reason: 'insufficient_funds' });
    const value = await alice.header(v1);
    expectRefused(await purchases.pay({ header: value }), /insufficient_funds/);
    purchases.script.settle = settled;
    expect((await purchases.pay({ header: value, target: '/gauge' })).status).toBe(200);
  });

  const boom = (): never => {
    throw new Error('boom');
  };
  const parts = [
    ['bindingOf', 0],
    ['claim', 0],
    ['verify', 0],
    ['settle', 1],
    ['deliver', 0],
    ['clock', 0],
    ['challenger', 0],
    ['evidence', 1],
  ] as const;
  for (const [part, settles] of parts) {
    const sync = ['clock', 'challenger', 'bindingOf'].includes(part);
    const ways = sync ? [boom] : [boom, async () => boom()];
    it(`I7: fails closed when "${part}" fails`, async () => {
      for (const broken of ways) await expectClosed(part, broken, settles);
    });
  }

  it('I2: delivers what is settled even when the journal cannot note it, or the log fails', async () => {
    const inner = freshJournal();
    const journal: Journal = {
      ...inner,
      conclude: async () => {
        throw new Error('disk full');
      },
    };
    const purchases = bench({
      journal,
      report: () => {
        throw new Error('log full');
      },
    });
    const value = await alice.header(v1);
    const first = await purchases.pay({ header: value });
    expect(first.status).toBe(200);
    expect(await purchases.pay({ header: value })).toStrictEqual(first);
    expect(purchases.calls.verify).toHaveLength(1);
    inner.close();
  });

  it('I49: reports failures without payment data', async () => {
    const reported: unknown[] = [];
    const purchases = bench({ report: (error) => reported.push(error) });
    const signed = await alice.sign(PAY_TO, '10000');
    purchases.script.settle = async () => {
      throw new Error('boom');
    };
    await purchases.pay({ header: headerOf(v1, signed) });
    expect(reported).toHaveLength(1);
    expect(String(reported[0])).not.toContain(signed.signature);
  });

  it('I49: reports what fails for a former sale under the name of the request, once', async () => {
    const reported: unknown[] = [];
    const inner = freshJournal();
    const journal = { ...inner };
    const report = (error: unknown, id?: string) => reported.push([String(error), id]);
    const service = bench({ journal, report }).service();
    const paymentHeader = { kind: 'payment', version: 1, text: await alice.header(v1) } as const;
    const deliver = async () => ({ body: Buffer.from('{}'), contentType: 'application/json' });
    await buy(service, { header: paymentHeader.text, deliver });
    const trace = { id: 'named', sentId: 'named', client: HERE };
    const asked = { target: TARGET, method: 'GET', paymentHeader, trace };
    expect((await service.openFormer(asked))?.status).toBe(200);
    expect(reported).toEqual([]);
    journal.find = async () => {
      throw new Error('disk');
    };
    expect((await service.openFormer(asked))?.status).toBe(503);
    expect(reported).toEqual([['Error: disk', 'named']]);
    inner.close();
  });
});

async function expectClosed(
  part: string,
  broken: () => never | Promise<never>,
  settles: number,
): Promise<void> {
  const purchases = bench(brokenOptions(part, broken));
  if (part === 'evidence') purchases.script.settle = async () => ({ verdict: 'none', detail: '' });
  if (part in purchases.script) Object.assign(purchases.script, { [part]: broken });
  const reply = await purchases.pay({ header: await alice.header(v1) });
  expect([reply.status, purchases.calls.settle.length]).toEqual([503, settles]);
  expect(reply.body.toString()).not.toMatch(/"body"|boom/);
  expect(header(reply, 'cache-control')).toBe('no-store');
}

function brokenOptions(
  part: string,
  broken: () => never | Promise<never>,
): Partial<PurchaseServiceOptions> {
  switch (part) {
    case 'clock':
      return { clock: broken as () => never };
    case 'evidence':
      return { evidence: saying(broken as () => Promise<never>) };
    case 'challenger':
      return { challenger: { ...shop, terms: broken as () => never } };
    case 'bindingOf':
    case 'claim':
      return { journal: { ...freshJournal(), [part]: broken } };
    default:
      return {};
  }
}
