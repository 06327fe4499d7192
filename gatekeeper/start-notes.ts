// What a gatekeeper tells its log of itself, and why it is not well.

import { isStale } from '../compiler/contract/release.ts';
import type { FirstService } from './answers/open-service.ts';
import { settlementWarnings } from './config/settlement-warnings.ts';
import { shownSettings } from './config/shown-settings.ts';
import { clockFailure, clockIsBehind } from './money/clock-guard.ts';
import { OFFER_RECEIPT } from './money/offer-receipt.ts';
import { earlierWarning, renewEarlier } from './release/earlier-releases.ts';
import { keepNewest } from './release/newest-served.ts';
import type { ReleaseIndex } from './release/release-index.ts';
import type { ReleaseWatcher } from './release/watch-release.ts';
import type { Setting } from './start-setting.ts';
import { messageOf } from './system/message-of.ts';

/** What runs from now on, without what only its operator may know. */
export function noteStart(setting: Setting, url: string, { head }: ReleaseIndex): void {
  const { config, by, metrics } = setting;
  const { version = null } = by;
  const { sequence, as_of } = head;
  const release = { sequence, as_of };
  const settings = shownSettings(config);
  const at = metrics?.url == null ? {} : { metrics: metrics.url };
  by.log({ event: 'started', version, node: process.version, url, ...at, release, settings });
  for (const warning of settlementWarnings(config))
    by.log({ event: 'settlement_warning', warning });
  noteClock(setting);
}

/** Remembers the newest release, and says when it is stale; neither keeps anything from being served. */
export function noteServing(setting: Setting, first: FirstService, release: ReleaseIndex): void {
  const { config, by, source } = setting;
  noteSigner(setting, first, release);
  void source.served(release);
  void renewEarlier(release);
  const warning = earlierWarning(release);
  if (warning !== null) by.log({ event: 'as_of_newest_only', warning });
  try {
    keepNewest(config.stateDir, release);
  } catch (error) {
    by.log({ event: 'newest_release_not_kept', error: messageOf(error) });
  }
  const { sequence, valid_until } = release.head;
  if (isStale(release.head, by.clock()))
    by.log({ event: 'release_stale', release: sequence, valid_until });
}

/** Says why offers and receipts are not signed, though the settings want them: then the extension is not announced. */
function noteSigner({ by }: Setting, { signer }: FirstService, { head }: ReleaseIndex): void {
  const fault = signer?.fault() ?? null;
  if (signer === null || fault === null) return;
  const error = `"${OFFER_RECEIPT}" is not announced: ${fault}`;
  by.log({ event: 'offer_receipt_off', error, key: signer.did, release: head.sequence });
}

/** Reports that no payment will be taken before the first one is refused. */
function noteClock({ by, payments }: Setting): void {
  const failure = clockFailure(by.clock(), payments.journal.newestMs());
  if (failure !== null) by.log({ event: 'clock_behind', error: failure.message });
}

/** What keeps payments or answers away at this moment, as far as it is known without asking anybody. */
export function failures({ by, payments }: Setting, watcher: ReleaseWatcher): string[] {
  const isBehind = clockIsBehind(by.clock(), payments.journal.newestMs());
  const unseen = watcher.failure();
  return [
    ...(isBehind ? ['the clock is behind the payment journal: no new payment is taken'] : []),
    ...(payments.isJournalFailing() ? ['the payment journal cannot be written: see the log'] : []),
    ...(unseen === null ? [] : [unseen]),
  ];
}
