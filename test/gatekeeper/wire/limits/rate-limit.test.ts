import { describe, expect, it } from 'vitest';
import { rateLimit } from '../../../../gatekeeper/wire/limits/rate-limit.ts';

const OVERALL_FACTOR = 40;
const CLIENTS_MAX = 50_000;

describe('rateLimit()', () => {
  it('I46: lets the rate through and tells how long to wait beyond it', () => {
    const limit = rateLimit(10);
    const burst = Array.from({ length: 21 }, () => limit.account('10.0.0.1').take(1, 0));
    expect(burst.slice(0, 20).every((wait) => wait === 0)).toBe(true);
    expect(burst[20]).toBe(1);
    expect(limit.account('10.0.0.2').take(1, 0)).toBe(0);
    expect(limit.account('10.0.0.1').take(1, 100)).toBe(0);
    expect(limit.account('10.0.0.1').take(1, 100)).toBe(1);
  });

  it('I46: does not forget a client that keeps coming', () => {
    const limit = rateLimit(10);
    for (let at = 0; at < 20; at += 1) limit.account('busy').take(1, 0);
    for (let at = 0; at < CLIENTS_MAX; at += 1) {
      limit.account(`10.${at}`).take(1, 0);
      if (at % 1000 === 0) expect(limit.account('busy').take(1, 0)).toBe(1);
    }
  });

  it('I46: is not loosened by a clock that jumps back', () => {
    const limit = rateLimit(1);
    limit.account('a').take(1, 1000);
    limit.account('a').take(1, 1000);
    expect(limit.account('a').take(1, 0)).toBe(1);
    expect(limit.account('a').take(1, 500)).toBe(1);
  });

  it('I46: remembers no more clients than its bound, however many addresses come', () => {
    const limit = rateLimit(1_000_000);
    for (let at = 0; at < CLIENTS_MAX * 3; at += 1) limit.account(`10.${at}`).take(1, 0);
    expect(limit.clients).toBeLessThanOrEqual(CLIENTS_MAX);
    expect(limit.clients).toBeGreaterThanOrEqual(CLIENTS_MAX / 2);
  });

  it('bounds all clients together', () => {
    const limit = rateLimit(1);
    let passed = 0;
    for (let at = 0; at < OVERALL_FACTOR * 5; at += 1) {
      if (limit.account(`10.0.${at}`).take(1, 0) === 0) passed += 1;
    }
    expect(passed).toBe(OVERALL_FACTOR * 2);
  });

  it('I46: an IPv6 /48 gets what eight clients would, and leaves the rest to others', () => {
    const limit = rateLimit(1);
    const passed = (addresses: string[]): number =>
      addresses.filter((address) => limit.account(address).take(1, 0) === 0).length;
    const inOne = Array.from({ length: 1000 }, (_, at) => `2001:db8:5:${at.toString(16)}::1`);
    expect(passed(inOne)).toBe(8 * 2);
    expect(passed(['2001:db8:6::1', '192.0.2.1', '::ffff:192.0.2.2'])).toBe(3);
    const inMany = Array.from({ length: 1000 }, (_, at) => `192.0.${at >> 8}.${at & 255}`);
    expect(passed(inMany)).toBeGreaterThan(8 * 2);
  });

  it('I54: what a network is charged, its clients pay alone', () => {
    const limit = rateLimit(10);
    const clients = Array.from({ length: 20 }, (_, at) => limit.account(`2001:db8:5:${at}::1`));
    // 300 units of the 160 that the network may use at once, and of the 800 that all may.
    for (const client of clients) client.charge(15, 0);
    expect(limit.account('2001:db8:5:ff::1').take(1, 0)).toBeGreaterThan(0);
    expect(limit.account('2001:db8:6::1').take(1, 0)).toBe(0);
  });

  it('I54: counts what an answer cost, also when that is known only afterwards', () => {
    const limit = rateLimit(10);
    const client = limit.account('10.0.0.1');
    expect(client.take(5, 0)).toBe(0);
    client.charge(30, 0);
    expect(client.take(1, 0)).toBe(2);
    expect(limit.account('10.0.0.2').take(1, 0)).toBe(0);
    expect(limit.account('10.0.0.1').take(1, 1500)).toBe(1);
    expect(limit.account('10.0.0.1').take(1, 1600)).toBe(0);
  });

  it('I54: a debt ends, however dear the answers were', () => {
    const client = rateLimit(10).account('10.0.0.1');
    for (let at = 0; at < 100; at += 1) client.charge(1000, 0);
    const wait = client.take(1, 0);
    expect(wait).toBeGreaterThan(20);
    expect(wait).toBeLessThanOrEqual(31);
    expect(client.take(1, wait * 1000)).toBe(0);
  });

  it('I54: what one client is forgiven is not owed by the others', () => {
    const limit = rateLimit(10);
    const dear = limit.account('10.0.0.1');
    for (let at = 0; at < 100; at += 1) dear.charge(1000, 0);
    expect(dear.take(1, 0)).toBeGreaterThan(20);
    expect(limit.account('10.0.0.2').take(1, 0)).toBe(0);
    // So it is with all of them together, each to its own limit.
    for (let at = 0; at < OVERALL_FACTOR * 3; at += 1)
      limit.account(`10.1.0.${at}`).charge(1000, 0);
    expect(limit.account('10.0.0.3').take(1, 0)).toBeGreaterThan(0);
  });

  it('is off at 0', () => {
    expect(rateLimit(0)).toMatchObject({ isOn: false, clients: 0 });
    expect(rateLimit(0).account('a').take(1, 0)).toBe(0);
  });
});
