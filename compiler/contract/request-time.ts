import {
  type AgedPart,
  bodyFreshness,
  CADENCES,
  freshness,
  parseFreshnessBasis,
  parseFreshnessRule,
  updateStatus,
} from './freshness.ts';
import { isObject, type JsonObject, type JsonValue } from './strict-json.ts';

// A stored body lacks the members that depend on the moment of the request (FORMAT.md, section 5). They follow from signed
// members of the same object and from an instant; whoever delivers the body sets them on the parsed value and prints it.
// What is parsed was written by JSON.stringify, so nothing else changes.

/** Whether a stored body has anything that members of request time could follow from. */
export function mayOweRequestTime(bytes: { includes(text: string): boolean }): boolean {
  return bytes.includes('"freshness_basis":');
}

/** The text of a stored JSON body as it is delivered at an instant (epoch milliseconds). */
export function deliveredText(stored: string, at: number): string {
  return JSON.stringify(withRequestTime(JSON.parse(stored), at));
}

/** A body with its members of request time; a body without any is the same value. */
export function withRequestTime(body: JsonObject, at: number): JsonObject {
  const { sample, readings, provenance, legs } = body;
  if (isObject(sample)) return { ...body, sample: withRequestTime(sample, at) };
  if (!isObject(provenance)) return body;
  const members = requestTimeMembers(body, at);
  const timed = {
    ...body,
    provenance: withMembers(provenance, 'freshness_basis', members.provenance),
    ...(isObject(legs) ? { legs: withWords(legs, members.legs) } : {}),
    ...(Array.isArray(readings)
      ? { readings: readings.map((one) => (isObject(one) ? withRequestTime(one, at) : one)) }
      : {}),
  };
  return withMembers(timed, 'official_cadence', members.own);
}

/** What a signed object with a provenance owes at an instant (epoch milliseconds): itself, its provenance, its legs by name. */
export function requestTimeMembers(signed: JsonObject, at: number) {
  const { provenance, legs } = signed;
  return {
    own: statusOf(signed, at),
    provenance: isObject(provenance) ? freshnessOf(signed, provenance, at) : {},
    legs: isObject(legs)
      ? Object.fromEntries(
          legParts(legs).map(({ name, cadence, observed_at }) => {
            return [name, { freshness: freshness(cadence, observed_at, at).freshness }];
          }),
        )
      : {},
  };
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
  return typeof value === 'string' && !Number.isNaN(Date.parse(value));
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
