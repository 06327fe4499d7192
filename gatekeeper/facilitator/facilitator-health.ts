import type { Facilitator, NoVerdict } from '../money/facilitator.ts';
import type { Network } from '../money/networks.ts';
import type { X402Version } from '../money/payment.ts';
import { listedVersions } from './translating-facilitator.ts';

/** One that is asked; `name` tells it from others beside it. */
interface NamedFacilitator {
  readonly facilitator: Facilitator;
  readonly name?: string;
}

/**
 * Asks a facilitator what it settles. Null if that includes our network in both versions, otherwise what the operator
 * should know and do; never throws. Free answers continue in any case, and nobody is charged without a verdict.
 */
export async function facilitatorWarning(
  { facilitator, name = '' }: NamedFacilitator,
  network: Network,
): Promise<string | null> {
  const outcome = await facilitator.supported();
  if (outcome.verdict === 'none') return silenceWarning(outcome, name);
  const who = name === '' ? 'the facilitator' : name;
  const [listed, other] = listedVersions(outcome.kinds, network);
  if (other !== undefined) return null;
  if (listed !== undefined) return translationNote(listed, network, who);
  return (
    `Cannot settle on "${network.name}": ${who} does not list it; payments may be refused or answered ` +
    '503, and in either case nobody is charged; set SIGNALPRESS_NETWORK to one of its networks, or use another facilitator'
  );
}

/** Only the question was tried, so payments may fare better than it. */
function silenceWarning({ detail, status, setting }: NoVerdict, name: string): string {
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
    return 'the fault is on its side: wait, tell its operator, or set SIGNALPRESS_FACILITATOR_URL to another one';
  }
  return 'check SIGNALPRESS_FACILITATOR_URL, or SIGNALPRESS_RPC_URL and the account of the relayer';
}

/** For a facilitator that settles only one version: payments of the other version are translated for it. */
function translationNote(listed: X402Version, { name }: Network, who: string): string {
  const other = listed === 1 ? 2 : 1;
  return (
    `Payments of x402 version ${other} are translated: ${who} lists only version ${listed} on "${name}"; ` +
    'buyers sign the same data in both, so both are accepted and there is nothing to do'
  );
}
