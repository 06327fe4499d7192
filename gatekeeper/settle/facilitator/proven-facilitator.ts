import { inTime } from '../../wire/slots.ts';
import type { ChainEvidence, ChainFinding } from '../evidence.ts';
import {
  authorizationOf,
  type Facilitator,
  type FacilitatorRequest,
  provenBy,
  type SettleOutcome,
} from '../facilitator.ts';
import { SETTLEMENT_MS_MAX } from '../networks.ts';

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
interface TransferWatch extends ProvenFacilitatorOptions {
  readonly request: FacilitatorRequest;
  /** It decides about money, so the first look may take all that is left of the settlement. */
  readonly firstMs: number;
  /** By the clock, since a slow node takes longer to answer than the pauses last. */
  readonly leftMs: () => number;
}

function watchOf(
  options: ProvenFacilitatorOptions,
  request: FacilitatorRequest,
  startMs: number,
): TransferWatch {
  const nowMs = performance.now();
  const restMs = startMs + SETTLEMENT_MS_MAX - nowMs;
  const endMs = nowMs + Math.min(options.waitMs, restMs);
  const firstMs = Math.max(FIRST_LOOK_MS_MIN, restMs);
  return { ...options, request, firstMs, leftMs: () => endMs - performance.now() };
}

/** Looks, and as long as that leaves it open looks again, until the time is over; null when not even the first look ended. */
async function looked(
  { firstMs, leftMs, pollMs = PROOF_POLL_MS }: TransferWatch,
  look: () => Promise<ChainFinding>,
  isOpen: (state: ChainFinding['state']) => boolean,
): Promise<ChainFinding | null> {
  let finding = await inTime(look(), firstMs);
  while (finding !== null && isOpen(finding.state) && leftMs() > 0) {
    await new Promise((resolve) => setTimeout(resolve, Math.min(pollMs, leftMs())));
    finding = (await inTime(look(), Math.max(pollMs, leftMs()))) ?? finding;
  }
  return finding;
}

type OutcomeOf<Verdict> = Extract<SettleOutcome, { verdict: Verdict }>;

async function proven(watch: TransferWatch, outcome: OutcomeOf<'settled'>): Promise<SettleOutcome> {
  const { evidence, request } = watch;
  const authorization = authorizationOf(request);
  const look = async (): Promise<ChainFinding> => {
    const named = await evidence.confirm(authorization, outcome.transaction);
    if (named.state !== 'unused') return named;
    const found = await evidence.find(authorization);
    // The node knows the transaction for none of ours: its silence about any other one may end.
    return found.state === 'unknown' ? named : found;
  };
  // The node may not have seen yet what the facilitator saw.
  const finding = await looked(watch, look, (state) => ['unused', 'unconfirmed'].includes(state));
  if (finding === null || finding.state === 'unknown') return UNPROVEN;
  return finding.state === 'paid' ? provenBy(finding) : NOT_THERE;
}

async function unlessThere(
  watch: TransferWatch,
  outcome: OutcomeOf<'refused'>,
): Promise<SettleOutcome> {
  const { evidence, request } = watch;
  const look = (): Promise<ChainFinding> => evidence.find(authorizationOf(request));
  const finding = await looked(watch, look, (state) => state === 'unconfirmed');
  if (finding === null || finding.state === 'unknown') return UNPROVEN;
  if (finding.state === 'unconfirmed') return NOT_DEEP;
  return finding.state === 'paid' ? provenBy(finding) : outcome;
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
