import { describe, expect, it } from 'vitest';
import {
  Flights,
  PAYMENTS_PER_PAYER_MAX,
  WAITING_BYTES_MAX,
} from '../../../gatekeeper/payment/flights.ts';

describe('Flights', () => {
  it('I46: keeps places for others when one payer fills its own', async () => {
    const flights = new Flights();
    const hang = () => new Promise<never>(() => {});
    for (let at = 0; at < PAYMENTS_PER_PAYER_MAX; at++) {
      expect(flights.isFull('0xa')).toBe(false);
      void flights.start({ key: `${at}`, payer: '0xa', resource: '', signed: '' }, hang);
    }
    expect([flights.isFull('0xa'), flights.isFull('0xb')]).toEqual([true, false]);
  });

  it('gives places and bytes back, also after a failure', async () => {
    const flights = new Flights();
    const binding = { key: 'k', payer: '0xa', resource: '', signed: '' };
    const fails = flights.start(binding, () => Promise.reject(new Error('boom')));
    expect(flights.get('k')?.binding).toBe(binding);
    await expect(fails).rejects.toThrow('boom');
    expect(flights.get('k')).toBeUndefined();
    const half = WAITING_BYTES_MAX / 2;
    let release: (value: 1) => void = () => {};
    const waiting = flights.holding(
      half,
      () =>
        new Promise<1>((done) => {
          release = done;
        }),
    );
    expect(await flights.holding(half + 1, async () => 2)).toBeNull();
    expect(await flights.holding(half, async () => 2)).toBe(2);
    release(1);
    expect(await waiting).toBe(1);
    expect(await flights.holding(WAITING_BYTES_MAX, async () => 3)).toBe(3);
    await expect(flights.holding(1, () => Promise.reject(new Error('x')))).rejects.toThrow('x');
    expect(await flights.holding(WAITING_BYTES_MAX, async () => 4)).toBe(4);
  });
});
