import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { respond } from '../../../../gatekeeper/heart/answers/respond.ts';
import type { Service } from '../../../../gatekeeper/heart/answers/service.ts';
import { sqliteJournal } from '../../../../gatekeeper/heart/journal/sqlite-journal.ts';
import { decodePayment } from '../../../../gatekeeper/heart/payment/payment-header.ts';
import { purchaseService } from '../../../../gatekeeper/heart/purchase/purchase-service.ts';
import type {
  Facilitator,
  SettleOutcome,
  ValidityOutcome,
} from '../../../../gatekeeper/settle/facilitator.ts';
import { NETWORKS } from '../../../../gatekeeper/settle/networks.ts';
import { type Authorization, isRefusal, priceOf } from '../../../../gatekeeper/settle/payment.ts';
import { FOR_EVERYBODY } from '../../../../gatekeeper/wire/cost.ts';
import { headerFacts } from '../../../../gatekeeper/wire/header-facts.ts';
import { builtinOperation } from '../../../builtin-rows.ts';
import { encoded, headerOf, NOW_S, PAY_TO, payer, paymentObject, shop } from '../../payer.ts';
import { bench, alice as benchAlice, v1 as benchV1 } from '../../payment-bench.ts';
import { TINY_NOW } from '../../tiny-release.ts';
import { tinyService } from '../../tiny-service.ts';

const PAYMENT_HEADER_CHARS_MAX = 10_240;

const gauge = builtinOperation('/gauge');
const v1 = shop.terms(gauge, '/gauge', 1)[0];
const v2 = shop.terms(gauge, '/gauge', 2)[0];
const alice = payer(NETWORKS.base);
const signedPayment = await alice.sign(PAY_TO, '10000');

/** Texts one small step away from the usual one, and the usual one itself. */
function nearTexts(): string[] {
  const usual = JSON.stringify(paymentObject(v1, signedPayment));
  const { payload, ...rest } = JSON.parse(usual);
  const { authorization, signature } = payload;
  const withTerms = (terms: object) =>
    JSON.stringify({
      ...rest,
      payload: { signature, authorization: { ...authorization, ...terms } },
    });
  const digits = ['', '0', '00', '01', '-1', '1.0', '1e3', '9'.repeat(76), '9'.repeat(77)];
  const bounds = [2n ** 256n - 1n, 2n ** 256n, 10n ** 77n, 10n ** 78n].map(String);
  const hex = ['0x', `0x${'g'.repeat(40)}`, `0X${'a'.repeat(40)}`, `0x${'A'.repeat(40)}`];
  const steps = [
    ...[...digits, ...bounds].flatMap((value) => [
      { value },
      { validAfter: value },
      { validBefore: value },
    ]),
    ...hex.flatMap((one) => [{ from: one }, { to: one }, { nonce: `${one}${'a'.repeat(24)}` }]),
    { value: 1 },
    { nonce: null },
    { extra: 1 },
    { from: `0x${'a'.repeat(41)}` },
  ];
  const objects = [
    { ...rest, payload, extra: 1 },
    { payload, ...rest },
    { ...rest, payload: { authorization, signature } },
    { ...rest, payload: { ...payload, permit2Authorization: {} } },
    { ...rest, x402Version: 2, payload },
    ...['', 'a'.repeat(64), 'a'.repeat(65), 'Exact', 'é', 'a"b', '\u2028'].flatMap((name) => [
      { ...rest, scheme: name, payload },
      { ...rest, network: name, payload },
    ]),
    ...[0, 1, 130, 131, 132, 300].map((chars) => ({
      ...rest,
      payload: { ...payload, signature: `0x${'aB'.repeat(150).slice(0, chars)}` },
    })),
  ];
  const bytes = Array.from(usual, (char, at) => [
    usual.slice(0, at) + usual.slice(at + 1),
    `${usual.slice(0, at)}${char}${usual.slice(at)}`,
    `${usual.slice(0, at)} ${usual.slice(at + 1)}`,
    `${usual.slice(0, at)}\\u0061${usual.slice(at + 1)}`,
  ]);
  const odd = [
    `${usual}\n`,
    `${usual}x`,
    `${usual}\0`,
    `\ufeff${usual}`,
    usual.replace('1,', '1.0,'),
  ];
  const twice = usual.replace('"scheme"', '"scheme":"exact","scheme"');
  return [
    usual,
    ...steps.map(withTerms),
    ...objects.map((one) => JSON.stringify(one)),
    ...bytes.flat(),
    ...odd,
    twice,
  ];
}

describe('decodePayment()', () => {
  it('decodePayment() reads the usual text as it reads every other spelling of it', () => {
    const read = (text: string) => decodePayment(Buffer.from(text, 'utf8').toString('base64'), 1);
    const texts = nearTexts();
    let taken = 0;
    for (const text of texts) {
      const answer = read(text);
      // White space in front changes no value, and makes it another text than the usual one.
      const spaced = read(` ${text}`);
      if (!text.startsWith('\ufeff')) expect(answer, text).toStrictEqual(spaced);
      else expect(isRefusal(answer) && isRefusal(spaced)).toBe(true);
      if (!isRefusal(answer)) taken += 1;
    }
    expect(taken).toBeGreaterThan(20);
    expect(texts.length - taken).toBeGreaterThan(1000);
  });

  it('decodePayment() takes no base64 of the usual text that an encoder would not write', () => {
    const usual = headerOf(v1, signedPayment);
    expect(isRefusal(decodePayment(usual, 1))).toBe(false);
    const { length } = usual;
    const others = [
      `${usual}, ${usual}`,
      `${usual}=`,
      `${usual}A`,
      ` ${usual}`,
      `${usual}\n`,
      `=${usual}`,
      `${usual}====`,
      usual.replace(/^.{4}/, '$& '),
      usual.slice(0, length - 1),
      `${usual.slice(0, 8)}-${usual.slice(8)}`,
    ];
    for (const other of others) {
      expect(decodePayment(other, 1), other).toMatchObject({ reason: 'invalid_payload' });
    }
  });

  it('decodePayment() reads a v1 and a v2 payment into the same shape', () => {
    const { authorization, signature } = signedPayment;
    expect(decodePayment(headerOf(v1, signedPayment), 1)).toStrictEqual({
      version: 1,
      scheme: 'exact',
      network: 'base',
      accepted: null,
      signature,
      authorization,
    });
    expect(decodePayment(headerOf(v2, signedPayment), 2)).toStrictEqual({
      version: 2,
      scheme: 'exact',
      network: 'eip155:8453',
      accepted: { amount: '10000', asset: v2.asset, payTo: v2.payTo },
      signature,
      authorization,
    });
  });

  it('decodePayment() leaves out what the payer added', () => {
    const object = {
      ...paymentObject(v2, signedPayment),
      resource: { url: 'https://evil.example' },
      extensions: { bazaar: {} },
    };
    const payment = decodePayment(encoded(object), 2);
    expect(Object.keys(payment)).not.toContain('extensions');
    expect(Object.keys(payment)).not.toContain('resource');
  });

  it('decodePayment() refuses a payment of the other version', () => {
    for (const [header, version] of [
      [headerOf(v1, signedPayment), 2],
      [headerOf(v2, signedPayment), 1],
    ] as const) {
      expect(decodePayment(header, version)).toMatchObject({ reason: 'invalid_x402_version' });
    }
  });

  it('I43: decodePayment() takes a header at its limit and none beyond', () => {
    const base = { ...paymentObject(v1, signedPayment), pad: '' };
    const bare = JSON.stringify(base).length;
    const at = (bytes: number) =>
      decodePayment(encoded({ ...base, pad: 'x'.repeat(bytes - bare) }), 1);
    const most = (PAYMENT_HEADER_CHARS_MAX / 4) * 3;
    expect(isRefusal(at(most))).toBe(false);
    expect(at(most + 1)).toMatchObject({ reason: 'invalid_payload' });
  });

  it('decodePayment() takes the signature of a contract wallet up to its longest', () => {
    const of = (bytes: number) => {
      const signature = `0x${'ab'.repeat(bytes)}` as const;
      return decodePayment(headerOf(v1, { ...signedPayment, signature }), 1);
    };
    expect(of(300)).toMatchObject({ signature: `0x${'ab'.repeat(300)}` });
    expect(isRefusal(of(2048))).toBe(false);
    expect(of(2049)).toMatchObject({ reason: 'invalid_exact_evm_payload_signature' });
  });

  it('I49: decodePayment() repeats nothing of the payment in its refusals', () => {
    const odd = { ...signedPayment, signature: `${signedPayment.signature}zz` as `0x${string}` };
    const text = JSON.stringify(decodePayment(headerOf(v1, odd), 1));
    expect(text).not.toContain(signedPayment.signature.slice(2, 20));
  });
});

/** Seconds from the request to the block that a transfer is mined in. */
const BLOCK_S = 2;
const PRICE = BigInt(priceOf(benchV1));
const PURSES = ['funded', 'poor', 'used', 'contract'] as const;
type Purse = (typeof PURSES)[number];

/** What the token itself says of an authorization; null when it makes the transfer. */
function objection(authorization: Authorization, purse: Purse): string | null {
  const block = NOW_S + BLOCK_S;
  if (block <= Number(authorization.validAfter)) return 'authorization is not yet valid';
  if (block >= Number(authorization.validBefore)) return 'authorization is expired';
  if (purse === 'used') return 'authorization is used or canceled';
  if (purse === 'contract') return 'invalid signature';
  const balance = purse === 'funded' ? 10n * PRICE : PRICE - 1n;
  return BigInt(authorization.value) > balance ? 'transfer amount exceeds balance' : null;
}

interface Form {
  readonly terms: Partial<Authorization>;
  readonly purse: Purse;
  /** Whether the terms are what was asked for, whoever pays. */
  readonly fits: boolean;
}

function forms(): Form[] {
  return [-600, 0, 1].flatMap((after) =>
    [-1, 5, 6, 300].flatMap((before) =>
      [0n, PRICE - 1n, PRICE, 2n * PRICE, 2n * PRICE + 1n].flatMap((value) => {
        const terms = {
          validAfter: String(NOW_S + after),
          validBefore: String(NOW_S + before),
          value: String(value),
        };
        const fits = after <= 0 && before >= 6 && value >= PRICE && value <= 2n * PRICE;
        return PURSES.map((purse) => ({ terms, purse, fits }));
      }),
    ),
  );
}

/** Purchases whose facilitator does what the token does, and the transfers that it made. */
function tokenBench(verifyFirst: boolean) {
  const purchases = bench({ verifyFirst });
  const token = { purse: 'funded' as Purse, transfers: 0 };
  purchases.script.verify = async ({ paymentPayload }) => {
    const { authorization } = paymentPayload.payload;
    const reason = objection(authorization, token.purse);
    return reason === null ? { verdict: 'valid' } : { verdict: 'invalid', reason };
  };
  purchases.script.settle = async ({ paymentPayload }) => {
    const { authorization } = paymentPayload.payload;
    const reason = objection(authorization, token.purse);
    if (reason !== null) return { verdict: 'refused', reason };
    token.transfers += 1;
    return { verdict: 'settled', transaction: authorization.nonce };
  };
  return { purchases, token };
}

/** Sends one form; true when it was charged for. */
async function tried(
  { purchases, token }: ReturnType<typeof tokenBench>,
  form: Form,
): Promise<boolean> {
  const { terms, purse, fits } = form;
  const [transfers, asked] = [token.transfers, purchases.calls.verify.length];
  token.purse = purse;
  const reply = await purchases.pay({ header: await benchAlice.header(benchV1, terms) });
  const takes = fits && purse === 'funded';
  const seen = [reply.status, token.transfers - transfers, purchases.calls.verify.length - asked];
  expect([form, ...seen]).toEqual([form, takes ? 200 : 402, Number(takes), Number(fits)]);
  return takes;
}

describe('I14: forms of payment', () => {
  it(`charges for what the token takes and answers 402 to all else of ${forms().length} forms`, async () => {
    const shop = tokenBench(true);
    let good = 0;
    for (const form of forms()) good += Number(await tried(shop, form));
    expect([good, shop.purchases.calls.settle.length, shop.token.transfers]).toEqual([8, 8, 8]);
  });

  it('charges nobody when the facilitator settles without verifying and the token refuses', async () => {
    const { purchases, token } = tokenBench(false);
    for (const { terms, purse, fits } of forms()) {
      if (!fits || purse === 'funded') continue;
      token.purse = purse;
      const reply = await purchases.pay({ header: await benchAlice.header(benchV1, terms) });
      // A used authorization may be one that was paid with, so nobody is told to sign another.
      expect([purse, reply.status]).toEqual([purse, purse === 'used' ? 503 : 402]);
    }
    expect([purchases.calls.settle.length, token.transfers]).toEqual([24, 0]);
  });
});

const CASES = 600;
const NETWORK = NETWORKS['base-sepolia'];
const FREE = '/gauge/sample';
const TARGETS = [
  '/gauge?entity=us-denver&signal_id=airquality.aqi',
  '/gauge?entity=us-denver&signal_id=airquality.aqi',
  '/gauge?entity=us-chicago&signal_id=airquality.aqi',
  '/gauge?entity=nobody&signal_id=airquality.aqi',
  '/gauge',
  '/gauge/raw?entity=x&signal_id=airquality.aqi',
  '/trust/precheck?service=a',
  '/nowhere',
  FREE,
];
const METHODS = ['GET', 'GET', 'GET', 'GET', 'GET', 'GET', 'HEAD', 'OPTIONS', 'POST', 'PUT'];
type Mode<T> = () => Promise<T>;
let settlements = 0;
const settled = async (): Promise<SettleOutcome> => {
  settlements += 1;
  return { verdict: 'settled', transaction: `0x${settlements}` };
};
const readBody = async (): Promise<Buffer> => Buffer.from('{}');
const reset = (): Promise<never> => Promise.reject(new Error('reset'));
const VERIFY: Mode<ValidityOutcome>[] = [
  async () => ({ verdict: 'valid' }),
  async () => ({ verdict: 'valid' }),
  async () => ({ verdict: 'valid' }),
  async () => ({ verdict: 'invalid', reason: 'insufficient_funds' }),
  async () => ({ verdict: 'none', detail: 'timeout' }),
  reset,
];
const SETTLE: Mode<SettleOutcome>[] = [
  settled,
  settled,
  async () => ({ verdict: 'refused', reason: 'insufficient_funds' }),
  async () => ({ verdict: 'refused', reason: 'transaction_failed' }),
  async () => ({ verdict: 'none', detail: 'timeout' }),
  reset,
];

/** The same numbers in every run. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

describe('I1: a property of every request', () => {
  const folder = mkdtempSync(join(tmpdir(), 'property-'));
  const clock = (): number => TINY_NOW;
  const journal = sqliteJournal({ path: join(folder, 'payments.db'), clock });
  afterAll(() => {
    journal.close();
    rmSync(folder, { recursive: true });
  });
  const bob = payer(NETWORK, 'bob');

  /** The first four are good, the next four are not, and the last one is none. */
  async function payment(service: Service, target: string, form: number): Promise<string[]> {
    if (form === 8) return [];
    const version = form % 2 === 0 ? 1 : 2;
    const terms = service.challenger.terms(builtinOperation('/gauge'), target, version)[0];
    const header = {
      4: () => bob.header(terms, { value: '1' }),
      5: () => bob.header(terms, { validBefore: String(NOW_S) }),
      6: () => payer(NETWORKS.base).header(terms),
      7: async () => 'e30=',
    }[form];
    const value = await (header ?? (() => bob.header(terms)))();
    return [version === 1 ? 'X-PAYMENT' : 'PAYMENT-SIGNATURE', value];
  }

  /** A service whose facilitator answers in one mode a call, and how often it moved money. */
  async function moodyService() {
    const base = await tinyService();
    const state = {
      moved: 0,
      verify: reset as Mode<ValidityOutcome>,
      settle: reset as Mode<SettleOutcome>,
    };
    const facilitator: Facilitator = {
      verify: () => state.verify(),
      async settle() {
        const outcome = await state.settle();
        if (outcome.verdict === 'settled') state.moved += 1;
        return outcome;
      },
      supported: async () => ({ verdict: 'none', detail: '' }),
    };
    const terms = { challenger: base.challenger, clock, facilitator, verifyFirst: true };
    const purchases = purchaseService({ journal, ...terms });
    return { service: { ...base, purchases }, state };
  }

  it(`${CASES} seeded requests: money moves with a paid 200 and with nothing else`, async () => {
    const next = random(20_261_121);
    const { service, state } = await moodyService();
    const pick = <T>(list: readonly T[]): T => list[next(list.length)] as T;
    const counts = { sold: 0, refused: 0 };
    for (let at = 0; at < CASES; at++) {
      const target = pick(TARGETS);
      [state.verify, state.settle] = [pick(VERIFY), pick(SETTLE)];
      const headers = await payment(service, target, next(9));
      const facts = headerFacts(['Host', 'gate', ...headers]);
      const visit = { method: pick(METHODS), target, facts, spend: FOR_EVERYBODY, readBody };
      const before = state.moved;
      const { reply } = await respond(visit, service);
      const sold = reply.status === 200 && target !== FREE;
      counts[sold ? 'sold' : 'refused'] += 1;
      const holds = target !== FREE && String(reply.body).includes('paid words');
      expect([at, state.moved - before, holds]).toEqual([at, Number(sold), sold]);
    }
    expect(counts.sold).toBeGreaterThan(5);
    expect(counts.refused).toBeGreaterThan(500);
  });
});
