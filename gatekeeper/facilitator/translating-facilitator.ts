import type { Facilitator, FacilitatorRequest, SupportedOutcome } from '../money/facilitator.ts';
import type { Network } from '../money/networks.ts';
import type { X402Version } from '../money/payment.ts';
import { listedVersions } from './listed-versions.ts';
import { translateRequest } from './translate-request.ts';

/** How soon a facilitator is asked again what it settles, where it has said so and where it has not. */
export const SUPPORTED_AGAIN_MS = { known: 600_000, unknown: 30_000 } as const;

export interface TranslatingFacilitatorOptions {
  readonly facilitator: Facilitator;
  readonly network: Network;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/**
 * A facilitator that is sent every payment in a version that it lists. What it lists is known from the question at the
 * start and asked again now and then beside a payment, which never waits for it; until then payments go as they came.
 */
export function translatingFacilitator(options: TranslatingFacilitatorOptions): Facilitator {
  const { facilitator, network, clock } = options;
  const translations = new WeakMap<FacilitatorRequest, FacilitatorRequest>();
  let versions: readonly X402Version[] | null = null;
  let askedMs = Number.NEGATIVE_INFINITY;

  const supported = async (): Promise<SupportedOutcome> => {
    askedMs = clock();
    const outcome = await facilitator.supported();
    if (outcome.verdict === 'supported') versions = listedVersions(outcome.kinds, network);
    return outcome;
  };
  const sent = (request: FacilitatorRequest): FacilitatorRequest => {
    const againMs = SUPPORTED_AGAIN_MS[versions === null ? 'unknown' : 'known'];
    if (Math.abs(clock() - askedMs) >= againMs) void supported();
    const isOther = versions?.length === 1 && !versions.includes(request.x402Version);
    return isOther ? translated(request) : request;
  };
  /** Made once, so that both calls of a payment share one body. */
  const translated = (request: FacilitatorRequest): FacilitatorRequest => {
    const made = translations.get(request) ?? translateRequest(request);
    translations.set(request, made);
    return made;
  };
  return {
    verify: (request) => facilitator.verify(sent(request)),
    settle: (request, isFirst) => facilitator.settle(sent(request), isFirst),
    supported,
  };
}
