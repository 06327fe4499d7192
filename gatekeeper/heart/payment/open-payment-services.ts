import { messageOf } from '../../../compiler/format/errors.ts';
import { type Config, settlementOf } from '../../settings/config.ts';
import type { Meters } from '../../settings/meters.ts';
import { OutsideTime } from '../../settle/clock-guard.ts';
import { facilitatorWarning } from '../../settle/facilitator/translating-facilitator.ts';
import type { Facilitator } from '../../settle/facilitator.ts';
import type { Journal } from '../../settle/journal.ts';
import type { Log } from '../../wire/log/line-log.ts';
import type { ServiceState } from '../../wire/service-state.ts';
import { keepingSettlements, openJournal, watchingWrites } from '../journal/open-journal.ts';
import {
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
  const { facilitator: given } = by;
  const settlers: SettlementServices =
    given === undefined
      ? await openSettlementServices(config, { clock, log, report, noteTime, meters, state })
      : {
          facilitator: meteredFacilitator(
            watchedFacilitator(given, 'given', state),
            'given',
            meters,
          ),
          circuits: () => [],
          listings: () => [],
          warning: () => facilitatorWarning({ facilitator: given }, config.network),
          close: async () => {},
        };
  const isMoney = given === undefined && settlementOf(config) !== 'test';
  try {
    const passedMs = isMoney ? () => outside.passedMs() : clock;
    const lost = state.trouble('journal_lost');
    const measured = meters === undefined ? {} : { onSync: (ms: number) => meters.synced(ms) };
    // One that stands in for that of the settings is closed by its owner.
    const { journal, isLost, close } =
      by.journal === undefined
        ? await openJournal(config, { ...by, ...measured, passedMs, lost })
        : { journal: by.journal, isLost: () => false, close: async () => {} };
    const watched = watchingWrites(keepingSettlements(journal), { clock, isLost });
    state.watch('journal_failing', watched.failure);
    state.watch('journal_slow', watched.slowness);
    // Where money is simulated, whoever has none is welcome.
    const admission =
      settlers.accounts === undefined
        ? {}
        : { admission: new PayerAdmission({ ...settlers, journal, clock, meters }) };
    const settler = reportingFacilitator(
      settlers.facilitator,
      (missing) => log({ event: 'no_verdict', ...missing }),
      clock,
    );
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
