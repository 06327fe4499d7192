/** Name of the x402 extension by which a service signs what it delivered. */
export const OFFER_RECEIPT = 'offer-receipt';

/** How a challenge says that receipts are signed: the extension has a place for signed offers too, and none is made. */
export const RECEIPT_DECLARATION = {
  info: { offers: [] },
  schema: { type: 'object', required: ['offers'] },
} as const;
