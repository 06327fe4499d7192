import type { Config } from '../config/config.ts';
import { facilitatorWarning } from '../facilitator/facilitator-health.ts';
import { type MissingVerdict, reportingFacilitator } from '../facilitator/reporting-facilitator.ts';
import { keepingSettlements } from '../journal/kept-settlements.ts';
import { type OpenJournal, openJournal } from '../journal/open-journal.ts';
import { watchingWrites } from '../journal/watched-writes.ts';
import type { Log } from '../log/line-log.ts';
import type { Meters } from '../metrics/meters.ts';
import type { Facilitator } from '../money/facilitator.ts';
import type { Journal } from '../money/journal.ts';
import { SIGN_IN } from '../money/sign-in.ts';
import { messageOf } from '../system/message-of.ts';
import { meteredFacilitator, meteredJournal, meteredSettler } from './metered.ts';
import { openSettlementServices, type SettlementServices } from './open-settlement-services.ts';

/** The settler and the journal of what was settled. */
export interface PaymentServices extends SettlementServices {
  readonly journal: Journal;
  /** Whether payments cannot be written down at this moment. */
  readonly isJournalFailing: () => boolean;
}

/** What the settler and the journal need. */
export interface PaymentServiceOptions {
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly log: Log;
  /** Stands in for the one that the settings name. */
  readonly facilitator?: Facilitator;
  readonly journal?: Journal;
  /** Told what happens, where metrics are on. */
  readonly meters?: Meters;
}

/** Throws a StartError that tells what to do when the settings cannot work. */
export async function openPaymentServices(
  config: Config,
  by: PaymentServiceOptions,
): Promise<PaymentServices> {
  const { clock, log, meters } = by;
  const report = (error: unknown): void => log({ event: 'chain', error: messageOf(error) });
  const settlers =
    given(config, by) ?? (await openSettlementServices(config, { clock, report, meters }));
  try {
    const { journal, isLost, close } = await journalOf(config, by);
    const watched = watchingWrites(keepingSettlements(journal), clock);
    const reportMissing = (missing: MissingVerdict): void =>
      log({ event: 'no_verdict', ...missing });
    const settler = reportingFacilitator({ ...settlers, report: reportMissing, clock });
    return {
      ...settlers,
      facilitator: meteredSettler(settler, meters),
      journal: meteredJournal(watched.journal, meters),
      isJournalFailing: () => isLost() || watched.isFailing(),
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
  { facilitator, meters }: PaymentServiceOptions,
): SettlementServices | null {
  if (facilitator === undefined) return null;
  return {
    facilitator: meteredFacilitator(facilitator, 'given', meters),
    circuits: () => [],
    warning: () => facilitatorWarning({ facilitator }, network),
    close: async () => {},
  };
}

/** The journal of the settings, or the one that stands in for it and is closed by its owner. */
async function journalOf(config: Config, by: PaymentServiceOptions): Promise<OpenJournal> {
  const { journal, meters } = by;
  const measured = meters === undefined ? {} : { onSync: (ms: number) => meters.synced(ms) };
  const findsSales = config.extensions.includes(SIGN_IN);
  if (journal === undefined) return openJournal(config, { ...by, ...measured, findsSales });
  return { journal, isLost: () => false, close: async () => {} };
}
