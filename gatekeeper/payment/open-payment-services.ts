import { type Config, settlementOf } from '../config/config.ts';
import { facilitatorWarning } from '../facilitator/translating-facilitator.ts';
import {
  type JournalOptions,
  keepingSettlements,
  type OpenJournal,
  openJournal,
  watchingWrites,
} from '../journal/open-journal.ts';
import type { Log } from '../log/line-log.ts';
import type { Meters } from '../metrics/meters.ts';
import { OutsideTime } from '../money/clock-guard.ts';
import type { Facilitator } from '../money/facilitator.ts';
import type { Journal } from '../money/journal.ts';
import type { ServiceState } from '../state/service-state.ts';
import { messageOf } from '../system/message-of.ts';
import {
  type MissingVerdict,
  meteredFacilitator,
  meteredJournal,
  meteredSettler,
  reportingFacilitator,
  watchedFacilitator,
} from './metered.ts';
import { openSettlementServices, type SettlementServices } from './open-settlement-services.ts';
import { PayerAdmission } from './payer-admission.ts';
import type { SettlementContext } from './settlement.ts';

export interface PaymentServices extends SettlementServices, Pick<SettlementContext, 'admission'> {
  readonly journal: Journal;
  /** The time as something outside tells it; absent where no money moves. */
  readonly outside?: OutsideTime;
}

export interface PaymentServiceOptions {
  readonly clock: () => number;
  readonly log: Log;
  readonly state: ServiceState;
  /** Stands in for the one that the settings name. */
  readonly facilitator?: Facilitator;
  readonly journal?: Journal;
  readonly meters?: Meters;
  /** Milliseconds of a clock that nobody can set; else that of the process. */
  readonly monotonic?: () => number;
}

/** Throws a StartError that tells what to do when the settings cannot work. */
export async function openPaymentServices(
  config: Config,
  by: PaymentServiceOptions,
): Promise<PaymentServices> {
  const { clock, log, meters, state } = by;
  const report = (error: unknown): void => log({ event: 'chain', error: messageOf(error) });
  const { monotonic = () => performance.now() } = by;
  const outside = new OutsideTime({ clock, monotonic });
  const noteTime = (ms: number): void => outside.note(ms);
  const settlers =
    given(config, by) ??
    (await openSettlementServices(config, { clock, report, noteTime, meters, state }));
  const isMoney = by.facilitator === undefined && settlementOf(config) !== 'test';
  try {
    const passedMs = isMoney ? () => outside.passedMs() : clock;
    const { journal, isLost, close } = await journalOf(config, { ...by, passedMs });
    const watched = watchingWrites(keepingSettlements(journal), { clock, isLost });
    state.watch('journal_failing', watched.failure);
    state.watch('journal_slow', watched.slowness);
    const reportMissing = (missing: MissingVerdict): void =>
      log({ event: 'no_verdict', ...missing });
    // Where money is simulated, whoever has none is welcome.
    const admission =
      settlers.accounts === undefined
        ? {}
        : { admission: new PayerAdmission({ ...settlers, journal, clock, meters }) };
    const settler = reportingFacilitator(settlers.facilitator, reportMissing, clock);
    return {
      ...settlers,
      ...(isMoney ? { outside } : {}),
      ...admission,
      facilitator: meteredSettler(settler, meters),
      journal: meteredJournal(watched.journal, meters),
      async close() {
        await settlers.close();
        await close();
      },
    };
  } catch (error) {
    await settlers.close();
    throw error;
  }
}

/** The facilitator that stands in for the one of the settings. */
function given(
  { network }: Config,
  { facilitator, meters, state }: PaymentServiceOptions,
): SettlementServices | null {
  if (facilitator === undefined) return null;
  return {
    facilitator: meteredFacilitator(
      watchedFacilitator(facilitator, 'given', state),
      'given',
      meters,
    ),
    circuits: () => [],
    warning: () => facilitatorWarning({ facilitator }, network),
    close: async () => {},
  };
}

/** The journal of the settings, or the one that stands in for it and is closed by its owner. */
async function journalOf(
  config: Config,
  by: PaymentServiceOptions & Required<Pick<JournalOptions, 'passedMs'>>,
): Promise<OpenJournal> {
  const { journal, meters, state } = by;
  const lost = state.trouble('journal_lost');
  const measured = meters === undefined ? {} : { onSync: (ms: number) => meters.synced(ms) };
  if (journal === undefined) return openJournal(config, { ...by, ...measured, lost });
  return { journal, isLost: () => false, close: async () => {} };
}
