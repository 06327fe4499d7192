import { describe, expect, it } from 'vitest';
import {
  READY_MAX,
  type ReadyAnswer,
  ReadyAnswers,
} from '../../../gatekeeper/http/ready-answers.ts';

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
