import { OFFER_RECEIPT } from './offer-receipt.ts';
import { IDENTIFIER_DECLARATION, PAYMENT_IDENTIFIER } from './payment-identifier.ts';
import { SIGN_IN } from './sign-in.ts';

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
