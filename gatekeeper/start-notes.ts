// What a gatekeeper tells its log of itself, and the state of its service.

import { isStale } from '../compiler/contract/release.ts';
import type { FirstService } from './answers/open-service.ts';
import { settlementWarnings } from './config/settlement-warnings.ts';
import { shownSettings } from './config/shown-settings.ts';
import { clockFailure } from './money/clock-guard.ts';
import { OFFER_RECEIPT } from './money/offer-receipt.ts';
import { keepNewest } from './release/newest-served.ts';
import { subscriptionWarnings } from './release/offers.ts';
import type { ReleaseIndex } from './release/release-index.ts';
import type { Setting } from './start-setting.ts';
import { messageOf } from './system/message-of.ts';

/** What runs from now on, without what only its operator may know. */
export function noteStart(setting: Setting, url: string, { head, offers }: ReleaseIndex): void {
  const { config, by, metrics } = setting;
  const { version = null } = by;
  const { sequence, as_of } = head;
  const release = { sequence, as_of };
  const settings = shownSettings(config);
  const at = metrics?.url == null ? {} : { metrics: metrics.url };
  by.log({ event: 'started', version, node: process.version, url, ...at, release, settings });
  for (const warning of settlementWarnings(config))
    by.log({ event: 'settlement_warning', warning });
  for (const warning of subscriptionWarnings(offers, config.tokenSecret !== null))
    by.log({ event: 'subscription_warning', warning });
}

/** Remembers the newest release; what goes wrong there keeps nothing from being served. */
export function noteServing(setting: Setting, first: FirstService, release: ReleaseIndex): void {
  const { config, by, source } = setting;
  noteSigner(setting, first, release);
  void source.served(release);
  try {
    keepNewest(config.stateDir, release);
  } catch (error) {
    by.log({ event: 'newest_release_not_kept', error: messageOf(error) });
  }
}

/** Says why receipts are not signed, though the settings want them: then the extension is not announced. */
function noteSigner({ by }: Setting, { signer }: FirstService, { head }: ReleaseIndex): void {
  const fault = signer?.fault() ?? null;
  if (signer === null || fault === null) return;
  const error = `"${OFFER_RECEIPT}" is not announced: ${fault}`;
  by.log({ event: 'offer_receipt_off', error, key: signer.did, release: head.sequence });
}

/** What nobody reports, and has to be asked for again and again. */
export function watchOwnState({ by, payments }: Setting, served: () => ReleaseIndex): void {
  const { clock, state } = by;
  state.watch(
    'clock_behind',
    () => clockFailure(clock(), payments.journal.newestMs())?.message ?? null,
  );
  state.watch('clock_off', () => payments.outside?.fault()?.message ?? null);
  state.watch('release_stale', () => {
    const { head } = served();
    return isStale(head, clock()) ? `release ${head.sequence} is past ${head.valid_until}` : null;
  });
}
