import { describe, expect, it } from 'vitest';
import {
  Flights,
  PAYMENTS_IN_FLIGHT_MAX,
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

  it('I46: is full for everybody at its own bound, and free again when one payment ends', async () => {
    const flights = new Flights();
    const ends: ((outcome: never) => void)[] = [];
    const hang = () => new Promise<never>((resolve) => ends.push(resolve));
    for (let at = 0; at < PAYMENTS_IN_FLIGHT_MAX; at++) {
      expect(flights.isFull(`0x${at}`)).toBe(false);
      const binding = { key: `${at}`, payer: `0x${at}`, resource: '', signed: '' };
      void flights.start(binding, hang);
    }
    expect(flights.isFull('0xnew')).toBe(true);
    ends[0]?.({ kind: 'unknown' } as never);
    await flights.get('0')?.outcome;
    expect(flights.isFull('0xnew')).toBe(false);
  });

  it('gives places back, also after a failure', async () => {
    const flights = new Flights();
    const binding = { key: 'k', payer: '0xa', resource: '', signed: '' };
    const fails = flights.start(binding, () => Promise.reject(new Error('boom')));
    expect(flights.get('k')?.binding).toBe(binding);
    await expect(fails).rejects.toThrow('boom');
    expect(flights.get('k')).toBeUndefined();
  });

  it('holds bytes up to its bound, and again what was given back', () => {
    const flights = new Flights();
    const half = WAITING_BYTES_MAX / 2;
    expect(flights.hold(half)).toBe(true);
    expect(flights.hold(half + 1)).toBe(false);
    expect(flights.hold(half)).toBe(true);
    expect(flights.hold(1)).toBe(false);
    flights.release(half);
    flights.release(half);
    expect(flights.hold(WAITING_BYTES_MAX)).toBe(true);
  });
});
