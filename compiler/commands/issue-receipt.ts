import { sign } from 'node:crypto';
import { encodeBase64Url } from '../contract/did-key.ts';
import { findEndpoint } from '../contract/endpoints.ts';
import { type Receipt, receiptAmount, unsignedReceipt } from '../contract/receipt.ts';
import { signingKey } from '../stages/seal/sealer.ts';

/** Seconds that a receipt may be spent in where nothing else is asked for. */
export const RECEIPT_SECONDS = 900;
const ID_BYTES = 16;

export interface ReceiptOptions {
  /** Path and query of the request, as the challenge spells its resource. */
  readonly target: string;
  /** 32-byte Ed25519 seed of the processor. */
  readonly seed: Uint8Array;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly random: (bytes: number) => Uint8Array;
  readonly seconds?: number;
}

/** A receipt for one request at its price with the fee; a RangeError for what is not sold, and for a time that is none. */
export function issueReceipt({ target, seed, now, random, seconds }: ReceiptOptions): string {
  const price = findEndpoint(target.split('?')[0] ?? '')?.priceUsd ?? null;
  if (price === null) {
    throw new RangeError(`Cannot issue a receipt for "${target}": not a paid path; see /manifest`);
  }
  if (seconds !== undefined && !(Number.isInteger(seconds) && seconds > 0)) {
    throw new RangeError(
      `Cannot issue a receipt for "${target}": --seconds is not a whole number above 0; pass one such as ${RECEIPT_SECONDS}`,
    );
  }
  const receipt: Receipt = {
    amount: receiptAmount(price),
    currency: 'USD',
    expires: Math.floor(now / 1000) + (seconds ?? RECEIPT_SECONDS),
    id: encodeBase64Url(random(ID_BYTES)),
    resource: `GET ${target}`,
  };
  const { text, bytes } = unsignedReceipt(receipt);
  const signature = sign(null, bytes, signingKey(seed));
  return `${text}.${encodeBase64Url(new Uint8Array(signature))}`;
}
