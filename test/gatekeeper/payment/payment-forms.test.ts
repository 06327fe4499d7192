import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { respond } from '../../../gatekeeper/answers/respond.ts';
import type { Service } from '../../../gatekeeper/answers/service.ts';
import { FOR_EVERYBODY } from '../../../gatekeeper/http/cost.ts';
import { headerFacts } from '../../../gatekeeper/http/header-facts.ts';
import { sqliteJournal } from '../../../gatekeeper/journal/sqlite-journal.ts';
import type {
  Facilitator,
  SettleOutcome,
  ValidityOutcome,
} from '../../../gatekeeper/money/facilitator.ts';
import { NETWORKS } from '../../../gatekeeper/money/networks.ts';
import { type Authorization, priceOf } from '../../../gatekeeper/money/payment.ts';
import { purchaseService } from '../../../gatekeeper/purchase/purchase-service.ts';
import { builtinOperation } from '../../builtin-rows.ts';
import { NOW_S, payer } from '../payer.ts';
import { alice, bench, v1 } from '../payment-bench.ts';
import { TINY_NOW } from '../tiny-release.ts';
import { tinyService } from '../tiny-service.ts';

/** Seconds from the request to the block that a transfer is mined in. */
const BLOCK_S = 2;
const PRICE = BigInt(priceOf(v1));
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
  const reply = await purchases.pay({ header: await alice.header(v1, terms) });
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
      const reply = await purchases.pay({ header: await alice.header(v1, terms) });
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
