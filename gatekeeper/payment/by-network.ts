import type { Facilitator, FacilitatorRequest, NoVerdict } from '../money/facilitator.ts';
import { isTokenOf } from '../money/further-tokens.ts';
import type { Network } from '../money/networks.ts';

/** Whoever settles one token on one network. */
interface NetworkSettler {
  readonly network: Network;
  readonly facilitator: Facilitator;
}

/** One for each token of each network as one: a payment only ever reaches the settler of the token that it is for. */
export function settlersByNetwork(
  settlers: readonly [NetworkSettler, ...NetworkSettler[]],
): Facilitator {
  const [first, ...others] = settlers;
  if (others.length === 0) return first.facilitator;
  const settlerOf = ({ paymentRequirements }: FacilitatorRequest): Facilitator | undefined => {
    return settlers.find(({ network }) => isTokenOf(paymentRequirements, network))?.facilitator;
  };
  return {
    verify: async (request) => settlerOf(request)?.verify(request) ?? NOBODY,
    settle: async (request, isFirst) => settlerOf(request)?.settle(request, isFirst) ?? NOBODY,
    async supported() {
      const outcomes = await Promise.all(
        settlers.map(({ facilitator }) => facilitator.supported()),
      );
      const kinds = outcomes.flatMap((one) => (one.verdict === 'supported' ? one.kinds : []));
      const silent = outcomes.find((one) => one.verdict === 'none');
      return kinds.length === 0 && silent !== undefined ? silent : { verdict: 'supported', kinds };
    },
  };
}

const NOBODY: NoVerdict = {
  verdict: 'none',
  detail: 'nobody settles this token on this network',
  unsent: true,
};
