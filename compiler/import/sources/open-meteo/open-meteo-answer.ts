import { z } from 'zod';
import { defined } from '../../../contract/defined.ts';
import { DAY_MS, HOUR_MS, isoTime } from '../../../contract/iso-time.ts';
import { type AskedPlace, askedPlaces } from '../../asked-place.ts';
import { dayTime } from '../../local-time.ts';
import { fetchAgain, jsonOf, type Payload } from '../../payload.ts';
import { type Origin, statedReading } from '../../readings.ts';
import type { Source, Wanted } from '../../source.ts';

const OFFSET_SECONDS_MAX = 14 * 3600;
const LOCAL_MINUTE = /^(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):([0-5]\d)$/;

const units = z.record(z.string(), z.string());
const columns = z.record(z.string(), z.unknown()).and(z.looseObject({ time: z.array(z.string()) }));
const answerSchema = z.looseObject({
  latitude: z.number().min(-90).max(90),
  longitude: z.number().min(-180).max(180),
  utc_offset_seconds: z.int().min(-OFFSET_SECONDS_MAX).max(OFFSET_SECONDS_MAX),
  current_units: units.optional(),
  current: z
    .record(z.string(), z.unknown())
    .and(z.looseObject({ time: z.string() }))
    .optional(),
  hourly_units: units.optional(),
  hourly: columns.optional(),
  daily_units: units.optional(),
  daily: columns.optional(),
});
type Shape = z.infer<typeof answerSchema>;

/** Values by epoch milliseconds; null where the model has none. */
export type ModelValues = ReadonlyMap<number, number | null>;

/** One answer of a model for one of our places. */
export interface ModelAnswer {
  readonly payload: Payload;
  readonly shape: Shape;
  readonly offsetMs: number;
  readonly places: readonly [AskedPlace, ...AskedPlace[]];
}

/** Throws an ImportError for a payload that is no such answer, or not the one of a place of these lines. */
export function readAnswer(payload: Payload, lines: readonly string[]): ModelAnswer {
  const shape = jsonOf(payload, answerSchema, 'an answer for one place');
  const places = askedPlaces(payload, shape, lines);
  return { payload, shape, offsetMs: shape.utc_offset_seconds * 1000, places };
}

/** How the unit of a variable is spelled; micro has two code points. */
type Units = readonly [string, ...string[]];

/**
 * A variable now and in the hours before the fetch. Later hours are no reading. Throws an ImportError where its unit or a
 * value is another, or where two values stand at one time.
 */
export function pastHours(answer: ModelAnswer, name: string, spelled: Units): ModelValues {
  const fetched = Date.parse(answer.payload.note.fetched_at);
  const hours = new Map(
    [...column(answer, 'hourly', { name, spelled })].filter(([at]) => at <= fetched),
  );
  const { current, current_units } = answer.shape;
  if (current === undefined || current[name] === undefined) return hours;
  const at = localTime(answer, 'current', current.time);
  if (at > fetched)
    throw fetchAgain(answer.payload, `current.time ${isoTime(at)} is after the fetch`);
  const [value = null] = checked(answer, [current[name]], {
    name: `current.${name}`,
    unit: unitOf(answer, 'current', current_units)?.[name],
    spelled,
  });
  if ((hours.get(at) ?? value) !== value)
    throw fetchAgain(answer.payload, `two values of ${name} at ${current.time}`);
  return hours.set(at, value);
}

/** A variable of the local days that had ended when the payload was fetched, by their date at 00:00Z. */
export function completeDays(answer: ModelAnswer, name: string, spelled: Units): ModelValues {
  const days = [...column(answer, 'daily', { name, spelled })];
  return new Map(days.filter(([day]) => isOver(answer, day)));
}

/** Whether a local day, given by its date at 00:00Z, had ended when the payload was fetched. */
export function isOver({ payload, offsetMs }: ModelAnswer, day: number): boolean {
  return day + DAY_MS - offsetMs <= Date.parse(payload.note.fetched_at);
}

interface Variable {
  readonly name: string;
  readonly spelled: Units;
}

function column(
  answer: ModelAnswer,
  section: 'hourly' | 'daily',
  { name, spelled }: Variable,
): ModelValues {
  const table = answer.shape[section];
  const values = table?.[name];
  if (table === undefined || values === undefined) return new Map();
  const { time } = table;
  if (!Array.isArray(values) || values.length !== time.length) {
    throw fetchAgain(answer.payload, `${section}.${name} does not have one value for each time`);
  }
  const numbers = checked(answer, values, {
    name: `${section}.${name}`,
    unit: unitOf(answer, section, answer.shape[`${section}_units`])?.[name],
    spelled,
  });
  const times = stepped(answer, section, time);
  return new Map(times.map((at, index) => [at, numbers[index] ?? null] as const));
}

function unitOf(
  answer: ModelAnswer,
  section: string,
  given: Readonly<Record<string, string>> | undefined,
) {
  if (given?.time === 'iso8601') return given;
  const state = `${section}_units.time is not "iso8601"; ask for timeformat=iso8601`;
  throw fetchAgain(answer.payload, state);
}

/** Times of a section without a gap: a gap would be an hour or day that nobody knows of. */
function stepped(
  answer: ModelAnswer,
  section: 'hourly' | 'daily',
  texts: readonly string[],
): number[] {
  const step = section === 'daily' ? DAY_MS : HOUR_MS;
  const times = texts.map((text) => localTime(answer, section, text));
  const gap = times.findIndex(
    (at, index) => index > 0 && at !== defined(times[index - 1], 'the time before') + step,
  );
  if (gap === -1) return times;
  throw fetchAgain(answer.payload, `${section}.time.${gap} does not follow the time before it`);
}

/** UTC of a local time; a day stands for itself at 00:00Z. */
function localTime(answer: ModelAnswer, section: string, text: string): number {
  const [, date = '', hours, minutes] = LOCAL_MINUTE.exec(text) ?? [];
  const day = dayTime(section === 'daily' ? text : date);
  if (day === null)
    throw fetchAgain(answer.payload, `${section}.time "${text.slice(0, 40)}" does not exist`);
  if (section === 'daily') return day;
  return day + Number(hours) * HOUR_MS + Number(minutes) * 60_000 - answer.offsetMs;
}

interface Checked extends Variable {
  readonly unit: string | undefined;
}

/** Numbers in the unit that is expected; a variable that a model lacks has the unit "undefined" and is null throughout. */
function checked(
  answer: ModelAnswer,
  values: readonly unknown[],
  { name, unit, spelled }: Checked,
) {
  const wrong = values.find((value) => value !== null && !Number.isFinite(value));
  if (wrong !== undefined)
    throw fetchAgain(answer.payload, `${name} has a value that is no number`);
  const isLacking = unit === 'undefined' && values.every((value) => value === null);
  if (!isLacking && !spelled.includes(unit ?? '')) {
    const state = `${name} is in "${unit ?? 'no unit'}", not in "${spelled[0]}"`;
    throw fetchAgain(answer.payload, state);
  }
  return values as readonly (number | null)[];
}

/** What a model says of a place at a time. */
interface ModelValue {
  readonly at: number;
  readonly current: Readonly<Record<string, number | string | null>>;
  /** What of it is ours. */
  readonly ours: string;
}

/** A reading of a place; the grid cell that stands for it is named in its scope. */
export function modelReading(
  { payload, shape }: ModelAnswer,
  { entity, place }: AskedPlace,
  { origin, at, current, ours }: ModelValue & { readonly origin: Origin },
) {
  return statedReading(origin, payload, {
    entity,
    entity_name: place.name,
    at,
    current,
    scope: `model value of the grid cell at latitude ${shape.latitude}, longitude ${shape.longitude}; ${ours}`,
    grade: 'model, not a measurement',
  });
}

/** The model behind an Open-Meteo service, as the origin of readings. */
export function modelOrigin(model: string, page: string): Origin {
  return {
    name: 'Open-Meteo',
    role: 'model',
    independent: false,
    relay_of: model,
    page: `https://open-meteo.com/en/docs/${page}`,
    tier: 'T2',
    status: 'as published by Open-Meteo',
  };
}

/** Paid plans have a key and hosts of their own (`customer-…`); the terms of the free hosts forbid sale, so these are never asked. */
const PAID = {
  variable: 'SIGNALPRESS_OPEN_METEO_KEY',
  parameter: 'apikey',
  because:
    'its free hosts are for non-commercial use only; buy a plan of Open-Meteo for its paid hosts',
} as const;

/**
 * A service of Open-Meteo at its paid host: it answers for one place at a time, and what is asked follows from what is
 * wanted.
 */
export function modelSource({
  service,
  asks,
  everyMinutes,
  perMinute = 60,
  ...row
}: Pick<Source, 'id' | 'agency' | 'feeds' | 'read'> & {
  /** Its address, without a query. */
  readonly service: string;
  /** The places to ask for, each with the rest of its query. */
  readonly asks: (wanted: Wanted) => readonly (readonly [AskedPlace, query: string])[];
  readonly everyMinutes: number;
  readonly perMinute?: number;
}): Source {
  const addresses = (wanted: Wanted) =>
    asks(wanted).map(([{ place }, query]) => placeAddress(service, place, query));
  const hosts: [string] = [new URL(service).host];
  return {
    ...row,
    version: 1,
    format: 'json',
    fetch: { hosts, addresses, everyMinutes, perMinute, key: PAID },
  };
}

/** An address of a service for one place; times are local, as days are counted. */
function placeAddress(service: string, place: AskedPlace['place'], query: string): string {
  const { latitude, longitude } = place;
  return `${service}?latitude=${latitude}&longitude=${longitude}&timezone=auto&${query}`;
}
