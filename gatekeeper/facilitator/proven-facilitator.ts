import type { ChainEvidence, ChainFinding } from '../money/evidence.ts';
import {
  authorizationOf,
  type Facilitator,
  provenBy,
  type SettleOutcome,
} from '../money/facilitator.ts';
import { SETTLEMENT_MS_MAX } from '../money/networks.ts';
import { inTime } from '../system/in-time.ts';

const PROOF_POLL_MS = 500;
/** The first look gets this time in any case: a facilitator that took all of its own leaves as much of a settlement. */
const FIRST_LOOK_MS_MIN = 4000;

interface ProvenFacilitatorOptions {
  readonly facilitator: Facilitator;
  readonly evidence: Pick<ChainEvidence, 'find' | 'confirm'>;
  /** How long a transfer may take to be seen, as deep as it was asked to be: `depthMs`. */
  readonly waitMs: number;
  readonly pollMs?: number;
}

/**
 * A facilitator whose answers are checked against the chain. A settlement counts when the transfer is there, under the
 * transaction that made it; without it there is no verdict. A refusal counts unless the transfer is there
 * all the same, because somebody else submitted it. When the node gives no answer, or none in the time that is left, there
 * is no verdict either: the word of the facilitator alone neither sells nor refuses.
 */
export function provenFacilitator(options: ProvenFacilitatorOptions): Facilitator {
  const { facilitator, evidence, waitMs, pollMs = PROOF_POLL_MS } = options;
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
      if (outcome.verdict === 'none') return outcome;
      const isSettled = outcome.verdict === 'settled';
      const authorization = authorizationOf(request);
      const look = async (): Promise<ChainFinding> => {
        if (!isSettled) return evidence.find(authorization);
        const named = await evidence.confirm(authorization, outcome.transaction);
        if (named.state !== 'unused') return named;
        const found = await evidence.find(authorization);
        // The node knows the transaction for none of ours: its silence about any other one may end.
        return found.state === 'unknown' ? named : found;
      };
      // By the clock, since a slow node takes longer to answer than the pauses last.
      const nowMs = performance.now();
      const restMs = startMs + SETTLEMENT_MS_MAX - nowMs;
      const endMs = nowMs + Math.min(waitMs, restMs);
      const leftMs = (): number => endMs - performance.now();
      // The node may not have seen yet what the facilitator saw.
      const isOpen = ({ state }: ChainFinding): boolean =>
        state === 'unconfirmed' || (isSettled && state === 'unused');
      // It decides about money, so the first look may take all that is left of the settlement.
      let finding = await inTime(look(), Math.max(FIRST_LOOK_MS_MIN, restMs));
      while (finding !== null && isOpen(finding) && leftMs() > 0) {
        await new Promise((resolve) => setTimeout(resolve, Math.min(pollMs, leftMs())));
        finding = (await inTime(look(), Math.max(pollMs, leftMs()))) ?? finding;
      }
      if (finding === null || finding.state === 'unknown') return UNPROVEN;
      if (finding.state === 'paid') return provenBy(finding);
      if (isSettled) return NOT_THERE;
      return finding.state === 'unconfirmed' ? NOT_DEEP : outcome;
    },
    supported: () => facilitator.supported(),
  };
}

const UNPROVEN: SettleOutcome = {
  verdict: 'none',
  detail: '/settle: answered, but the chain node did not',
};
const NOT_DEEP: SettleOutcome = {
  verdict: 'none',
  detail: '/settle: refused, but the transfer is on the chain and not deep enough yet',
};
const NOT_THERE: SettleOutcome = {
  verdict: 'none',
  detail: '/settle: success, but the chain does not show the transfer',
};
