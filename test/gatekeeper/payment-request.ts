import { challenger } from '../../gatekeeper/heart/offer/challenge.ts';
import { decodePayment } from '../../gatekeeper/heart/payment/payment-header.ts';
import {
  type FacilitatorRequest,
  facilitatorRequest,
} from '../../gatekeeper/settle/facilitator.ts';
import { NETWORKS } from '../../gatekeeper/settle/networks.ts';
import { isRefusal } from '../../gatekeeper/settle/payment.ts';
import { builtinOperation } from '../builtin-rows.ts';
import { type Payer, payer } from './payer.ts';

/** Who is paid in the examples. */
export const PAY_TO = `0x${'ab'.repeat(20)}`;

/** The challenger of an example shop on the main network. */
export const shop = challenger({
  baseUrl: 'https://api.example.com',
  payTo: PAY_TO,
  network: NETWORKS.base,
  serviceName: 'Example',
});

const terms = shop.terms(builtinOperation('/gauge'), '/gauge', 1)[0];

/** A request to a facilitator with a payment that no other call returns. */
export async function paymentRequest(
  by: Payer = payer(NETWORKS.base),
): Promise<FacilitatorRequest> {
  const payment = decodePayment(await by.header(terms), 1);
  if (isRefusal(payment)) throw new Error(payment.error);
  return facilitatorRequest(payment, terms);
}
