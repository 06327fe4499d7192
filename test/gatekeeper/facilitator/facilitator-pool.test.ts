import { describe, expect, it } from 'vitest';
import { FAILURES_MAX, REST_MS } from '../../../gatekeeper/facilitator/circuit.ts';
import type {
  Facilitator,
  NoVerdict,
  SettleOutcome,
  VerifyOutcome,
} from '../../../gatekeeper/facilitator/facilitator.ts';
import { facilitatorPool } from '../../../gatekeeper/facilitator/facilitator-pool.ts';
import { NETWORKS } from '../../../gatekeeper/payment/networks.ts';
import { payer } from '../payer.ts';
import { paymentRequest } from '../payment-request.ts';

const lost: NoVerdict = { verdict: 'none', detail: 'status 500' };
const unsent: NoVerdict = { verdict: 'none', detail: 'ECONNREFUSED', unsent: true };
const valid: VerifyOutcome = { verdict: 'valid', payer: '0x' };
const settled: SettleOutcome = {
  verdict: 'settled',
  transaction: 'tx',
  payer: '0x',
  network: 'base',
};
const refused: SettleOutcome = { verdict: 'refused', reason: 'insufficient_funds' };

interface Member extends Facilitator {
  readonly calls: string[];
  says: { verify: VerifyOutcome; settle: SettleOutcome };
}

function member(settle: SettleOutcome = settled, verify: VerifyOutcome = valid): Member {
  const calls: string[] = [];
  const one: Member = {
    calls,
    says: { verify, settle },
    async verify() {
      calls.push('verify');
      return one.says.verify;
    },
    async settle() {
      calls.push('settle');
      return one.says.settle;
    },
    supported: async () => ({ verdict: 'supported', kinds: [] }),
  };
  return one;
}

const request = await paymentRequest();

function pool(facilitators: readonly Member[], isUnused?: () => Promise<boolean>) {
  const time = { now: 0 };
  const clock = (): number => time.now;
  const options = isUnused === undefined ? {} : { isUnused };
  return { time, ...facilitatorPool({ facilitators, clock, ...options }) };
}

describe('facilitatorPool()', () => {
  it('facilitatorPool() asks in order of preference, and the next only without a verdict', async () => {
    const [first, second] = [member(), member()];
    const { verify, settle } = pool([first, second]);
    expect([await verify(request), await settle(request)]).toEqual([valid, settled]);
    expect([first.calls, second.calls]).toEqual([['verify', 'settle'], []]);

    const invalid: VerifyOutcome = { verdict: 'invalid', reason: 'no' };
    const [strict, lax] = [member(settled, invalid), member()];
    expect(await pool([strict, lax]).verify(request)).toEqual(invalid);
    expect(lax.calls).toEqual([]);
    const [down, up] = [member(settled, lost), member()];
    expect(await pool([down, up]).verify(request)).toEqual(valid);
  });

  it('I3: facilitatorPool() takes a settlement elsewhere that never left, not one that may have', async () => {
    const [away, near] = [member(unsent), member()];
    const apart = pool([away, near]);
    await apart.verify(request);
    expect(await apart.settle(request)).toEqual(settled);

    const [broken, other] = [member(lost), member()];
    const careful = pool([broken, other], async () => true);
    await careful.verify(request);
    expect(await careful.settle(request)).toEqual(lost);
    expect(other.calls).toEqual([]);
  });

  it('I3: facilitatorPool() asks another again only when the chain says unused', async () => {
    for (const [isUnused, moves] of [
      [undefined, false],
      [async () => false, false],
      [async () => true, true],
    ] as const) {
      const [broken, other] = [member(lost), member()];
      const both = pool([broken, other], isUnused);
      await both.verify(request);
      await both.settle(request);
      broken.says.settle = unsent;
      expect((await both.settle(request)).verdict).toBe(moves ? 'settled' : 'none');
      expect(broken.calls.filter((call) => call === 'settle')).toHaveLength(2);
      expect(other.calls).toEqual(moves ? ['settle'] : []);
    }
  });

  it('I3: facilitatorPool() asks the chain about a payment that was given away before a restart', async () => {
    const [first, second] = [member(), member()];
    expect(await pool([first, second]).settle(request)).toMatchObject({ verdict: 'none' });
    expect([first.calls, second.calls]).toEqual([[], []]);
    expect(await pool([first, second], async () => true).settle(request)).toEqual(settled);
    const alone = member();
    expect(await pool([alone]).settle(request)).toEqual(settled);
    const silent = member(unsent);
    const waiting = pool([silent, member()], async () => silent.calls.length === 0);
    expect((await waiting.settle(request)).verdict).toBe('none');
    expect((await waiting.settle(request)).verdict).toBe('none');
  });

  it('facilitatorPool() passes a refusal on, whoever else might not refuse', async () => {
    const other = member();
    const { verify, settle } = pool([member(refused), other]);
    await verify(request);
    expect(await settle(request)).toEqual(refused);
    expect(other.calls).toEqual([]);
  });

  it('I9: facilitatorPool() has no verdict while all are left out, and tries them after a rest', async () => {
    const only = member(settled, lost);
    const { verify, time } = pool([only]);
    for (let at = 0; at < FAILURES_MAX + 5; at++) {
      const request = await paymentRequest(payer(NETWORKS.base, `payer ${at}`));
      expect((await verify(request)).verdict).toBe('none');
    }
    expect(only.calls).toHaveLength(FAILURES_MAX);
    only.says.verify = valid;
    expect((await verify(request)).verdict).toBe('none');
    time.now = REST_MS;
    expect(await verify(request)).toEqual(valid);
  });

  it('I4: facilitatorPool() goes on asking for others while one payer gets no verdicts, and stops when nobody listens', async () => {
    const only = member(settled, lost);
    const { verify } = pool([only]);
    for (let at = 0; at < 100; at++) expect((await verify(request)).verdict).toBe('none');
    expect(only.calls).toHaveLength(100);
    only.says.verify = valid;
    const other = await paymentRequest(payer(NETWORKS.base, 'another'));
    expect(await verify(other)).toEqual(valid);
    const away = member(settled, unsent);
    const closed = pool([away]);
    for (let at = 0; at < 100; at++) await closed.verify(request);
    expect(away.calls).toHaveLength(FAILURES_MAX);
  });

  it('facilitatorPool() supports what any of them supports', async () => {
    const kinds = [{ x402Version: 1, scheme: 'exact', network: 'base' }];
    const able = { ...member(), supported: async () => ({ verdict: 'supported', kinds }) as const };
    const silent = { ...member(), supported: async () => lost };
    expect(await pool([silent, able]).supported()).toEqual({ verdict: 'supported', kinds });
    expect(await pool([silent]).supported()).toEqual(lost);
  });
});
