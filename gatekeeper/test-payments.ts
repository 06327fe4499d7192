import { isLoopback } from './http/loopback.ts';

/** What every 402, the state of health and the log say while the local facilitator is on. */
export const TEST_WARNING =
  'TEST-ONLY: the local facilitator is on, no money moves and receipts name no real transaction';

/** Who can come to buy. */
interface Place {
  readonly host: string;
  /** Null until the release is open that names it. */
  readonly baseUrl: string | null;
  readonly trustedProxy: string;
  /** The operator asked for pretended payments wherever that is. */
  readonly testPayments: boolean;
}

/**
 * Why a gatekeeper that nobody settles for does not start: others than this machine could buy there, and everything
 * would be sold for nothing because of a setting that was forgotten or misspelt. Null where it may.
 */
export function testPaymentsProblem(place: Place): string | null {
  const sign = publicSign(place);
  if (place.testPayments || sign === null) return null;
  return (
    `SIGNALPRESS_FACILITATOR_URL: missing where ${sign}: everything would be sold for nothing; ` +
    'set an https URL, or SIGNALPRESS_RELAYER_KEY, or SIGNALPRESS_TEST_PAYMENTS=1 to pretend payments there'
  );
}

/** What shows that others can reach it; null when nothing does. */
function publicSign({ host, baseUrl, trustedProxy }: Place): string | null {
  if (!isLoopback(host)) return `SIGNALPRESS_HOST "${host}" is no loopback address`;
  if (baseUrl !== null && !isLoopback(new URL(baseUrl).hostname)) {
    return `the base URL "${baseUrl}" is no loopback address`;
  }
  return trustedProxy === '' ? null : 'SIGNALPRESS_TRUSTED_PROXY names a proxy in front';
}
