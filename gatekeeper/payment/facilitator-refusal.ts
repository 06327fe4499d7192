import type { SettleOutcome } from '../money/facilitator.ts';
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
  [
    /undeployed|6492|smart_wallet_deployment/i,
    'the paying account is not deployed yet, and nobody deploys it here; nothing was charged; deploy it, then send the same authorization again, or pay from a plain externally-owned account',
  ],
  // Only an account with code gets here: the signature of any other is checked before.
  [
    /^invalid_payload$|smart|contract|signature/i,
    'payer must be a plain externally-owned account without contract code, or one whose code takes this signature where it is asked; nothing was charged; pay from such an account',
  ],
];
/** A library repeats the call behind what it says, nonce and all. */
const REPEATED_CALL_TEXT = /(?:contract call|raw call arguments|request arguments):.*/i;
const OTHERWISE = 'the facilitator refused the payment; nothing was charged';

/** An account nonce of the facilitator is spoken of in other words. */
const USE =
  /(?<![a-z])(?:authorization|nonce|payment)[ _](?:is[ _])?(?:already[ _])?(?:used|settled)/i;

/** Whether a refusal says that the authorization is used. */
export function speaksOfUse(reason: string): boolean {
  return USE.test(reason.replace(REPEATED_CALL_TEXT, ''));
}

/** A refusal in words that are true of its reason. */
export function facilitatorRefusal(reason: string): Refusal {
  const stated = reason.replace(REPEATED_CALL_TEXT, '');
  const [, error = OTHERWISE] = WORDS.find(([pattern]) => pattern.test(stated)) ?? [];
  return { reason, error };
}

/**
 * The only reasons that certainly mean "no transfer was sent": the checks that published facilitators make before they
 * send, and the token's own words for them. Reasons about a nonce, a transaction or an internal failure are left out on
 * purpose, and so is every unknown reason.
 */
const NOTHING_SENT: readonly RegExp[] = [
  /^insufficient_(funds|balance)$/,
  /^((payment|authorization)_)?expired$/,
  /^unsupported_(scheme|network|payload_type)$/,
  /^eip6492_factory_not_allowed$/,
  /^invalid_(network|payload|payment|payment_requirements|scheme|signature|x402_version)$/,
  /^invalid_exact_evm_payload_authorization_(valid_(after|before)|value(_mismatch|_too_low)?)$/,
  /^invalid_exact_evm_payload_authorization_(typed_data_message|(from|to)_address_kyt)$/,
  /^invalid_exact_evm_payload_(signature(_address)?|recipient_mismatch|undeployed_smart_wallet)$/,
  /^invalid_exact_evm_(scheme|(failed_to_parse_)?signature|authorization_value|insufficient_balance)$/,
  /^invalid_exact_evm_((network|recipient|token_name|token_version)_mismatch|missing_eip712_domain)$/,
];

/** What libraries put in front of the words of a token or a node, as often as they wrap one error in another. */
const WRAPPING =
  /^(?:(?:\w+Error|Err(?:or)?|Details|(?:unexpected_)?(?:settle|verify)_error|(?:VM Exception while processing transaction: )?(?:execution )?reverted(?: with reason(?: string)?)?|The contract function "?\w+"? reverted(?: with the following reason)?)[\s:.?'"]+)+/i;
/**
 * How money that is not there is spoken of in a sentence, and the words of the token for what it does not take: a
 * simulation found it out, or a node that refused to take the transaction.
 */
const NOTHING_SENT_IN_WORDS: readonly RegExp[] = [
  /^(?:the )?(?:(?:payer|sender|account|wallet|from address)(?: \w+)? has )?insufficient[ _](?:(?:usdc|token|eth|gas|native)[ _])?(?:funds|balance)\b/i,
  /^(?:the )?(?:payer|sender|account|wallet|from address)(?:'s)? (?:does not have|has not) enough (?:usdc|tokens?|funds|balance)\b/i,
  /^(?:ERC20: )?transfer amount exceeds balance\b/i,
  /^(?:FiatToken(?:V\d(?:_\d)?)?: )?(?:invalid signature|authorization is (?:expired|not yet valid))\b/i,
  /^(?:ECRecover: invalid signature|Blacklistable: account is blacklisted|Pausable: paused)\b/i,
  // A node refuses these before it takes a transaction; viem says the first one at greater length.
  /^the total cost \(gas \* gas fee \+ value\) of executing this transaction exceeds the balance of the account\b/i,
  /^gas required exceeds allowance\b/i,
  /^max fee per gas less than block base fee\b/i,
  /^the fee cap (?:\(.*?\) )?cannot be lower than the block base fee\b/i,
  /^gas (?:price|fee|costs?)\b[^.]{0,40}\b(?:above|exceeds?|higher than|more than)\b[^.]{0,20}\b(?:cap|limit|allowed|allows)\b/i,
];
/** Behind such words viem explains the error and repeats the call, nonce and all: that is not about what happened. */
const REPEATED_CALL =
  /(?:this error could arise|contract call:|raw call arguments:|request arguments:|request body:|details:|docs:|version:|url:)/i;
/** Words that leave open whether something was sent all the same. */
const OPEN =
  /nonce|transaction|time[d ]?[ -]?out|pending|receipt|already|after|retr(?:y|ied)|attempt|unknown|internal|broadcast|submitted|\bsent\b|0x[0-9a-f]{64}/i;

/** Whether a refusal proves that nothing was charged; every other one may hide a success. */
export function isDefinite(refused: Extract<SettleOutcome, { verdict: 'refused' }>): boolean {
  const { reason, isProven = false, namesTransaction = false } = refused;
  if (isProven) return true;
  if (namesTransaction) return false;
  return NOTHING_SENT.some((pattern) => pattern.test(reason)) || saysSoInWords(reason);
}

function saysSoInWords(reason: string): boolean {
  const words = reason.replace(WRAPPING, '');
  const [phrase] = NOTHING_SENT_IN_WORDS.flatMap((pattern) => pattern.exec(words)?.[0] ?? []);
  if (phrase === undefined) return false;
  const [rest = ''] = words.slice(phrase.length).split(REPEATED_CALL);
  return !OPEN.test(rest);
}
