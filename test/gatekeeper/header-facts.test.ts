import { describe, expect, it } from 'vitest';
import { headerFacts } from '../../gatekeeper/header-facts.ts';

describe('headerFacts()', () => {
  it('reads what matters in any case and joins what is repeated', () => {
    const facts = headerFacts([
      'HOST',
      'gate:80',
      'x-PAYMENT',
      'A',
      'X-Payment',
      'B',
      'Accept',
      'text/html',
      'x',
      'y',
    ]);
    expect(facts).toMatchObject({
      objection: null,
      paymentV1: 'A, B',
      paymentV2: null,
      accept: 'text/html',
      authorization: null,
      ifNoneMatch: null,
      hasBody: false,
    });
  });

  it.each([
    [[]],
    [['Host', '']],
    [['Host', 'a', 'Host', 'a']],
    [['Host', 'a, b']],
    [['Host', 'a b']],
    [['Host', 'a/b']],
    [['Host', 'user@a']],
  ])('I42: objects to the hosts of %j', (rawHeaders) => {
    expect(headerFacts(rawHeaders).objection).toMatch(/Host/);
  });

  it.each<[string[], boolean]>([
    [['Content-Length', '0'], false],
    [['Content-Length', '1'], true],
    [['Content-Length', '00'], true],
    [['Transfer-Encoding', 'chunked'], true],
    [['Transfer-Encoding', ''], true],
  ])('sees the body of %j: %s', (rawHeaders, hasBody) => {
    expect(headerFacts(rawHeaders).hasBody).toBe(hasBody);
  });

  it('stays right when strangers have sent many names', () => {
    for (let at = 0; at < 5000; at += 1) headerFacts([`x-${at}`, '1']);
    expect(headerFacts(['hOsT', 'a', 'constructor', 'x', '__proto__', 'y']).objection).toBeNull();
    expect(headerFacts(['hOsT', 'a', 'x-PaYmEnT', 'P']).paymentV1).toBe('P');
  });
});
