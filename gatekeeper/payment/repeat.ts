import { canonicalRequest } from '../../compiler/contract/canonical-request.ts';
import { route } from '../../compiler/contract/route.ts';
import type { HeaderFacts } from '../http/header-facts.ts';
import type { PaymentMemory } from './payment.ts';
import type { ReceiptDesk } from './receipt-desk.ts';

/** What is looked at of a request before it is answered. */
export interface AskedAgain {
  readonly method: string;
  /** The raw request target. */
  readonly target: string;
  readonly facts: Pick<HeaderFacts, 'paymentV1' | 'paymentV2' | 'receipt'>;
}

/** Who remembers what was paid for, and with which receipts, where there are any. */
export interface Memories {
  readonly desk: PaymentMemory;
  readonly receipts: Pick<ReceiptDesk, 'boughtBy'> | null;
}

/**
 * Whether a request fetches again what its own payment or receipt bought, or is buying now. Never waits: a payment that
 * is new, as most are, costs no look-up; who only knows the nonce of somebody's payment repeats nothing.
 */
export function isRepeat({ method, target, facts }: AskedAgain, memories: Memories): boolean {
  if (method !== 'GET') return false;
  const bought = boughtBy(facts, memories);
  return bought !== null && bought === resourceOf(target);
}

/** The request that a header paid for; null for a new payment, and for more than one header. */
function boughtBy(facts: AskedAgain['facts'], { desk, receipts }: Memories): string | null {
  const { paymentV1, paymentV2, receipt } = facts;
  const sent = [paymentV1, paymentV2, receipt].filter((header) => header !== null);
  if (sent.length !== 1) return null;
  if (paymentV1 !== null) return desk.boughtBy(paymentV1, 1);
  if (paymentV2 !== null) return desk.boughtBy(paymentV2, 2);
  return receipt === null ? null : (receipts?.boughtBy(receipt) ?? null);
}

function resourceOf(rawTarget: string): string | null {
  const request = canonicalRequest(rawTarget);
  const routed = 'status' in request ? undefined : route(request);
  if (routed === undefined || routed.endpoint.priceUsd === null) return null;
  return routed.trouble === null ? `GET ${routed.target}` : null;
}
