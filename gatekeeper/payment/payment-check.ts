import type { Network } from '../money/networks.ts';
import type { Payment, Refusal } from '../money/payment.ts';
import { priceOf, type Requirements } from '../money/requirements.ts';
import { signedBy } from '../money/signature.ts';

/** Seconds that an authorization must still be valid for: settlement takes a few blocks. */
const VALID_BEFORE_MARGIN_S = 6;
/** Seconds beyond `maxTimeoutSeconds` that an authorization may be valid for: a doubt about it must end some time. */
const VALID_BEFORE_EXTRA_S = 3600;
/** A signed value may be this many times the price: more was most likely signed by mistake. */
const VALUE_FACTOR_MAX = 2n;

/** What a payment must meet, taken from the challenge of the same request. */
export interface Terms {
  readonly network: Network;
  readonly requirements: Requirements;
  /** Somebody can ask an account whether it signed, so a signature that is not its key's may be its code's. */
  readonly asksAccounts?: boolean;
}

/**
 * Checks a payment against our own terms before any network call: scheme, network, payee, value,
 * window, signature. Null when it passes; more than the price is legal and settles as signed.
 */
export function checkPayment(payment: Payment, terms: Terms, nowSeconds: number): Refusal | null {
  return (
    checkTerms(payment, terms) ??
    checkValue(payment, terms) ??
    checkWindow(payment, terms, nowSeconds) ??
    checkSigner(payment, terms)
  );
}

/** Scheme, network, payee and, in v2, what the payer says to have accepted. */
function checkTerms(payment: Payment, { network, requirements }: Terms): Refusal | null {
  if (payment.scheme !== requirements.scheme) {
    return { reason: 'invalid_scheme', error: `the scheme must be "${requirements.scheme}"` };
  }
  if (payment.network !== requirements.network) {
    const error = `the network must be that of an entry of "accepts", such as "${requirements.network}"`;
    return { reason: 'invalid_network', error };
  }
  if (!sameHex(payment.authorization.to, requirements.payTo)) {
    const reason = 'invalid_exact_evm_payload_recipient_mismatch';
    return { reason, error: `"authorization.to" must be ${requirements.payTo}` };
  }
  return checkAccepted(payment, { network, requirements });
}

function checkAccepted({ accepted }: Payment, { requirements }: Terms): Refusal | null {
  if (accepted === null) return null;
  const same =
    sameHex(accepted.payTo, requirements.payTo) &&
    sameHex(accepted.asset, requirements.asset) &&
    accepted.amount === priceOf(requirements);
  if (same) return null;
  const error = '"accepted" is not one of our payment requirements';
  return { reason: 'invalid_payment_requirements', error };
}

/** The signed value must reach the price, and may be more, but not by mistake. */
function checkValue(payment: Payment, { requirements }: Terms): Refusal | null {
  const price = priceOf(requirements);
  const value = BigInt(payment.authorization.value);
  const most = BigInt(price) * VALUE_FACTOR_MAX;
  if (value >= BigInt(price) && value <= most) return null;
  const reason = 'invalid_exact_evm_payload_authorization_value';
  const error =
    value < BigInt(price)
      ? `"authorization.value" is below the price of ${price}; sign for ${price}`
      : `"authorization.value" is more than twice the price of ${price}; sign for ${price}`;
  return { reason, error };
}

/** The authorization must be valid now and stay valid long enough to settle, but not much longer. */
function checkWindow(
  payment: Payment,
  { requirements }: Terms,
  nowSeconds: number,
): Refusal | null {
  const { validAfter, validBefore } = payment.authorization;
  const now = BigInt(Math.floor(nowSeconds));
  if (BigInt(validAfter) > now) {
    const reason = 'invalid_exact_evm_payload_authorization_valid_after';
    const error = '"authorization.validAfter" is in the future; sign again with an earlier time';
    return { reason, error };
  }
  const reason = 'invalid_exact_evm_payload_authorization_valid_before';
  if (BigInt(validBefore) < now + BigInt(VALID_BEFORE_MARGIN_S)) {
    const error = `"authorization.validBefore" is less than ${VALID_BEFORE_MARGIN_S} s away; sign a new authorization`;
    return { reason, error };
  }
  const longest = requirements.maxTimeoutSeconds + VALID_BEFORE_EXTRA_S;
  if (BigInt(validBefore) > now + BigInt(longest)) {
    const error = `"authorization.validBefore" is more than ${longest} s away; sign a new authorization that ends within maxTimeoutSeconds`;
    return { reason, error };
  }
  return null;
}

/** Null for a payment whose payer may have signed it; for one with code, that is asked later. */
export function checkSigner(
  payment: Payment,
  { network, asksAccounts = false }: Pick<Terms, 'network' | 'asksAccounts'>,
): Refusal | null {
  return asksAccounts || isSignedByKey(payment, network) ? null : NOT_SIGNED;
}

/** Whether the key of the payer named signed exactly this transfer on exactly this token. */
export function isSignedByKey({ authorization, signature }: Payment, network: Network): boolean {
  return signedBy(network, authorization, signature).payer === authorization.from.toLowerCase();
}

/** What is told where nobody can ask an account whether it signed. */
export const NOT_SIGNED: Refusal = {
  reason: 'invalid_exact_evm_payload_signature',
  error:
    'the signature is not that of "authorization.from"; payer must be a plain externally-owned account that signs with v 27 or 28 and a low s',
};

function sameHex(left: string, right: string): boolean {
  return left.toLowerCase() === right.toLowerCase();
}
