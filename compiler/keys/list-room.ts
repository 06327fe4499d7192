import { DAY_MS, isoTime } from '../contract/iso-time.ts';
import { formatKeyHistory, KEYS_BYTES_MAX, type KeyHistory } from '../contract/key-history.ts';
import { KEYS_MAX, ROOT_VERSIONS_MAX } from '../contract/root-statement.ts';

/** From this part of what a list may hold on it is said: of versions of a root, one a quarter, four years are left. */
const WARNED_PART = 0.75;
/** So long before no key is left to sign with it is said: one version of a root a quarter. */
const END_WARNED_MS = 90 * DAY_MS;

/** What will keep a later release or change of keys from being published, a line each. */
export function keyWarnings(history: KeyHistory, now: string): string[] {
  return [...roomSentences(history), ...endSentence(history, now)].map(
    (text) => `Warning: ${text}`,
  );
}

/** What a list may hold that is nearly used up. */
function roomSentences(history: KeyHistory): string[] {
  const { keys, revocations, receipt_keys = [], roots = [] } = history;
  const rooted = roots.at(-1)?.receipt_keys ?? [];
  const used = [
    ['versions of a root', roots.length, ROOT_VERSIONS_MAX],
    ['issuer keys', keys.length, KEYS_MAX],
    ['revocations', revocations.length, KEYS_MAX],
    ['receipt keys', Math.max(receipt_keys.length, rooted.length), KEYS_MAX],
    ['bytes', Buffer.byteLength(formatKeyHistory(history)), KEYS_BYTES_MAX],
  ] as const;
  return used
    .filter(([, count, most]) => count >= WARNED_PART * most)
    .map(
      ([what, count, most]) =>
        `the list of keys holds ${count} of at most ${most} ${what}; before it is full, begin a new list in a new folder, and tell readers its first key`,
    );
}

/** Under a root the newest key may have an end, too. */
function endSentence({ keys }: KeyHistory, now: string): string[] {
  const used = keys.filter(({ revoked_from }) => revoked_from === null);
  const ends = used.map(({ valid_until }) =>
    valid_until === null ? Number.POSITIVE_INFINITY : Date.parse(valid_until),
  );
  const last = Math.max(...ends);
  if (ends.length === 0 || last - Date.parse(now) > END_WARNED_MS) return [];
  return [
    `no issuer key signs after ${isoTime(last)}; name the next one before, with "signalpress root draft --add"`,
  ];
}
