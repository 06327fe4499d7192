import type {
  Facilitator,
  FacilitatorRequest,
  SettleOutcome,
  ValidityOutcome,
} from '../money/facilitator.ts';

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
