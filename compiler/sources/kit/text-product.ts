import { DAY_MS, HOUR_MS } from '../../format/iso-time.ts';
import { zoneOffset } from './local-time.ts';
import { fetchAgain, ImportError, type Payload, textOf } from './payload.ts';
import { observedAt } from './readings.ts';

/** A text product of the US weather service: its heading and its lines, without control characters and trailing spaces. */
export interface TextProduct {
  /** Day of the month, hour and minute of its heading, in UTC: `171637`. */
  readonly stamp: string;
  /** Name of the product, with the office that it is of: `LSRDMX`. */
  readonly name: string;
  readonly lines: readonly string[];
}

/** When a product was issued, in epoch milliseconds, and how far its local time is from UTC. */
export interface Issue {
  readonly at: number;
  readonly offset: number;
}

const HEADING = /^[A-Z]{4}\d{2} [A-Z]{4} (\d{6})( [A-Z]{3})?$/;
/** A product may begin with a control character and a number of its own. */
const HEADING_LINES_MAX = 8;
const CONTROLS = /[^ -~]/g;
const NAME = /^[A-Z0-9]{4,6}$/;
const MONTHS = 'JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC'.split(' ');
export const WEEKDAYS = 'SUN MON TUE WED THU FRI SAT'.split(' ');
const ISSUE_LINE = new RegExp(
  `^(\\d{1,2})(\\d{2}) ([AP]M) ([A-Z]{3,4}) (${WEEKDAYS.join('|')}) (${MONTHS.join('|')}) +(\\d{1,2}) (\\d{4})$`,
  'i',
);
/** A heading is written when a product is sent, its local time when it is made. */
const SENDING_HOURS_MAX = 2;

/** Products that say too little by themselves, by the first letters of their names. */
const OTHERS: ReadonlyMap<string, string> = new Map([
  ['TCP', 'the public text of one storm'],
  ['SEL', 'the text of one watch'],
  ['SAW', 'the outline of one watch'],
  ['WWP', 'the probabilities of one watch'],
  ['TOR', 'one tornado warning'],
  ['SVR', 'one severe thunderstorm warning'],
  ['SVS', 'a statement on one warning'],
  ['PTS', 'the points of an outlook'],
  ['LSR', 'local storm reports'],
  ['FLW', 'a flood warning'],
  ['FLS', 'a flood statement'],
]);

/** The text product that a payload is, or null for anything without the heading of one. */
export function productIn(payload: Payload): TextProduct | null {
  const lines = textOf(payload)
    .split('\n')
    .map((line) => line.replaceAll(CONTROLS, '').trimEnd());
  const at = lines.slice(0, HEADING_LINES_MAX).findIndex((line) => HEADING.test(line));
  const [, stamp] = HEADING.exec(lines[at] ?? '') ?? [];
  const name = lines[at + 1] ?? '';
  if (stamp === undefined || !NAME.test(name)) return null;
  return { stamp, name, lines: lines.slice(at + 2) };
}

/** Throws the ImportError for a product that the source does not read, which says what it is and what to import. */
export function refuseProduct(subject: string, { name }: TextProduct, instead: string): never {
  const what = OTHERS.get(name.slice(0, 3)) ?? 'another text product';
  throw new ImportError({ subject, state: `it is ${name}, ${what}; import ${instead}` });
}

/** Throws an ImportError where a product does not say when it was issued, or says it in two ways that do not fit. */
export function issueOf({ stamp, lines }: TextProduct, payload: Payload): Issue {
  const line = lines.find((one) => ISSUE_LINE.test(one));
  const issue = line === undefined ? null : issueIn(line);
  if (issue === null) {
    const state = `no time of issue that can be read: "${line ?? ''}"; its day does not exist, or its zone is not known`;
    throw new ImportError({ subject: payload.subject, state });
  }
  if (!fitsStamp(issue.at, stamp)) {
    throw fetchAgain(payload, `issued "${line}", but its heading says ${stamp}`);
  }
  observedAt(issue.at, payload);
  return issue;
}

/** The instant of a line such as "1135 AM CDT FRI APR 17 2026"; null for a zone or a day that does not exist. */
function issueIn(line: string): Issue | null {
  const [, hour, minute, half, zone = '', weekday = '', month = '', day, year] =
    ISSUE_LINE.exec(line) ?? [];
  const offset = zoneOffset(zone);
  const minutes = minutesOfDay({ hour, minute, half });
  const midnight = Date.UTC(Number(year), MONTHS.indexOf(month.toUpperCase()), Number(day));
  const { [new Date(midnight).getUTCDay()]: named } = WEEKDAYS;
  const isDay = named === weekday.toUpperCase() && new Date(midnight).getUTCDate() === Number(day);
  if (offset === null || minutes === null || !isDay) return null;
  return { at: midnight + minutes * 60_000 - offset, offset };
}

/** Minutes since midnight of a time on a 12-hour clock; null for one that does not exist. */
export function minutesOfDay({
  hour,
  minute,
  half,
}: {
  hour: string | undefined;
  minute: string | undefined;
  half: string | undefined;
}): number | null {
  const [hours, minutes] = [Number(hour), Number(minute)];
  if (!(hours >= 1 && hours <= 12 && minutes <= 59) || half === undefined) return null;
  return (hours % 12) * 60 + minutes + (half.toUpperCase() === 'PM' ? 720 : 0);
}

/** Whether day, hour and minute of a heading, in whatever month, are close to an instant. */
function fitsStamp(at: number, stamp: string): boolean {
  return [at - DAY_MS, at, at + DAY_MS].some((near) => {
    const sent = onDay(near, stamp);
    return sent !== null && Math.abs(sent - at) <= SENDING_HOURS_MAX * HOUR_MS;
  });
}

/** The instant `DDHHMM` on the UTC day of another one; null where that is another day of its month. */
function onDay(near: number, stamp: string): number | null {
  const [day, hour, minute] = [stamp.slice(0, 2), stamp.slice(2, 4), stamp.slice(4, 6)];
  const date = new Date(near);
  if (date.getUTCDate() !== Number(day)) return null;
  return date.setUTCHours(Number(hour), Number(minute), 0, 0);
}

/** The first instant from `after` on that a product writes as `DDHHMM` in UTC; null where there is none within 31 days. */
export function instantAfter(after: number, stamp: string): number | null {
  for (let days = 0; days <= 31; days += 1) {
    const at = onDay(after + days * DAY_MS, stamp);
    if (at !== null && at >= after) return at;
  }
  return null;
}
