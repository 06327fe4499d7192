import { describe, expect, it } from 'vitest';
import { endpointAt } from '../../../compiler/contract/endpoints.ts';
import { NETWORKS } from '../../../gatekeeper/payment/networks.ts';
import {
  decodePayment,
  isRefusal,
  PAYMENT_HEADER_CHARS_MAX,
} from '../../../gatekeeper/payment/payment-header.ts';
import { PAY_TO, shop } from '../example-shop.ts';
import { encoded, headerOf, payer, paymentObject } from '../payer.ts';

const gauge = endpointAt('/gauge');
const v1 = shop.requirements(gauge, '/gauge', 1);
const v2 = shop.requirements(gauge, '/gauge', 2);
const alice = payer(NETWORKS.base);
const signedPayment = await alice.sign(PAY_TO, '10000');

describe('decodePayment()', () => {
  it('decodePayment() reads a v1 and a v2 payment into the same shape', () => {
    const { authorization, signature } = signedPayment;
    expect(decodePayment(headerOf(v1, signedPayment), 1)).toStrictEqual({
      version: 1,
      scheme: 'exact',
      network: 'base',
      accepted: null,
      signature,
      authorization,
    });
    expect(decodePayment(headerOf(v2, signedPayment), 2)).toStrictEqual({
      version: 2,
      scheme: 'exact',
      network: 'eip155:8453',
      accepted: { amount: '10000', asset: v2.asset, payTo: v2.payTo },
      signature,
      authorization,
    });
  });

  it('decodePayment() leaves out what the payer added', () => {
    const object = {
      ...paymentObject(v2, signedPayment),
      resource: { url: 'https://evil.example' },
      extensions: { bazaar: {} },
    };
    const payment = decodePayment(encoded(object), 2);
    expect(Object.keys(payment)).not.toContain('extensions');
    expect(Object.keys(payment)).not.toContain('resource');
  });

  it('decodePayment() refuses a payment of the other version', () => {
    for (const [header, version] of [
      [headerOf(v1, signedPayment), 2],
      [headerOf(v2, signedPayment), 1],
    ] as const) {
      expect(decodePayment(header, version)).toMatchObject({ reason: 'invalid_x402_version' });
    }
  });

  it('I43: decodePayment() takes a header at its limit and none beyond', () => {
    const base = { ...paymentObject(v1, signedPayment), pad: '' };
    const bare = JSON.stringify(base).length;
    const at = (bytes: number) =>
      decodePayment(encoded({ ...base, pad: 'x'.repeat(bytes - bare) }), 1);
    const most = (PAYMENT_HEADER_CHARS_MAX / 4) * 3;
    expect(isRefusal(at(most))).toBe(false);
    expect(at(most + 1)).toMatchObject({ reason: 'invalid_payload' });
  });

  it('I14: decodePayment() tells a contract wallet what is wrong', () => {
    const long = { ...signedPayment, signature: `0x${'ab'.repeat(300)}` as const };
    const answer = decodePayment(headerOf(v1, long), 1);
    expect(answer).toMatchObject({ reason: 'invalid_exact_evm_payload_signature' });
    expect(JSON.stringify(answer)).toContain('payer must be a plain externally-owned account');
  });

  it('I49: decodePayment() repeats nothing of the payment in its refusals', () => {
    const odd = { ...signedPayment, signature: `${signedPayment.signature}zz` as `0x${string}` };
    const text = JSON.stringify(decodePayment(headerOf(v1, odd), 1));
    expect(text).not.toContain(signedPayment.signature.slice(2, 20));
  });
});
