import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { decodePayment } from '../../../../gatekeeper/heart/payment/payment-header.ts';
import type { ChainFinding } from '../../../../gatekeeper/settle/evidence.ts';
import { provenFacilitator } from '../../../../gatekeeper/settle/facilitator/proven-facilitator.ts';
import {
  type Facilitator,
  facilitatorRequest,
  type SettleOutcome,
  type ValidityOutcome,
} from '../../../../gatekeeper/settle/facilitator.ts';
import { NETWORKS, SETTLEMENT_MS_MAX } from '../../../../gatekeeper/settle/networks.ts';
import { isRefusal } from '../../../../gatekeeper/settle/payment.ts';
import { builtinOperation } from '../../../builtin-rows.ts';
import { payer, shop } from '../../payer.ts';

const TX = `0x${'12'.repeat(32)}`;
const REAL_TX = `0x${'34'.repeat(32)}`;
const terms = shop.terms(builtinOperation('/gauge'), '/gauge', 1)[0];
const alice = payer(NETWORKS.base);
const payment = decodePayment(await alice.header(terms), 1);
if (isRefusal(payment)) throw new Error(payment.error);
const request = facilitatorRequest(payment, terms);

const settled: SettleOutcome = { verdict: 'settled', transaction: TX };
const shown = { ...settled, block: 1n } as const;
const refused: SettleOutcome = { verdict: 'refused', reason: 'insufficient_funds' };
const invalid: ValidityOutcome = { verdict: 'invalid', reason: 'nonce_used' };

interface Said {
  readonly settle?: SettleOutcome;
  readonly verify?: ValidityOutcome;
  /** One after another, the last for ever. */
  readonly confirm?: readonly ChainFinding[];
  readonly find?: readonly ChainFinding[];
}
const UNUSED: ChainFinding = { state: 'unused' };

function proven(
  { settle = settled, verify = invalid, confirm = [UNUSED], find = [UNUSED] }: Said,
  waitMs = 100,
) {
  const facilitator: Facilitator = {
    verify: async () => verify,
    settle: async () => settle,
    supported: async () => ({ verdict: 'supported', kinds: [] }),
  };
  const next = (findings: readonly ChainFinding[]) => {
    const rest = [...findings];
    return async (): Promise<ChainFinding> => (rest.length > 1 ? rest.shift() : rest[0]) ?? UNUSED;
  };
  const evidence = { confirm: next(confirm), find: next(find) };
  return provenFacilitator({ facilitator, evidence, waitMs, pollMs: 5 });
}

const paid = (transaction: string): ChainFinding => ({ state: 'paid', transaction, block: 1n });

describe('provenFacilitator()', () => {
  it('I11: provenFacilitator() believes a settlement only with its transfer', async () => {
    expect(await proven({ confirm: [paid(TX)] }).settle(request)).toEqual(shown);
    expect(await proven({}).settle(request)).toMatchObject({ verdict: 'none' });
    const cancelled = await proven({ find: [{ state: 'cancelled' }] }).settle(request);
    expect(cancelled).toMatchObject({ verdict: 'none' });
  });

  it('I11: provenFacilitator() takes no word that the node contradicts, however silent it is about the rest', async () => {
    const silent: ChainFinding = { state: 'unknown' };
    const contradicted = proven({ confirm: [UNUSED], find: [silent] });
    expect(await contradicted.settle(request)).toMatchObject({ verdict: 'none' });
    const found = proven({ confirm: [UNUSED], find: [silent, silent, paid(REAL_TX)] });
    expect(await found.settle(request)).toEqual({ ...shown, transaction: REAL_TX });
  });

  it('I11: provenFacilitator() names the transaction that made the transfer', async () => {
    const outcome = await proven({ find: [paid(REAL_TX)] }).settle(request);
    expect(outcome).toEqual({ ...shown, transaction: REAL_TX });
  });

  it('provenFacilitator() waits for a node that lags behind', async () => {
    const confirm = [UNUSED, UNUSED, { state: 'unconfirmed' } as const, paid(TX)];
    expect(await proven({ confirm }).settle(request)).toEqual(shown);
  });

  it('I9: provenFacilitator() waits as long as depth takes, and no longer', async () => {
    const shallow = { state: 'unconfirmed' } as const;
    const confirm = [...Array.from({ length: 30 }, () => shallow), paid(TX)];
    expect(await proven({ confirm }, 5000).settle(request)).toEqual(shown);
    expect(await proven({ confirm }, 50).settle(request)).toMatchObject({ verdict: 'none' });
  });

  it('I9: provenFacilitator() waits for the depth of what somebody else submitted', async () => {
    const shallow = { state: 'unconfirmed' } as const;
    const find = [shallow, shallow, paid(REAL_TX)];
    const outcome = await proven({ settle: refused, find }).settle(request);
    expect(outcome).toEqual({ ...shown, transaction: REAL_TX });
  });

  it('provenFacilitator() waits by the clock, however slow the node is', async () => {
    let asked = 0;
    const slow = async (): Promise<ChainFinding> => {
      asked += 1;
      await new Promise((resolve) => setTimeout(resolve, 40));
      return UNUSED;
    };
    const facilitator = { settle: async () => settled } as unknown as Facilitator;
    const evidence = { confirm: slow, find: slow };
    const held = provenFacilitator({ facilitator, evidence, waitMs: 100, pollMs: 5 });
    expect(await held.settle(request)).toMatchObject({ verdict: 'none' });
    expect(asked).toBeLessThan(8);
  });

  it('I61: provenFacilitator() sells and refuses nothing by the word of the facilitator alone when the node is silent', async () => {
    const confirm: ChainFinding[] = [{ state: 'unknown' }];
    const find = confirm;
    const unproven = { verdict: 'none', detail: expect.stringMatching(/chain node did not/) };
    expect(await proven({ confirm, find }).settle(request)).toEqual(unproven);
    expect(await proven({ find, settle: refused }).settle(request)).toEqual(unproven);
    expect(await proven({ find }).verify(request)).toEqual(invalid);
  });

  it('I9: provenFacilitator() takes a payment that somebody else submitted', async () => {
    const outcome = await proven({ settle: refused, find: [paid(REAL_TX)] }).settle(request);
    expect(outcome).toEqual({ ...shown, transaction: REAL_TX });
    expect(await proven({ settle: refused }).settle(request)).toEqual(refused);
    const verified = await proven({ find: [paid(REAL_TX)] }).verify(request);
    expect(verified).toEqual({ verdict: 'valid' });
    expect(await proven({}).verify(request)).toEqual(invalid);
  });

  it('I9: provenFacilitator() leaves a refusal in doubt while a transfer is not deep enough', async () => {
    const shallow = { find: [{ state: 'unconfirmed' } as const], settle: refused };
    const verified = await proven(shallow).verify(request);
    expect(verified).toEqual({ verdict: 'valid' });
    const outcome = await proven(shallow).settle(request);
    expect(outcome).toEqual({ verdict: 'none', detail: expect.stringMatching(/not deep enough/) });
    const cancelled = { find: [{ state: 'cancelled' } as const], settle: refused };
    expect(await proven(cancelled).verify(request)).toEqual(invalid);
    expect(await proven(cancelled).settle(request)).toEqual(refused);
  });

  it('provenFacilitator() adds nothing to a missing verdict', async () => {
    const none = { verdict: 'none', detail: '/settle: status 500' } as const;
    const silent = proven({ settle: none, verify: none, find: [paid(TX)] });
    expect(await silent.settle(request)).toEqual(none);
    expect(await silent.verify(request)).toEqual(none);
  });
});

describe('provenFacilitator() between a slow facilitator and a slow node', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const later = <T>(ms: number, value: T): Promise<T> =>
    new Promise((resolve) => setTimeout(resolve, ms, value));

  /** What comes of a settlement that the facilitator answers after one time and the node after another, and when. */
  async function slow(said: SettleOutcome, facilitatorMs: number, nodeMs: number) {
    const startMs = performance.now();
    const look = (): Promise<ChainFinding> => later(nodeMs, paid(TX));
    const facilitator = { settle: () => later(facilitatorMs, said) } as unknown as Facilitator;
    const evidence = { confirm: look, find: look };
    const held = provenFacilitator({ facilitator, evidence, waitMs: 10_000 });
    const settling = held.settle(request).then((outcome) => {
      return { outcome, tookMs: performance.now() - startMs };
    });
    await vi.advanceTimersByTimeAsync(2 * SETTLEMENT_MS_MAX);
    return settling;
  }

  it.each([settled, refused])(
    'I9: has no verdict when the time of a settlement is over: %o',
    async (said) => {
      const { outcome, tookMs } = await slow(said, 55_000, 15_000);
      expect(outcome).toEqual({
        verdict: 'none',
        detail: expect.stringMatching(/chain node did not/),
      });
      expect(tookMs).toBe(SETTLEMENT_MS_MAX);
    },
  );

  it.each([settled, refused])(
    'waits longer than depth takes for a first look: %o',
    async (said) => {
      const { outcome, tookMs } = await slow(said, 10_000, 15_000);
      expect(outcome).toEqual(shown);
      expect(tookMs).toBe(25_000);
    },
  );

  it('I11: looks for a moment after a facilitator that took more than all the time', async () => {
    expect((await slow(settled, 70_000, 1000)).outcome).toEqual(shown);
    expect((await slow(settled, 70_000, 15_000)).outcome).toMatchObject({ verdict: 'none' });
  });
});
