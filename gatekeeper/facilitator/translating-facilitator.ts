import {
  exactKinds,
  type Facilitator,
  type FacilitatorRequest,
  type PaymentKind,
  type SupportedOutcome,
} from '../money/facilitator.ts';
import { findNetwork, type Network } from '../money/networks.ts';
import type { X402Version } from '../money/payment.ts';
import { translateRequest } from './translate-request.ts';

/** How soon a facilitator is asked again what it settles, where it has said so and where it has not. */
const SUPPORTED_AGAIN_MS = { known: 600_000, unknown: 30_000 } as const;

interface TranslatingFacilitatorOptions {
  readonly facilitator: Facilitator;
  /** That we take payments on. */
  readonly networks: readonly Network[];
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** A facilitator that is known to settle some of our networks and not others. */
export interface ListingFacilitator extends Facilitator {
  /**
   * False where it lists another network of ours and not that of this payment. One that lists none of ours may not list
   * what it settles.
   */
  lists(request: FacilitatorRequest): boolean;
}

/**
 * A facilitator that is sent every payment in a version that it lists. What it lists is known from the question at the
 * start and asked again now and then beside a payment, which never waits for it; until then payments go as they came.
 */
export function translatingFacilitator(options: TranslatingFacilitatorOptions): ListingFacilitator {
  const { facilitator, networks, clock } = options;
  const translations = new WeakMap<FacilitatorRequest, FacilitatorRequest>();
  let kinds: readonly PaymentKind[] | null = null;
  let askedMs = Number.NEGATIVE_INFINITY;

  const supported = async (): Promise<SupportedOutcome> => {
    askedMs = clock();
    const outcome = await facilitator.supported();
    if (outcome.verdict === 'supported') kinds = outcome.kinds;
    return outcome;
  };
  const sent = (request: FacilitatorRequest): FacilitatorRequest => {
    const againMs = SUPPORTED_AGAIN_MS[kinds === null ? 'unknown' : 'known'];
    if (Math.abs(clock() - askedMs) >= againMs) void supported();
    const network = findNetwork(request.paymentRequirements.network);
    if (kinds === null || network === undefined) return request;
    const versions = listedVersions(kinds, network);
    const isOther = versions.length === 1 && !versions.includes(request.x402Version);
    return isOther ? translated(request) : request;
  };
  /** Made once, so that both calls of a payment share one body. */
  const translated = (request: FacilitatorRequest): FacilitatorRequest => {
    const made = translations.get(request) ?? translateRequest(request);
    translations.set(request, made);
    return made;
  };
  const isListed = (network: Network): boolean =>
    kinds !== null && listedVersions(kinds, network).length > 0;
  return {
    lists({ paymentRequirements }) {
      const asked = findNetwork(paymentRequirements.network);
      return !networks.some(isListed) || (asked !== undefined && isListed(asked));
    },
    verify: (request) => facilitator.verify(sent(request)),
    settle: (request, isFirst) => facilitator.settle(sent(request), isFirst),
    supported,
  };
}

/** The versions in which a facilitator says that it settles on a network, each under its own name of it. */
export function listedVersions(
  kinds: readonly PaymentKind[],
  network: Network,
): readonly X402Version[] {
  const isListed = (own: PaymentKind): boolean =>
    kinds.some(
      ({ x402Version, scheme, network }) =>
        x402Version === own.x402Version && scheme === own.scheme && network === own.network,
    );
  return exactKinds(network)
    .filter(isListed)
    .map(({ x402Version }) => x402Version);
}
