import type { Network } from '../payment/networks.ts';
import type { X402Version } from '../payment/payment-header.ts';
import type { Facilitator, NoVerdict, PaymentKind } from './facilitator.ts';

/** What every 402 offers. */
const VERSIONS: readonly X402Version[] = [1, 2];

/** One that is asked; `name` tells it from others beside it. */
interface Asked {
  readonly facilitator: Facilitator;
  readonly name?: string;
}

/**
 * Asks a facilitator what it settles. Null when our network is among it in both versions, otherwise what is
 * wrong and what to do; never throws. Free answers go on in any case, and nobody is charged without a verdict.
 */
export async function facilitatorTrouble(
  { facilitator, name = '' }: Asked,
  network: Network,
): Promise<string | null> {
  const outcome = await facilitator.supported();
  if (outcome.verdict === 'none') return silenceTrouble(outcome, name);
  const who = name === '' ? 'the facilitator' : name;
  const missing = VERSIONS.filter((version) => !isListed(outcome.kinds, version, network));
  const [first] = missing;
  if (first === undefined) return null;
  if (missing.length < VERSIONS.length) return versionTrouble(first, network, who);
  return (
    `Cannot settle on "${network.name}": ${who} does not list it; payments may be refused or answered ` +
    '503, and nobody is charged then; set SIGNALPRESS_NETWORK to one of its networks, or use another facilitator'
  );
}

/** Only the question was tried, so payments may fare better than it. */
function silenceTrouble({ detail, status, setting }: NoVerdict, name: string): string {
  const through = name === '' ? '' : ` through ${name}`;
  return (
    `Cannot settle yet${through}: ${detail}; payments may be answered 503 until that changes, and nobody is charged ` +
    `then; ${setting === undefined ? remedyOf(status ?? 0) : `check ${setting}`}`
  );
}

/** What the operator can do about an answer of this status; 0 for none. */
function remedyOf(status: number): string {
  if (status === 401 || status === 403) {
    return 'check SIGNALPRESS_FACILITATOR_AUTH or SIGNALPRESS_FACILITATOR_AUTH_MODULE';
  }
  if (status === 429 || status >= 500) {
    return 'it fails by itself: wait or tell its operator, or set SIGNALPRESS_FACILITATOR_URL to another one';
  }
  return 'check SIGNALPRESS_FACILITATOR_URL, or SIGNALPRESS_RPC_URL and the account of the relayer';
}

/** The name that a network has in one version. */
function nameOf({ name, caip2 }: Network, version: X402Version): string {
  return version === 1 ? name : caip2;
}

function isListed(kinds: readonly PaymentKind[], version: X402Version, network: Network): boolean {
  return kinds.some(
    (kind) =>
      kind.x402Version === version &&
      kind.scheme === 'exact' &&
      kind.network === nameOf(network, version),
  );
}

/** Of a facilitator that settles payments of the other version. */
function versionTrouble(missing: X402Version, network: Network, who: string): string {
  const listed = missing === 1 ? 2 : 1;
  return (
    `Cannot settle x402 version ${missing} on "${network.name}": ${who} lists version ${listed} alone; ` +
    `who pays in version ${missing} may be refused or answered 503 and is not charged then, version ${listed} is ` +
    `sold; use a facilitator that lists "${nameOf(network, missing)}" for version ${missing}`
  );
}
