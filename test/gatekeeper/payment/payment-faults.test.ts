import { describe, expect, it } from 'vitest';
import type { Journal } from '../../../gatekeeper/journal/journal.ts';
import { NETWORKS } from '../../../gatekeeper/payment/networks.ts';
import { encoded, headerOf, payer, type SignedPayment } from '../payer.ts';
import {
  alice,
  bench,
  expectRefused,
  freshJournal,
  json,
  network,
  PAY_TO,
  receipt,
  settled,
  TX,
  v1,
  v2,
} from '../payment-bench.ts';

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
    const desk = bench();
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
      expectRefused(await desk.pay({ header: headerOf(v1, signed) }), /payload_signature/);
      expectRefused(
        await desk.pay({ header: headerOf(v2, signed), version: 2 }),
        /payload_signature/,
      );
    }
    expect(desk.calls).toEqual({ verify: [], settle: [], deliver: 0 });
    expect((await desk.pay({ header: headerOf(v1, good) })).status).toBe(200);
  });

  it('I1: refuses what a v2 payer says to have accepted when it is not what was asked', async () => {
    const desk = bench();
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
      expectRefused(await desk.pay({ header, version: 2 }), /invalid_/);
    }
    expectRefused(await desk.pay({ header: headerOf(v1, signed), version: 2 }), /x402_version/);
    expect(desk.calls).toEqual({ verify: [], settle: [], deliver: 0 });
  });
});

/** Throws at the n-th of all calls to the parts of a desk. */
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

describe('pay() with a part that throws', () => {
  it('I7: whichever call of any part throws, nothing leaves unpaid, nobody pays twice, and the same payment ends well', async () => {
    const points: number[] = [];
    for (let at = 1; ; at++) {
      const outcome = await sabotaged(at);
      points.push(outcome.status);
      if (!outcome.happened) break;
    }
    expect(points.length).toBeGreaterThan(6);
    expect(points.at(-1)).toBe(200);
    expect(points.slice(0, -1).filter((status) => status !== 503 && status !== 200)).toEqual([]);
  });

  async function sabotaged(at: number): Promise<{ happened: boolean; status: number }> {
    const saboteur = new Saboteur(at);
    const inner = freshJournal();
    const journal: Journal = saboteur.wrap(inner);
    let transfers = 0;
    const used = new Set<string>();
    const parts = saboteur.wrap({
      verify: async () => ({ verdict: 'valid', payer: alice.address }) as const,
      settle: async (nonce: string) => {
        if (!used.has(nonce)) transfers += 1;
        used.add(nonce);
        return settled();
      },
      deliver: async () => ({ body: Buffer.from('bought'), contentType: 'text/plain' }),
      evidence: async () => ({ state: 'unknown' }) as const,
    });
    const desk = bench({ journal, evidence: () => parts.evidence() });
    desk.script.verify = () => parts.verify();
    desk.script.settle = (request) =>
      parts.settle(request.paymentPayload.payload.authorization.nonce);
    desk.script.deliver = () => parts.deliver();
    const header = await alice.header(v1);
    const reply = await desk.pay({ header });
    if (reply.status !== 200) expect(reply.body.toString()).not.toContain('bought');
    const happened = saboteur.calls >= at;
    saboteur.at = 0;
    const again = await desk.pay({ header });
    expect([at, again.status, again.body.toString()]).toEqual([at, 200, 'bought']);
    expect([at, transfers]).toEqual([at, 1]);
    inner.close();
    return { happened, status: reply.status };
  }
});

describe('pay() when a purchase is repeated in every way', () => {
  it('I2: answers, receipts and journal say the same after every repeat', async () => {
    const desk = bench();
    const header = await alice.header(v1);
    const replies = [];
    for (let at = 0; at < 5; at++) {
      replies.push(await desk.pay({ header }));
      if (at % 2 === 1) desk.restart();
    }
    for (const reply of replies) expect(reply).toStrictEqual(replies[0]);
    expect(json(replies[0] as (typeof replies)[0])).toEqual({ body: 1 });
    expect(desk.calls.settle).toHaveLength(1);
    expect(receipt(replies[0] as (typeof replies)[0]).payer).toBe(alice.address);
    expect(JSON.stringify(replies[0]?.headers)).not.toContain(TX);
  });
});
