import { createPrivateKey, createPublicKey, hash, sign } from 'node:crypto';
import { z } from 'zod';
import { didKey } from '../../compiler/format/did-key.ts';
import { type KeyHistory, receiptKeyStanding } from '../../compiler/format/key-history.ts';
import type { JsonObject } from '../../compiler/format/strict-json.ts';
import { jwsInput } from '../../compiler/products/shapes/receipt.ts';
import { SIGN_IN } from './sign-in.ts';

/** Name of the x402 extension by which a service signs what it delivered. */
export const OFFER_RECEIPT = 'offer-receipt';

/** How a challenge says that receipts are signed: the extension has a place for signed offers too, and none is made. */
export const RECEIPT_DECLARATION = {
  info: { offers: [] },
  schema: { type: 'object', required: ['offers'] },
} as const;

/** Name of the x402 extension by which a payer names a purchase; version 1 has a header of this name. */
const PAYMENT_IDENTIFIER = 'payment-identifier';

const ID = /^[A-Za-z0-9_-]{16,128}$/;
const idSchema = z.object({
  info: z.object({ required: z.boolean(), id: z.string().regex(ID).optional() }),
});
const echoed = z.object({ extensions: z.object({ [PAYMENT_IDENTIFIER]: z.unknown() }) });

/** The name that a payment of version 2 carries: absent without one, '' for one that is malformed. */
export function paymentIdentifier(payment: unknown): string | undefined {
  const extension = echoed.safeParse(payment).data?.extensions[PAYMENT_IDENTIFIER];
  if (extension === undefined) return undefined;
  const parsed = idSchema.safeParse(extension);
  return parsed.success ? parsed.data.info.id : '';
}

/** The name that a request gives its payment, in its version or in the header; '' for one that is malformed, or two that differ. */
export function namedBy(
  inPayment: string | undefined,
  inHeader: string | undefined,
): string | undefined {
  if (inHeader === undefined) return inPayment;
  const isOne = inPayment === undefined || inPayment === inHeader;
  return isOne && ID.test(inHeader) ? inHeader : '';
}

/** What is kept of a name: whoever reads the journal cannot show it. */
export function identifierHash(payer: string, id: string): string {
  return hashedIdentifier(`${payer.toLowerCase()}|${id}`);
}

/** The same of `payer|id`. */
export function hashedIdentifier(text: string): string {
  return `sha256:${hash('sha256', text, 'hex')}`;
}

const IDENTIFIER_DECLARATION = {
  info: { required: false },
  schema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      required: { type: 'boolean' },
      id: { type: 'string', minLength: 16, maxLength: 128, pattern: '^[a-zA-Z0-9_-]+$' },
    },
    required: ['required'],
  },
} as const;

/** Extensions of x402 version 2 that a setting may name, beside `bazaar`, which every challenge has. */
export const EXTENSIONS = [PAYMENT_IDENTIFIER, SIGN_IN, OFFER_RECEIPT] as const;
/** Those by which a buyer is known again: they are always on. */
export const BUYER_EXTENSIONS: readonly Extension[] = [PAYMENT_IDENTIFIER, SIGN_IN];
export type Extension = (typeof EXTENSIONS)[number];

/** What the challenge of version 2 says of those that are on, the same for every request. */
export function declaredExtensions(extensions: readonly Extension[]): Record<string, object> {
  return extensions.includes(PAYMENT_IDENTIFIER)
    ? { [PAYMENT_IDENTIFIER]: IDENTIFIER_DECLARATION }
    : {};
}

/** PKCS #8 in front of the seed of an Ed25519 key, RFC 8410. */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Signs what the service says of its sales, with a key that the issuer lists. */
export interface ServiceSigner {
  readonly did: string;
  /** From now on this list of keys says whether the key counts; before, it does not. */
  show(keys: KeyHistory): void;
  /** Why nothing is signed of a time (epoch milliseconds, else now), as the end of a sentence; null while the key is listed. */
  fault(atMs?: number): string | null;
  sign(payload: JsonObject): string;
}

export function serviceSigner(by: { seed: string; clock: () => number }): ServiceSigner {
  const { seed, clock } = by;
  const der = Buffer.concat([PKCS8, Buffer.from(seed, 'hex')]);
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' });
  const did = didKey(Buffer.from(x, 'base64url'));
  let keys: KeyHistory | null = null;
  return {
    did,
    show(next) {
      keys = next;
    },
    fault(atMs = clock()) {
      const at = new Date(atMs).toISOString();
      const standing = keys === null ? 'unlisted' : receiptKeyStanding(keys, did, at);
      return standing === 'listed' ? null : FAULTS[standing];
    },
    sign(payload) {
      const signed = jwsInput(did, payload);
      return `${signed}.${sign(null, Buffer.from(signed), key).toString('base64url')}`;
    },
  };
}

const FAULTS = {
  unlisted:
    'the keys.json of the release does not list it; list it with "signalpress key receipt" and compile',
  early: 'the keys.json of the release lists it from a later time on',
  ended:
    'the keys.json of the release says that it ended; list another one with "signalpress key receipt"',
} as const;
