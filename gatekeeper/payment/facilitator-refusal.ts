import type { Refusal } from '../money/payment.ts';

/**
 * What a buyer is told about a facilitator's reason; the first match counts. Reasons are an open set, so the fallback
 * says only what holds for every refusal.
 */
const WORDS: readonly (readonly [reason: RegExp, error: string])[] = [
  // A nonce that is burned stays so, whoever burned it: the transfer may even be there.
  [
    /nonce|\bused\b|_used|already|cancell?ed|duplicate|replay|transaction_state/i,
    'this authorization was already used or cancelled; check your wallet for the transfer before you sign a new one',
  ],
  [
    /expired|valid_before|too_late/i,
    'the authorization has expired; nothing was charged; sign a new one',
  ],
  [
    /valid_after|not_?yet_?valid|not yet valid|too_early/i,
    'the authorization is not valid yet; nothing was charged; send it again once it is valid, or sign a new one',
  ],
  [
    /insufficient|exceeds (the )?balance|not enough/i,
    'the paying account or the settling account has too little money; nothing was charged; add funds, then send the same authorization again while it is valid',
  ],
  // Here the signature was found to be the payer's own; who asks an account with code finds otherwise.
  [
    /^invalid_payload$|smart|undeployed|contract|signature/i,
    'payer must be a plain externally-owned account without contract code; nothing was charged; pay from such an account',
  ],
];
/** A library repeats the call behind what it says, nonce and all. */
const REPEATED_CALL = /(?:contract call|raw call arguments|request arguments):.*/i;
const OTHERWISE = 'the facilitator refused the payment; nothing was charged';

/** A refusal in words that are true of its reason. */
export function facilitatorRefusal(reason: string): Refusal {
  const said = reason.replace(REPEATED_CALL, '');
  const [, error = OTHERWISE] = WORDS.find(([pattern]) => pattern.test(said)) ?? [];
  return { reason, error };
}
