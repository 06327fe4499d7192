import { type EndpointPath, endpointAt } from '../../contract/endpoints.ts';
import { type Cadence, freshnessBasis, freshnessRule } from '../../contract/freshness.ts';
import { joinedProvenance } from '../../contract/joined-provenance.ts';
import { legsLit } from '../../contract/lit-legs.ts';
import { HASH_CORE_VERSION, hashCore } from '../../contract/record-hash.ts';
import { LEGS_LINEAGE, LEGS_NOTE, NATURE, UNCERTAINTY } from '../../contract/words.ts';
import { hoursBetween } from '../derive/age.ts';
import type { DocumentLeg, LegsDocument } from '../intake/document-row.ts';
import type { Press } from '../publish/press.ts';
import { type StoredValues, storedDecisions } from './document-decisions.ts';
import { disclosureOf } from './rosters/put-roster.ts';
import { measurers } from './rosters/roster-provenance.ts';

const HASH_NOTE =
  'each leg carries its whole hash core and its record hash; the citation signs the whole document';

/** A leg with the members of its hash core, and its hash. */
type HashedLeg = ReturnType<typeof hashedLeg>;

/** The legs of a document in causal order, each hashed like a reading. */
export function documentLegs(press: Press, { legs, collected_at }: LegsDocument): HashedLeg[] {
  return legs.map((leg) => hashedLeg(press, leg, collected_at));
}

function hashedLeg(press: Press, leg: DocumentLeg, collected_at: string) {
  const { lifecycle = null, entity_name = null, ...rest } = leg;
  const facts = { ...rest, lifecycle, snapshot_date: `${collected_at.slice(0, 10)}T00:00:00Z` };
  const record_hash = press.sealer.recordHash(hashCore(facts));
  const data_age_hours = hoursBetween(leg.observed_at, collected_at);
  return { ...facts, entity_name, data_age_hours, record_hash };
}

/** The body of a document of legs: a bundle, with the narrative that its legs give. */
export function legsBody(press: Press, row: LegsDocument, others: StoredValues) {
  const legs = documentLegs(press, row);
  const { operation, params, title, cadence } = row;
  const { loc, topic } = params;
  const parts = legs.map((leg) => ({
    cadence,
    observed_at: leg.observed_at,
    data_age_hours: leg.data_age_hours,
    validation_status: row.validation_status ?? null,
    lineage: lineageOf(row, leg),
  }));
  const members = Object.fromEntries(
    legs.map((leg, index) => [leg.leg, legMember(leg, { position: index + 1, cadence })]),
  );
  return {
    nature: NATURE,
    ...(loc === undefined ? {} : { location: loc }),
    ...(topic === undefined ? {} : { topic }),
    name: null,
    title,
    legs: members,
    legs_lit: legsLit(members, legs.length),
    cross_line_narrative: legs.map(sentence).join(' '),
    data_timespans: legs.map(timespan),
    note: `from a stored document: ${LEGS_NOTE}`,
    provenance: joinedProvenance(parts, {
      lineage_note: LEGS_LINEAGE,
      freshness_rule: freshnessRule(legs.length, 'legs'),
    }),
    decision_points: storedDecisions(endpointAt(operation as EndpointPath), params, others),
    ...disclosureOf(row),
    record_hash_verifiable: { mode: 'offline' as const, note: HASH_NOTE },
  };
}

function lineageOf(row: LegsDocument, leg: HashedLeg) {
  return {
    signal: leg.signal_id,
    independent_dimension: row.operation,
    traceable_to: measurers(leg) || null,
    uncertainty: row.uncertainty ?? UNCERTAINTY,
    observed_at: leg.observed_at,
    record_hash: leg.record_hash,
    source_ref: leg.source_ref,
  };
}

interface LegPlace {
  readonly position: number;
  readonly cadence: Cadence;
}

/** Members up to the basis are in the order of the format, as in every bundle. */
function legMember({ leg, ...facts }: HashedLeg, { position, cadence }: LegPlace) {
  const { observed_at, data_age_hours, ...rest } = facts;
  const head = { leg, position, observed_at, data_age_hours };
  const basis = { freshness_basis: freshnessBasis(cadence) };
  // Its signal is in no table, so that nobody knows a list of its classes.
  return { ...head, ...basis, ...rest, lit: null, hash_core_version: HASH_CORE_VERSION };
}

function timespan({ leg, signal_id, observed_at, data_age_hours }: HashedLeg) {
  return { leg, signal_id, observed_at, hours_since: data_age_hours };
}

/** Describes one leg; nothing is concluded from it. */
function sentence(
  { leg, measures, entity, entity_name, current, observed_at }: HashedLeg,
  at: number,
) {
  const figures = Object.entries(current).map(([name, value]) => `${name} ${String(value)}`);
  return `Leg ${at + 1}, ${leg}: ${measures} at ${entity_name ?? entity} read ${figures.join(', ')} at ${observed_at}.`;
}
