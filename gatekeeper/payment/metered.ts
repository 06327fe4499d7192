import type { FacilitatorCall, Meters, PurchaseStage } from '../metrics/meters.ts';
import type { Facilitator } from '../money/facilitator.ts';
import type { Journal } from '../money/journal.ts';

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
    meters.called({ facilitator: name, call, verdict: outcome.verdict, ms });
    return outcome;
  };
  return {
    verify: (request) => counted('verify', () => facilitator.verify(request)),
    settle: (request, isFirst) => counted('settle', () => facilitator.settle(request, isFirst)),
    supported: () => facilitator.supported(),
  };
}
