import { createHash } from 'node:crypto';
import type { ReceiptPayload } from '../../compiler/contract/receipt.ts';
import type { JournalEntry } from '../money/journal.ts';
import type { Network } from '../money/networks.ts';
import { OFFER_RECEIPT } from '../money/offer-receipt.ts';
import type { ServiceSigner } from '../money/service-signer.ts';
import { targetOfResource } from '../offer/former-endpoint.ts';

/** Longest URL in a receipt: the header that holds it stays under 8 KB. */
const RESOURCE_CHARS_MAX = 1536;

/** What a receipt is made of: all of it stands in the journal, so a redelivery has the same receipt. */
interface Sale extends Pick<JournalEntry, 'key' | 'resource' | 'settledMs'> {
  readonly body: Buffer;
  readonly transaction: string;
}

/** The extension of the header that says what was paid; undefined where no receipt can be signed. Never throws. */
export type SignedReceipts = (sale: Sale) => object | undefined;

export interface ReceiptTerms {
  readonly signer: ServiceSigner;
  /** Public origin without a trailing slash. */
  readonly baseUrl: string;
  /** No money moves here. */
  readonly isSimulated: boolean;
}

interface ReceiptOptions extends ReceiptTerms {
  readonly networks: readonly Network[];
  /** Told about failures; never throws. */
  readonly report: (error: unknown) => void;
}

/**
 * Signs who got what for which transaction. A receipt comes with the answer that was paid for and never decides about it:
 * without a key that counts now and counted then, or when something fails, the answer is delivered alone.
 */
export function signedReceipts(options: ReceiptOptions): SignedReceipts {
  const { signer, report } = options;
  return (sale) => {
    try {
      const payload = signer.fault() === null ? payloadOf(sale, options) : null;
      if (payload === null) return undefined;
      const receipt = { format: 'jws', signature: signer.sign(payload) };
      return { [OFFER_RECEIPT]: { info: { receipt }, schema: SCHEMA } };
    } catch (error) {
      report(error);
      return undefined;
    }
  };
}

const SCHEMA = { type: 'object', required: ['receipt'] };

/**
 * Null for a receipt of a processor, which names no payer, for what does not fit, and for a sale from before the key counted:
 * a receipt of that time would be refused by everybody who checks it.
 */
function payloadOf(
  { key, resource, body, transaction, settledMs }: Sale,
  { signer, baseUrl, isSimulated, networks }: ReceiptOptions,
): ReceiptPayload | null {
  const network = networks.find(({ name, asset }) =>
    key.startsWith(`${name}|${asset}|`.toLowerCase()),
  );
  const [, , payer] = key.split('|');
  const resourceUrl = baseUrl + targetOfResource(resource);
  if (network === undefined || payer === undefined || settledMs === null) return null;
  if (resourceUrl.length > RESOURCE_CHARS_MAX) return null;
  const issuedAt = Math.floor(settledMs / 1000);
  if (signer.fault(issuedAt * 1000) !== null) return null;
  return {
    version: 1,
    network: network.caip2,
    resourceUrl,
    payer,
    issuedAt,
    transaction,
    bodyHash: `sha256:${createHash('sha256').update(body).digest('hex')}`,
    ...(isSimulated ? { simulated: true } : {}),
  };
}
