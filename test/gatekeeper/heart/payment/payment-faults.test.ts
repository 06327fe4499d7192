import { describe, expect, it } from 'vitest';
import { UNKNOWN_RETRY_S } from '../../../../gatekeeper/heart/purchase/purchase-reply.ts';
import type { SettleOutcome } from '../../../../gatekeeper/settle/facilitator.ts';
import type { Journal } from '../../../../gatekeeper/settle/journal.ts';
import { NETWORKS } from '../../../../gatekeeper/settle/networks.ts';
import type { Reply } from '../../../../gatekeeper/wire/reply.ts';
import { builtinOperation } from '../../../builtin-rows.ts';
import { CLAIMED, saying } from '../../chain-reader.ts';
import { encoded, headerOf, NOW_MS, payer, type SignedPayment } from '../../payer.ts';
import {
  alice,
  type Bench,
  bench,
  expectRefused,
  freshJournal,
  json,
  network,
  PAY_TO,
  receipt,
  settled,
  shop,
  TX,
  v1,
  v2,
} from '../../payment-bench.ts';

const ORDER = 2n ** 256n - 0x14551231950b75fc4402da1732fc9bebfn;

/** The other signature of the same text, which the token refuses. */
function highS({ authorization, signature }: SignedPayment): SignedPayment {
  const s = ORDER - BigInt(`0x${signature.slice(66, 130)}`);
  const v = signature.endsWith('1b') ? '1c' : '1b';
  const twin = `${signature.slice(0, 66)}${s.toString(16).padStart(64, '0')}${v}`;
  return { authorization, signature: twin as `0x${string}` };
}

describe('pay() with a payment signed wrongly', () => {
  it('I1: refuses the high-s twin, v 0 and 1, another chain, another domain and another token without asking anybody', async () => {
    const purchases = bench();
    const good = await alice.sign(PAY_TO, '10000');
    const { authorization, signature } = good;
    const low = signature.endsWith('1b') ? '00' : '01';
    const other = { ...network, extra: { name: 'USDC', version: '2' } };
    const elsewhere = { ...network, asset: `0x${'ab'.repeat(20)}` };
    const old = { ...network, extra: { ...network.extra, version: '1' } };
    const forms: [string, SignedPayment][] = [
      ['high s', highS(good)],
      [
        'v 0 or 1',
        { authorization, signature: `${signature.slice(0, -2)}${low}` as `0x${string}` },
      ],
      [
        'the other v',
        {
          authorization,
          signature: `${signature.slice(0, -2)}${low === '00' ? '1c' : '1b'}` as `0x${string}`,
        },
      ],
      ['test chain', await payer(NETWORKS['base-sepolia']).sign(PAY_TO, '10000')],
      ['chain id alone', await payer({ ...network, chainId: 1 }).sign(PAY_TO, '10000')],
      ['domain name', await payer(other).sign(PAY_TO, '10000')],
      ['domain version', await payer(old).sign(PAY_TO, '10000')],
      ['another token', await payer(elsewhere).sign(PAY_TO, '10000')],
    ];
    for (const [, signed] of forms) {
      expectRefused(await purchases.pay({ header: headerOf(v1, signed) }), /payload_signature/);
      expectRefused(
        await purchases.pay({ header: headerOf(v2, signed), version: 2 }),
        /payload_signature/,
      );
    }
    expect([purchases.calls.verify, purchases.calls.settle]).toEqual([[], []]);
    expect((await purchases.pay({ header: headerOf(v1, good) })).status).toBe(200);
  });

  it('I1: refuses what a v2 payer says to have accepted when it is not what was asked', async () => {
    const purchases = bench();
    const signed = await alice.sign(PAY_TO, '10000');
    const accepted = v2 as object;
    const changes: object[] = [
      { amount: '1' },
      { amount: '20000' },
      { asset: `0x${'cd'.repeat(20)}` },
      { payTo: alice.address },
      { network: 'eip155:84532' },
      { network: 'base' },
      { scheme: 'upto' },
      { amount: undefined },
      { payTo: 'me' },
    ];
    for (const change of changes) {
      const header = encoded({
        x402Version: 2,
        accepted: { ...accepted, ...change },
        payload: signed,
      });
      expectRefused(await purchases.pay({ header, version: 2 }), /invalid_/);
    }
    expectRefused(
      await purchases.pay({ header: headerOf(v1, signed), version: 2 }),
      /x402_version/,
    );
    expect([purchases.calls.verify, purchases.calls.settle]).toEqual([[], []]);
  });
});

/** Throws at the n-th of all calls to the parts of a purchase. */
class Saboteur {
  calls = 0;
  at: number;

  constructor(at: number) {
    this.at = at;
  }

  wrap<T extends object>(part: T): T {
    return new Proxy(part, {
      get: (target, name, receiver) => {
        const value = Reflect.get(target, name, receiver);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) => {
          this.calls += 1;
          if (this.calls === this.at) throw new Error('sabotage');
          return value.apply(target, args);
        };
      },
    });
  }
}

type Ending = 'settled' | 'refused' | 'lost';

/** One purchase in which the n-th call of any part throws, and then the same payment again in peace. */
async function sabotaged(at: number, ending: Ending, verifyFirst: boolean) {
  const saboteur = new Saboteur(at);
  const inner = freshJournal();
  let [transfers, now] = [0, NOW_MS];
  const used = new Set<string>();
  const transfer = (nonce: string): void => {
    if (!used.has(nonce)) transfers += 1;
    used.add(nonce);
  };
  const parts = saboteur.wrap({
    verify: async () => ({ verdict: 'valid' }) as const,
    settle: async (nonce: string): Promise<SettleOutcome> => {
      if (ending === 'refused' && saboteur.at !== 0)
        return { verdict: 'refused', reason: 'insufficient_funds' };
      transfer(nonce);
      if (ending === 'lost' && saboteur.at !== 0) return { verdict: 'none', detail: 'timeout' };
      return settled();
    },
    deliver: async () => ({ body: Buffer.from('bought'), contentType: 'text/plain' }),
    evidence: async () => ({ state: 'unused' }) as const,
    head: async () => CLAIMED,
    clock: () => now,
    judge: async () => {},
  });
  const purchases = bench({
    journal: saboteur.wrap<Journal>(inner),
    challenger: saboteur.wrap(shop),
    evidence: { ...saying(() => parts.evidence()), head: () => parts.head() },
    clock: () => parts.clock(),
    signatures: parts,
    verifyFirst,
  });
  saboteur.calls = 0;
  purchases.script.verify = () => parts.verify();
  purchases.script.settle = (request) =>
    parts.settle(request.paymentPayload.payload.authorization.nonce);
  purchases.script.deliver = () => parts.deliver();
  const header = await alice.header(v1);
  const reply = await purchases.pay({ header }).catch(() => null);
  const happened = saboteur.calls >= at;
  const leaked = reply?.status !== 200 && String(reply?.body).includes('bought');
  const unpaid = reply?.status === 200 && transfers === 0;
  saboteur.at = 0;
  now += UNKNOWN_RETRY_S * 1000;
  const again = await purchases.pay({ header });
  inner.close();
  const end = [again.status, String(again.body), transfers];
  return { happened, status: reply?.status ?? 500, leaked, unpaid, end };
}

describe('pay() with a part that throws', () => {
  const ways = (['settled', 'refused', 'lost'] as const).flatMap((ending) =>
    [false, true].map((verifyFirst) => ({ ending, verifyFirst })),
  );
  it.each(ways)(
    'I7: whichever call of any part throws, nothing leaves unpaid, nobody pays twice, and the same payment ends well ($ending, verify first: $verifyFirst)',
    async ({ ending, verifyFirst }) => {
      const statuses: number[] = [];
      for (let at = 1; ; at++) {
        const outcome = await sabotaged(at, ending, verifyFirst);
        expect([at, outcome.leaked, outcome.unpaid]).toEqual([at, false, false]);
        expect([at, ...outcome.end]).toEqual([at, 200, 'bought', 1]);
        statuses.push(outcome.status);
        if (!outcome.happened) break;
      }
      // Points: the challenger, the clocks, the signer's thread, each call of journal, facilitator and chain.
      expect(statuses.length).toBeGreaterThan(verifyFirst ? 10 : 9);
      expect(statuses.at(-1)).toBe({ settled: 200, refused: 402, lost: 503 }[ending]);
      expect(statuses.filter((status) => ![200, 402, 500, 503].includes(status))).toEqual([]);
    },
  );
});

/** Every way in which a good authorization can be turned away, and how often each is tried. */
const ROUNDS = 6;
type Refuse = (purchases: Bench, signed: SignedPayment) => Promise<Reply>;
const pay = (purchases: Bench, signed: SignedPayment): Promise<Reply> =>
  purchases.pay({ header: headerOf(v1, signed) });
const scripted =
  (change: Partial<Bench['script']>): Refuse =>
  async (purchases, signed) => {
    const before = { ...purchases.script };
    Object.assign(purchases.script, change);
    const reply = await pay(purchases, signed);
    Object.assign(purchases.script, before);
    purchases.wait();
    return reply;
  };
const throws = async (): Promise<never> => {
  throw new Error('broken');
};
const REFUSALS: Readonly<Record<string, Refuse>> = {
  'no funds at verify': scripted({
    verify: async () => ({ verdict: 'invalid', reason: 'insufficient_funds' }),
  }),
  'no verdict at verify': scripted({ verify: async () => ({ verdict: 'none', detail: 'down' }) }),
  'verify throws': scripted({ verify: throws }),
  'no funds at settle': scripted({
    settle: async () => ({ verdict: 'refused', reason: 'insufficient_funds' }),
  }),
  'no answer at settle': scripted({ settle: async () => ({ verdict: 'none', detail: 'down' }) }),
  'settle throws': scripted({ settle: throws }),
  'nothing to deliver': scripted({ deliver: throws }),
  'not open yet': scripted({ now: NOW_MS - 601_000 }),
  'high s': (purchases, signed) => pay(purchases, highS(signed)),
  'forged signature': (purchases, { authorization }) =>
    pay(purchases, { authorization, signature: `0x${'11'.repeat(64)}1b` }),
  'another value': (purchases, { authorization, signature }) =>
    pay(purchases, { authorization: { ...authorization, value: '99999' }, signature }),
  'another version': (purchases, signed) => purchases.pay({ header: headerOf(v2, signed) }),
  'a dearer request': (purchases, signed) =>
    purchases.pay({
      header: headerOf(v1, signed),
      endpoint: builtinOperation('/gauge/region'),
      target: '/gauge/region?loc=us-denver',
    }),
  'not base64': (purchases, signed) => purchases.pay({ header: `${headerOf(v1, signed)}, BAD` }),
};

describe('pay() after a refusal', () => {
  it(`I10: takes the same authorization after each of ${Object.keys(REFUSALS).length} refusals, alone and one after the other, and once`, async () => {
    let retries = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const purchases = bench();
      const all = await alice.sign(PAY_TO, '10000');
      for (const [name, refuse] of Object.entries(REFUSALS)) {
        const signed = await alice.sign(PAY_TO, '10000');
        const reply = await refuse(purchases, signed);
        expect([name, [402, 503].includes(reply.status)]).toEqual([name, true]);
        expect([name, (await pay(purchases, signed)).status]).toEqual([name, 200]);
        // A doubt is bound to its request, so it comes last for the one that is refused in every way.
        if (!name.includes('at settle') && !name.includes('settle throws'))
          await refuse(purchases, all);
        retries += 1;
      }
      expect((await pay(purchases, all)).status).toBe(200);
      const settled = purchases.calls.settle.filter(
        ({ paymentPayload }) =>
          paymentPayload.payload.authorization.nonce === all.authorization.nonce,
      );
      expect(settled).toHaveLength(1);
    }
    expect(retries).toBe(ROUNDS * Object.keys(REFUSALS).length);
  });
});

describe('pay() when a purchase is repeated in every way', () => {
  it('I2: answers, receipts and journal say the same after every repeat', async () => {
    const purchases = bench();
    const header = await alice.header(v1);
    const replies = [];
    for (let at = 0; at < 5; at++) {
      replies.push(await purchases.pay({ header }));
      if (at % 2 === 1) purchases.restart();
    }
    for (const reply of replies) expect(reply).toStrictEqual(replies[0]);
    expect(json(replies[0] as (typeof replies)[0])).toEqual({ body: 1 });
    expect(purchases.calls.settle).toHaveLength(1);
    expect(receipt(replies[0] as (typeof replies)[0]).payer).toBe(alice.address);
    expect(JSON.stringify(replies[0]?.headers)).not.toContain(TX);
  });
});
