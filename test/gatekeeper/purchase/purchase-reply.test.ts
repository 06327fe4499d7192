import { describe, expect, it } from 'vitest';
import {
  type PurchaseOutcome,
  purchaseReply,
} from '../../../gatekeeper/purchase/purchase-reply.ts';
import { gauge, header, json, shop, TARGET, TX } from '../payment-bench.ts';

type TenderedRequest = Parameters<typeof purchaseReply>[1];

const KEY = 'base-sepolia|0xa|0xb|0xc';
const usual = { endpoint: gauge, target: TARGET };
const asked = (version: 1 | 2): TenderedRequest => ({
  ...usual,
  paymentHeader: { kind: 'payment', version, text: '' },
  tender: {
    ...{ key: KEY, resource: `GET ${TARGET}`, version, paidBy: null },
    paidHeader: (transaction, extensions) => [
      'x-payment-response',
      extensions === undefined ? transaction : JSON.stringify(extensions),
    ],
  },
});
const byReceipt: TenderedRequest = { ...asked(1), paymentHeader: { kind: 'receipt', text: '' } };
const unknown: PurchaseOutcome = { kind: 'unknown', waitMs: 4001 };
const body = Buffer.from('a,b\n');
const paid: PurchaseOutcome = {
  kind: 'paid',
  delivery: { body, contentType: 'text/csv' },
  transaction: TX,
  settledMs: 1_763_640_000_999,
};

describe('purchaseReply()', () => {
  it('purchaseReply() carries what was bought and the proof of the one who asks', () => {
    const one = purchaseReply(paid, asked(1), { challenger: shop });
    expect(one).toMatchObject({ status: 200, body });
    expect(header(one, 'content-type')).toBe('text/csv');
    expect(header(one, 'cache-control')).toBe('private, no-store');
    expect(header(one, 'x-payment-response')).toBe(TX);
    expect(() => purchaseReply(paid, { ...asked(1), tender: null }, { challenger: shop })).toThrow(
      'not read',
    );
  });

  it('I12: purchaseReply() gives no receipt and no cache time to anything but a 200', () => {
    const refusal = { reason: 'insufficient_funds', error: 'too little' };
    const outcomes: [PurchaseOutcome, number][] = [
      [{ kind: 'refused', refusal }, 402],
      [unknown, 503],
      [{ kind: 'failed', error: 'x', retryS: 7 }, 503],
    ];
    for (const [outcome, status] of outcomes) {
      const reply = purchaseReply(outcome, asked(1), { challenger: shop });
      expect(reply.status).toBe(status);
      expect(header(reply, 'cache-control')).toBe('no-store');
      expect(header(reply, 'x-payment-response')).toBeUndefined();
    }
  });

  it('purchaseReply() starts a refusal with its reason, in both versions of the challenge', () => {
    const refusal = { reason: 'insufficient_funds', error: 'too little' };
    const reply = purchaseReply({ kind: 'refused', refusal }, asked(2), { challenger: shop });
    expect(json(reply).error).toBe('insufficient_funds: too little');
    const required = Buffer.from(header(reply, 'payment-required') ?? '', 'base64').toString();
    expect(JSON.parse(required).error).toBe('insufficient_funds: too little');
  });

  it('I9: purchaseReply() asks for the same payment under the header that carried it', () => {
    expect(json(purchaseReply(unknown, asked(1), { challenger: shop })).error).toContain(
      'Send the same X-PAYMENT again',
    );
    expect(json(purchaseReply(unknown, asked(2), { challenger: shop })).error).toContain(
      'Send the same PAYMENT-SIGNATURE again',
    );
    expect(json(purchaseReply(unknown, byReceipt, { challenger: shop })).error).toContain(
      'the same X-RECEIPT again',
    );
    expect(json(purchaseReply(unknown, asked(1), { challenger: shop })).retry_after_s).toBe(5);
    const outcome: PurchaseOutcome = { kind: 'failed', error: 'x', retryS: 7 };
    const failed = purchaseReply(outcome, asked(1), { challenger: shop });
    expect(json(failed)).toMatchObject({ error: 'Not charged. x', retry_after_s: 7 });
    expect(header(failed, 'retry-after')).toBe('7');
  });
});
