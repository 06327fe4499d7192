import { z } from 'zod';
import { sealed } from '../../format/citation.ts';
import { member } from '../../format/members.ts';
import { bundleSchema, legHeadSchema, lifecycle, provenance, sourceSchema } from './record.ts';

const legSchema = z.strictObject({
  ...legHeadSchema,
  measures: member.measures,
  snapshot_date: member.snapshot_date,
  current: member.current,
  sources: z.array(sourceSchema).describe('who measured, with weights'),
  source_ref: member.source_ref,
  source_tier: member.source_tier,
  lifecycle,
  hash_core_version: member.hash_core_version,
  record_hash: member.record_hash,
});

/** A document of legs: a bundle whose legs carry their whole hash core. */
export const legsDocumentSchema = bundleSchema
  .omit({ last_fact: true, leg_availability: true, entity: true })
  .extend({
    title: z.string().describe('heading'),
    topic: z.string().optional().describe('topic that was asked for'),
    legs: z.record(z.string(), legSchema).describe('readings by leg, in causal order'),
  })
  .strict();

/** A document of a text and rows: the document as a whole has one hash. */
export const articleSchema = z.strictObject({
  nature: member.nature,
  operation: z.string().describe('path of the operation that answered'),
  params: z
    .record(z.string(), z.string())
    .meta({ description: 'parameters by name', examples: [{ entity: 'example-city' }] }),
  title: z.string().describe('heading'),
  text: z.string().nullable().describe('the text itself'),
  count: member.count,
  rows: z.array(z.record(z.string(), z.unknown())).describe('the rows'),
  observed_at: member.observed_at,
  data_age_hours: member.data_age_hours,
  source_ref: member.source_ref,
  source_tier: member.source_tier,
  record_hash: member.record_hash,
  hash_core_version: member.hash_core_version,
  record_hash_verifiable: z
    .strictObject({
      mode: z
        .literal('offline')
        .describe('where it can be recomputed: offline, or by an operation'),
      note: member.note,
    })
    .describe('how the record hash can be recomputed'),
  provenance,
  grade: member.grade,
  scope: member.scope,
  ...sealed,
});
