import { type FacilitatorRequest, facilitatorRequest } from '../../gatekeeper/money/facilitator.ts';
import { NETWORKS } from '../../gatekeeper/money/networks.ts';
import { isRefusal } from '../../gatekeeper/money/payment.ts';
import { decodePayment } from '../../gatekeeper/payment/payment-header.ts';
import { builtinOperation } from '../builtin-rows.ts';
import { shop } from './example-shop.ts';
import { type Payer, payer } from './payer.ts';

const terms = shop.terms(builtinOperation('/gauge'), '/gauge', 1)[0];

/** A request to a facilitator with a payment that no other call returns. */
export async function paymentRequest(
  by: Payer = payer(NETWORKS.base),
): Promise<FacilitatorRequest> {
  const payment = decodePayment(await by.header(terms), 1);
  if (isRefusal(payment)) throw new Error(payment.error);
  return facilitatorRequest(payment, terms);
}
