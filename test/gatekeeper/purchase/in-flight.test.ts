import { describe, expect, it } from 'vitest';
import { InFlight } from '../../../gatekeeper/purchase/purchase.ts';
import type { PurchaseOutcome } from '../../../gatekeeper/purchase/purchase-reply.ts';

const WAITING_BYTES_MAX = 256 * 1024 * 1024;
const PURCHASES_PER_PAYER_MAX = 2000;
const PURCHASES_IN_FLIGHT_MAX = 10_000;

function deferred() {
  let resolve: (outcome: PurchaseOutcome) => void = () => {};
  const promise = new Promise<PurchaseOutcome>((done) => {
    resolve = done;
  });
  return { resolve, promise };
}

describe('InFlight', () => {
  it('I46: keeps places for others when one payer fills its own', async () => {
    const inFlight = new InFlight();
    const hang = () => new Promise<never>(() => {});
    for (let at = 0; at < PURCHASES_PER_PAYER_MAX; at++) {
      expect(inFlight.isFull('0xa')).toBe(false);
      void inFlight.start(
        { key: `${at}`, payer: '0xa', resource: '', signed: '', shown: null },
        hang,
      );
    }
    expect([inFlight.isFull('0xa'), inFlight.isFull('0xb')]).toEqual([true, false]);
  });

  it('I46: is full for everybody at its own bound, and free again when one payment ends', async () => {
    const inFlight = new InFlight();
    const ends: ((outcome: never) => void)[] = [];
    const hang = () => new Promise<never>((resolve) => ends.push(resolve));
    for (let at = 0; at < PURCHASES_IN_FLIGHT_MAX; at++) {
      expect(inFlight.isFull(`0x${at}`)).toBe(false);
      const binding = { key: `${at}`, payer: `0x${at}`, resource: '', signed: '', shown: null };
      void inFlight.start(binding, hang);
    }
    expect(inFlight.isFull('0xnew')).toBe(true);
    ends[0]?.({ kind: 'unknown' } as never);
    await inFlight.get('0')?.outcome;
    expect(inFlight.isFull('0xnew')).toBe(false);
  });

  it('gives places back, also after a failure', async () => {
    const inFlight = new InFlight();
    const binding = { key: 'k', payer: '0xa', resource: '', signed: '', shown: null };
    const fails = inFlight.start(binding, () => Promise.reject(new Error('boom')));
    expect(inFlight.get('k')?.binding).toBe(binding);
    await expect(fails).rejects.toThrow('boom');
    expect(inFlight.get('k')).toBeUndefined();
  });

  it('keeps a later purchase of a key when an earlier one ends', async () => {
    const inFlight = new InFlight();
    const earlier = { key: 'k', payer: '0xa', resource: 'GET /b', signed: 's', shown: null };
    const later = { ...earlier, resource: 'GET /a' };
    const { resolve, promise } = deferred();
    const first = inFlight.start(earlier, () => promise);
    void inFlight.start(later, () => new Promise<never>(() => {}));
    resolve({ kind: 'unknown', waitMs: 1 });
    await first;
    expect(inFlight.get('k')?.binding).toBe(later);
  });

  it('holds bytes up to its bound, and again what was given back', () => {
    const inFlight = new InFlight();
    const half = WAITING_BYTES_MAX / 2;
    expect(inFlight.hold(half)).toBe(true);
    expect(inFlight.hold(half + 1)).toBe(false);
    expect(inFlight.hold(half)).toBe(true);
    expect(inFlight.hold(1)).toBe(false);
    inFlight.release(half);
    inFlight.release(half);
    expect(inFlight.hold(WAITING_BYTES_MAX)).toBe(true);
  });
});
