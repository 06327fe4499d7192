import { z } from 'zod';
import { citationSchema, proofTextSchema } from './citation.ts';
import { provenanceSchema } from './record.ts';
import { RECORD_HASH } from './record-hash.ts';

const day = z.iso.date();
const dateTime = z.iso.datetime();
const hash = z.string().regex(RECORD_HASH).nullable();
const count = z.int().min(0);
const core = z.looseObject({ hash_core_version: z.literal(3) }).nullable();
const facts = z.record(z.string(), z.unknown());
const disclosure = { grade: z.string(), scope: z.string() };
const seal = {
  provenance: provenanceSchema,
  ...disclosure,
  _proof: proofTextSchema.optional(),
  _citation: citationSchema.optional(),
};
/** Only in the `verifiable=1` form: the pre-image of the row's hash, null for a row without one. */
const preImage = { _hash_core: core.optional() };

/** Classes of demand of an x402 service, as its source calls them. */
export const DEMAND_CLASSES = ['REAL', 'SOLO', 'PROBE', 'WASH?', 'WASH', 'DEAD'] as const;
export const DEMAND_DEPTHS = ['DEPTH', 'BREADTH'] as const;

const rosterVerifiableSchema = z.strictObject({
  mode: z.enum(['online', 'offline', 'none']),
  with_hash: count,
  total: count,
  note: z.string(),
});

const roster = {
  nature: z.string(),
  observed_at: dateTime,
  record_hash_verifiable: rosterVerifiableSchema,
  source_note: z.string().optional(),
  ...seal,
};

const presence = {
  state: z.enum(['operating', 'absent']),
  first_seen: day,
  last_seen: day,
  end_at: day.nullable(),
};
const presenceSchema = z.strictObject(presence);

const captured = {
  capture_date: day,
  observed_at: dateTime,
  data_age_hours: z.number(),
  record_hash: hash,
  source_ref: z.string().nullable(),
  source_tier: z.string().nullable(),
};
const unavailable = { unavailable_fields: z.array(z.string()), unavailable_reason: z.string() };

const precheck = {
  nature: z.string(),
  service_id: z.string(),
  name: z.string().nullable(),
  score_total: z.number().nullable(),
  liveness_state: z.string().nullable(),
  liveness_streak: z.int().nullable(),
  baseline_delta: z.number().nullable(),
  domain: z.string(),
  first_endpoint: z.string().nullable(),
  lifecycle: presenceSchema,
  ...captured,
  hash_core_version: z.literal('3').nullable(),
  ...unavailable,
  ...seal,
};

/** `/trust/precheck`: the members of a model appear only with that model. */
export const precheckSchema = z.discriminatedUnion('model', [
  z.strictObject({
    ...precheck,
    model: z.literal('demand-v1'),
    calls_30d: count.nullable(),
    unique_payers_30d: count.nullable(),
    demand_class: z.enum(DEMAND_CLASSES),
    demand_depth: z.enum(DEMAND_DEPTHS).nullable(),
    endpoints: count.nullable(),
    endpoints_by_class: z.partialRecord(z.enum(DEMAND_CLASSES), count).nullable(),
    last_called_at: dateTime.nullable(),
    model_note: z.string(),
  }),
  z.strictObject({
    ...precheck,
    model: z.literal('legacy-registry'),
    source_note: z.string(),
    note: z.string(),
  }),
]);

/** `/trust/scorecard`. */
export const scorecardSchema = z.strictObject({
  count,
  rows: z.array(
    z.strictObject({
      service: z.string(),
      name: z.string().nullable(),
      score_total: z.number().nullable(),
      liveness_state: z.string().nullable(),
      model: z.enum(['demand-v1', 'legacy-registry']),
      demand_class: z.enum(DEMAND_CLASSES).optional(),
      lifecycle: presenceSchema,
      record_hash: hash,
      ...preImage,
    }),
  ),
  ...roster,
});

/** `/trust/graveyard`, `/mcp/graveyard` and `/stable/graveyard`. */
export const graveyardSchema = z.strictObject({
  count,
  deaths: z.array(
    z.strictObject({
      entity: z.string(),
      name: z.string().nullable(),
      state: z.enum(['absent', 'dead']),
      died_on: day,
      first_seen: day,
      last_seen: day,
      lifespan_days: count,
      confirm_absences: count.nullable(),
      record_hash: hash,
      ...preImage,
    }),
  ),
  ...roster,
});

/** `/mcp/server`. */
export const serverSchema = z.strictObject({
  nature: z.string(),
  server_id: z.string(),
  name: z.string().nullable(),
  status: z.string(),
  missing_streak: count.nullable(),
  lifecycle: presenceSchema,
  ...captured,
  hash_core_version: z.literal(3).nullable(),
  ...unavailable,
  source_note: z.string(),
  ...seal,
});

/** `/mcp/census`. */
export const mcpCensusSchema = z.strictObject({
  count,
  rows: z.array(
    z.strictObject({
      entity: z.string(),
      name: z.string().nullable(),
      status: z.string(),
      missing_streak: count.nullable(),
      lifecycle: presenceSchema,
      record_hash: hash,
      ...preImage,
    }),
  ),
  ...roster,
});

/** States of a stablecoin, computed from its prices and from the days it was captured on. */
export const COIN_STATES = ['operating', 'at_risk', 'missing', 'absent', 'dead'] as const;
const coinLife = {
  peg: z.string().nullable(),
  state: z.enum(COIN_STATES),
  first_seen: day,
  last_seen: day,
  end_at: day.nullable(),
};

/** `/stable/coin`. */
export const coinSchema = z.strictObject({
  nature: z.string(),
  coin_id: z.string(),
  symbol: z.string(),
  name: z.string().nullable(),
  current: facts,
  lifecycle: z.strictObject(coinLife),
  ...captured,
  hash_core_version: z.literal(3).nullable(),
  /** Where the chain of the same coin is sold; absent where none is stored. */
  companion: z.string().optional(),
  /** Other coins of the same symbol; they are in the census. */
  same_symbol: z.array(z.string()).optional(),
  ...seal,
});

/** `/stable/census`. */
export const stableCensusSchema = z.strictObject({
  count,
  rows: z.array(
    z.strictObject({
      rank: z.int().min(1),
      entity: z.string(),
      symbol: z.string(),
      name: z.string().nullable(),
      market_cap_usd: z.number().nullable(),
      price_in_peg: z.number().nullable(),
      lifecycle: z.strictObject({ ...coinLife, terminated: z.boolean(), depegged: z.boolean() }),
      record_hash: hash,
      ...preImage,
    }),
  ),
  ...roster,
});

/** A price, a supply, or such figures by name; null where none survives. */
const payload = z.union([z.number(), z.string(), facts]).nullable();
/** What was last measured before the death; only the paid answer holds it. */
const preDeathPayloadSchema = z.strictObject({
  price: payload,
  supply: payload,
  collateral: payload,
  redemption: payload,
  per_chain: payload,
});

const deathRecordSchema = z.strictObject({
  symbol: z.string(),
  name: z.string(),
  death_type: z.string(),
  confirmed_dead_at: dateTime,
  pre_death_observed_at: dateTime,
  first_distress_at: dateTime.nullable(),
  lifespan_days: count.nullable(),
  pre_death_payload: preDeathPayloadSchema,
  death_context: facts.nullable(),
  record_hash: hash,
  hash_core_version: z.literal(3).nullable(),
  source_ref: z.string().nullable(),
  source_tier: z.string().nullable(),
  ...preImage,
});

/** `/stablecoin-deaths`. */
export const deathsSchema = z.strictObject({
  count,
  records: z.array(deathRecordSchema),
  ...roster,
});

const previewed = {
  nature: z.string(),
  as_of: dateTime,
  counts: z.record(z.string(), z.union([count, day, z.null()])),
  prices: z.array(
    z.strictObject({ path: z.string(), price_usd: z.string(), parameter: z.string().nullable() }),
  ),
  /** Members of the hash core of a row; those of demand-v1 are only in rows of that model. */
  hash_core: z.strictObject({
    version: z.literal(3),
    fields: z.array(z.string()),
    demand_v1_fields: z.array(z.string()).optional(),
  }),
  example_request: z.string().nullable(),
};
/** Legal values of the single-subject operation, the first of them where there are too many. */
const values = { values: z.array(z.string()), values_total: count };

/** `/trust/preview`, `/mcp/preview` and `/stable/preview`. */
export const rosterPreviewSchema = z.strictObject({ ...previewed, ...values });

/** `/trust/preview?q=`: services whose id holds the words. */
export const rosterSearchSchema = z.strictObject({
  nature: z.string(),
  q: z.string(),
  count,
  matches: z.array(z.string()),
  more: z.boolean(),
  example_request: z.string().nullable(),
  preview: z.string(),
});

/** `/stablecoin-deaths/preview`: what died and when, without what was measured before. */
export const deathsPreviewSchema = z.strictObject({
  ...previewed,
  death_types: z.array(z.string()),
  example: deathRecordSchema
    .pick({ symbol: true, name: true, death_type: true, confirmed_dead_at: true })
    .nullable(),
});
