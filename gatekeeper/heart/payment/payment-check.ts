import type { SettleOutcome } from '../../settle/facilitator.ts';
import { findNetwork, isSameToken, type Network } from '../../settle/networks.ts';
import { type Payment, priceOf, type Refusal, type Requirements } from '../../settle/payment.ts';
import { isJudged, SIGNATURE_CHARS, signedBy } from '../../settle/signature.ts';
import type { SignaturePool } from './signature-pool.ts';

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

type Tokens = readonly [Network, ...Network[]];

/**
 * The token that a payment is for, of those that are offered. Version 2 names it. Version 1 names the network alone, but
 * its signature is over the domain of one token: the key of the payer signed for that one. Where no token fits, it is the
 * first on the network, or the first of all, whose terms the payment does not meet. So an account with code, whose
 * signature tells nothing, pays in version 1 with the first token of the network.
 */
function tokenOf(payment: Payment, tokens: Tokens): Network {
  const candidates = candidatesOf(payment, tokens);
  const [first, ...others] = candidates;
  if (others.length === 0 || !isByKey(payment)) return first;
  return candidates.find((one) => isSignedByKey(payment, one)) ?? first;
}

/** The same, and who signed is known afterwards; where another thread recovers signers, it does. */
export async function judgedToken(
  payment: Payment,
  tokens: Tokens,
  signatures: Pick<SignaturePool, 'judge'> | undefined,
): Promise<Network> {
  if (signatures === undefined || !isByKey(payment)) return tokenOf(payment, tokens);
  const candidates = candidatesOf(payment, tokens);
  const { authorization, signature } = payment;
  for (const token of candidates) {
    if (!isJudged(token, authorization, signature)) await signatures.judge(payment, token);
    if (candidates.length === 1 || isSignedByKey(payment, token)) return token;
  }
  return candidates[0];
}

/** The other thread takes signatures of 65 bytes, and no other one can be a key's. */
function isByKey({ signature }: Payment): boolean {
  return signature.length === SIGNATURE_CHARS;
}

/** The tokens that a payment may be for, before its signature tells which: one, but for version 1 all on its network. */
export function candidatesOf(
  { version, network: named, accepted }: Payment,
  tokens: Tokens,
): Tokens {
  const isNamed = ({ name, caip2 }: Network): boolean => named === (version === 1 ? name : caip2);
  const [first, ...others] = tokens.filter(isNamed);
  if (first === undefined) return [tokens[0]];
  if (accepted === null) return [first, ...others];
  const asset = accepted.asset.toLowerCase();
  return [[first, ...others].find((one) => one.asset.toLowerCase() === asset) ?? first];
}

/**
 * The tokens that a payment may be for though they are not offered, as far as keys name them: settings may have offered them
 * before. Version 1 names none, so it may be for each of the network that payments of before were in (`network|asset`).
 */
export function unofferedTokens(
  { network: named, accepted }: Payment,
  tokens: Tokens,
  before: readonly string[],
): Pick<Network, 'name' | 'asset'>[] {
  const network = findNetwork(named);
  if (network === undefined) return [];
  const { name } = network;
  const own = before.filter((token) => token.startsWith(`${name}|`));
  const assets = own.map((token) => token.slice(name.length + 1));
  const places = (accepted === null ? [network.asset, ...assets] : [accepted.asset]).map(
    (asset) => ({ name, asset }),
  );
  return places.filter((place) => !tokens.some((one) => isSameToken(one, place)));
}

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
