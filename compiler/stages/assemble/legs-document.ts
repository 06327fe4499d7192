import { type EndpointPath, endpointAt } from '../../contract/endpoints.ts';
import { HASH_CORE_VERSION, hashCore } from '../../contract/record-hash.ts';
import { hoursBetween } from '../derive/age.ts';
import type { DocumentLeg, LegsDocument } from '../intake/document-row.ts';
import type { Press } from '../publish/press.ts';
import { type StoredValues, storedDecisions } from './document-decisions.ts';
import { joinedProvenance, NATURE, UNCERTAINTY } from './provenance.ts';
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
  return {
    nature: NATURE,
    ...(loc === undefined ? {} : { location: loc }),
    ...(topic === undefined ? {} : { topic }),
    name: null,
    title,
    legs: Object.fromEntries(legs.map((leg, index) => [leg.leg, legMember(leg, index + 1)])),
    cross_line_narrative: legs.map(sentence).join(' '),
    data_timespans: legs.map(timespan),
    note: `${legs.length} legs in causal order, from a stored document; read how many are lit, never a score`,
    provenance: joinedProvenance(parts, 'as fresh as the oldest leg; each leg has its own time'),
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

function legMember({ leg, ...facts }: HashedLeg, position: number) {
  return { leg, position, ...facts, hash_core_version: HASH_CORE_VERSION };
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
