/** Public OpenTimestamps calendars that take digests; any may be replaced with `--calendar`. */
export const SUBMIT_CALENDARS: readonly string[] = [
  'https://a.pool.opentimestamps.org',
  'https://b.pool.opentimestamps.org',
  'https://a.pool.eternitywall.com',
  'https://ots.btc.catallaxy.com',
];

/** Calendars that a proof of the ones above names; no other address in a proof is ever asked. */
export const UPGRADE_CALENDARS: readonly string[] = [
  'https://alice.btc.calendar.opentimestamps.org',
  'https://bob.btc.calendar.opentimestamps.org',
  'https://finney.calendar.eternitywall.com',
  'https://btc.calendar.catallaxy.com',
];

const LOOPBACK = new Set(['127.0.0.1', '[::1]', 'localhost']);

/** The address of a calendar in its one spelling; throws a RangeError unless it is https, or http to this very machine. */
export function calendarUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isSafe =
    url?.protocol === 'https:' || (url?.protocol === 'http:' && LOOPBACK.has(url.hostname));
  if (url === null || !isSafe || url.username !== '' || url.search !== '' || url.hash !== '') {
    throw new RangeError(
      `Cannot ask calendar "${text.slice(0, 200)}": not an https address; pass one such as ${SUBMIT_CALENDARS[0]}`,
    );
  }
  return url.href.replace(/\/+$/, '');
}
