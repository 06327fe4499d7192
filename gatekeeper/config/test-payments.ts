import { isLoopback } from '../system/loopback.ts';
import type { Config } from './config.ts';

/** What every 402, the state of health and the log say while the local facilitator is on. */
export const TEST_WARNING =
  'TEST-ONLY: the local facilitator is on, no money moves and receipts name no real transaction';

/** Where the gatekeeper listens, and so who can buy from it. */
type SalePlace = Pick<Config, 'host' | 'baseUrl' | 'trustedProxy' | 'testPayments'>;

/**
 * Why a gatekeeper without a settler must not start: other machines could reach it, and everything would be sold for
 * nothing because a setting was forgotten or misspelt. Null if it may start.
 */
export function testPaymentsFault(place: SalePlace): string | null {
  const sign = publicSign(place);
  if (place.testPayments || sign === null) return null;
  return (
    `SIGNALPRESS_FACILITATOR_URL: missing although ${sign}, so everything would be sold for nothing; ` +
    'set it to an https URL, set SIGNALPRESS_RELAYER_KEY instead, or set SIGNALPRESS_TEST_PAYMENTS=1 to simulate payments'
  );
}

/** The setting that shows that others can reach it; null if none does. */
function publicSign({ host, baseUrl, trustedProxy }: SalePlace): string | null {
  if (!isLoopback(host)) return `SIGNALPRESS_HOST "${host}" is not a loopback address`;
  if (baseUrl !== null && !isLoopback(new URL(baseUrl).hostname)) {
    return `the base URL "${baseUrl}" is not a loopback address`;
  }
  return trustedProxy === '' ? null : 'SIGNALPRESS_TRUSTED_PROXY names a proxy';
}
