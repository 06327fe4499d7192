import { describe, expect, it } from 'vitest';
import {
  translateRequest,
  translatingFacilitator,
} from '../../../gatekeeper/facilitator/translating-facilitator.ts';
import type {
  Facilitator,
  FacilitatorRequest,
  PaymentKind,
  SupportedOutcome,
} from '../../../gatekeeper/money/facilitator.ts';
import { NETWORKS } from '../../../gatekeeper/money/networks.ts';
import { paymentRequest } from '../payment-request.ts';

const V1: PaymentKind = { x402Version: 1, scheme: 'exact', network: 'base' };
const V2: PaymentKind = { x402Version: 2, scheme: 'exact', network: 'eip155:8453' };
const first = await paymentRequest();
const second = translateRequest(first);

/** What reaches a facilitator that lists these kinds; null for one that does not say. */
function translating(kinds: readonly PaymentKind[] | null) {
  const time = { now: 0 };
  const said = { kinds, times: 0 };
  const got: FacilitatorRequest[] = [];
  const facilitator: Facilitator = {
    async verify(request) {
      got.push(request);
      return { verdict: 'invalid', reason: 'no' };
    },
    async settle(request) {
      got.push(request);
      return { verdict: 'settled', transaction: '0x12' };
    },
    async supported(): Promise<SupportedOutcome> {
      said.times += 1;
      const silent = { verdict: 'none', detail: 'status 500' } as const;
      return said.kinds === null ? silent : { verdict: 'supported', kinds: said.kinds };
    },
  };
  const clock = (): number => time.now;
  const one = translatingFacilitator({ facilitator, networks: [NETWORKS.base], clock });
  const versions = async (...requests: readonly FacilitatorRequest[]): Promise<number[]> => {
    got.length = 0;
    for (const request of requests) {
      await one.verify(request);
      await one.settle(request);
    }
    return got.map(({ x402Version }) => x402Version);
  };
  return { one, time, said, got, versions };
}

describe('lists()', () => {
  const { base, polygon } = NETWORKS;
  const kind = (network: string) => ({ x402Version: 1, scheme: 'exact', network });
  const listing = async (...listed: readonly string[]) => {
    const supported = async (): Promise<SupportedOutcome> => ({
      verdict: 'supported',
      kinds: listed.map(kind),
    });
    const facilitator = { supported } as Facilitator;
    const one = translatingFacilitator({
      facilitator,
      networks: [base, polygon],
      clock: () => 0,
    });
    const payment = await paymentRequest();
    const on = ({ name }: { readonly name: string }) => {
      const { paymentRequirements } = payment;
      return one.lists({
        ...payment,
        paymentRequirements: { ...paymentRequirements, network: name },
      });
    };
    const before = [on(base), on(polygon)];
    await one.supported();
    return [...before, on(base), on(polygon)];
  };

  it('is false only for a network that is not listed beside one of ours that is', async () => {
    expect(await listing('base')).toEqual([true, true, true, false]);
    expect(await listing('polygon', 'sei')).toEqual([true, true, false, true]);
    expect(await listing('base', 'polygon')).toEqual([true, true, true, true]);
    expect(await listing('sei')).toEqual([true, true, true, true]);
    expect(await listing()).toEqual([true, true, true, true]);
  });
});

describe('translatingFacilitator()', () => {
  it.each([
    ['version 1 alone', [V1], [1, 1, 1, 1]],
    ['version 2 alone', [V2], [2, 2, 2, 2]],
    ['both', [V1, V2], [1, 1, 2, 2]],
    ['neither', [{ ...V1, network: 'base-sepolia' }], [1, 1, 2, 2]],
    ['version 2 under a name of version 1', [V1, { ...V2, network: 'base' }], [1, 1, 1, 1]],
  ])('sends payments of both versions to one that lists %s', async (_, kinds, want) => {
    const { one, versions } = translating(kinds);
    await one.supported();
    expect(await versions(first, second)).toEqual(want);
  });

  it('sends payments as they are while nobody knows what is listed, and asks', async () => {
    const { versions, said, time } = translating(null);
    expect(await versions(first, second)).toEqual([1, 1, 2, 2]);
    expect(said.times).toBe(1);
    time.now += 30_000 - 1;
    expect([await versions(first), said.times]).toEqual([[1, 1], 1]);
    said.kinds = [V2];
    time.now += 1;
    await versions(first);
    expect([await versions(first), said.times]).toEqual([[2, 2], 2]);
  });

  it('asks again now and then, and keeps what was said while there is no other answer', async () => {
    const { one, versions, said, time } = translating([V1]);
    await one.supported();
    said.kinds = null;
    time.now += 600_000;
    await versions(second);
    expect([await versions(second), said.times]).toEqual([[1, 1], 2]);
    said.kinds = [V1, V2];
    time.now += 600_000;
    await versions(second);
    expect([await versions(second), said.times]).toEqual([[2, 2], 3]);
  });

  it('sends both calls the same request, and changes nothing of what they say', async () => {
    const { one, got } = translating([V1]);
    await one.supported();
    await one.verify(second);
    expect(await one.settle(second)).toEqual({ verdict: 'settled', transaction: '0x12' });
    expect(got[0]).toBe(got[1]);
    expect(got[0]?.paymentRequirements.network).toBe('base');
  });
});
