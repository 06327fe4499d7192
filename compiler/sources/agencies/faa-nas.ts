import { z } from 'zod';
import { builtinLine } from '../../catalog/builtin.ts';
import { neutralFault } from '../../catalog/neutral-text.ts';
import { DAY_MS, HOUR_MS } from '../../format/iso-time.ts';
import { firstTwice } from '../../format/lists.ts';
import { fetchAgain, ImportError, type Imported, type Payload, shaped } from '../kit/payload.ts';
import { xmlDocument } from '../kit/payload-formats.ts';
import { measuredBy, nameOf, observedAt, ReadingList } from '../kit/readings.ts';
import { registered, type Source } from '../kit/source.ts';

/** An element with text; every element of a document is a list. */
const text = z.tuple([z.string().trim().min(1)]).transform(([value]) => value);
const code = z
  .tuple([z.string().regex(/^[A-Z0-9]{3,4}$/)])
  .transform(([value]) => value.toLowerCase());
const entry = z.looseObject({ ARPT: code, Reason: text });
/** Lists of programmes for a part of the sky, which name no airport. */
const SKY: readonly string[] = ['Airspace_Flow_List', 'CTOP_List'];
const documentSchema = z.strictObject({
  Update_Time: text,
  Dtd_File: z.array(z.unknown()).optional(),
  Delay_type: z
    .array(
      z
        .record(z.string(), z.array(z.unknown()))
        .refine((kind) => Object.keys(kind).some(isList), 'no list in it'),
    )
    .default([]),
});

function isList(name: string): boolean {
  return name.endsWith('_List');
}

const PROGRAMMES = [
  'restriction',
  'arrival-delay',
  'departure-delay',
  'ground-delay',
  'ground-stop',
  'closure',
] as const;

/** One entry of the document about one airport; times are words, as published. */
interface Programme {
  /** In lower case. */
  readonly airport: string;
  readonly kind: Exclude<(typeof PROGRAMMES)[number], 'restriction'>;
  readonly reason: string;
  readonly avg?: string | undefined;
  readonly min?: string | undefined;
  readonly max?: string | undefined;
  readonly trend?: string | undefined;
}

/** Why nothing can be said of an airport; of one that no entry names, nobody knows which it is. */
interface Unread {
  readonly airport: string | null;
  /** What its list holds once of each airport: one that is listed with it is another airport. */
  readonly once?: Programme['kind'] | undefined;
  readonly why: string;
}

/** The document of the FAA, with the entries and lists that cannot be read; throws an ImportError for another document. */
function nasDocument(payload: Payload) {
  const { subject } = payload;
  const root = xmlDocument(payload, 'AIRPORT_STATUS_INFORMATION');
  const is = 'the airport status of the FAA';
  const { Update_Time, Delay_type } = shaped(documentSchema, root, { subject, is });
  const programmes: Programme[] = [];
  const unread: Unread[] = [];
  const lists = Delay_type.flatMap((kind) => Object.entries(kind).filter(([name]) => isList(name)));
  for (const [name, found] of lists) {
    if (SKY.includes(name)) continue;
    const read = programmesIn(name, found);
    programmes.push(...read.programmes);
    unread.push(...read.unread);
  }
  const remarks = lists.some(([name]) => SKY.includes(name)) ? [SKY_LEFT_OUT] : [];
  return { updated: Update_Time, programmes, unread, remarks };
}

const SKY_LEFT_OUT = 'airspace flow programmes name no airport and are left out';

/** What a list of another kind says of an airport that it names is not known; one for a part of the sky names none. */
function unknownList(name: string, found: unknown): Unread[] {
  const text = JSON.stringify(found);
  const codes = [...text.matchAll(/"ARPT":\["([A-Za-z0-9]{3,4})"\]/g)];
  const why = `a list of an unknown kind, ${name.slice(0, 40)}`;
  if (codes.length === 0 && !text.includes('"CTL_Element"')) return [{ airport: null, why }];
  return codes.map(([, airport = '']) => ({ airport: airport.toLowerCase(), why }));
}

/** What a kind of list calls its entries, and what it makes of one, or why it cannot be read. */
function listOf<Entry extends z.ZodType>(
  item: string,
  schema: Entry,
  programmes: (one: z.infer<Entry>) => Programme[],
  once?: Programme['kind'],
) {
  const read = (given: unknown): Programme[] | string => {
    const { data, error } = schema.safeParse(given);
    if (data !== undefined) return programmes(data);
    return `an entry of ${item} that cannot be read (${error?.issues[0]?.path.join('.')})`;
  };
  return { item, read, once };
}

const of = ({ ARPT, Reason }: z.infer<typeof entry>) => ({ airport: ARPT, reason: Reason });
const delay = z.looseObject({
  '@Type': z.enum(['Arrival', 'Departure']),
  Min: text,
  Max: text,
  Trend: text,
});
const LISTS: ReadonlyMap<string, ReturnType<typeof listOf>> = new Map([
  [
    'Ground_Stop_List',
    listOf('Program', entry, (one) => [{ ...of(one), kind: 'ground-stop' }], 'ground-stop'),
  ],
  [
    'Ground_Delay_List',
    listOf(
      'Ground_Delay',
      entry.extend({ Avg: text, Max: text.optional() }),
      (one) => [{ ...of(one), kind: 'ground-delay', avg: one.Avg, max: one.Max }],
      'ground-delay',
    ),
  ],
  [
    'Arrival_Departure_Delay_List',
    listOf('Delay', entry.extend({ Arrival_Departure: z.array(delay).min(1) }), (one) =>
      one.Arrival_Departure.map(({ '@Type': type, Min: min, Max: max, Trend: trend }) => {
        const kind = type === 'Arrival' ? 'arrival-delay' : 'departure-delay';
        return { ...of(one), kind, min, max, trend };
      }),
    ),
  ],
  ['Airport_Closure_List', listOf('Airport', entry, (one) => [{ ...of(one), kind: 'closure' }])],
]);
const codedSchema = z.looseObject({ ARPT: code });

/** The programmes of a list, and the entries that cannot be read. */
function programmesIn(name: string, found: readonly unknown[]) {
  const { item, read, once } = LISTS.get(name) ?? { item: '', read: () => '' };
  const whole = z.tuple([z.strictObject({ [item]: z.array(z.unknown()).min(1) })]);
  const entries = whole.safeParse(found).data?.[0][item];
  const programmes: Programme[] = [];
  const unread = entries === undefined ? unknownList(name, found) : [];
  for (const one of entries ?? []) {
    const own = read(one);
    if (typeof own !== 'string') programmes.push(...own);
    else unread.push({ airport: codedSchema.safeParse(one).data?.ARPT ?? null, once, why: own });
  }
  return { programmes, unread };
}

const AIRPORTS = builtinLine('nas').entities;

const SIGNAL = 'nas.ground_ops';
const AGENCY = 'FAA National Airspace System Status';
/** An older document does not say what is in force; the choice is ours. */
const FRESH_MS = HOUR_MS;
const BANDS: Readonly<Record<(typeof PROGRAMMES)[number], string>> = {
  restriction: 'normal',
  'arrival-delay': 'minor_delay',
  'departure-delay': 'minor_delay',
  'ground-delay': 'gdp',
  'ground-stop': 'ground_stop',
  closure: 'closure',
};
const TRENDS: readonly string[] = ['Increasing', 'Decreasing', 'Stable'];
const SCOPE =
  'programmes that the document lists for the airport; an airport that is not listed is normal; a closure for some aircraft only is a restriction; airspace flow programmes name no airport and are not counted; the order of the bands is ours';

/** An entry that was understood; minutes. */
interface InForce {
  readonly kind: (typeof PROGRAMMES)[number];
  readonly reason: string;
  readonly avg: number | null;
  readonly min: number | null;
  readonly max: number | null;
  readonly trend: string | null;
}

function read(payload: Payload): Imported {
  const { updated, programmes, unread, remarks } = nasDocument(payload);
  const time = freshTime(updated, payload);
  const list = new ReadingList();
  const known: ReadonlySet<string> = new Set(AIRPORTS);
  for (const { airport } of programmes) {
    if (!known.has(airport)) list.skips.add(airport, 'not an airport of this line');
  }
  const unnamed = unread.filter(({ airport }) => airport === null);
  for (const { why } of unnamed) list.skips.unread('an airport that is not told', why);
  for (const airport of AIRPORTS) {
    const own = programmes.filter((one) => one.airport === airport);
    // A reading that says nothing because of another airport would take the place of an older one that is true.
    if (unnamed.some(({ once }) => !own.some(({ kind }) => kind === once))) continue;
    const doubt = unread.find((one) => one.airport === airport)?.why;
    const understood = doubt ?? inForce(own, time);
    if (typeof understood === 'string') list.skips.unread(airport, understood);
    list.add(SIGNAL, readingOf(airport, understood, { payload, time }));
  }
  return list.imported(remarks);
}

function freshTime(updated: string, payload: Payload): number {
  const { note, subject } = payload;
  const time = updateTime(updated);
  const written = `Update_Time "${updated.slice(0, 60)}"`;
  if (time === null) throw fetchAgain(payload, `${written} cannot be read`);
  observedAt(time, payload);
  if (Date.parse(note.fetched_at) - time <= FRESH_MS) return time;
  const state = `${written} is more than an hour before the fetch at ${note.fetched_at}, so it does not say what is in force; fetch it again`;
  throw new ImportError({ subject, state });
}

/** What holds for an airport at a time, or why an entry about it cannot be read. */
function inForce(entries: readonly Programme[], time: number): readonly InForce[] | string {
  const kinds = entries.filter(({ kind }) => kind !== 'closure').map(({ kind }) => kind);
  const twice = firstTwice(kinds);
  if (twice !== undefined) return `two entries of ${twice}`;
  const understood: InForce[] = [];
  for (const entry of entries) {
    const one = entry.kind === 'closure' ? closureOf(entry, time) : delayOf(entry);
    if (typeof one === 'string') return one;
    if (one !== null) understood.push(one);
  }
  return understood;
}

/** Null for a notice that is not in force: an ended one may stay listed. */
function closureOf({ airport, reason }: Programme, time: number): InForce | string | null {
  const notice = noticeOf(reason, airport);
  const unread = `a closure that cannot be read: ${reason.slice(0, 80)}`;
  if (notice === null) return unread;
  if (time < notice.from || time > notice.to || !notice.isAt(time)) return null;
  if (notice.isPartial === null) return unread;
  const kind = notice.isPartial ? 'restriction' : 'closure';
  return { kind, reason, avg: null, min: null, max: null, trend: null };
}

function delayOf({ kind, reason, trend, ...words }: Programme): InForce | string {
  const texts = [words.avg, words.min, words.max];
  const [avg = null, min = null, max = null] = texts.map((text) => minutesOf(text ?? ''));
  if (texts.some((text) => text !== undefined && minutesOf(text) === null)) {
    return `a ${kind} whose minutes cannot be read`;
  }
  // "0 minutes" stands for no maximum.
  const longest = max !== null && max < (avg ?? min ?? 0) ? null : max;
  return {
    kind,
    reason,
    avg,
    min,
    max: longest,
    trend: TRENDS.find((word) => word === trend) ?? null,
  };
}

/** The reading of an airport; of one where what is listed cannot be read, why in place of its programmes. */
function readingOf(
  airport: string,
  programmes: readonly InForce[] | string,
  { payload, time }: { readonly payload: Payload; readonly time: number },
) {
  const why = typeof programmes === 'string' ? programmes : null;
  const known = typeof programmes === 'string' ? [] : programmes;
  const [worst] = [...known].sort(
    (a, b) =>
      PROGRAMMES.indexOf(b.kind) - PROGRAMMES.indexOf(a.kind) || (b.max ?? 0) - (a.max ?? 0),
  );
  const observed_at = observedAt(time, payload);
  const avg_delay_min = worst?.avg ?? null;
  const band = worst === undefined ? 'normal' : BANDS[worst.kind];
  const current = {
    avg_delay_min,
    max_delay_min: worst?.max ?? null,
    min_delay_min: worst?.min ?? null,
    band: why === null ? band : null,
    trend: worst?.trend ?? null,
    reason: worst === undefined || neutralFault(worst.reason) !== null ? null : worst.reason,
    programs: why === null ? [...new Set(known.map(({ kind }) => kind))].sort() : null,
  };
  return {
    entity: airport,
    ...nameOf('nas', airport),
    observed_at,
    collected_at: payload.note.fetched_at,
    current,
    sources: measuredBy(AGENCY, avg_delay_min, observed_at),
    source_ref: 'https://nasstatus.faa.gov/',
    source_tier: 'T1',
    scope: SCOPE,
    ...(why === null ? {} : { qualifiers: [why.slice(0, 200)] }),
    validation_status: 'as published by the FAA',
    uncertainty:
      'not stated in the document; delays are published in steps and revised as traffic changes',
  };
}

/** Active traffic management programmes: https://nasstatus.faa.gov/ */
export const faaNas: Source = {
  ...registered('faa-nas'),
  version: 2,
  read,
};

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const UPDATE =
  /^([A-Z][a-z]{2}) ([A-Z][a-z]{2}) (\d{1,2}) (\d{2}):(\d{2}):(\d{2}) (\d{4}) (?:GMT|UTC)$/;
const DURATION = /^(?:(\d{1,2}) hours?(?: and (\d{1,2}) minutes?)?|(\d{1,3}) minutes?)$/;
const NOTAM =
  /^!\S+ \d{1,2}\/\d{3} (\w{3}) AD AP CLSD(?: (.+))? (\d{10})-(?:(\d{10})(?:EST)?|PERM)$/;
/** Hours of each day in which a notice holds, in UTC; they may go over midnight. */
const DAILY = /(?:^| )DLY ([01]\d|2[0-3])([0-5]\d)-([01]\d|2[0-3])([0-5]\d)$/;
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

/** A closure in epoch milliseconds, with the times of day in which it holds. */
interface Notice {
  /** Null where it does not say in words that are known whom it keeps away. */
  readonly isPartial: boolean | null;
  readonly from: number;
  readonly to: number;
  readonly isAt: (time: number) => boolean;
}

/** Reads `!LAX 05/277 LAX AD AP CLSD TO … 2605271826-2705281600`; null for any other notice, and for another airport. */
export function noticeOf(text: string, airport: string): Notice | null {
  const [, code = '', given = '', start = '', end] = NOTAM.exec(text.trim()) ?? [];
  const from = stampTime(start);
  const to = end === undefined ? Number.POSITIVE_INFINITY : stampTime(end);
  if (code.toLowerCase() !== airport || from === null || to === null || to < from) return null;
  const hours = DAILY.exec(given);
  const whom = given.replace(DAILY, '');
  const isPartial = whom === '' ? false : whom.startsWith('TO ') || null;
  return { isPartial, from, to, isAt: (time) => hours === null || isWithin(hours, time) };
}

/** Whether the time of day lies in the hours of a notice, both ends among them. */
function isWithin([, ...parts]: RegExpExecArray, time: number): boolean {
  const [fromHour = 0, fromMinute = 0, toHour = 0, toMinute = 0] = parts.map(Number);
  const [from, to] = [fromHour * 60 + fromMinute, toHour * 60 + toMinute];
  const now = Math.floor((time % DAY_MS) / 60_000);
  return from <= to ? now >= from && now <= to : now >= from || now <= to;
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
