import { describe, expect, it } from 'vitest';
import { costOfSending, PAYMENT_COST } from '../../../gatekeeper/http/cost.ts';
import { headerFacts } from '../../../gatekeeper/http/header-facts.ts';
import type { Arrival } from '../../../gatekeeper/http/limits.ts';
import { trustedProxies } from '../../../gatekeeper/limits/client-address.ts';
import { admission } from '../../../gatekeeper/limits/open-limits.ts';
import { rateLimit } from '../../../gatekeeper/limits/rate-limit.ts';

const RATE_LIMIT = 500;

const arrival = (address: string, ...headers: string[]): Arrival => ({
  address,
  method: 'GET',
  target: '/paid',
  facts: headerFacts(['Host', 'gate', ...headers]),
});
const NOBODY = trustedProxies('');

const options = (perSecond: number) => ({
  limit: rateLimit(perSecond),
  repeats: rateLimit(perSecond, 30),
  proxies: NOBODY,
  publicHost: null,
  isMonitor: ({ target }: Arrival) => target === '/monitor',
  isRepeat: ({ facts }: Arrival) => facts.paymentHeaders[0]?.text === 'paid',
});
const NEW = arrival('1.1.1.1', 'X-PAYMENT', 'new');
const PAID = arrival('1.1.1.1', 'X-PAYMENT', 'paid');

describe('admission()', () => {
  it('I46: counts who fetches again apart from all else, and generously', () => {
    const admit = admission(options(10));
    const passes = (one: Arrival, now: number): boolean => admit(one, now).wait === 0;
    while (passes(NEW, 0)) {}
    // What is used up elsewhere does not keep a buyer from an answer that is paid for.
    for (let at = 0; at < 100; at += 1) expect(passes(PAID, 0)).toBe(true);
    expect(passes(NEW, 0)).toBe(false);
    // One paid answer is no licence to ask without end.
    let more = 0;
    while (more < 1000 && passes(PAID, 0)) more += 1;
    expect(more).toBeLessThan(100);
    expect(passes(PAID, 1000)).toBe(true);
    expect(passes(arrival('2.2.2.2', 'X-PAYMENT', 'paid'), 0)).toBe(true);
  });

  it('asks whether a request is a repeat only where it pays', () => {
    const asked: string[] = [];
    const isRepeat = ({ facts }: Arrival): boolean => {
      asked.push(facts.paymentHeaders[0]?.text ?? 'unpaid');
      return true;
    };
    const admit = admission({ ...options(10), isRepeat });
    for (const one of [arrival('1.1.1.1'), NEW]) admit(one, 0);
    expect(asked).toEqual(['new']);
  });

  it('I54: a payment costs as much as several free answers', () => {
    const admitted = (one: Arrival): number => {
      const admit = admission(options(10));
      return Array.from({ length: 50 }, () => admit(one, 0)).filter(({ wait }) => wait === 0)
        .length;
    };
    expect(admitted(arrival('1.1.1.1'))).toBe(20);
    expect(admitted(NEW)).toBe(20 / PAYMENT_COST);
    expect(admitted({ ...arrival('1.1.1.1'), target: `/${'x'.repeat(8000)}` })).toBeLessThan(7);
  });

  it('I54: 20 purchases a second, each with its 402 before it, pass at the default', () => {
    const admit = admission(options(RATE_LIMIT));
    for (let at = 0; at < 60 * 20; at += 1) {
      const now = at * 50;
      for (const one of [arrival('1.1.1.1'), NEW]) {
        const { wait, account } = admit(one, now);
        expect(wait).toBe(0);
        account.charge(costOfSending(6000), now);
      }
    }
  });

  it('I46: counts clients behind a trusted proxy apart, and nobody by their own word', () => {
    const proxies = trustedProxies('10.0.0.1');
    const admit = admission({ ...options(1), proxies });
    const from = (socket: string, client: string): number =>
      Array.from({ length: 5 }, () => admit(arrival(socket, 'X-Forwarded-For', client), 0)).filter(
        ({ wait }) => wait === 0,
      ).length;
    expect(from('10.0.0.1', '1.1.1.1')).toBe(2);
    expect(from('10.0.0.1', '2.2.2.2')).toBe(2);
    expect(from('3.3.3.3', '4.4.4.4')).toBe(2);
    expect(from('3.3.3.3', '5.5.5.5')).toBe(0);
  });

  it('asks nothing of anybody while it is off', () => {
    const isRepeat = (): boolean => {
      throw new Error('not asked');
    };
    const admit = admission({ ...options(0), isRepeat });
    expect(admit(NEW, 0).wait).toBe(0);
  });

  it('lets a monitor in at any time, and nobody else', () => {
    const admit = admission(options(10));
    while (admit(NEW, 0).wait === 0) {}
    expect(admit({ ...NEW, target: '/monitor' }, 0).wait).toBe(0);
    expect(admit(NEW, 0).wait).toBeGreaterThan(0);
  });
});
