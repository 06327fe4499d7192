import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
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
