import { describe, expect, it } from 'vitest';
import { admission } from '../../../gatekeeper/http/admission.ts';
import { trustedProxies } from '../../../gatekeeper/http/client-address.ts';
import { headerFacts } from '../../../gatekeeper/http/header-facts.ts';
import { rateLimit } from '../../../gatekeeper/http/rate-limit.ts';

const facts = (...headers: string[]) => headerFacts(['Host', 'gate', ...headers]);
const NOBODY = trustedProxies('');

describe('admission()', () => {
  it('I46: never turns away what may be paid already, and does not count it', () => {
    const admit = admission({
      limit: rateLimit(1),
      proxies: NOBODY,
      mayKnow: (header, version) => header === `paid${version}`,
    });
    const paid = [facts('X-PAYMENT', 'paid1'), facts('PAYMENT-SIGNATURE', 'paid2')];
    for (let at = 0; at < 100; at++) {
      for (const one of paid) expect(admit('1.1.1.1', one, 0)).toBe(0);
    }
    const others = Array.from({ length: 10 }, () => admit('1.1.1.1', facts('X-PAYMENT', 'new'), 0));
    expect(others.filter((wait) => wait === 0)).toHaveLength(2);
    for (const one of paid) expect(admit('1.1.1.1', one, 0)).toBe(0);
  });

  it('I46: counts clients behind a trusted proxy apart, and nobody by their own word', () => {
    const proxies = trustedProxies('10.0.0.1');
    const admit = admission({ limit: rateLimit(1), proxies, mayKnow: () => false });
    const from = (socket: string, client: string) =>
      Array.from({ length: 5 }, () => admit(socket, facts('X-Forwarded-For', client), 0));
    expect(from('10.0.0.1', '1.1.1.1').filter((wait) => wait === 0)).toHaveLength(2);
    expect(from('10.0.0.1', '2.2.2.2').filter((wait) => wait === 0)).toHaveLength(2);
    expect(from('3.3.3.3', '4.4.4.4').filter((wait) => wait === 0)).toHaveLength(2);
    expect(from('3.3.3.3', '5.5.5.5').filter((wait) => wait === 0)).toHaveLength(0);
  });

  it('asks nothing of anybody while it is off', () => {
    const mayKnow = (): boolean => {
      throw new Error('not asked');
    };
    const admit = admission({ limit: rateLimit(0), proxies: NOBODY, mayKnow });
    expect(admit('1.1.1.1', facts('X-PAYMENT', 'x'), 0)).toBe(0);
  });
});
