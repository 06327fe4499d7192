import { z } from 'zod';
import { sealed } from '../../format/citation.ts';
import { member, orNull } from '../../format/members.ts';
import { provenance } from './record.ts';

const day = z.iso.date();
const dateTime = z.iso.datetime();
const count = z.int().min(0);
const core = z.looseObject({ hash_core_version: member.hash_core_version }).nullable();
const facts = z.record(z.string(), z.unknown());
const disclosure = { grade: member.grade, scope: member.scope };
const seal = {
  provenance,
  ...disclosure,
  ...sealed,
};
/** Only in the `verifiable=1` form: the pre-image of the row's hash, null for a row without one. */
const preImage = { _hash_core: core.optional().describe('canonical pre-image of the record hash') };

/** Classes of demand of an x402 service, as its source calls them. */
export const DEMAND_CLASSES = ['REAL', 'SOLO', 'PROBE', 'WASH?', 'WASH', 'DEAD'] as const;
export const DEMAND_DEPTHS = ['DEPTH', 'BREADTH'] as const;

const rosterVerifiableSchema = z.strictObject({
  mode: z
    .enum(['online', 'offline', 'none'])
    .describe('where it can be recomputed: offline, or by an operation'),
  with_hash: count.describe('rows that carry a hash'),
  total: member.total,
  note: member.note,
});

const sourceNote = z.string().describe('what has to be known about the source');
const roster = {
  nature: member.nature,
  observed_at: member.observed_at,
  record_hash_verifiable: rosterVerifiableSchema.describe('how the record hash can be recomputed'),
  source_note: sourceNote.optional(),
  ...seal,
};

const LIFECYCLE = 'official life-cycle state; null for what has none';
const presence = {
  state: z.enum(['operating', 'absent']).describe('state, in the words of its line or service'),
  first_seen: day.describe('first day of a capture with it'),
  last_seen: day.describe('last day of a capture with it'),
  end_at: day.nullable().describe('when the subject ended; null while it lasts'),
};
const presenceSchema = z.strictObject(presence).describe(LIFECYCLE);

const captured = {
  capture_date: day.describe('day of the capture'),
  observed_at: member.observed_at,
  data_age_hours: member.data_age_hours,
  record_hash: orNull(member.record_hash),
  source_ref: member.source_ref,
  source_tier: member.source_tier,
};
const unavailable = {
  unavailable_fields: z.array(z.string()).describe('members for which there is no data'),
  unavailable_reason: z.string().describe('why there is none'),
};

const precheck = {
  nature: member.nature,
  service_id: z.string().describe('id of the x402 service'),
  name: member.name,
  score_total: z.number().nullable().describe('an ordering key, no rating; null where unknown'),
  liveness_state: z
    .string()
    .nullable()
    .describe('whether the service answered lately; null where unknown'),
  liveness_streak: z.int().nullable().describe('days in that state; null where unknown'),
  baseline_delta: z
    .number()
    .nullable()
    .describe('difference of the ordering key to its baseline; null where unknown'),
  domain: z.string().describe('host of the service'),
  first_endpoint: z.string().nullable().describe('first known endpoint; null where unknown'),
  lifecycle: presenceSchema,
  ...captured,
  hash_core_version: z.literal('3').nullable().describe('version of the hash core'),
  ...unavailable,
  ...seal,
};

/** `/trust/precheck`: the members of a model appear only with that model. */
export const precheckSchema = z.discriminatedUnion('model', [
  z.strictObject({
    ...precheck,
    model: z.literal('demand-v1').describe('how demand was measured: demand-v1 or legacy-registry'),
    calls_30d: count.nullable().describe('paid calls in 30 days; null where unknown'),
    unique_payers_30d: count.nullable().describe('payers in 30 days, at least; null where unknown'),
    demand_class: z.enum(DEMAND_CLASSES).describe('class of demand'),
    demand_depth: z
      .enum(DEMAND_DEPTHS)
      .nullable()
      .describe('whether few pay often or many pay; null where unknown'),
    endpoints: count.nullable().describe('number of endpoints; null where unknown'),
    endpoints_by_class: z
      .partialRecord(z.enum(DEMAND_CLASSES), count)
      .nullable()
      .describe('number of endpoints by class of demand; null where unknown'),
    last_called_at: dateTime
      .nullable()
      .describe('UTC date-time of the last paid call; null where unknown'),
    model_note: z.string().describe('what the model counts'),
  }),
  z.strictObject({
    ...precheck,
    model: z
      .literal('legacy-registry')
      .describe('how demand was measured: demand-v1 or legacy-registry'),
    source_note: sourceNote,
    note: member.note,
  }),
]);

/** `/trust/scorecard`. */
export const scorecardSchema = z.strictObject({
  count: member.count,
  rows: z
    .array(
      z.strictObject({
        service: z.string().describe('id of the x402 service'),
        name: member.name,
        score_total: precheck.score_total,
        liveness_state: precheck.liveness_state,
        model: z
          .enum(['demand-v1', 'legacy-registry'])
          .describe('how demand was measured: demand-v1 or legacy-registry'),
        demand_class: z
          .enum(DEMAND_CLASSES)
          .optional()
          .meta({ description: 'class of demand', examples: ['REAL'] }),
        lifecycle: presenceSchema,
        record_hash: orNull(member.record_hash),
        ...preImage,
      }),
    )
    .describe('the rows'),
  ...roster,
});

/** `/trust/graveyard`, `/mcp/graveyard` and `/stable/graveyard`. */
export const graveyardSchema = z.strictObject({
  count: member.count,
  deaths: z
    .array(
      z.strictObject({
        entity: member.entity,
        name: member.name,
        state: z.enum(['absent', 'dead']).describe('state, in the words of its line or service'),
        died_on: day.describe('day of the end'),
        first_seen: presence.first_seen,
        last_seen: presence.last_seen,
        lifespan_days: count.describe('days from first to last sight; null where unknown'),
        confirm_absences: count
          .nullable()
          .describe('captures without it that confirmed the end; null where it ended otherwise'),
        record_hash: orNull(member.record_hash),
        ...preImage,
      }),
    )
    .describe('one entry for each subject that ended'),
  ...roster,
});

/** `/mcp/server`. */
export const serverSchema = z.strictObject({
  nature: member.nature,
  server_id: z.string().describe('id of the MCP server'),
  name: member.name,
  status: z.string().describe('state of the item, in the words of its kind'),
  missing_streak: count.nullable().describe('captures in a row without it'),
  lifecycle: presenceSchema,
  ...captured,
  hash_core_version: orNull(member.hash_core_version),
  ...unavailable,
  source_note: sourceNote,
  ...seal,
});

/** `/mcp/census`. */
export const mcpCensusSchema = z.strictObject({
  count: member.count,
  rows: z
    .array(
      z.strictObject({
        entity: member.entity,
        name: member.name,
        status: serverSchema.shape.status,
        missing_streak: serverSchema.shape.missing_streak,
        lifecycle: presenceSchema,
        record_hash: orNull(member.record_hash),
        ...preImage,
      }),
    )
    .describe('the rows'),
  ...roster,
});

/** States of a stablecoin, computed from its prices and from the days it was captured on. */
export const COIN_STATES = ['operating', 'at_risk', 'missing', 'absent', 'dead'] as const;
const coinLife = {
  peg: z.string().nullable().describe('currency that it follows; null for none'),
  state: z.enum(COIN_STATES).describe('state, in the words of its line or service'),
  first_seen: presence.first_seen,
  last_seen: presence.last_seen,
  end_at: presence.end_at,
};

/** `/stable/coin`. */
export const coinSchema = z.strictObject({
  nature: member.nature,
  coin_id: z.string().describe('id of the stablecoin'),
  symbol: z.string().describe('symbol of the stablecoin'),
  name: member.name,
  current: member.current,
  lifecycle: z.strictObject(coinLife).describe(LIFECYCLE),
  ...captured,
  hash_core_version: orNull(member.hash_core_version),
  /** Where the chain of the same coin is sold; absent where none is stored. */
  companion: z.string().optional().describe('request that sells the chain of the same coin'),
  same_symbol: z.array(z.string()).optional().describe('other coins of the same symbol'),
  ...seal,
});

/** `/stable/census`. */
export const stableCensusSchema = z.strictObject({
  count: member.count,
  rows: z
    .array(
      z.strictObject({
        rank: z.int().min(1).describe('rank by market value, from 1'),
        entity: member.entity,
        symbol: coinSchema.shape.symbol,
        name: member.name,
        market_cap_usd: z
          .number()
          .nullable()
          .describe('market value in US dollars; null where unknown'),
        price_in_peg: z
          .number()
          .nullable()
          .describe('price in units of its peg; null where unknown'),
        lifecycle: z
          .strictObject({
            ...coinLife,
            terminated: z.boolean().meta({ description: 'whether it ended', examples: [false] }),
            depegged: z
              .boolean()
              .meta({ description: 'whether it left its peg', examples: [false] }),
          })
          .describe(LIFECYCLE),
        record_hash: orNull(member.record_hash),
        ...preImage,
      }),
    )
    .describe('the rows'),
  ...roster,
});

/** A price, a supply, or such figures by name; null where none survives. */
const payload = z.union([z.number(), z.string(), facts]).nullable();
/** What was last measured before the death; only the paid answer holds it. */
const preDeathPayloadSchema = z.strictObject({
  price: payload.describe('price in US dollars, or figures by name; null where none survives'),
  supply: payload.describe('units in circulation, or figures by name; null where none survives'),
  collateral: payload.describe('collateral, or figures by name; null where none survives'),
  redemption: payload.describe('state of redemption, or figures by name; null where none survives'),
  per_chain: payload.describe('figures by chain; null where none survive'),
});

const deathRecordSchema = z.strictObject({
  symbol: coinSchema.shape.symbol,
  name: z.string().describe('name for people'),
  death_type: z.string().describe('kind of the end: a label computed by rules, no judgement'),
  confirmed_dead_at: dateTime.describe('UTC date-time at which the end was confirmed'),
  pre_death_observed_at: dateTime.describe('UTC date-time of the last measurement before'),
  first_distress_at: dateTime
    .nullable()
    .describe('UTC date-time of the first sign; null where unknown'),
  lifespan_days: count.nullable().describe('days from first to last sight; null where unknown'),
  pre_death_payload: preDeathPayloadSchema.describe('what was last measured before the end'),
  death_context: facts.nullable().describe('facts about the end; null without any'),
  record_hash: orNull(member.record_hash),
  hash_core_version: orNull(member.hash_core_version),
  source_ref: member.source_ref,
  source_tier: member.source_tier,
  ...preImage,
});

/** `/stablecoin-deaths`. */
export const deathsSchema = z.strictObject({
  count: member.count,
  records: z.array(deathRecordSchema).describe('one entry for each subject'),
  ...roster,
});

const previewed = {
  nature: member.nature,
  as_of: member.as_of,
  counts: z.record(z.string(), z.union([count, day, z.null()])).describe('numbers by name'),
  prices: z
    .array(
      z.strictObject({
        path: z.string().describe('path of the operation'),
        price_usd: member.price_usd,
        parameter: z
          .string()
          .nullable()
          .describe('the parameter that names a subject; null for none'),
      }),
    )
    .describe('the price list'),
  /** Members of the hash core of a row; those of demand-v1 are only in rows of that model. */
  hash_core: z
    .strictObject({
      version: z.literal(3).describe('version'),
      fields: z.array(z.string()).describe('names of the members'),
      demand_v1_fields: z
        .array(z.string())
        .optional()
        .describe('members of the hash core in rows of demand-v1 only'),
    })
    .describe('members that the hash is taken of'),
  example_request: member.example_request,
};
/** Legal values of the single-subject operation, the first of them where there are too many. */
const values = {
  values: z.array(z.string()).describe('legal values, as many as fit'),
  values_total: count.describe('number of legal values'),
};

/** `/trust/preview`, `/mcp/preview` and `/stable/preview`. */
export const rosterPreviewSchema = z.strictObject({ ...previewed, ...values });

/** `/trust/preview?q=`: services whose id holds the words. */
export const rosterSearchSchema = z.strictObject({
  nature: member.nature,
  q: member.q,
  count: member.count,
  matches: z.array(z.string()).describe('entries that fit, or how many'),
  more: z.boolean().describe('whether there are further ones'),
  example_request: member.example_request,
  preview: z.string().describe('path of the free list of legal values'),
});

/** `/stablecoin-deaths/preview`: what died and when, without what was measured before. */
export const deathsPreviewSchema = z.strictObject({
  ...previewed,
  death_types: z.array(z.string()).describe('kinds of ends'),
  example: deathRecordSchema
    .pick({ symbol: true, name: true, death_type: true, confirmed_dead_at: true })
    .nullable()
    .describe('one entry as an example'),
});
