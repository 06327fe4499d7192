import { describe, expect, it } from 'vitest';
import {
  failedReply,
  type Outcome,
  paymentReply,
} from '../../../gatekeeper/payment/payment-reply.ts';
import { gauge, header, json, receipt, shop, TARGET, TX } from '../payment-bench.ts';

const asked = (version: 1 | 2) => ({ endpoint: gauge, target: TARGET, version });
const payer = `0x${'cd'.repeat(20)}`;
const body = Buffer.from('a,b\n');
const paid: Outcome = {
  kind: 'paid',
  delivery: { body, contentType: 'text/csv' },
  transaction: TX,
  payer,
};

describe('paymentReply()', () => {
  it('paymentReply() carries the receipt under the name of the version that paid', () => {
    const one = paymentReply(paid, asked(1), shop);
    expect(one).toMatchObject({ status: 200, body });
    expect(header(one, 'content-type')).toBe('text/csv');
    expect(header(one, 'cache-control')).toBe('private, no-store');
    expect(receipt(one)).toEqual({ success: true, transaction: TX, network: 'base', payer });
    const two = paymentReply(paid, asked(2), shop);
    expect(receipt(two, 'payment-response').network).toBe('eip155:8453');
    expect(header(two, 'x-payment-response')).toBeUndefined();
  });

  it('I12: paymentReply() gives no receipt and no cache time to anything but a 200', () => {
    const refusal = { reason: 'insufficient_funds', error: 'too little' };
    const outcomes: [Outcome, number][] = [
      [{ kind: 'refused', refusal }, 402],
      [{ kind: 'unknown' }, 503],
      [{ kind: 'failed', error: 'x' }, 503],
    ];
    for (const [outcome, status] of outcomes) {
      const reply = paymentReply(outcome, asked(1), shop);
      expect(reply.status).toBe(status);
      expect(header(reply, 'cache-control')).toBe('no-store');
      expect(header(reply, 'x-payment-response')).toBeUndefined();
    }
  });

  it('paymentReply() starts a refusal with its reason, in both versions of the challenge', () => {
    const refusal = { reason: 'insufficient_funds', error: 'too little' };
    const reply = paymentReply({ kind: 'refused', refusal }, asked(2), shop);
    expect(json(reply).error).toBe('insufficient_funds: too little');
    const required = Buffer.from(header(reply, 'payment-required') ?? '', 'base64').toString();
    expect(JSON.parse(required).error).toBe('insufficient_funds: too little');
  });

  it('I9: paymentReply() asks for the same payment under the header that carried it', () => {
    expect(json(paymentReply({ kind: 'unknown' }, asked(1), shop)).error).toContain(
      'Send the same X-PAYMENT again',
    );
    expect(json(paymentReply({ kind: 'unknown' }, asked(2), shop)).error).toContain(
      'Send the same PAYMENT-SIGNATURE again',
    );
    expect(json(failedReply('x')).error).toBe('Not charged. x');
  });
});
