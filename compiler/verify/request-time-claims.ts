import { REQUEST_TIME_FIELDS } from '../contract/citation.ts';
import {
  type AgedPart,
  ageHeldUntil,
  bodyFreshness,
  CADENCES,
  type Cadence,
  freshness,
  freshnessBasis,
  freshnessTurns,
  parseFreshnessBasis,
  parseFreshnessRule,
  statusTurns,
  TENTH_HOUR_MS,
  updateStatus,
} from '../contract/freshness.ts';
import { HOUR_MS, utcTime } from '../contract/iso-time.ts';
import { isObject, type JsonObject, type JsonValue } from '../contract/strict-json.ts';
import { type BodyCheck, checkAt, memberPath, type ObjectNode } from './body-check.ts';

/** More parts than any body of this service joins; what follows from them is computed again for each of their turns. */
const PARTS_MAX = 16;
const ANY_TIME: TimeWindow = { from: -Infinity, to: Infinity };

/** Instants in epoch milliseconds, both ends included. */
export interface TimeWindow {
  readonly from: number;
  readonly to: number;
}

/** What one object says of the moment of the request, and what follows for it from signed members. */
export interface TimeClaim {
  readonly where: string;
  readonly shown: JsonObject;
  readonly expected: (now: number) => JsonObject;
  /** Last instants of what is expected, as far as they can matter here. */
  readonly turns: readonly number[];
  /** Instants that the shown age leaves. */
  readonly window: TimeWindow;
}

/** A claim, or why there is none: a fault at any moment, or a basis that nobody here knows. */
type ClaimOrCheck = TimeClaim | BodyCheck;

export function isClaim(found: ClaimOrCheck): found is TimeClaim {
  return 'expected' in found;
}

/** What an object with a provenance, and what its legs, say of the moment of the request. */
export function requestTimeClaims(node: ObjectNode): ClaimOrCheck[] {
  const { provenance, legs, last_looked_at } = node.value;
  if (!isObject(provenance)) return [];
  return [
    ...provenanceClaim(node, provenance),
    ...(isObject(legs) ? legClaims(memberPath(node.path, 'legs'), legs) : []),
    ...(last_looked_at === undefined ? [] : [statusClaim(node)]),
  ];
}

function provenanceClaim({ path, value }: ObjectNode, provenance: JsonObject): ClaimOrCheck[] {
  const where = memberPath(path, 'provenance');
  const shown = pick(provenance, REQUEST_TIME_FIELDS.freshness_basis);
  const own = agedPart('', provenance, provenance.oldest_leg_as_of);
  const parts = partsOf(value, provenance.freshness_rule);
  const odd = ['freshness_basis', 'freshness_rule'].find((name) => isOdd(provenance[name]));
  if (odd !== undefined) return [noText(memberPath(where, odd))];
  if (own === null || parts === null) return strange(where, shown);
  const fault = ageFault(provenance) ?? parts.fault;
  if (fault !== null) {
    return [checkAt('request_time', memberPath(where, fault.member)).fail(fault.why)];
  }
  const { judged } = parts;
  return [
    {
      where,
      shown,
      expected: (now) => ({ ...bodyFreshness(own, judged, now) }),
      turns: (judged.length === 0 ? [own] : judged).flatMap(freshnessTurns),
      window: windowOf(own, shown.age_hours_now),
    },
  ];
}

function legClaims(path: string, legs: JsonObject): ClaimOrCheck[] {
  return Object.entries(legs).flatMap(([name, leg]): ClaimOrCheck[] => {
    if (!isObject(leg) || leg.freshness_basis === undefined) return [];
    const where = memberPath(path, name);
    if (isOdd(leg.freshness_basis)) return [noText(memberPath(where, 'freshness_basis'))];
    const part = agedPart(name, leg, leg.observed_at);
    const shown = pick(leg, REQUEST_TIME_FIELDS.freshness_basis);
    if (part === null) return strange(where, shown);
    return [
      {
        where,
        shown,
        expected: (now) => ({
          freshness: freshness(part.cadence, part.observed_at, now).freshness,
        }),
        turns: freshnessTurns(part),
        window: ANY_TIME,
      },
    ];
  });
}

function statusClaim({ path, value }: ObjectNode): ClaimOrCheck {
  const { official_cadence: word, observed_at, last_looked_at } = value;
  const official_cadence = CADENCES.find((cadence) => cadence === word);
  const shown = pick(value, REQUEST_TIME_FIELDS.last_looked_at);
  if (official_cadence === undefined || !isTime(observed_at) || !isTime(last_looked_at)) {
    return checkAt('request_time', memberPath(path, 'last_looked_at')).fail(
      'not a time beside a cadence and a time of observation',
    );
  }
  const of = { official_cadence, observed_at, last_looked_at };
  return {
    where: path,
    shown,
    expected: (now) => ({ update_status: { ...updateStatus(of, now) } }),
    turns: statusTurns(of, shownDays(shown.update_status)),
    window: ANY_TIME,
  };
}

function shownDays(status: JsonValue | undefined): number | null {
  const days = isObject(status) ? status.overdue_days : null;
  return typeof days === 'number' ? days : null;
}

/** The parts that a joined body is as fresh as; none for one that is judged by itself, null for a rule of another service. */
function partsOf({ legs, readings }: JsonObject, rule: JsonValue | undefined) {
  if (rule === undefined) return { judged: [], fault: null };
  const count = typeof rule === 'string' ? parseFreshnessRule(rule) : null;
  if (count === null) return null;
  const found = isObject(legs) ? legParts(legs) : readingParts(readings);
  const judged = found.filter((part) => part !== null);
  const fits = judged.length === count && found.length === count && count <= PARTS_MAX;
  const why = `about ${count} parts; the body has ${judged.length} that can be judged`;
  return { judged, fault: fits ? null : { member: 'freshness_rule', why } };
}

function legParts(legs: JsonObject): (AgedPart | null)[] {
  return Object.entries(legs).map(([name, leg]) =>
    isObject(leg) ? agedPart(name, leg, leg.observed_at) : null,
  );
}

function readingParts(readings: JsonValue | undefined): (AgedPart | null)[] {
  return (Array.isArray(readings) ? readings : []).map((reading: JsonValue) => {
    if (!isObject(reading) || !isObject(reading.provenance)) return null;
    const { provenance, signal_id } = reading;
    return agedPart(String(signal_id), provenance, provenance.oldest_leg_as_of);
  });
}

/** What is judged by its own cadence; null where its basis or its time is none of ours. */
function agedPart(name: string, { freshness_basis }: JsonObject, time: JsonValue | undefined) {
  const cadence = typeof freshness_basis === 'string' ? ownCadence(freshness_basis) : null;
  return cadence === null || !isTime(time) ? null : { name, cadence, observed_at: time };
}

function ownCadence(basis: string): Cadence | null {
  const cadence = parseFreshnessBasis(basis);
  return cadence !== null && freshnessBasis(cadence) === basis ? cadence : null;
}

/** What is there and no text is the basis or the rule of nobody. */
function isOdd(value: JsonValue | undefined): boolean {
  return value !== undefined && typeof value !== 'string';
}

function noText(where: string): BodyCheck {
  return checkAt('request_time', where).fail('not a text');
}

function isTime(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && !Number.isNaN(utcTime(value));
}

function strange(where: string, shown: JsonObject): BodyCheck[] {
  const at = checkAt('request_time', memberPath(where, 'freshness'));
  return Object.keys(shown).length === 0 ? [] : [at.notApplicable('a basis of another service')];
}

/** An age has one decimal, and nothing gets younger than it was when it was collected. */
function ageFault({ age_hours_now: age, data_age_hours: collected }: JsonObject) {
  if (age === undefined) return null;
  const member = 'age_hours_now';
  const isAge = typeof age === 'number' && age >= 0 && Math.round(age * 10) / 10 === age;
  if (!isAge) return { member, why: 'not an age in hours with one decimal' };
  if (collected !== undefined && typeof collected !== 'number') {
    return { member: 'data_age_hours', why: 'not an age in hours' };
  }
  const younger = collected !== undefined && age < collected;
  return younger ? { member, why: `less than ${collected}, its age when it was collected` } : null;
}

function windowOf({ observed_at }: AgedPart, age: JsonValue | undefined): TimeWindow {
  if (typeof age !== 'number') return ANY_TIME;
  const to = ageHeldUntil(observed_at, Date.parse(observed_at) + age * HOUR_MS);
  return { from: age === 0 ? -Infinity : to - TENTH_HOUR_MS + 1, to };
}

function pick(object: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(
    names.flatMap((name) => (object[name] === undefined ? [] : [[name, object[name]]])),
  ) as JsonObject;
}
