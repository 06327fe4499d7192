import type { Network } from '../payment/networks.ts';
import type { Facilitator } from './facilitator.ts';

/**
 * Asks a facilitator what it settles. Null when our network is among it, otherwise what is wrong and
 * what to do; never throws. Free answers go on in any case, and nobody is charged without a verdict.
 */
export async function facilitatorTrouble(
  facilitator: Facilitator,
  network: Network,
): Promise<string | null> {
  const outcome = await facilitator.supported();
  if (outcome.verdict === 'none') {
    return (
      `Cannot settle yet: ${outcome.detail}; payments are answered 503 and nobody is charged until that ` +
      'changes; check SIGNALPRESS_FACILITATOR_URL, or SIGNALPRESS_RPC_URL and the account of the relayer'
    );
  }
  const names = [network.name, network.caip2];
  const settles = outcome.kinds.some(
    ({ scheme, network: name }) => scheme === 'exact' && names.includes(name),
  );
  if (settles) return null;
  return (
    `Cannot settle on "${network.name}": the facilitator does not list it; ` +
    'set SIGNALPRESS_NETWORK to one of its networks, or use another facilitator'
  );
}
