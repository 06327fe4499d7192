import { z } from 'zod';
import { sealed } from '../../format/citation.ts';
import { member, orNull } from '../../format/members.ts';
import { CADENCES, UPDATE_STATES } from './freshness.ts';
import { AT_REQUEST } from './request-time.ts';

const dateTime = z.iso.datetime();
const open = z.record(z.string(), z.unknown());
const subject = {
  signal_id: member.signal_id,
  entity: member.entity,
  entity_name: member.entity_name,
};

/** One measuring body behind a reading; only name, weight, independent and relay_of are hashed. */
export const sourceSchema = z.strictObject({
  name: z.string().describe('name of the measuring body'),
  value: z
    .union([z.number(), z.string(), z.null()])
    .optional()
    .describe('value in the unit of the metric'),
  weight: z.number().describe('share of the source in the reading, 0 to 1'),
  as_of: member.as_of.optional(),
  role: z
    .string()
    .optional()
    .meta({
      description: 'what the source does: measures, relays, generates',
      examples: ['primary'],
    }),
  independent: z.boolean().describe('whether the source measures by itself'),
  relay_of: z.string().optional().describe('whose reading the source passes on'),
});
const sources = z.array(sourceSchema).nullable().describe('who measured, with weights');
export type RecordSource = z.infer<typeof sourceSchema>;

/** Life-cycle state of a subject; `state` is one of the line's own words. */
export const lifecycleSchema = z.looseObject({
  state: z.string().describe('state, in the words of its line or service'),
  birth_at: z.string().nullable().describe('when the subject began; null where unknown'),
  end_at: z.string().nullable().describe('when the subject ended; null while it lasts'),
  death_type: z
    .string()
    .nullable()
    .describe('kind of the end: a label computed by rules, no judgement'),
  context: open.nullable().describe('facts about the end; null without any'),
});
/** The member `lifecycle` of a body. */
export const lifecycle = lifecycleSchema
  .nullable()
  .describe('official life-cycle state; null for what has none');
export type Lifecycle = z.infer<typeof lifecycleSchema>;

/** Where a source stands against its cadence; added when the body is served, like all members of request time. */
const updateStatusSchema = z.strictObject({
  state: z.enum(UPDATE_STATES).describe('state, in the words of its line or service'),
  official_cadence: z.enum(CADENCES).describe('how often the source publishes'),
  overdue_days: z
    .int()
    .min(0)
    .nullable()
    .describe('days behind its cadence; null where not overdue'),
  text: z.string().describe('the text itself'),
});

/** The payload that a reading was imported from; not hashed with the reading, but signed with each body that names it. */
export const evidenceSchema = z.strictObject({
  /** Of the bytes that the agency answered, lower-case hex. */
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .describe('64 hex digits over the bytes of the payload'),
  /** Where they came from, without data keys. */
  url: z.string().describe('URL'),
  fetched_at: dateTime.describe('UTC date-time at which the payload was fetched'),
  /** Who read them: the name of a source, and the version of its rules. */
  importer: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,39}$/)
    .describe('program that read the payload'),
  importer_version: z.int().min(1).describe('version of its rules'),
  attribution: z
    .string()
    .max(1000)
    .exactOptional()
    .describe('words that the terms of the agency ask for'),
});
export type Evidence = z.infer<typeof evidenceSchema>;

const lineageSchema = z.strictObject({
  signal: z.string().describe('signal, or kind of row'),
  independent_dimension: z.string().describe('what the reading is independent of the others in'),
  traceable_to: z.string().nullable().describe('who measured; null where unknown'),
  uncertainty: z.string().describe('uncertainty as the source states it'),
  observed_at: member.observed_at,
  // null for a roster row that was imported without a hash
  record_hash: orNull(member.record_hash),
  source_ref: member.source_ref,
  /** Absent where no importer made the reading. */
  evidence: evidenceSchema.exactOptional().describe('what the statement was read from'),
});

const freshness_basis = z.string().meta({
  description: 'cadence and limits in hours that the word follows from',
  examples: [
    'cadence=hourly; fresh<=3h; recent<=24h; dead_source>168h; age_basis=request-time(now minus observed_at)',
  ],
});

/** Where a body comes from; its age and freshness are added when it is served. */
export const provenanceSchema = z.strictObject({
  served_from: z.string().describe('from which storage it is served'),
  data_as_of: dateTime.describe('UTC date-time of the newest part'),
  oldest_leg_as_of: dateTime.describe('UTC date-time of the oldest part'),
  data_age_hours: member.data_age_hours,
  /** In a body that joins readings: whose freshness its word is. */
  freshness_rule: member.freshness_rule.optional(),
  /** What the body owes of these, and of those of its legs and its publication. */
  at_request: z
    .array(z.enum(AT_REQUEST))
    .describe('what the body owes of the moment it is asked for'),
  answered_at: dateTime.optional().describe('when it was answered; its words of time are of then'),
  age_hours_now: member.age_hours_now.optional(),
  freshness: member.freshness.optional(),
  freshness_leg: z.string().optional().describe('the part whose freshness it is'),
  dead_source: member.dead_source.optional(),
  freshness_basis,
  data_lineage: z.array(lineageSchema).describe('one entry for each reading behind the body'),
  validation_status: z.string().describe('how far the reading was checked'),
  lineage_note: z
    .string()
    .optional()
    .meta({
      description: 'how the freshness of the parts is joined',
      examples: ['invented lineage note'],
    }),
  qualifiers: z.array(z.string()).optional().describe('reservations of the publisher'),
  revision_note: z.string().optional().describe('what was revised'),
});
/** The member `provenance` of a body. */
export const provenance = provenanceSchema.describe('where the body comes from, and how old it is');
export type Provenance = z.infer<typeof provenanceSchema>;

const changeOf = z.strictObject({
  delta: z
    .number()
    .nullable()
    .describe('current minus previous value, in the unit of the metric; null where unknown'),
  direction: z
    .enum(['rising', 'falling', 'stable', 'unknown'])
    .describe('rising, falling, stable, or unknown, which is not stable'),
  direction_reason: z
    .enum([
      'no-previous-record',
      'metric-absent-in-previous',
      'metric-absent-in-current',
      'non-numeric-value',
    ])
    .optional()
    .describe('why the direction is unknown'),
});
export type MetricChange = z.infer<typeof changeOf>;

export const standardRulerSchema = z.strictObject({
  band: member.band,
  official_category: z.string().describe('class in the words of the agency'),
  thresholds: z
    .array(
      z.strictObject({
        band: member.band,
        at: z.number().describe('value at which the class begins, in the unit of the ruler'),
      }),
    )
    .describe('where each class begins'),
  distance_to_action: z
    .number()
    .nullable()
    .describe('from the value to the action threshold, in the unit of the ruler; null without one'),
  pct_to_action: z
    .number()
    .nullable()
    .describe('value as a percentage of the action threshold; null without one'),
  normalized_index: z.number().describe('position on the official scale, 0 to 100'),
  unit: z.string().describe('unit of the values'),
  provenance: z.string().describe('which official scale it is, and whose'),
});
export type StandardRuler = z.infer<typeof standardRulerSchema>;

const statRulerSchema = z.strictObject({
  current_percentile: z
    .number()
    .min(0)
    .max(1)
    .meta({
      description: 'share of same-season readings below this one, 0 to 1',
      examples: [0.61],
    }),
  frequency_label: z.string().describe('how usual the reading is for the season, in words'),
  window_years: z.int().describe('years that are looked back'),
  n: z.int().describe('number of readings'),
});

export const strataSchema = z.strictObject({
  window_years: statRulerSchema.shape.window_years,
  n: statRulerSchema.shape.n,
  basis: z.string().describe('which readings were counted'),
  shares: z
    .array(
      z.strictObject({
        band: member.band,
        share: z.number().describe('share of the readings, 0 to 1'),
        n: statRulerSchema.shape.n,
      }),
    )
    .describe('one entry for each class, mildest first'),
  current_band: z.string().describe('class of the latest reading'),
});

const decisionPointsSchema = z.strictObject({
  count: z.int().describe('number of entries'),
  points: z
    .array(
      z.strictObject({
        tag: z.string().describe('parameter that can be changed'),
        current: z.string().describe('value of the parameter in this request'),
        swappable: z
          .array(z.string())
          .meta({ description: 'other legal values, at most 8', examples: [['another-city']] }),
        how: z.string().describe('the request with the first of them'),
      }),
    )
    .describe('one entry for each parameter that can be changed'),
  note: member.note,
});
const decision_points = decisionPointsSchema.describe(
  'which neighbouring facts one more call answers',
);
export type DecisionPoints = z.infer<typeof decisionPointsSchema>;

const verifiableSchema = z.strictObject({
  mode: z
    .enum(['offline', 'via-endpoint'])
    .describe('where it can be recomputed: offline, or by an operation'),
  note: member.note,
});

const record_hash_verifiable = verifiableSchema.describe('how the record hash can be recomputed');

/** How far a body was checked, and what it may be used for. */
export const disclosure = { grade: orNull(member.grade), scope: orNull(member.scope) };
const leg = z.string().describe('name of the leg');
const lastFact = {
  entity: member.entity,
  current: orNull(member.current),
  band: orNull(member.band),
  observed_at: member.observed_at,
  record_hash: member.record_hash,
  note: member.note,
};

/** Present where the latest reading has no value: the newest one that has. */
const recordLastFact = z.strictObject({
  signal_id: member.signal_id,
  snapshot_date: member.snapshot_date,
  ...lastFact,
});
/** Present where a leg is degraded: the newest reading of another leg, later than every degraded one. */
const bundleLastFact = z.strictObject({
  leg,
  signal_id: member.signal_id,
  ...lastFact,
});
/** Present where a leg is degraded. */
const legAvailability = z.strictObject({
  expected: z.int().describe('legs that the chain has'),
  available: z.int().describe('whether it can be used; of legs how many have a reading'),
  degraded: z
    .array(
      z.strictObject({
        leg,
        signal_id: member.signal_id,
        reason: z.string().describe('why'),
      }),
    )
    .min(1)
    .describe('legs without a reading, or with an old one'),
});

/** Degrees north and east, of an area a point inside it: both or none. They are context, in no hash core. */
export const positionSchema = {
  latitude: z.number().min(-90).max(90).optional().describe('degrees north'),
  longitude: z.number().min(-180).max(180).optional().describe('degrees east'),
};

/** The signal record: answer of `/gauge`. */
export const recordSchema = z.strictObject({
  nature: member.nature,
  tier: z
    .enum(['full', 'history-series'])
    .optional()
    .meta({ description: 'kind of body: full or history-series', examples: ['full'] }),
  update_status: updateStatusSchema
    .optional()
    .describe('whether the source publishes on time; no freshness'),
  ...subject,
  ...positionSchema,
  snapshot_date: member.snapshot_date,
  observed_at: member.observed_at,
  official_cadence: z.enum(CADENCES).describe('how often the source publishes'),
  /** When the source was last looked at, also without anything new. */
  last_looked_at: dateTime.describe(
    'UTC date-time at which the source was last asked, also without anything new',
  ),
  data_age_hours: orNull(member.data_age_hours),
  current: orNull(member.current),
  previous: open.nullable().meta({
    description: 'the reading of the period before, or a note on why there is none',
    examples: [{ aqi_index: 40 }],
  }),
  change: z
    .record(z.string(), z.union([changeOf, z.string(), z.null()]))
    .nullable()
    .describe('per metric how it changed, and `period`'),
  trend_7d: z
    .array(
      z.strictObject({
        observed_at: member.observed_at,
        value: z.unknown().describe('value in the unit of the metric'),
      }),
    )
    .nullable()
    .describe('up to 7 last points, oldest first; empty without a series'),
  sources,
  source_agreement_cv: z
    .number()
    .nullable()
    .describe('coefficient of variation of independent sources, a ratio; null with fewer than two'),
  standard_ruler: standardRulerSchema
    .nullable()
    .describe('place on the official scale; null without one'),
  stat_ruler: statRulerSchema
    .nullable()
    .describe('place among the same season of five years; null without enough readings'),
  strata: strataSchema
    .nullable()
    .describe('share of each official class in the season; null without them'),
  decision_points: decisionPointsSchema
    .nullable()
    .describe('which neighbouring facts one more call answers'),
  summary_en: z
    .string()
    .optional()
    .meta({ description: 'one sentence in English', examples: ['invented summary'] }),
  summary_zh: z
    .string()
    .nullable()
    .describe('one sentence in Traditional Chinese; null without one'),
  ...disclosure,
  record_hash_verifiable: verifiableSchema
    .nullable()
    .describe('how the record hash can be recomputed'),
  lifecycle,
  hash_core_version: member.hash_core_version,
  ots_status: z.literal('pending').nullable().describe('retired: pending or null'),
  provenance,
  source_ref: member.source_ref,
  source_tier: member.source_tier,
  record_hash: member.record_hash,
  last_fact: recordLastFact
    .optional()
    .describe('the newest later official reading that has a value'),
  unverified: z.literal(true).optional().describe('true where no tier is known for the source'),
  ...sealed,
});
export type SignalRecord = z.infer<typeof recordSchema>;

/** What an add-on says before the member that gives it its name. */
export const addOnHeadSchema = {
  nature: member.nature,
  dim: z.string().describe('which product of the reading this is'),
  ...subject,
  observed_at: member.observed_at,
};
/** What it says after that. */
export const addOnTailSchema = {
  record_hash: member.record_hash,
  provenance,
  ...disclosure,
  ...sealed,
};

/** The short form of a record. */
export const thinRecordSchema = z.strictObject({
  nature: member.nature,
  ...subject,
  observed_at: member.observed_at,
  current: orNull(member.current),
  band: orNull(member.band),
  record_hash: member.record_hash,
  ...sealed,
});
/** Whether a class is another than the mildest of its list; null without a list or a reading. */
const lit = z
  .boolean()
  .nullable()
  .describe('whether the class is not the mildest of its list; null without a list or a reading');
const position = z.int().min(1).describe('place in the causal order, from 1');

/** What every leg has; its own freshness is added in front of its basis when it is delivered. */
export const legHeadSchema = {
  leg,
  position,
  observed_at: member.observed_at,
  data_age_hours: member.data_age_hours,
  freshness: member.freshness.optional(),
  freshness_basis,
  ...subject,
  lit,
};

const legSchema = z.strictObject({
  ...legHeadSchema,
  current: orNull(member.current),
  band: orNull(member.band),
  record_hash: member.record_hash,
  lifecycle: lifecycleSchema
    .optional()
    .describe('official life-cycle state; null for what has none'),
});

const legsLitSchema = z.strictObject({
  count: z.int().min(0).describe('legs that are lit'),
  of: z.int().min(1).describe('number of legs'),
  names: z.array(z.string()).describe('names of those, in causal order'),
});

const location = z.string().describe('id of the city that was asked for');

/** The cross-line bundle: answer of every `*-region` operation. */
export const bundleSchema = z.strictObject({
  nature: member.nature,
  location: location.optional(),
  entity: z.string().optional().describe('who or what is measured: its id'),
  name: member.name,
  legs: z.record(z.string(), legSchema).describe('readings by leg, in causal order'),
  legs_lit: legsLitSchema.describe('how many legs are lit: a count, never a score'),
  cross_line_narrative: z.string().describe('each leg in one sentence, in causal order'),
  data_timespans: z
    .array(
      z.strictObject({
        leg,
        signal_id: member.signal_id,
        observed_at: member.observed_at,
        hours_since: z.number().describe('hours from observation to collection'),
      }),
    )
    .describe('when each leg was observed'),
  note: member.note.optional(),
  provenance,
  decision_points,
  ...disclosure,
  record_hash_verifiable,
  last_fact: bundleLastFact
    .optional()
    .describe('the newest later official reading that has a value'),
  leg_availability: legAvailability.optional().describe('present where a leg is missing or old'),
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
  position,
  signal_id: member.signal_id,
  entity: member.entity,
  observed_at: member.observed_at,
  current: orNull(member.current),
  band: orNull(member.band),
  lit,
  record_hash: member.record_hash,
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
  .extend({
    observed_at: member.observed_at,
    legs: z.record(z.string(), thinLegSchema).describe('readings by leg, in causal order'),
  })
  .strict();

/** One row of a census: the whole hash core of a reading beside its name, age and class. */
const censusRowSchema = z.strictObject({
  ...subject,
  ...positionSchema,
  snapshot_date: member.snapshot_date,
  observed_at: member.observed_at,
  data_age_hours: member.data_age_hours,
  current: orNull(member.current),
  band: orNull(member.band),
  lifecycle,
  sources,
  source_ref: member.source_ref,
  source_tier: member.source_tier,
  hash_core_version: member.hash_core_version,
  record_hash: member.record_hash,
});
export type CensusRow = z.infer<typeof censusRowSchema>;

/** `/gauge/census`: every entity of one signal, by its id. */
export const censusBodySchema = z.strictObject({
  nature: member.nature,
  signal_id: member.signal_id,
  measures: member.measures,
  count: z.int().describe('number of entries'),
  observed_at: member.observed_at,
  rows: z.array(censusRowSchema).describe('the rows'),
  record_hash_verifiable,
  provenance,
  ...disclosure,
  ...sealed,
});
export type CensusBody = z.infer<typeof censusBodySchema>;

/** `/gauge/air` and `/gauge/precip`. */
export const readingsBodySchema = z.strictObject({
  nature: member.nature,
  addon: z.enum(['air', 'precip']).describe('which city product this is: air or precip'),
  location,
  name: member.name,
  line: z.string().describe('subject area'),
  readings: z
    .array(
      recordSchema.omit({ _proof: true, _citation: true }).extend({
        lit,
      }),
    )
    .describe('one record for each signal of the city'),
  note: member.note,
  provenance,
  decision_points,
  ...disclosure,
  ...sealed,
});
