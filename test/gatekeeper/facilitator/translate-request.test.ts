import {
  PaymentPayloadV1Schema,
  PaymentPayloadV2Schema,
  PaymentRequirementsV1Schema,
  PaymentRequirementsV2Schema,
} from '@x402/core/schemas';
import { describe, expect, it } from 'vitest';
import { translateRequest } from '../../../gatekeeper/facilitator/translating-facilitator.ts';
import { facilitatorRequest } from '../../../gatekeeper/money/facilitator.ts';
import { NETWORKS } from '../../../gatekeeper/money/networks.ts';
import { isRefusal } from '../../../gatekeeper/money/payment.ts';
import { listingOf } from '../../../gatekeeper/offer/challenge.ts';
import { decodePayment } from '../../../gatekeeper/payment/payment-header.ts';
import { builtinOperation } from '../../builtin-rows.ts';
import { shop } from '../example-shop.ts';
import { payer } from '../payer.ts';

const TARGET = '/gauge?entity=us-denver&signal_id=airquality.aqi';
const terms = {
  1: shop.terms(builtinOperation('/gauge'), TARGET, 1)[0],
  2: shop.terms(builtinOperation('/gauge'), TARGET, 2)[0],
} as const;

async function request(version: 1 | 2, isListed = true) {
  const payment = decodePayment(await payer(NETWORKS.base).header(terms[version]), version);
  if (isRefusal(payment)) throw new Error(payment.error);
  return facilitatorRequest(
    payment,
    terms[version],
    isListed ? listingOf(terms[version]) : undefined,
  );
}

describe('translateRequest()', () => {
  it('keeps the name of the request, in either direction', async () => {
    const trace = { id: 'a', sentId: 'a' };
    for (const version of [1, 2] as const) {
      const asked = await request(version);
      expect(translateRequest({ ...asked, trace }).trace).toEqual(trace);
      expect(translateRequest(asked).trace).toBeUndefined();
    }
  });

  it('writes a payment of version 2 as version 1 with the terms that the v1 challenge shows', async () => {
    const made = translateRequest(await request(2));
    PaymentPayloadV1Schema.parse(made.paymentPayload);
    PaymentRequirementsV1Schema.parse(made.paymentRequirements);
    expect(made.x402Version).toBe(1);
    expect(made.paymentPayload).toMatchObject({ x402Version: 1, scheme: 'exact', network: 'base' });
    expect(Object.keys(made.paymentPayload)).not.toContain('accepted');
    expect(made.paymentRequirements).toEqual({ ...terms[1], outputSchema: {} });
  });

  it('writes a payment of version 1 as version 2 with the terms that the v2 challenge shows', async () => {
    const made = translateRequest(await request(1));
    PaymentPayloadV2Schema.parse(made.paymentPayload);
    PaymentRequirementsV2Schema.parse(made.paymentRequirements);
    expect(made.x402Version).toBe(2);
    expect(made.paymentRequirements).toEqual(terms[2]);
    const { resource: url, description, mimeType } = terms[1] as never;
    expect(made.paymentPayload).toMatchObject({
      x402Version: 2,
      accepted: terms[2],
      resource: { url, description, mimeType },
    });
  });

  it.each([1, 2] as const)('leaves what was signed of version %i as it is', async (version) => {
    const asked = await request(version);
    const made = translateRequest(asked);
    expect(made.paymentPayload.payload).toBe(asked.paymentPayload.payload);
    expect(translateRequest(made).paymentPayload.payload).toBe(asked.paymentPayload.payload);
  });

  it('leaves a payment of version 2 alone that does not say what it buys', async () => {
    const bare = await request(2, false);
    expect(translateRequest(bare)).toBe(bare);
  });
});
