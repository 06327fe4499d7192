import { describe, expect, it } from 'vitest';
import { headerFacts } from '../../../gatekeeper/wire/header-facts.ts';

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
      fault: null,
      paymentHeaders: [{ kind: 'payment', version: 1, text: 'A, B' }],
      accept: 'text/html',
      authorization: null,
      ifNoneMatch: null,
      hasBody: false,
    });
  });

  it('gives what a request offers for its answer, in one order', () => {
    const offered = ['X-RECEIPT', 'c', 'PAYMENT-SIGNATURE', 'b', 'X-PAYMENT', 'a'];
    expect(headerFacts(offered).paymentHeaders).toEqual([
      { kind: 'payment', version: 1, text: 'a' },
      { kind: 'payment', version: 2, text: 'b' },
      { kind: 'receipt', text: 'c' },
    ]);
    expect(headerFacts(['Host', 'gate']).paymentHeaders).toEqual([]);
  });

  it('reads what only the tool server looks at, repeated ones joined', () => {
    const names = ['Mcp-Method', 'MCP-NAME', 'mcp-protocol-version', 'mcp-method'];
    const mcp = names.flatMap((name, at) => [name, String(at)]);
    const rest = ['Origin', 'null', 'Content-Type', 'a/b', 'Content-Type', 'c/d'];
    expect(headerFacts(['Host', 'gate', ...mcp, ...rest])).toMatchObject({
      host: 'gate',
      origin: 'null',
      contentType: 'a/b, c/d',
      rpc: { method: '0, 3', name: '1', version: '2' },
    });
    expect(headerFacts(['Host', 'gate'])).toMatchObject({
      origin: null,
      contentType: null,
      rpc: { method: null, name: null, version: null },
    });
  });

  it.each(['Via', 'Forwarded', 'X-Real-IP', 'CF-Connecting-IP', 'True-Client-IP'])(
    'I59: takes %s for the sign of a proxy, and no other word about a client',
    (name) => {
      expect(headerFacts(['Host', 'gate', name, '203.0.113.9'])).toMatchObject({
        via: '203.0.113.9',
        forwardedFor: null,
      });
      expect(headerFacts(['Host', 'gate', `${name}s`, '203.0.113.9']).via).toBeNull();
    },
  );

  it.each([
    [[]],
    [['Host', '']],
    [['Host', 'a', 'Host', 'a']],
    [['Host', 'a, b']],
    [['Host', 'a b']],
    [['Host', 'a/b']],
    [['Host', 'user@a']],
  ])('I42: objects to the hosts of %j', (rawHeaders) => {
    expect(headerFacts(rawHeaders).fault).toMatch(/Host/);
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
    expect(headerFacts(['hOsT', 'a', 'constructor', 'x', '__proto__', 'y']).fault).toBeNull();
    expect(headerFacts(['hOsT', 'a', 'x-PaYmEnT', 'P']).paymentHeaders).toHaveLength(1);
  });
});

describe('the header of an account that paid', () => {
  it('counts where nothing pays, and repeated ones are joined', () => {
    const signIn = ['Host', 'a', 'Sign-In-With-X', 'abc'];
    const { paymentHeaders } = headerFacts(signIn);
    expect(paymentHeaders).toEqual([{ kind: 'sign-in', text: 'abc' }]);
    expect(headerFacts([...signIn, 'sign-in-with-x', 'd']).paymentHeaders).toEqual([
      { kind: 'sign-in', text: 'abc, d' },
    ]);
  });

  it('stands beside what pays, as the name of the purchase does', () => {
    const beside = ['Sign-In-With-X', 'abc', 'Payment-Identifier', 'id'];
    const shown = { signIn: 'abc', identifier: 'id' };
    expect(headerFacts(['x-payment', 'p', ...beside]).paymentHeaders).toEqual([
      { kind: 'payment', version: 1, text: 'p', ...shown },
    ]);
    expect(headerFacts(['payment-signature', 'p', ...beside]).paymentHeaders).toEqual([
      { kind: 'payment', version: 2, text: 'p', ...shown },
    ]);
    expect(headerFacts(['x-receipt', 'r', ...beside]).paymentHeaders).toEqual([
      { kind: 'receipt', text: 'r' },
    ]);
    const twice = ['x-payment', 'p', 'payment-identifier', 'a', 'payment-identifier', 'b'];
    expect(headerFacts(twice).paymentHeaders).toMatchObject([{ identifier: 'a, b' }]);
    expect(headerFacts(['payment-identifier', 'id']).paymentHeaders).toEqual([]);
  });
});
