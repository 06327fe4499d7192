import {
  exactKinds,
  type Facilitator,
  type FacilitatorRequest,
  type PaymentKind,
  type SupportedOutcome,
} from '../facilitator.ts';
import { findNetwork, type Network } from '../networks.ts';
import { priceOf, type X402Version } from '../payment.ts';

/** How soon a facilitator is asked again what it settles, where it has said so and where it has not. */
const SUPPORTED_AGAIN_MS = { known: 600_000, unknown: 30_000 } as const;

/** A facilitator that is known to settle some of our networks and not others. */
export interface ListingFacilitator extends Facilitator {
  /** False where it lists another network of ours and not this one; one that lists none of ours may settle unlisted. */
  lists(request: FacilitatorRequest): boolean;
}

/** Sends each payment in a version that the facilitator lists; until the list is known, a payment goes as it came. */
export function translatingFacilitator(options: {
  facilitator: Facilitator;
  networks: Network[];
  clock: () => number;
}): ListingFacilitator {
  const { facilitator, networks, clock } = options;
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
    return isOther ? translateRequest(request) : request;
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

/** The signature names no version, so only the words change. Version 2 without a resource stays: version 1 must have one. */
export function translateRequest(request: FacilitatorRequest): FacilitatorRequest {
  const network = findNetwork(request.paymentRequirements.network);
  if (network === undefined) return request;
  const made = request.x402Version === 1 ? inV2(request, network) : inV1(request, network);
  const { trace } = request;
  return trace === undefined || made === request ? made : { ...made, trace };
}

function inV1(request: FacilitatorRequest, { name: network }: Network): FacilitatorRequest {
  const { paymentPayload, paymentRequirements } = request;
  if (paymentPayload.x402Version === 1 || paymentPayload.resource === undefined) return request;
  const { scheme, payTo, asset, maxTimeoutSeconds, extra } = paymentRequirements;
  const { url: resource, description, mimeType } = paymentPayload.resource;
  const maxAmountRequired = priceOf(paymentRequirements);
  const sold = { scheme, network, maxAmountRequired, resource, description, mimeType };
  const { payload } = paymentPayload;
  return {
    x402Version: 1,
    paymentPayload: { x402Version: 1, scheme, network, payload },
    paymentRequirements: { ...sold, payTo, maxTimeoutSeconds, asset, extra, outputSchema: {} },
  };
}

function inV2(request: FacilitatorRequest, { caip2: network }: Network): FacilitatorRequest {
  const { paymentPayload, paymentRequirements } = request;
  if (!('resource' in paymentRequirements)) return request;
  const { scheme, payTo, asset, maxTimeoutSeconds, extra } = paymentRequirements;
  const { resource: url, description, mimeType } = paymentRequirements;
  const amount = priceOf(paymentRequirements);
  const accepted = { scheme, network, amount, asset, payTo, maxTimeoutSeconds, extra };
  const { payload } = paymentPayload;
  const resource = { url, description, mimeType };
  return {
    x402Version: 2,
    paymentPayload: { x402Version: 2, accepted, payload, resource },
    paymentRequirements: accepted,
  };
}

/** What the operator should know where a facilitator does not list our network in both versions; else null. Never throws. */
export async function facilitatorWarning(
  { facilitator, name = '' }: { facilitator: Facilitator; name?: string },
  network: Network,
): Promise<string | null> {
  const outcome = await facilitator.supported();
  if (outcome.verdict === 'none') {
    // Only the question was tried, so payments may fare better than it.
    const { detail, status, setting } = outcome;
    const through = name === '' ? '' : ` through ${name}`;
    const remedy = setting === undefined ? remedyOf(status ?? 0) : `check ${setting}`;
    return (
      `Cannot settle yet${through}: ${detail}; payments may be answered 503 until that changes, and nobody is charged ` +
      `then; ${remedy}`
    );
  }
  const who = name === '' ? 'the facilitator' : name;
  const [listed, other] = listedVersions(outcome.kinds, network);
  if (other !== undefined) return null;
  if (listed !== undefined) {
    return (
      `Payments of x402 version ${listed === 1 ? 2 : 1} are translated: ${who} lists only version ${listed} on "${network.name}"; ` +
      'buyers sign the same data in both, so both are accepted and there is nothing to do'
    );
  }
  return (
    `Cannot settle on "${network.name}": ${who} does not list it; payments may be refused or answered ` +
    '503, and in either case nobody is charged; set SIGNALPRESS_NETWORK to one of its networks, or use another facilitator'
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
