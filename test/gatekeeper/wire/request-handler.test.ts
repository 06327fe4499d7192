import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { headerFacts } from '../../../gatekeeper/wire/header-facts.ts';
import {
  READY_MAX,
  type ReadyAnswer,
  ReadyAnswers,
} from '../../../gatekeeper/wire/ready-answers.ts';
import { jsonReply } from '../../../gatekeeper/wire/reply.ts';
import { RequestIds, refuseFraming } from '../../../gatekeeper/wire/request-handler.ts';

const READY_BODY_BYTES_MAX = 1024 * 1024;
const READY_BYTES_MAX = 8 * 1024 * 1024;

const answer = (bytes: number): ReadyAnswer => ({
  status: 200,
  headers: [],
  notModified: [],
  body: Buffer.alloc(bytes),
  etag: null,
  path: '/',
  expires: 0,
  unpaid: false,
  payer: undefined,
  wanted: undefined,
});

describe('ReadyAnswers', () => {
  it('keeps answers by target and drops the oldest beyond its bounds', () => {
    const ready = new ReadyAnswers();
    for (let at = 0; at <= READY_MAX; at += 1) ready.keep(`/${at}`, answer(1));
    expect(ready.size).toBe(READY_MAX);
    expect(ready.get('/0')).toBeUndefined();
    expect(ready.get(`/${READY_MAX}`)).toBeDefined();
  });

  it('never holds more bytes than its bound', () => {
    const ready = new ReadyAnswers();
    for (let at = 0; at < 40; at += 1) ready.keep(`/${at}`, answer(READY_BODY_BYTES_MAX));
    expect(ready.bytes).toBeLessThanOrEqual(READY_BYTES_MAX);
    ready.keep('/39', answer(1));
    expect(ready.bytes).toBeLessThanOrEqual(READY_BYTES_MAX - READY_BODY_BYTES_MAX + 1);
  });

  it('counts the text of headers, which says the terms of a 402 once more', () => {
    const ready = new ReadyAnswers();
    const headers = ['payment-required', 'x'.repeat(READY_BODY_BYTES_MAX)];
    for (let at = 0; at < 40; at += 1) ready.keep(`/${at}`, { ...answer(1), headers });
    expect(ready.size).toBeLessThan(READY_BYTES_MAX / READY_BODY_BYTES_MAX);
    expect(ready.bytes).toBeLessThanOrEqual(READY_BYTES_MAX);
  });

  it('keeps neither a huge body nor a huge target', () => {
    const ready = new ReadyAnswers();
    ready.keep('/a', answer(READY_BODY_BYTES_MAX + 1));
    ready.keep(`/${'x'.repeat(5000)}`, answer(1));
    expect(ready.size).toBe(0);
  });
});

describe('RequestIds', () => {
  it.each(['a', 'A-b_c.9', '0'.repeat(64), '018f7a3e-9c1b-7d55-8e1a-5f0a1b2c3d4e'])(
    'takes over "%s"',
    (id) => {
      expect(new RequestIds('own').of(id)).toBe(id);
    },
  );

  it.each([
    null,
    '',
    '0'.repeat(65),
    '-a',
    'a b',
    'a, b',
    'a"b',
    'é',
    'a\u007f',
    '$(reboot)',
    'own-7',
  ])('makes one in place of %j', (id) => {
    expect(new RequestIds('own').of(id)).toBe('own-1');
  });

  it('makes none twice', () => {
    const ids = new RequestIds('own');
    const made = Array.from({ length: 1000 }, () => ids.of(null));
    expect(new Set(made).size).toBe(1000);
  });

  it('sends its own on as they are, and those of clients never alike', () => {
    const ids = new RequestIds('own');
    expect(ids.sent(ids.of(null))).toBe('own-1');
    const [first, second] = [ids.sent(ids.of('theirs')), ids.sent(ids.of('theirs'))];
    expect(first).toMatch(/^theirs\.own-/);
    expect(second).toMatch(/^theirs\.own-/);
    expect(first).not.toBe(second);
  });
});

function refused(code: string): string {
  const socket = new PassThrough();
  refuseFraming(code, socket as unknown as Socket);
  return String(socket.read() ?? '');
}

describe('refuseFraming()', () => {
  it.each([
    ['HPE_HEADER_OVERFLOW', '431', 'Headers longer than 16 KB; payment headers hold at most 8 KB'],
    ['HPE_CHUNK_EXTENSIONS_OVERFLOW', '413', 'Not a valid HTTP request'],
    ['ERR_HTTP_REQUEST_TIMEOUT', '408', 'Not a valid HTTP request'],
    ['HPE_INVALID_METHOD', '400', 'Not a valid HTTP request'],
  ])('answers %s once with %s and closes', (code, status, error) => {
    const text = refused(code);
    expect(JSON.parse(text.split('\r\n\r\n')[1] ?? '')).toEqual({ error, no_charge: true });
    expect(text).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(text).toContain('Connection: close');
    expect(text.match(/HTTP\/1\.1/g)).toHaveLength(1);
  });

  it('writes nothing to a socket that is gone', () => {
    const socket = new PassThrough();
    socket.destroy();
    expect(() => refuseFraming('X', socket as unknown as Socket)).not.toThrow();
  });
});

describe('jsonReply()', () => {
  it('I12: jsonReply() marks every refusal no-store', () => {
    for (const status of [400, 401, 402, 404, 422, 429, 500, 503]) {
      expect(jsonReply(status, {}).headers).toContainEqual(['cache-control', 'no-store']);
    }
  });

  it('jsonReply() leaves the caching of a 200 to its caller', () => {
    const reply = jsonReply(200, { a: 1 }, [['etag', '"x"']]);
    expect(reply).toStrictEqual({
      status: 200,
      headers: [
        ['content-type', 'application/json'],
        ['etag', '"x"'],
      ],
      body: '{"a":1}',
    });
  });
});

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
