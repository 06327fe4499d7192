import type { ChainEvidence, Finding } from '../chain/chain-evidence.ts';
import { SETTLEMENT_MS_MAX } from '../chain/patience.ts';
import { inTime } from '../in-time.ts';
import {
  authorizationOf,
  type Facilitator,
  type FacilitatorRequest,
  provenBy,
  type SettleOutcome,
} from './facilitator.ts';

/** Time between two looks at the chain. */
const PROOF_POLL_MS = 500;

export interface ProvenFacilitatorOptions {
  readonly facilitator: Facilitator;
  readonly evidence: ChainEvidence;
  /** How long a transfer may take to be seen, as deep as it was asked to be: `depthMs`. */
  readonly waitMs: number;
  readonly pollMs?: number;
}

/**
 * A facilitator whose word is held to the chain. A settlement counts when the transfer is there, under the
 * transaction that made it; without it there is no verdict. A refusal counts unless the transfer is there
 * all the same, because somebody else submitted it. When the node gives no answer, the facilitator's word
 * stands, as it does where no node is configured.
 */
export function provenFacilitator(options: ProvenFacilitatorOptions): Facilitator {
  const { facilitator, evidence } = options;
  return {
    async verify(request) {
      const outcome = await facilitator.verify(request);
      if (outcome.verdict !== 'invalid') return outcome;
      const { state } = await evidence.find(authorizationOf(request));
      // A transfer that is not deep enough yet is a doubt, which the claim and the settlement sort out.
      const isThere = state === 'paid' || state === 'unconfirmed';
      return isThere ? { verdict: 'valid' } : outcome;
    },
    async settle(request, isFirst) {
      const startMs = performance.now();
      const outcome = await facilitator.settle(request, isFirst);
      const watch = watchOf(options, request, startMs);
      if (outcome.verdict === 'settled') return proven(watch, outcome);
      return outcome.verdict === 'none' ? outcome : unlessThere(watch, outcome);
    },
    supported: () => facilitator.supported(),
  };
}

/** One settlement whose transfer is looked for. */
interface Watch extends ProvenFacilitatorOptions {
  readonly request: FacilitatorRequest;
  /** By the clock, since a slow node takes longer to answer than the pauses last. */
  readonly leftMs: () => number;
}

function watchOf(
  options: ProvenFacilitatorOptions,
  request: FacilitatorRequest,
  startMs: number,
): Watch {
  const endMs = Math.min(performance.now() + options.waitMs, startMs + SETTLEMENT_MS_MAX);
  return { ...options, request, leftMs: () => endMs - performance.now() };
}

/** Looks, and as long as that leaves it open looks again, until the time is over. */
async function looked(
  { leftMs, pollMs = PROOF_POLL_MS }: Watch,
  look: () => Promise<Finding>,
  isOpen: (state: Finding['state']) => boolean,
): Promise<Finding> {
  // It decides about money, so it gets all the time that a look at the chain may take.
  let finding = await look();
  while (isOpen(finding.state) && leftMs() > 0) {
    await new Promise((resolve) => setTimeout(resolve, Math.min(pollMs, leftMs())));
    finding = (await inTime(look(), Math.max(pollMs, leftMs()))) ?? finding;
  }
  return finding;
}

type Said<Verdict> = Extract<SettleOutcome, { verdict: Verdict }>;

async function proven(watch: Watch, outcome: Said<'settled'>): Promise<SettleOutcome> {
  const { evidence, request } = watch;
  const authorization = authorizationOf(request);
  const look = async (): Promise<Finding> => {
    const named = await evidence.confirm(authorization, outcome.transaction);
    if (named.state !== 'unused') return named;
    const found = await evidence.find(authorization);
    // The node knows the transaction for none of ours: its silence about any other does not prove this one.
    return found.state === 'unknown' ? named : found;
  };
  // The node may not have seen yet what the facilitator saw.
  const finding = await looked(watch, look, (state) => ['unused', 'unconfirmed'].includes(state));
  if (finding.state === 'paid') return provenBy(finding.transaction);
  return finding.state === 'unknown' ? outcome : NOT_THERE;
}

async function unlessThere(watch: Watch, outcome: Said<'refused'>): Promise<SettleOutcome> {
  const { evidence, request } = watch;
  const look = (): Promise<Finding> => evidence.find(authorizationOf(request));
  const finding = await looked(watch, look, (state) => state === 'unconfirmed');
  if (finding.state === 'unconfirmed') return NOT_DEEP;
  return finding.state === 'paid' ? provenBy(finding.transaction) : outcome;
}

const NOT_DEEP: SettleOutcome = {
  verdict: 'none',
  detail: '/settle: refused, but the transfer is on the chain and not deep enough yet',
};
const NOT_THERE: SettleOutcome = {
  verdict: 'none',
  detail: '/settle: success, but the chain does not show the transfer',
};
