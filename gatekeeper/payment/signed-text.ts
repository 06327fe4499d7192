import type { Authorization } from '../money/signature.ts';

/** What of a payment decides who pays what to whom. */
export interface SignedPayment {
  readonly authorization: Authorization;
  readonly signature: string;
}

const FIELDS = 7;

/** One line for one signed authorization, however its header was written: lower-case, in a fixed order. */
export function signedText({ authorization, signature }: SignedPayment): string {
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  return `${from}|${to}|${value}|${validAfter}|${validBefore}|${nonce}|${signature}`.toLowerCase();
}

/** The payment that a line was made of, with addresses in lower case; throws for anything else. */
export function parseSignedText(text: string): SignedPayment {
  const fields = text.split('|');
  const [from, to, value, validAfter, validBefore, nonce, signature] = fields;
  if (fields.length !== FIELDS || !from || !to || !value || !validAfter) throw damaged();
  if (!validBefore || !nonce || !signature) throw damaged();
  return { authorization: { from, to, value, validAfter, validBefore, nonce }, signature };
}

function damaged(): Error {
  return new Error('Cannot read a payment from the journal: damaged; restore the file');
}
