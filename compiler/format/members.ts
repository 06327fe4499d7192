import { z } from 'zod';
import { RECORD_HASH } from './record-hash.ts';

// Members that the bodies of several families share: what each means, with its unit, and an example where the simplest value of
// its schema would show too little. A member of one family says the same of itself in the schema of that family. What depends
// on the catalogue, such as a signal and its metric, has no example here.

/** Stands in every example that is not real, so that nobody takes one for a reading. */
const INVENTED = 'invented example: it shows the form of an answer, nothing in it was observed';
const DISCLOSED = 'invented example, nothing observed';

/** The whole hash of examples; it is the hash of nothing. */
export const INVENTED_HASH = `sha256:${'e7'.repeat(32)}`;

const text = z.string();
const textOrNull = text.nullable();
const dateTime = z.iso.datetime();
const count = z.int().min(0);
const facts = z.record(z.string(), z.unknown());

export const member = {
  nature: text.meta({
    description: 'what the body is: descriptive, no forecast, no advice',
    examples: [INVENTED],
  }),
  signal_id: text.meta({ description: 'what is measured, as genus.species' }),
  entity: text.meta({
    description: 'who or what is measured: its id',
    examples: ['example-city'],
  }),
  entity_name: textOrNull.meta({
    description: 'name of the entity for people; null where none is known',
    examples: ['Invented City'],
  }),
  name: textOrNull.meta({ description: 'name for people', examples: ['Invented Example'] }),
  measures: text.meta({ description: 'what the signal measures, in words' }),
  industry: text.meta({ description: 'id of the industry that the subject area belongs to' }),
  observed_at: dateTime.meta({
    description: 'UTC date-time of the observation; of many rows the oldest',
  }),
  snapshot_date: dateTime.meta({
    description: 'UTC day of the snapshot, at midnight',
    examples: ['2026-01-15T00:00:00Z'],
  }),
  as_of: dateTime.meta({ description: 'UTC date-time of which the statement speaks' }),
  day: z.iso.date().meta({ description: 'UTC day' }),
  data_age_hours: z.number().meta({
    description: 'hours from observation to collection; frozen, for reference only',
    examples: [0.5],
  }),
  age_hours_now: z
    .number()
    .min(0)
    .meta({ description: 'hours from observation to this answer', examples: [1.2] }),
  freshness: z.enum(['fresh', 'recent', 'stale']).meta({
    description: 'fresh, recent or stale, by the cadence of the source',
    examples: ['fresh'],
  }),
  freshness_rule: text.meta({ description: 'whose freshness the word is' }),
  dead_source: text.meta({ description: 'present where the source seems to have stopped' }),
  current: facts.meta({
    description:
      'the reading; each metric has its unit as a suffix of its name, the main one first',
  }),
  band: text.meta({
    description: 'official class of the reading, else that of its publisher; null without one',
  }),
  source_ref: textOrNull.meta({
    description: 'official URL of the reading; null without one',
    examples: ['https://example.com/invented'],
  }),
  source_tier: textOrNull.meta({
    description: 'rank of the source: T1 is official; null where unranked',
    examples: ['T1'],
  }),
  hash_core_version: z.literal(3).meta({ description: 'version of the hash core' }),
  record_hash: z
    .string()
    .regex(RECORD_HASH)
    .meta({
      description: 'sha256:<64 hex> over the canonical JSON of the hash core',
      examples: [INVENTED_HASH],
    }),
  root: z
    .string()
    .regex(RECORD_HASH)
    .meta({ description: 'root of a tree, a hash', examples: [INVENTED_HASH] }),
  sequence: z.int().min(1).meta({ description: 'number of the release' }),
  note: text.meta({ description: 'what has to be known about it', examples: [INVENTED] }),
  grade: text.meta({ description: 'how far the content was checked', examples: [DISCLOSED] }),
  scope: text.meta({ description: 'what the content may be used for', examples: [DISCLOSED] }),
  count: count.meta({ description: 'number of entries' }),
  total: count.meta({ description: 'number of all entries' }),
  q: text.meta({ description: 'what was searched for' }),
  price_usd: text.meta({ description: 'price in US dollars, a decimal', examples: ['0.01'] }),
  example_request: textOrNull.meta({ description: 'a request that works' }),
} as const;

/** A member that may also be null and means the same. */
export function orNull<Member extends z.ZodType>(one: Member): z.ZodNullable<Member> {
  // A copy without its words: they are said of the whole member.
  return one
    .clone(one.def)
    .nullable()
    .meta(one.meta() ?? {});
}
