import type { RequirementsV2 } from './requirements.ts';
import type { ServiceSigner } from './service-signer.ts';

/** Name of the x402 extension by which a service signs what it offers and what it delivered. */
export const OFFER_RECEIPT = 'offer-receipt';

/** Characters of base64 that a 402 may have in `PAYMENT-REQUIRED` with its offers: 4 KB with all other headers. */
const SHORT_CHARS_MAX = 3560;
/** The same where several networks or a message to sign in with make it longer anyway. */
const LONG_CHARS_MAX = 6800;

/** What offers are signed with, until when they count, and where they stand. */
interface OfferTerms {
  readonly signer: Pick<ServiceSigner, 'sign'>;
  /** Absolute URL of the request. */
  readonly resourceUrl: string;
  readonly accepts: readonly RequirementsV2[];
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
  /** Characters of the JSON text of the challenge without any offer. */
  readonly chars: number;
  /** Whether the challenge is a long one in any case. */
  readonly isLong: boolean;
}

/** The extension of a challenge: an offer for each entry of `accepts`, in their order, as far as headers have room. */
export function offerDeclaration(terms: OfferTerms): object {
  const { accepts, chars, isLong } = terms;
  const most = isLong ? LONG_CHARS_MAX : SHORT_CHARS_MAX;
  const offers: object[] = [];
  let all = chars;
  for (const [acceptIndex, entry] of accepts.entries()) {
    const offer = { format: 'jws', acceptIndex, signature: signedOffer(entry, terms) };
    all += JSON.stringify(offer).length + 1;
    if (base64Chars(all) > most) break;
    offers.push(offer);
  }
  return { ...EMPTY_OFFERS, info: { offers } };
}

/** The extension where nothing is offered under a signature. */
export const EMPTY_OFFERS = {
  info: { offers: [] },
  schema: { type: 'object', required: ['offers'] },
} as const;

function base64Chars(bytes: number): number {
  return Math.ceil(bytes / 3) * 4;
}

function signedOffer(
  { scheme, network, amount, asset, payTo, maxTimeoutSeconds }: RequirementsV2,
  { signer, resourceUrl, nowMs }: OfferTerms,
): string {
  const validUntil = Math.floor(nowMs / 1000) + maxTimeoutSeconds;
  const entry = { scheme, network, asset, payTo, amount };
  return signer.sign({ version: 1, resourceUrl, ...entry, validUntil });
}
