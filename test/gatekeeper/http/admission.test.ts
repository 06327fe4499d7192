import { describe, expect, it } from 'vitest';
import { admission } from '../../../gatekeeper/http/admission.ts';
import { trustedProxies } from '../../../gatekeeper/http/client-address.ts';
import { headerFacts } from '../../../gatekeeper/http/header-facts.ts';
import { rateLimit } from '../../../gatekeeper/http/rate-limit.ts';

const knock = (address: string, ...headers: string[]) => ({
  address,
  method: 'GET',
  target: '/paid',
  facts: headerFacts(['Host', 'gate', ...headers]),
});
const NOBODY = trustedProxies('');

describe('admission()', () => {
  it('I46: never turns away what may be paid already, and does not count it', () => {
    const admit = admission({
      limit: rateLimit(1),
      proxies: NOBODY,
      isRepeat: ({ method, target, facts }) =>
        method === 'GET' && target === '/paid' && facts.paymentV1 === 'paid',
    });
    const paid = [knock('1.1.1.1', 'X-PAYMENT', 'paid')];
    for (let at = 0; at < 100; at++) {
      for (const one of paid) expect(admit(one, 0)).toBe(0);
    }
    const others = Array.from({ length: 10 }, () => admit(knock('1.1.1.1', 'X-PAYMENT', 'new'), 0));
    expect(others.filter((wait) => wait === 0)).toHaveLength(2);
    for (const one of paid) expect(admit(one, 0)).toBe(0);
  });

  it('I46: counts clients behind a trusted proxy apart, and nobody by their own word', () => {
    const proxies = trustedProxies('10.0.0.1');
    const admit = admission({ limit: rateLimit(1), proxies, isRepeat: () => false });
    const from = (socket: string, client: string) =>
      Array.from({ length: 5 }, () => admit(knock(socket, 'X-Forwarded-For', client), 0));
    expect(from('10.0.0.1', '1.1.1.1').filter((wait) => wait === 0)).toHaveLength(2);
    expect(from('10.0.0.1', '2.2.2.2').filter((wait) => wait === 0)).toHaveLength(2);
    expect(from('3.3.3.3', '4.4.4.4').filter((wait) => wait === 0)).toHaveLength(2);
    expect(from('3.3.3.3', '5.5.5.5').filter((wait) => wait === 0)).toHaveLength(0);
  });

  it('asks nothing of anybody while it is off', () => {
    const isRepeat = (): boolean => {
      throw new Error('not asked');
    };
    const admit = admission({ limit: rateLimit(0), proxies: NOBODY, isRepeat });
    expect(admit(knock('1.1.1.1', 'X-PAYMENT', 'x'), 0)).toBe(0);
  });
});
