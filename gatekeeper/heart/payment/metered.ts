import type { Meters, PurchaseStage } from '../../settings/meters.ts';
import type {
  Facilitator,
  FacilitatorRequest,
  NoVerdict,
  SettleOutcome,
  SupportedOutcome,
  ValidityOutcome,
} from '../../settle/facilitator.ts';
import type { Journal } from '../../settle/journal.ts';
import { CallWatch, type ServiceState } from '../../wire/service-state.ts';

/** A facilitator that hangs is noticed by then, long before its calls are given up. */
const SLOW_CALL_MS = 10_000;
/** An outage is reported at most this often, however many payments it affects. */
const REPORT_EVERY_MS = 1000;

type PaymentOutcome = ValidityOutcome | SettleOutcome;
type PaymentCall = 'verify' | 'settle';

/** A facilitator whose calls for payments all go through one function. */
function around(
  facilitator: Facilitator,
  wrap: <T extends PaymentOutcome>(
    ask: () => Promise<T>,
    call: PaymentCall,
    request: FacilitatorRequest,
  ) => Promise<T>,
): Facilitator {
  return {
    verify: (request) => wrap(() => facilitator.verify(request), 'verify', request),
    settle: (request, isFirst) =>
      wrap(() => facilitator.settle(request, isFirst), 'settle', request),
    supported: () => facilitator.supported(),
  };
}

async function staged<T>(meters: Meters, stage: PurchaseStage, run: () => Promise<T>): Promise<T> {
  const started = performance.now();
  try {
    return await run();
  } finally {
    meters.stage(stage, performance.now() - started);
  }
}

/** A journal whose waits and ends are measured, where metrics are on. */
export function meteredJournal(journal: Journal, meters: Meters | undefined): Journal {
  if (meters === undefined) return journal;
  return {
    ...journal,
    claim: (claim) => staged(meters, 'claim', () => journal.claim(claim)),
    async conclude(conclusion) {
      await staged(meters, 'conclude', () => journal.conclude(conclusion));
      meters.concluded(conclusion);
    },
    async review(review) {
      await journal.review(review);
      if (review.state === 'gone') meters.concluded({ key: review.key, state: 'reorganised' });
    },
  };
}

/** The settler of all payments: what a buyer waits for, with whatever proof it takes. */
export function meteredSettler(settler: Facilitator, meters: Meters | undefined): Facilitator {
  if (meters === undefined) return settler;
  return around(settler, (ask, call) => staged(meters, call, ask));
}

/** One facilitator that is named while it hangs, or does not even answer a question of our own. */
export function watchedFacilitator(
  facilitator: Facilitator,
  name: string,
  state: ServiceState,
): Facilitator {
  const calls = new CallWatch({ slowMs: SLOW_CALL_MS });
  state.watch('facilitator_slow', () => calls.fault('a call of the facilitator'), name);
  let isSilent = false;
  const look = async (): Promise<string | null> => {
    if (!isSilent) return null;
    const outcome = await facilitator.supported();
    isSilent = isSilence(outcome);
    return isSilence(outcome) ? outcome.detail : null;
  };
  const lookAgain = state.ask('facilitator_lost', look, name);
  const noted = async <T extends PaymentOutcome | SupportedOutcome>(
    ask: () => Promise<T>,
  ): Promise<T> => {
    const outcome = await ask();
    isSilent = isSilence(outcome);
    if (isSilent || state.trouble('facilitator_lost', name).since !== null) lookAgain();
    return outcome;
  };
  return {
    ...around(facilitator, (ask) => noted(() => calls.watched(ask))),
    supported: () => noted(() => facilitator.supported()),
  };
}

/** Whether nothing at all came back, which no payment of a stranger causes. */
function isSilence(outcome: PaymentOutcome | SupportedOutcome): outcome is NoVerdict {
  return outcome.verdict === 'none' && outcome.status === undefined && outcome.abandoned !== true;
}

/** One facilitator, whose calls and verdicts are counted under its name. */
export function meteredFacilitator(
  facilitator: Facilitator,
  name: string,
  meters: Meters | undefined,
): Facilitator {
  if (meters === undefined) return facilitator;
  return around(facilitator, async (ask, call) => {
    const started = performance.now();
    const outcome = await ask();
    const ms = performance.now() - started;
    const verdict = 'retryMs' in outcome ? 'busy' : outcome.verdict;
    meters.called({ facilitator: name, call, verdict, ms });
    return outcome;
  });
}

export interface MissingVerdict {
  /** The request that it was for. */
  readonly id?: string;
  readonly call: PaymentCall;
  readonly detail: string;
  /** Calls that came to nothing since one was reported last. */
  readonly more: number;
}

/** A facilitator whose missing verdicts are reported to the operator; buyers are only told to try again. */
export function reportingFacilitator(
  facilitator: Facilitator,
  report: (missing: MissingVerdict) => void,
  clock: () => number,
): Facilitator {
  let reportedAtMs = Number.NEGATIVE_INFINITY;
  let more = 0;
  return around(facilitator, async (ask, call, { trace }) => {
    const outcome = await ask();
    if (outcome.verdict !== 'none' || outcome.abandoned === true) return outcome;
    const isNew = Math.abs(clock() - reportedAtMs) >= REPORT_EVERY_MS;
    const named = trace === undefined ? {} : { id: trace.id };
    if (isNew) report({ ...named, call, detail: outcome.detail, more });
    if (isNew) reportedAtMs = clock();
    more = isNew ? 0 : more + 1;
    return outcome;
  });
}
