import type { PaymentKind } from '../money/facilitator.ts';
import type { Network } from '../money/networks.ts';
import type { X402Version } from '../money/payment.ts';

/** What every 402 offers. */
const VERSIONS: readonly X402Version[] = [1, 2];

/** The versions in which a facilitator says that it settles on a network, each under its own name of it. */
export function listedVersions(
  kinds: readonly PaymentKind[],
  network: Network,
): readonly X402Version[] {
  return VERSIONS.filter((version) =>
    kinds.some(
      (kind) =>
        kind.x402Version === version &&
        kind.scheme === 'exact' &&
        kind.network === (version === 1 ? network.name : network.caip2),
    ),
  );
}
