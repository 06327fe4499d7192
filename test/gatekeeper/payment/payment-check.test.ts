import { describe, expect, it } from 'vitest';
import { NETWORKS } from '../../../gatekeeper/money/networks.ts';
import {
  type Authorization,
  isRefusal,
  type Payment,
  type Requirements,
} from '../../../gatekeeper/money/payment.ts';
import { challenger } from '../../../gatekeeper/offer/challenge.ts';
import { checkPayment } from '../../../gatekeeper/payment/payment-check.ts';
import { decodePayment } from '../../../gatekeeper/payment/payment-header.ts';
import { builtinOperation } from '../../builtin-rows.ts';
import { headerOf, NOW_S, payer } from '../payer.ts';

const VALUE_FACTOR_MAX = 2;
const VALID_BEFORE_EXTRA_S = 3600;
const VALID_BEFORE_MARGIN_S = 6;
const PAY_TO = `0x${'ab'.repeat(20)}`;
const network = NETWORKS.base;
const shop = challenger({
  baseUrl: 'https://api.example.com',
  payTo: PAY_TO,
  network,
  serviceName: 'Example',
});
const gauge = builtinOperation('/gauge');
const v1 = shop.terms(gauge, '/gauge', 1)[0];
const v2 = shop.terms(gauge, '/gauge', 2)[0];
const alice = payer(network);

async function payment(of: Requirements, overrides: Partial<Authorization> = {}): Promise<Payment> {
  const signed = await alice.sign(overrides.to ?? PAY_TO, '10000', overrides);
  const decoded = decodePayment(headerOf(of, signed), 'amount' in of ? 2 : 1);
  if (isRefusal(decoded)) throw new Error(decoded.error);
  return decoded;
}
const check = (paid: Payment, requirements: Requirements = v1) =>
  checkPayment(paid, { network, requirements }, NOW_S)?.reason ?? null;

describe('checkPayment()', () => {
  it('checkPayment() takes the price and more, in both versions', async () => {
    for (const value of ['10000', '10001', String(10_000 * VALUE_FACTOR_MAX)]) {
      expect(check(await payment(v1, { value }))).toBeNull();
      expect(check(await payment(v2, { value }), v2)).toBeNull();
    }
  });

  it('I3: checkPayment() refuses a value so far above the price that it must be a mistake, with words', async () => {
    for (const value of [String(10_000 * VALUE_FACTOR_MAX + 1), String(2n ** 256n - 1n)]) {
      const refusal = checkPayment(
        await payment(v1, { value }),
        { network, requirements: v1 },
        NOW_S,
      );
      expect(refusal?.reason).toBe('invalid_exact_evm_payload_authorization_value');
      expect(refusal?.error).toBe(
        '"authorization.value" is more than twice the price of 10000; sign for 10000',
      );
    }
  });

  it('I13: checkPayment() refuses one unit less than the price', async () => {
    for (const value of ['9999', '0']) {
      expect(check(await payment(v1, { value }))).toBe(
        'invalid_exact_evm_payload_authorization_value',
      );
    }
  });

  it('checkPayment() refuses another scheme, network, payee and accepted terms', async () => {
    const one = await payment(v1);
    const two = await payment(v2);
    const accepted = two.accepted ?? { amount: '', asset: '', payTo: '' };
    const other = `0x${'cd'.repeat(20)}`;
    expect(check({ ...one, scheme: 'upto' })).toBe('invalid_scheme');
    expect(check({ ...one, network: 'base-sepolia' })).toBe('invalid_network');
    expect(check({ ...one, network: 'eip155:8453' })).toBe('invalid_network');
    expect(check({ ...two, network: 'base' }, v2)).toBe('invalid_network');
    expect(check(await payment(v1, { to: other }))).toBe(
      'invalid_exact_evm_payload_recipient_mismatch',
    );
    for (const part of [{ amount: '1' }, { asset: other }, { payTo: other }]) {
      const wrong = { ...two, accepted: { ...accepted, ...part } };
      expect(check(wrong, v2)).toBe('invalid_payment_requirements');
    }
    expect(check(two, v2)).toBeNull();
  });

  it('I33: checkPayment() takes a window that is open now and 6 seconds on', async () => {
    const last = String(NOW_S + VALID_BEFORE_MARGIN_S);
    expect(check(await payment(v1, { validAfter: String(NOW_S), validBefore: last }))).toBeNull();
    const early = await payment(v1, { validAfter: String(NOW_S + 1) });
    expect(check(early)).toBe('invalid_exact_evm_payload_authorization_valid_after');
    const late = await payment(v1, { validBefore: String(NOW_S + VALID_BEFORE_MARGIN_S - 1) });
    expect(check(late)).toBe('invalid_exact_evm_payload_authorization_valid_before');
  });

  it('I9: checkPayment() refuses a window that ends more than an hour after it has to', async () => {
    const reason = 'invalid_exact_evm_payload_authorization_valid_before';
    const last = NOW_S + v1.maxTimeoutSeconds + VALID_BEFORE_EXTRA_S;
    expect(check(await payment(v1, { validBefore: String(last) }))).toBeNull();
    for (const validBefore of [String(last + 1), String(2n ** 256n - 1n)]) {
      expect(check(await payment(v1, { validBefore }))).toBe(reason);
    }
  });

  it('checkPayment() refuses a signature over anything else', async () => {
    const good = await payment(v1);
    const { authorization } = good;
    const nonce = `0x${'1'.repeat(64)}`;
    const reason = 'invalid_exact_evm_payload_signature';
    expect(check({ ...good, authorization: { ...authorization, nonce } })).toBe(reason);
    expect(check({ ...good, authorization: { ...authorization, value: '10001' } })).toBe(reason);
    expect(check({ ...good, authorization: { ...authorization, from: PAY_TO } })).toBe(reason);
    const shouted = { ...authorization, from: `0x${authorization.from.slice(2).toUpperCase()}` };
    expect(check({ ...good, authorization: shouted })).toBeNull();
  });
});
