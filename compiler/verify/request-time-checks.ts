import {
  FRESHNESS_THRESHOLDS,
  type FreshnessThresholds,
  freshnessBasis,
  parseFreshnessBasis,
} from '../contract/freshness.ts';
import { type BodyCheck, checkAt } from './body-check.ts';
import { isObject, type JsonObject, memberPath, type ObjectNode } from './object-nodes.ts';

/** The published age is rounded to one decimal, so a threshold may lie this far on its other side. */
const ROUNDING_HOURS = 0.05;

/** Whether the members that no hash covers have their form and agree with their signed basis. */
export function requestTimeChecks({ path, value }: ObjectNode): BodyCheck[] {
  const { provenance } = value;
  if (!isObject(provenance)) return [];
  const where = memberPath(path, 'provenance');
  const { age_hours_now: age, freshness, dead_source } = provenance;
  if (age === undefined && freshness === undefined && dead_source === undefined) return [];
  const check = (name: string) => checkAt('request_time', memberPath(where, name));
  if (typeof age !== 'number' || age < 0) return [check('age_hours_now').fail('not an age')];
  if (dead_source !== undefined && typeof dead_source !== 'string') {
    return [check('dead_source').fail('not a sentence')];
  }
  const bounds = boundsOf(provenance);
  if (bounds === null) return [check('freshness').notApplicable('a basis of another service')];
  if (typeof freshness !== 'string' || !wordsNear(age, bounds).has(freshness)) {
    return [check('freshness').fail(`does not follow from age_hours_now ${age}`)];
  }
  const dead = age > bounds.dead_source_hours;
  const close = Math.abs(age - bounds.dead_source_hours) <= ROUNDING_HOURS;
  if (!close && dead !== (dead_source !== undefined)) {
    return [check('dead_source').fail(`does not follow from age_hours_now ${age}`)];
  }
  return [check('age_hours_now').pass('outside the signature; agrees with its basis')];
}

function boundsOf({ freshness_basis }: JsonObject): FreshnessThresholds | null {
  if (typeof freshness_basis !== 'string') return null;
  const cadence = parseFreshnessBasis(freshness_basis);
  if (cadence === null || freshnessBasis(cadence) !== freshness_basis) return null;
  return FRESHNESS_THRESHOLDS[cadence];
}

function wordsNear(age: number, bounds: FreshnessThresholds): ReadonlySet<string> {
  const word = (hours: number): string => {
    if (hours <= bounds.fresh_hours) return 'fresh';
    return hours <= bounds.recent_hours ? 'recent' : 'stale';
  };
  return new Set([word(age - ROUNDING_HOURS), word(age + ROUNDING_HOURS)]);
}
