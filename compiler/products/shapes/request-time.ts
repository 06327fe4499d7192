import { isoTime, utcTime } from '../../format/iso-time.ts';
import { isObject, type JsonObject, type JsonValue } from '../../format/strict-json.ts';
import {
  type AgedPart,
  bodyFreshness,
  CADENCES,
  freshness,
  parseFreshnessBasis,
  parseFreshnessRule,
  updateStatus,
} from './freshness.ts';

// A stored body lacks the members that depend on the moment of the request (FORMAT.md, section 4). They follow from signed
// members of the same object and from an instant; whoever delivers the body sets them on the parsed value and prints it.
// What is parsed was written by JSON.stringify, so nothing else changes. The signed `at_request` of a provenance lists which
// of them its body owes, so that nobody can leave one out.

/** What a provenance can owe, by the names that its `at_request` lists. */
export const AT_REQUEST = [
  'age_hours_now',
  'answered_at',
  'dead_source',
  'freshness',
  'freshness_leg',
  'legs[].freshness',
  'update_status',
] as const;
export type AtRequest = (typeof AT_REQUEST)[number];

/** The list of a body: age, word and instant that every body owes, and some more. */
export function atRequest(...more: readonly AtRequest[]): AtRequest[] {
  const owed: readonly AtRequest[] = ['age_hours_now', 'answered_at', 'dead_source', 'freshness'];
  return [...owed, ...more].sort();
}

/** A provenance inside of another body, whose instant stands in that one. */
export function nestedProvenance<Of extends { readonly at_request: readonly AtRequest[] }>(of: Of) {
  return { ...of, at_request: of.at_request.filter((name) => name !== 'answered_at') };
}

/** Whether a stored body has anything that members of request time could follow from. */
export function mayOweRequestTime(bytes: { includes(text: string): boolean }): boolean {
  return bytes.includes('"at_request":');
}

/** Whether a body lists what it owes of request time; those of the first format do not. */
export function hasAtRequest({ provenance }: JsonObject): boolean {
  return isObject(provenance) && provenance.at_request !== undefined;
}

/** The instant that words of request time are those of: all answers of a second say the same. */
export function wholeSecond(now: number): number {
  return Math.floor(now / 1000) * 1000;
}

/** The instant that a delivered body says it was answered at, in epoch milliseconds; NaN where it says none. */
export function answeredAt({ provenance }: JsonObject): number {
  const text = isObject(provenance) ? provenance.answered_at : undefined;
  const at = typeof text === 'string' ? utcTime(text) : Number.NaN;
  return !Number.isNaN(at) && isoTime(wholeSecond(at)) === text ? at : Number.NaN;
}

/** The text of a stored JSON body as it is delivered at an instant (epoch milliseconds). */
export function deliveredText(stored: string, now: number): string {
  return JSON.stringify(withRequestTime(JSON.parse(stored), now));
}

/** A body with its members of request time, those of the second that an instant is in; a body without any is the same value. */
export function withRequestTime(body: JsonObject, now: number): JsonObject {
  const { sample, readings, provenance, legs } = body;
  if (isObject(sample)) return { ...body, sample: withRequestTime(sample, now) };
  if (!isObject(provenance)) return body;
  const members = requestTimeMembers(body, wholeSecond(now));
  const timed = {
    ...body,
    provenance: withMembers(provenance, 'freshness_basis', members.provenance),
    ...(isObject(legs) ? { legs: withWords(legs, members.legs) } : {}),
    ...(Array.isArray(readings)
      ? { readings: readings.map((one) => (isObject(one) ? withRequestTime(one, now) : one)) }
      : {}),
  };
  return withMembers(timed, 'official_cadence', members.own);
}

/**
 * What a signed object with a provenance owes at an instant (epoch milliseconds): itself, its provenance, its legs by name.
 * `lacking` are listed names that nothing in it gives; a source that is alive gives no `dead_source`.
 */
export function requestTimeMembers(signed: JsonObject, at: number) {
  const provenance = isObject(signed.provenance) ? signed.provenance : {};
  const { at_request: list } = provenance;
  const listed: readonly JsonValue[] = Array.isArray(list) ? list : [];
  if (listed.length === 0) return { own: {}, provenance: {}, legs: {}, lacking: [] };
  const only = <Members extends JsonObject>(members: Members): JsonObject =>
    Object.fromEntries(Object.entries(members).filter(([name]) => listed.includes(name)));
  const own = only(statusOf(signed, at));
  const words = only({ answered_at: isoTime(at), ...freshnessOf(signed, provenance, at) });
  const legs = listed.includes('legs[].freshness') ? legWords(signed.legs, at) : {};
  const given = [...Object.keys({ ...own, ...words }), 'dead_source'];
  if (Object.keys(legs).length > 0) given.push('legs[].freshness');
  const lacking = listed.filter((name) => !given.includes(String(name)));
  return { own, provenance: words, legs, lacking };
}

function statusOf({ official_cadence: word, observed_at, last_looked_at }: JsonObject, at: number) {
  const official_cadence = CADENCES.find((cadence) => cadence === word);
  if (official_cadence === undefined || !isTime(observed_at) || !isTime(last_looked_at)) return {};
  return {
    update_status: { ...updateStatus({ official_cadence, observed_at, last_looked_at }, at) },
  };
}

function freshnessOf(signed: JsonObject, provenance: JsonObject, at: number): JsonObject {
  const { freshness_rule: rule, oldest_leg_as_of } = provenance;
  const [own] = agedPart('', provenance, oldest_leg_as_of);
  if (own === undefined) return {};
  if (rule === undefined) return { ...bodyFreshness(own, [], at) };
  const parts = partsOf(signed);
  const isWhole = typeof rule === 'string' && parseFreshnessRule(rule) === parts.length;
  return isWhole ? { ...bodyFreshness(own, parts, at) } : {};
}

function partsOf({ legs, readings }: JsonObject): AgedPart[] {
  if (isObject(legs)) return legParts(legs);
  return (Array.isArray(readings) ? readings : []).flatMap((reading: JsonValue) => {
    if (!isObject(reading) || !isObject(reading.provenance)) return [];
    const { signal_id, provenance } = reading;
    return agedPart(String(signal_id), provenance, provenance.oldest_leg_as_of);
  });
}

function legParts(legs: JsonObject): AgedPart[] {
  return Object.entries(legs).flatMap(([name, leg]) =>
    isObject(leg) ? agedPart(name, leg, leg.observed_at) : [],
  );
}

/** The word of each leg; none where one of them gives none. */
function legWords(legs: JsonValue | undefined, at: number): Record<string, JsonObject> {
  const parts = isObject(legs) ? legParts(legs) : [];
  if (!isObject(legs) || parts.length !== Object.keys(legs).length) return {};
  return Object.fromEntries(
    parts.map(({ name, cadence, observed_at }) => {
      return [name, { freshness: freshness(cadence, observed_at, at).freshness }];
    }),
  );
}

/** What is judged by its own cadence; nothing where its basis or its time is none of ours. */
function agedPart(
  name: string,
  { freshness_basis: basis }: JsonObject,
  observed_at: JsonValue | undefined,
): AgedPart[] {
  const cadence = typeof basis === 'string' ? parseFreshnessBasis(basis) : null;
  return cadence === null || !isTime(observed_at) ? [] : [{ name, cadence, observed_at }];
}

function isTime(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && !Number.isNaN(utcTime(value));
}

function withWords(legs: JsonObject, words: Readonly<Record<string, JsonObject>>): JsonObject {
  const timed: Record<string, JsonValue> = { ...legs };
  for (const [name, word] of Object.entries(words)) {
    timed[name] = withMembers(legs[name] as JsonObject, 'freshness_basis', word);
  }
  return timed;
}

/** An object with some members more, directly in front of the one that they follow from. */
function withMembers(object: JsonObject, before: string, members: JsonObject): JsonObject {
  if (!Object.hasOwn(object, before)) return object;
  // In a loop: by lists of pairs this takes longer than to parse and print the whole body.
  const whole: Record<string, JsonValue> = {};
  for (const name in object) {
    if (name === before) Object.assign(whole, members);
    whole[name] = object[name] as JsonValue;
  }
  return whole;
}
