import { z } from 'zod';
import { citationSchema, proofTextSchema } from './citation.ts';
import { CADENCES, UPDATE_STATES } from './freshness.ts';
import { RECORD_HASH } from './record-hash.ts';
import { AT_REQUEST } from './request-time.ts';

const sealed = { _proof: proofTextSchema.optional(), _citation: citationSchema.optional() };
const dateTime = z.iso.datetime();
const recordHash = z.string().regex(RECORD_HASH);
const open = z.record(z.string(), z.unknown());
const subject = {
  signal_id: z.string(),
  entity: z.string(),
  entity_name: z.string().nullable(),
};

/** One measuring body behind a reading; only name, weight, independent and relay_of are hashed. */
export const sourceSchema = z.strictObject({
  name: z.string(),
  value: z.union([z.number(), z.string(), z.null()]).optional(),
  weight: z.number(),
  as_of: dateTime.optional(),
  role: z.string().optional(),
  independent: z.boolean(),
  relay_of: z.string().optional(),
});
export type RecordSource = z.infer<typeof sourceSchema>;

/** Life-cycle state of a subject; `state` is one of the line's own words. */
export const lifecycleSchema = z.looseObject({
  state: z.string(),
  birth_at: z.string().nullable(),
  end_at: z.string().nullable(),
  death_type: z.string().nullable(),
  context: open.nullable(),
});
export type Lifecycle = z.infer<typeof lifecycleSchema>;

/** Where a source stands against its cadence; added when the body is served, like all members of request time. */
const updateStatusSchema = z.strictObject({
  state: z.enum(UPDATE_STATES),
  official_cadence: z.enum(CADENCES),
  overdue_days: z.int().min(0).nullable(),
  text: z.string(),
});

/** The payload that a reading was imported from; not hashed with the reading, but signed with each body that names it. */
export const evidenceSchema = z.strictObject({
  /** Of the bytes that the agency answered, lower-case hex. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** Where they came from, without data keys. */
  url: z.string(),
  fetched_at: dateTime,
  /** Who read them: the name of a source, and the version of its rules. */
  importer: z.string().regex(/^[a-z0-9][a-z0-9-]{0,39}$/),
  importer_version: z.int().min(1),
});
export type Evidence = z.infer<typeof evidenceSchema>;

const lineageSchema = z.strictObject({
  signal: z.string(),
  independent_dimension: z.string(),
  traceable_to: z.string().nullable(),
  uncertainty: z.string(),
  observed_at: dateTime,
  // null for a roster row that was imported without a hash
  record_hash: recordHash.nullable(),
  source_ref: z.string().nullable(),
  /** Absent where no importer made the reading. */
  evidence: evidenceSchema.exactOptional(),
});

const freshnessWord = z.enum(['fresh', 'recent', 'stale']);

/** Where a body comes from; its age and freshness are added when it is served. */
export const provenanceSchema = z.strictObject({
  served_from: z.string(),
  data_as_of: dateTime,
  oldest_leg_as_of: dateTime,
  data_age_hours: z.number(),
  /** In a body that joins readings: whose freshness its word is. */
  freshness_rule: z.string().optional(),
  /** What the body owes of these, and of those of its legs and its publication. */
  at_request: z.array(z.enum(AT_REQUEST)),
  answered_at: dateTime.optional(),
  age_hours_now: z.number().min(0).optional(),
  freshness: freshnessWord.optional(),
  freshness_leg: z.string().optional(),
  dead_source: z.string().optional(),
  freshness_basis: z.string(),
  data_lineage: z.array(lineageSchema),
  validation_status: z.string(),
  lineage_note: z.string().optional(),
  qualifiers: z.array(z.string()).optional(),
  revision_note: z.string().optional(),
});
export type Provenance = z.infer<typeof provenanceSchema>;

const changeOf = z.strictObject({
  delta: z.number().nullable(),
  direction: z.enum(['rising', 'falling', 'stable', 'unknown']),
  direction_reason: z
    .enum([
      'no-previous-record',
      'metric-absent-in-previous',
      'metric-absent-in-current',
      'non-numeric-value',
    ])
    .optional(),
});
export type MetricChange = z.infer<typeof changeOf>;

export const standardRulerSchema = z.strictObject({
  band: z.string(),
  official_category: z.string(),
  thresholds: z.array(z.strictObject({ band: z.string(), at: z.number() })),
  distance_to_action: z.number().nullable(),
  pct_to_action: z.number().nullable(),
  normalized_index: z.number(),
  unit: z.string(),
  provenance: z.string(),
});
export type StandardRuler = z.infer<typeof standardRulerSchema>;

const statRulerSchema = z.strictObject({
  current_percentile: z.number().min(0).max(1),
  frequency_label: z.string(),
  window_years: z.int(),
  n: z.int(),
});

export const strataSchema = z.strictObject({
  window_years: z.int(),
  n: z.int(),
  basis: z.string(),
  shares: z.array(z.strictObject({ band: z.string(), share: z.number(), n: z.int() })),
  current_band: z.string(),
});

const decisionPointsSchema = z.strictObject({
  count: z.int(),
  points: z.array(
    z.strictObject({
      tag: z.string(),
      current: z.string(),
      swappable: z.array(z.string()),
      how: z.string(),
    }),
  ),
  note: z.string(),
});
export type DecisionPoints = z.infer<typeof decisionPointsSchema>;

const verifiableSchema = z.strictObject({
  mode: z.enum(['offline', 'via-endpoint']),
  note: z.string(),
});

const disclosure = { grade: z.string().nullable(), scope: z.string().nullable() };
const lastFact = {
  entity: z.string(),
  current: open.nullable(),
  band: z.string().nullable(),
  observed_at: dateTime,
  record_hash: recordHash,
  note: z.string(),
};

/** Present where the latest reading has no value: the newest one that has. */
const recordLastFact = z.strictObject({
  signal_id: z.string(),
  snapshot_date: dateTime,
  ...lastFact,
});
/** Present where a leg is degraded: the newest reading of another leg, later than every degraded one. */
const bundleLastFact = z.strictObject({ leg: z.string(), signal_id: z.string(), ...lastFact });
/** Present where a leg is degraded. */
const legAvailability = z.strictObject({
  expected: z.int(),
  available: z.int(),
  degraded: z
    .array(z.strictObject({ leg: z.string(), signal_id: z.string(), reason: z.string() }))
    .min(1),
});

/** Degrees north and east, of an area a point inside it: both or none. They are context, in no hash core. */
export const positionSchema = {
  latitude: z.number().min(-90).max(90).optional(),
  longitude: z.number().min(-180).max(180).optional(),
};

/** The signal record: answer of `/gauge`. */
export const recordSchema = z.strictObject({
  nature: z.string(),
  tier: z.enum(['full', 'history-series']).optional(),
  update_status: updateStatusSchema.optional(),
  ...subject,
  ...positionSchema,
  snapshot_date: dateTime,
  observed_at: dateTime,
  official_cadence: z.enum(CADENCES),
  /** When the source was last looked at, also without anything new. */
  last_looked_at: dateTime,
  data_age_hours: z.number().nullable(),
  current: open.nullable(),
  previous: open.nullable(),
  change: z.record(z.string(), z.union([changeOf, z.string(), z.null()])).nullable(),
  trend_7d: z.array(z.strictObject({ observed_at: dateTime, value: z.unknown() })).nullable(),
  sources: z.array(sourceSchema).nullable(),
  source_agreement_cv: z.number().nullable(),
  standard_ruler: standardRulerSchema.nullable(),
  stat_ruler: statRulerSchema.nullable(),
  strata: strataSchema.nullable(),
  decision_points: decisionPointsSchema.nullable(),
  summary_en: z.string().optional(),
  summary_zh: z.string().nullable(),
  ...disclosure,
  record_hash_verifiable: verifiableSchema.nullable(),
  lifecycle: lifecycleSchema.nullable(),
  hash_core_version: z.literal(3),
  ots_status: z.literal('pending').nullable(),
  provenance: provenanceSchema,
  source_ref: z.string().nullable(),
  source_tier: z.string().nullable(),
  record_hash: recordHash,
  last_fact: recordLastFact.optional(),
  unverified: z.literal(true).optional(),
  ...sealed,
});
export type SignalRecord = z.infer<typeof recordSchema>;

/** What an add-on says before the member that gives it its name. */
export const addOnHeadSchema = {
  nature: z.string(),
  dim: z.string(),
  ...subject,
  observed_at: dateTime,
};
/** What it says after that. */
export const addOnTailSchema = {
  record_hash: recordHash,
  provenance: provenanceSchema,
  ...disclosure,
  ...sealed,
};

/** The short form of a record. */
export const thinRecordSchema = z.strictObject({
  nature: z.string(),
  ...subject,
  observed_at: dateTime,
  current: open.nullable(),
  band: z.string().nullable(),
  record_hash: recordHash,
  ...sealed,
});
/** Whether a class is another than the mildest of its list; null without a list or a reading. */
const lit = z.boolean().nullable();

/** What every leg has; its own freshness is added in front of its basis when it is delivered. */
export const legHeadSchema = {
  leg: z.string(),
  position: z.int().min(1),
  observed_at: dateTime,
  data_age_hours: z.number(),
  freshness: freshnessWord.optional(),
  freshness_basis: z.string(),
  ...subject,
  lit,
};

const legSchema = z.strictObject({
  ...legHeadSchema,
  current: open.nullable(),
  band: z.string().nullable(),
  record_hash: recordHash,
  lifecycle: lifecycleSchema.optional(),
});

const legsLitSchema = z.strictObject({
  count: z.int().min(0),
  of: z.int().min(1),
  names: z.array(z.string()),
});

/** The cross-line bundle: answer of every `*-region` operation. */
export const bundleSchema = z.strictObject({
  nature: z.string(),
  location: z.string().optional(),
  entity: z.string().optional(),
  name: z.string().nullable(),
  legs: z.record(z.string(), legSchema),
  legs_lit: legsLitSchema,
  cross_line_narrative: z.string(),
  data_timespans: z.array(
    z.strictObject({
      leg: z.string(),
      signal_id: z.string(),
      observed_at: dateTime,
      hours_since: z.number(),
    }),
  ),
  note: z.string().optional(),
  provenance: provenanceSchema,
  decision_points: decisionPointsSchema,
  ...disclosure,
  record_hash_verifiable: verifiableSchema,
  last_fact: bundleLastFact.optional(),
  leg_availability: legAvailability.optional(),
  ...sealed,
});
export type Bundle = z.infer<typeof bundleSchema>;

/** Parts that several bodies have, by the name that descriptions give them. */
export const RECORD_PARTS = {
  Provenance: provenanceSchema,
  Lineage: lineageSchema,
  Evidence: evidenceSchema,
  Source: sourceSchema,
  Lifecycle: lifecycleSchema,
  UpdateStatus: updateStatusSchema,
  Change: changeOf,
  StandardRuler: standardRulerSchema,
  StatRuler: statRulerSchema,
  Strata: strataSchema,
  DecisionPoints: decisionPointsSchema,
  Verifiable: verifiableSchema,
  Leg: legSchema,
  LegsLit: legsLitSchema,
  LegAvailability: legAvailability,
  LastFact: recordLastFact,
  LegLastFact: bundleLastFact,
} as const;

const thinLegSchema = z.strictObject({
  position: z.int().min(1),
  signal_id: z.string(),
  entity: z.string(),
  observed_at: dateTime,
  current: open.nullable(),
  band: z.string().nullable(),
  lit,
  record_hash: recordHash,
});
/** The short form of a bundle; `observed_at` is that of its oldest leg. */
export const thinBundleSchema = bundleSchema
  .pick({
    nature: true,
    location: true,
    entity: true,
    leg_availability: true,
    _proof: true,
    _citation: true,
  })
  .extend({ observed_at: dateTime, legs: z.record(z.string(), thinLegSchema) })
  .strict();

/** One row of a census: the whole hash core of a reading beside its name, age and class. */
const censusRowSchema = z.strictObject({
  ...subject,
  ...positionSchema,
  snapshot_date: dateTime,
  observed_at: dateTime,
  data_age_hours: z.number(),
  current: open.nullable(),
  band: z.string().nullable(),
  lifecycle: lifecycleSchema.nullable(),
  sources: z.array(sourceSchema).nullable(),
  source_ref: z.string().nullable(),
  source_tier: z.string().nullable(),
  hash_core_version: z.literal(3),
  record_hash: recordHash,
});
export type CensusRow = z.infer<typeof censusRowSchema>;

/** `/gauge/census`: every entity of one signal, by its id. */
export const censusBodySchema = z.strictObject({
  nature: z.string(),
  signal_id: z.string(),
  measures: z.string(),
  count: z.int(),
  observed_at: dateTime,
  rows: z.array(censusRowSchema),
  record_hash_verifiable: verifiableSchema,
  provenance: provenanceSchema,
  ...disclosure,
  ...sealed,
});
export type CensusBody = z.infer<typeof censusBodySchema>;

/** `/gauge/air` and `/gauge/precip`. */
export const readingsBodySchema = z.strictObject({
  nature: z.string(),
  addon: z.enum(['air', 'precip']),
  location: z.string(),
  name: z.string().nullable(),
  line: z.string(),
  readings: z.array(recordSchema.omit({ _proof: true, _citation: true }).extend({ lit })),
  note: z.string(),
  provenance: provenanceSchema,
  decision_points: decisionPointsSchema,
  ...disclosure,
  ...sealed,
});
