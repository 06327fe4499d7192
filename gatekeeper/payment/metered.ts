import type { FacilitatorCall, Meters, PurchaseStage } from '../metrics/meters.ts';
import type {
  Facilitator,
  FacilitatorRequest,
  NoVerdict,
  SettleOutcome,
  SupportedOutcome,
  ValidityOutcome,
} from '../money/facilitator.ts';
import type { Journal } from '../money/journal.ts';
import { CallWatch } from '../state/call-watch.ts';
import type { ServiceState } from '../state/service-state.ts';

/** A facilitator that hangs is noticed by then, long before its calls are given up. */
const SLOW_CALL_MS = 10_000;

/** Runs something and tells how long it took, however it ends. */
async function timed<T>(run: () => Promise<T>, note: (ms: number) => void): Promise<T> {
  const started = performance.now();
  try {
    return await run();
  } finally {
    note(performance.now() - started);
  }
}

function staged<T>(meters: Meters, stage: PurchaseStage, run: () => Promise<T>): Promise<T> {
  return timed(run, (ms) => meters.stage(stage, ms));
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
  return {
    verify: (request) => staged(meters, 'verify', () => settler.verify(request)),
    settle: (request, isFirst) => staged(meters, 'settle', () => settler.settle(request, isFirst)),
    supported: () => settler.supported(),
  };
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
  const noted = async <T extends AnyOutcome>(call: () => Promise<T>): Promise<T> => {
    const outcome = await call();
    isSilent = isSilence(outcome);
    if (isSilent || state.trouble('facilitator_lost', name).since !== null) lookAgain();
    return outcome;
  };
  return {
    verify: (request) => noted(() => calls.watched(() => facilitator.verify(request))),
    settle: (request, isFirst) =>
      noted(() => calls.watched(() => facilitator.settle(request, isFirst))),
    supported: () => noted(() => facilitator.supported()),
  };
}

type AnyOutcome = ValidityOutcome | SettleOutcome | SupportedOutcome;

/** Whether nothing at all came back, which no payment of a stranger causes. */
function isSilence(outcome: AnyOutcome): outcome is NoVerdict {
  return outcome.verdict === 'none' && outcome.status === undefined && outcome.abandoned !== true;
}

/** One facilitator, whose calls and verdicts are counted under its name. */
export function meteredFacilitator(
  facilitator: Facilitator,
  name: string,
  meters: Meters | undefined,
): Facilitator {
  if (meters === undefined) return facilitator;
  const counted = async <T extends { readonly verdict: string }>(
    call: FacilitatorCall['call'],
    ask: () => Promise<T>,
  ): Promise<T> => {
    const started = performance.now();
    const outcome = await ask();
    const ms = performance.now() - started;
    const verdict = 'retryMs' in outcome ? 'busy' : outcome.verdict;
    meters.called({ facilitator: name, call, verdict, ms });
    return outcome;
  };
  return {
    verify: (request) => counted('verify', () => facilitator.verify(request)),
    settle: (request, isFirst) => counted('settle', () => facilitator.settle(request, isFirst)),
    supported: () => facilitator.supported(),
  };
}

/** An outage is reported at most this often, however many payments it affects. */
const REPORT_EVERY_MS = 1000;

/** A call that brought no verdict. */
export interface MissingVerdict {
  /** The request that it was for. */
  readonly id?: string;
  readonly call: 'verify' | 'settle';
  readonly detail: string;
  /** Calls that came to nothing since one was reported last. */
  readonly more: number;
}

interface ReportingFacilitatorOptions {
  readonly facilitator: Facilitator;
  readonly report: (missing: MissingVerdict) => void;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** A facilitator whose missing verdicts are reported to the operator; buyers are only told to try again. */
export function reportingFacilitator({
  facilitator,
  report,
  clock,
}: ReportingFacilitatorOptions): Facilitator {
  let reportedAtMs = Number.NEGATIVE_INFINITY;
  let more = 0;
  const note = (
    call: MissingVerdict['call'],
    { trace }: FacilitatorRequest,
    outcome: ValidityOutcome | SettleOutcome,
  ): void => {
    if (outcome.verdict !== 'none' || outcome.abandoned === true) return;
    const isNew = Math.abs(clock() - reportedAtMs) >= REPORT_EVERY_MS;
    const named = trace === undefined ? {} : { id: trace.id };
    if (isNew) report({ ...named, call, detail: outcome.detail, more });
    if (isNew) reportedAtMs = clock();
    more = isNew ? 0 : more + 1;
  };
  return {
    async verify(request) {
      const outcome = await facilitator.verify(request);
      note('verify', request, outcome);
      return outcome;
    },
    async settle(request, isFirst) {
      const outcome = await facilitator.settle(request, isFirst);
      note('settle', request, outcome);
      return outcome;
    },
    supported: () => facilitator.supported(),
  };
}
