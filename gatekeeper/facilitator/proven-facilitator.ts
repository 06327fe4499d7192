import type { ChainEvidence, Finding } from '../chain/chain-evidence.ts';
import {
  authorizationOf,
  type Facilitator,
  type FacilitatorRequest,
  type SettleOutcome,
  settledBy,
} from './facilitator.ts';

/** How long the node may lag behind the facilitator before its silence counts: three blocks of Base. */
const PROOF_WAIT_MS = 6000;
/** Time between two looks at the chain. */
const PROOF_POLL_MS = 500;

export interface ProvenFacilitatorOptions {
  readonly facilitator: Facilitator;
  readonly evidence: ChainEvidence;
  readonly waitMs?: number;
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
      const { from } = authorizationOf(request);
      const { state } = await evidence.find(authorizationOf(request));
      // A transfer that is not deep enough yet is a doubt, which the claim and the settlement sort out.
      const isThere = state === 'paid' || state === 'unconfirmed';
      return isThere ? { verdict: 'valid', payer: from } : outcome;
    },
    async settle(request) {
      const outcome = await facilitator.settle(request);
      if (outcome.verdict === 'settled') return proven(options, request, outcome);
      if (outcome.verdict === 'none') return outcome;
      const finding = await evidence.find(authorizationOf(request));
      if (finding.state === 'unconfirmed') return NOT_DEEP;
      return finding.state === 'paid' ? settledBy(finding.transaction, request) : outcome;
    },
    supported: () => facilitator.supported(),
  };
}

type Settled = Extract<SettleOutcome, { verdict: 'settled' }>;

async function proven(
  { evidence, waitMs = PROOF_WAIT_MS, pollMs = PROOF_POLL_MS }: ProvenFacilitatorOptions,
  request: FacilitatorRequest,
  outcome: Settled,
): Promise<SettleOutcome> {
  const authorization = authorizationOf(request);
  const endMs = performance.now() + waitMs;
  for (;;) {
    let finding: Finding = await evidence.confirm(authorization, outcome.transaction);
    if (finding.state === 'unused') finding = await evidence.find(authorization);
    if (finding.state === 'paid') return settledBy(finding.transaction, request);
    if (finding.state === 'unknown') return outcome;
    // By the clock, since a slow node takes longer to answer than the pauses last.
    if (finding.state === 'cancelled' || performance.now() >= endMs) return NOT_THERE;
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

const NOT_DEEP: SettleOutcome = {
  verdict: 'none',
  detail: '/settle: refused, but the transfer is on the chain and not deep enough yet',
};
const NOT_THERE: SettleOutcome = {
  verdict: 'none',
  detail: '/settle: success, but the chain does not show the transfer',
};
