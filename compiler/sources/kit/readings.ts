import { BUILTIN } from '../../catalog/builtin.ts';
import { placesOf } from '../../catalog/catalog.ts';
import { roundDecimal } from '../../format/decimal.ts';
import { DAY_MS, isoTime } from '../../format/iso-time.ts';
import type { Place } from '../../products/shapes/line.ts';
import type { RecordSource as Body } from '../../products/shapes/record.ts';
import type { Reading } from '../../readings/reading.ts';
import {
  ImportError,
  type Imported,
  numberOf,
  type Payload,
  SkipCount,
  type Skipped,
} from './payload.ts';
import { isWanted } from './source.ts';

export interface Origin extends Pick<Body, 'name' | 'role' | 'independent' | 'relay_of'> {
  readonly page: string;
  readonly tier: string;
  /** How the publisher calls the state of its figures. */
  readonly status: string;
}

/** What a payload says of one entity at one time, in epoch milliseconds; the first metric is the main one. */
type PayloadStatement = { readonly at: number } & Pick<Reading, 'entity' | 'current' | 'scope'> &
  Partial<Pick<Reading, 'entity_name' | 'grade' | 'qualifiers'>>;

/** A reading of a source with one measuring body; throws an ImportError for a time after the fetch. */
export function statedReading(
  origin: Origin,
  payload: Payload,
  { at, ...statement }: PayloadStatement,
): Reading {
  const { page, tier, status, ...body } = origin;
  const value = mainValue(statement.current);
  const observed_at = observedAt(at, payload);
  return {
    ...statement,
    observed_at,
    collected_at: payload.note.fetched_at,
    sources: [{ ...body, value, weight: 1, as_of: observed_at }],
    source_ref: page,
    source_tier: tier,
    validation_status: status,
    uncertainty: 'not stated in the payload',
  };
}

/** The first of some metrics, which is the main one; null where it is no number. */
export function mainValue(current: Reading['current']): number | null {
  const [value] = Object.values(current);
  return typeof value === 'number' ? value : null;
}

/** The one body that measured a value; `as_of` is an ISO-8601 UTC time. */
export function measuredBy(
  name: string,
  value: number | string | null,
  as_of: string,
): Reading['sources'] {
  return [{ name, value, weight: 1, as_of, role: 'measurement', independent: true }];
}

/** Asked of every reading, so it is made once. */
const PLACES = new Map(BUILTIN.lines.map(({ id }) => [id, placesOf(BUILTIN, id)]));

/** The name of an entity of a line, as a member to spread; empty where the table of places has none. */
export function nameOf(lineId: string, entity: string): { readonly entity_name?: string } {
  const name = PLACES.get(lineId)?.get(entity)?.name;
  return name === undefined ? {} : { entity_name: name };
}

/** An instant of a payload as ISO-8601 text; throws an ImportError for one after the fetch. */
export function observedAt(epochMs: number, { note, subject }: Payload): string {
  const time = isoTime(epochMs);
  if (epochMs <= Date.parse(note.fetched_at)) return time;
  const state = `it speaks of ${time}, after its fetch at ${note.fetched_at}; correct the fetch note`;
  throw new ImportError({ subject, state });
}

const REASONS_MAX = 5;

/** Collects the readings of one payload by signal, and what gave none. */
export class ReadingList {
  readonly skips = new SkipCount();
  readonly #bySignal = new Map<string, Reading[]>();

  add(signal: string, reading: Reading): void {
    const list = this.#bySignal.get(signal);
    if (list === undefined) this.#bySignal.set(signal, [reading]);
    else list.push(reading);
  }

  get count(): number {
    return [...this.#bySignal.values()].reduce((sum, list) => sum + list.length, 0);
  }

  get skipped(): readonly Skipped[] {
    return this.skips.list();
  }

  /** The same for a payload that must give something; throws an ImportError with the reasons where it gave nothing. */
  someOf({ subject }: Payload, remarks: readonly string[] = []): Imported {
    if (this.count > 0) return this.imported(remarks);
    const reasons = this.skipped.map((item) => `${item.subject}: ${item.reason}`);
    const why = reasons.length === 0 ? 'it is empty' : reasons.slice(0, REASONS_MAX).join('; ');
    throw new ImportError({ subject, state: `it gives no reading (${why}); fetch another one` });
  }

  /** What was collected, each list by entity and time. */
  imported(remarks: readonly string[] = []): Imported {
    const readings = new Map(
      [...this.#bySignal].map(([signal, list]) => [signal, list.sort(byEntityAndTime)] as const),
    );
    return { readings, skipped: this.skipped, remarks };
  }
}

function byEntityAndTime(a: Reading, b: Reading): number {
  if (a.entity !== b.entity) return a.entity < b.entity ? -1 : 1;
  return Date.parse(a.observed_at) - Date.parse(b.observed_at);
}

/** Rain of complete days in mm, by the epoch milliseconds of their date at 00:00Z; null where a day has no value. */
type RainDays = ReadonlyMap<number, number | null>;

interface RainValue {
  readonly signal: string;
  readonly day: number;
  readonly current: Readonly<Record<string, number | null>>;
}

const WINDOW_DAYS = 30;
/** With fewer days of a window known its sum is null (ours). */
const KNOWN_DAYS_MIN = 28;
export const RAIN_SCOPE =
  `rain of a local calendar day, which its date at 00:00Z stands for; ${WINDOW_DAYS} day sums with ` +
  `at least ${KNOWN_DAYS_MIN} known days, counted in days_count (ours)`;

/** Both rain signals of a series of days; a window that begins before the series gives nothing. */
export function rainValues(days: RainDays): RainValue[] {
  const first = Math.min(...days.keys());
  return [...days].flatMap(([day, millimetres]): RainValue[] => {
    if (millimetres === null) return [];
    const daily = { signal: 'precipitation.daily', day, current: { precip_mm: millimetres } };
    const from = day - (WINDOW_DAYS - 1) * DAY_MS;
    return from < first ? [daily] : [daily, windowValue(days, from, day)];
  });
}

function windowValue(days: RainDays, from: number, day: number): RainValue {
  const known: number[] = [];
  for (let at = from; at <= day; at += DAY_MS) {
    const value = days.get(at) ?? null;
    if (value !== null) known.push(value);
  }
  const sum = known.reduce((total, value) => total + value, 0);
  const current = {
    precip_30d_mm: known.length < KNOWN_DAYS_MIN ? null : roundDecimal(sum, 2),
    days_count: known.length,
  };
  return { signal: 'precipitation.wetness30d', day, current };
}

export interface AskedPlace {
  readonly line: string;
  readonly entity: string;
  readonly place: Place;
}

/** Degrees between what was asked and what answers: grids of models are finer, and areas of stations (ours). */
const APART_DEGREES_MAX = 1;

interface Coordinates {
  readonly latitude: number;
  readonly longitude: number;
}

export function knownPlaces(lines: readonly string[]): AskedPlace[] {
  const wanted = BUILTIN.lines.filter(({ id }) => lines.includes(id));
  return wanted.flatMap(({ id, entities }) => {
    const places = placesOf(BUILTIN, id);
    return entities.flatMap((entity) => {
      const place = places.get(entity);
      return place === undefined ? [] : [{ line: id, entity, place }];
    });
  });
}

/** Those places of some lines that an operator wants; all of them where none is named. */
export function wantedPlaces(
  lines: readonly string[],
  entities: readonly string[],
): readonly AskedPlace[] {
  return knownPlaces(lines).filter(({ entity }) => isWanted({ entities }, entity));
}

/**
 * The places of ours whose coordinates the address asks for: a payload of a model names no entity, only its grid cell.
 * Throws an ImportError where the address names none of them, or where the payload speaks of somewhere else.
 */
export function askedPlaces(
  { note, subject }: Payload,
  answered: Coordinates | null,
  lines: readonly string[],
): readonly [AskedPlace, ...AskedPlace[]] {
  const query = new URL(note.url).searchParams;
  const [latitude, longitude] = [query.get('latitude') ?? '', query.get('longitude') ?? ''];
  const [asked, ...others] = knownPlaces(lines).filter(
    ({ place }) => place.latitude === numberOf(latitude) && place.longitude === numberOf(longitude),
  );
  if (asked === undefined) {
    const where = `latitude "${latitude}", longitude "${longitude}"`;
    const state = `its address asks for ${where}, which is no place of ${lines.join(', ')}; import it with a fetch note that holds the address as it was asked`;
    throw new ImportError({ subject, state });
  }
  if (answered !== null && !isNear(answered, asked.place)) {
    const state = `it speaks of latitude ${answered.latitude}, longitude ${answered.longitude}, far from ${asked.place.name}, which its address asks for; correct the fetch note`;
    throw new ImportError({ subject, state });
  }
  return [asked, ...others];
}

function isNear(a: Coordinates, b: Coordinates): boolean {
  const east = Math.abs(a.longitude - b.longitude);
  const apart = [a.latitude - b.latitude, Math.min(east, 360 - east)];
  return apart.every((degrees) => Math.abs(degrees) <= APART_DEGREES_MAX);
}

/** What the address of a payload asks for by name: the lists of some parameters of its query. */
export function namedIn({ note }: Payload, ...parameters: readonly string[]): string[] {
  const query = new URL(note.url).searchParams;
  return parameters.flatMap((name) => query.get(name)?.split(',').filter(Boolean) ?? []);
}

/**
 * Tells of each subject of a payload whether its address asks for it; one that names none asks for all. Whoever was not asked
 * for cannot be told, and is counted as unreadable. Throws an ImportError where nobody was: the payload is another one.
 */
export function askedOnly(
  { subject }: Payload,
  { asked, found, skips }: { asked: readonly string[]; found: Iterable<string>; skips: SkipCount },
): (id: string) => boolean {
  const isAsked = (id: string): boolean => asked.length === 0 || asked.includes(id);
  const all = [...new Set(found)];
  const foreign = all.filter((id) => !isAsked(id)).map((id) => id.slice(0, 40));
  for (const id of foreign) skips.unread(id, 'its address does not ask for it');
  if (foreign.length === 0 || foreign.length < all.length) return isAsked;
  const state = `it holds "${foreign[0]}", which its address does not ask for; correct the fetch note`;
  throw new ImportError({ subject, state });
}
