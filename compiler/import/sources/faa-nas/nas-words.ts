const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const UPDATE =
  /^([A-Z][a-z]{2}) ([A-Z][a-z]{2}) (\d{1,2}) (\d{2}):(\d{2}):(\d{2}) (\d{4}) (?:GMT|UTC)$/;
const DURATION = /^(?:(\d{1,2}) hours?(?: and (\d{1,2}) minutes?)?|(\d{1,3}) minutes?)$/;
const NOTAM =
  /^!\S+ \d{1,2}\/\d{3} (\w{3}) AD AP CLSD(?: (.+))? (\d{10})-(?:(\d{10})(?:EST)?|PERM)$/;
const STAMP = /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/;

/** "Thu Oct 1 01:33:39 2026 GMT" in epoch milliseconds; null where it is written otherwise or no such day exists. */
export function updateTime(text: string): number | null {
  const [, weekday = '', month = '', day, hour, minute, second, year] = UPDATE.exec(text) ?? [];
  const time = instant([year, MONTHS.indexOf(month) + 1, day, hour, minute, second].map(Number));
  return time !== null && new Date(time).getUTCDay() === WEEKDAYS.indexOf(weekday) ? time : null;
}

/** Minutes of "3 hours and 4 minutes"; null where it is written otherwise. */
export function minutesOf(text: string): number | null {
  const found = DURATION.exec(text);
  if (found === null) return null;
  const [, hours = '0', minutes = '0', only] = found;
  if (only !== undefined) return Number(only);
  return Number(minutes) < 60 ? Number(hours) * 60 + Number(minutes) : null;
}

/** What a notice about a whole airport closes, and from when to when, in epoch milliseconds. */
export interface Notice {
  /** "AD AP CLSD TO …" keeps some aircraft out, "AD AP CLSD" all of them. */
  readonly isPartial: boolean;
  readonly from: number;
  readonly to: number;
}

/** Reads `!LAX 05/277 LAX AD AP CLSD TO … 2605271826-2705281600`; null for any other notice, and for another airport. */
export function noticeOf(text: string, airport: string): Notice | null {
  const [, code = '', whom, start = '', end] = NOTAM.exec(text.trim()) ?? [];
  const from = stampTime(start);
  const to = end === undefined ? Number.POSITIVE_INFINITY : stampTime(end);
  const isReadable = whom === undefined || whom.startsWith('TO ');
  if (code.toLowerCase() !== airport || from === null || to === null || to < from) return null;
  return isReadable ? { isPartial: whom !== undefined, from, to } : null;
}

/** YYMMDDHHMM, always UTC. */
function stampTime(text: string): number | null {
  const [, year, month, day, hour, minute] = STAMP.exec(text) ?? [];
  return instant([2000 + Number(year), ...[month, day, hour, minute].map(Number)]);
}

/** Epoch milliseconds of year, month, day, hour, minute and second; null where there is no such time. */
function instant([
  year = Number.NaN,
  month = 0,
  day = 0,
  hour = 0,
  minute = 0,
  second = 0,
]: readonly number[]) {
  const time = Date.UTC(year, month - 1, day, hour, minute, second);
  const isReal =
    new Date(time).getUTCMonth() === month - 1 &&
    new Date(time).getUTCDate() === day &&
    hour < 24 &&
    minute < 60 &&
    second < 60;
  return isReal ? time : null;
}
