import { describe, expect, it } from 'vitest';
import { decodePayment } from '../../../../gatekeeper/heart/payment/payment-header.ts';
import { localFacilitator } from '../../../../gatekeeper/settle/facilitator/local-facilitator.ts';
import { facilitatorRequest } from '../../../../gatekeeper/settle/facilitator.ts';
import { NETWORKS } from '../../../../gatekeeper/settle/networks.ts';
import type { Authorization } from '../../../../gatekeeper/settle/payment.ts';
import { isRefusal } from '../../../../gatekeeper/settle/payment.ts';
import { builtinOperation } from '../../../builtin-rows.ts';
import { NOW_MS, NOW_S, payer } from '../../payer.ts';
import { shop } from '../../payment-request.ts';

const v1 = shop.terms(builtinOperation('/gauge'), '/gauge', 1)[0];
const alice = payer(NETWORKS.base);

async function request(overrides: Partial<Authorization> = {}) {
  const payment = decodePayment(await alice.header(v1, overrides), 1);
  if (isRefusal(payment)) throw new Error(payment.error);
  return facilitatorRequest(payment, v1);
}

describe('localFacilitator()', () => {
  it('localFacilitator() settles once per nonce and answers a repeat with the same transaction', async () => {
    const local = localFacilitator({ clock: () => NOW_MS });
    const first = await request();
    expect(await local.verify(first)).toEqual({ verdict: 'valid' });
    const settled = await local.settle(first);
    const transaction = expect.stringMatching(/^0x[0-9a-f]{64}$/);
    expect(settled).toEqual({ verdict: 'settled', transaction });
    expect(await local.settle(first)).toEqual(settled);
    expect(await local.verify(first)).toMatchObject({ verdict: 'invalid' });
    const { nonce } = first.paymentPayload.payload.authorization;
    const second = await request({ nonce, value: '20000' });
    expect(await local.settle(second)).toEqual({
      verdict: 'refused',
      reason: 'invalid_exact_evm_nonce_already_used',
    });
  });

  it('localFacilitator() makes the same transaction for the same authorization anywhere', async () => {
    const first = await request();
    const [one, two] = [
      localFacilitator({ clock: () => NOW_MS }),
      localFacilitator({ clock: () => NOW_MS }),
    ];
    expect(await one.settle(first)).toEqual(await two.settle(first));
    expect(await one.settle(first)).not.toEqual(await one.settle(await request()));
  });

  it('localFacilitator() keeps the rules of the token', async () => {
    const local = localFacilitator({ clock: () => NOW_MS });
    const good = await request();
    const payload = good.paymentPayload.payload;
    const forged = {
      ...good,
      paymentPayload: {
        ...good.paymentPayload,
        payload: { ...payload, authorization: { ...payload.authorization, value: '99999' } },
      },
    };
    const cases = [
      forged,
      await request({ validBefore: String(NOW_S) }),
      await request({ validAfter: String(NOW_S + 1) }),
      await request({ value: '1' }),
      await request({ to: `0x${'cd'.repeat(20)}` }),
      { ...good, paymentRequirements: { ...v1, network: 'ethereum' } },
    ];
    for (const one of cases) {
      expect((await local.verify(one)).verdict).toBe('invalid');
      expect((await local.settle(one)).verdict).toBe('refused');
    }
    expect((await local.settle(good)).verdict).toBe('settled');
  });

  it('localFacilitator() refuses a value that nobody has', async () => {
    const local = localFacilitator({ clock: () => NOW_MS });
    const reason = 'insufficient_funds';
    const most = await request({ value: '1000000000000000' });
    const more = await request({ value: '1000000000000001' });
    expect(await local.verify(more)).toEqual({ verdict: 'invalid', reason });
    expect(await local.settle(more)).toEqual({ verdict: 'refused', reason });
    expect((await local.verify(most)).verdict).toBe('valid');
    expect((await local.settle(most)).verdict).toBe('settled');
  });

  it('localFacilitator() supports both versions of both networks', async () => {
    const supported = await localFacilitator({ clock: () => NOW_MS }).supported();
    expect(supported).toMatchObject({ verdict: 'supported' });
    expect(JSON.stringify(supported)).toContain('eip155:84532');
  });
});
