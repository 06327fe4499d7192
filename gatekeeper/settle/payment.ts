/** Protocol version: `X-PAYMENT` carries 1, `PAYMENT-SIGNATURE` carries 2. */
export type X402Version = 1 | 2;

/** The signed part of an `exact` EVM payment: an EIP-3009 transfer authorization as it arrived. */
export interface Authorization {
  readonly from: string;
  readonly to: string;
  /** Atomic units. */
  readonly value: string;
  /** Unix seconds, both. */
  readonly validAfter: string;
  readonly validBefore: string;
  readonly nonce: string;
}

/** A well-formed payment; nothing in it is checked against our terms yet. */
export interface Payment {
  readonly version: X402Version;
  readonly scheme: string;
  readonly network: string;
  readonly accepted: { amount: string; asset: string; payTo: string } | null;
  readonly signature: string;
  readonly authorization: Authorization;
  /** The payer's own name of the purchase, '' for a malformed one. */
  readonly identifier?: string;
}

/** Why a payment is not taken: `reason` for programs, an open set; `error` for people. */
export interface Refusal {
  readonly reason: string;
  readonly error: string;
}

/** True for the refusal half of an answer that may be one. */
export function isRefusal(answer: object): answer is Refusal {
  return 'reason' in answer;
}

/** What of a payment decides who pays what to whom. */
type SignedAuthorization = Pick<Payment, 'authorization' | 'signature'>;

const SIGNED_TEXT_FIELDS = 7;

/** One line for one signed authorization, however its header was written: lower-case, in a fixed order. */
export function signedText({ authorization, signature }: SignedAuthorization): string {
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  return `${from}|${to}|${value}|${validAfter}|${validBefore}|${nonce}|${signature}`.toLowerCase();
}

/** The payment that a line was made of, with addresses in lower case; throws for anything else. */
export function parseSignedText(text: string): SignedAuthorization {
  const fields = text.split('|');
  const [from, to, value, validAfter, validBefore, nonce, signature] = fields;
  if (fields.length !== SIGNED_TEXT_FIELDS || !from || !to || !value || !validAfter)
    throw damagedText();
  if (!validBefore || !nonce || !signature) throw damagedText();
  return { authorization: { from, to, value, validAfter, validBefore, nonce }, signature };
}

function damagedText(): Error {
  return new Error('Cannot read a payment from the journal: damaged; restore the file');
}

interface CommonRequirements {
  readonly scheme: 'exact';
  readonly network: string;
  readonly payTo: string;
  readonly asset: string;
  readonly maxTimeoutSeconds: number;
  readonly extra: { readonly name: string; readonly version: string };
}
/** One `accepts[]` entry of x402 v1. */
export interface RequirementsV1 extends CommonRequirements {
  readonly maxAmountRequired: string;
  readonly resource: string;
  readonly description: string;
  readonly mimeType: string;
  readonly outputSchema: object;
}
/** One `accepts[]` entry of x402 v2. */
export interface RequirementsV2 extends CommonRequirements {
  readonly amount: string;
}
export type Requirements = RequirementsV1 | RequirementsV2;

/** What v2 says about a sale besides its terms; facilitators' catalogues use it to list sellers. */
export interface Listing {
  readonly resource: {
    readonly url: string;
    readonly description: string;
    readonly mimeType: string;
    readonly serviceName: string;
    readonly tags?: readonly string[];
    readonly iconUrl?: string;
  };
  readonly extensions?: object;
}

/** Price in atomic units, under the name of either version. */
export function priceOf(requirements: Requirements): string {
  return 'amount' in requirements ? requirements.amount : requirements.maxAmountRequired;
}
