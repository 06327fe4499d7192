import { z } from 'zod';
import { citationSchema, proofTextSchema } from './citation.ts';
import {
  bundleSchema,
  legHeadSchema,
  lifecycleSchema,
  provenanceSchema,
  sourceSchema,
} from './record.ts';
import { RECORD_HASH } from './record-hash.ts';

const legSchema = z.strictObject({
  ...legHeadSchema,
  measures: z.string(),
  snapshot_date: z.iso.datetime(),
  current: z.record(z.string(), z.unknown()),
  sources: z.array(sourceSchema),
  source_ref: z.string().nullable(),
  source_tier: z.string().nullable(),
  lifecycle: lifecycleSchema.nullable(),
  hash_core_version: z.literal(3),
  record_hash: z.string().regex(RECORD_HASH),
});

/** A document of legs: a bundle whose legs carry their whole hash core. */
export const legsDocumentSchema = bundleSchema
  .omit({ last_fact: true, leg_availability: true, entity: true })
  .extend({
    title: z.string(),
    topic: z.string().optional(),
    legs: z.record(z.string(), legSchema),
  })
  .strict();

/** A document of a text and rows: the document as a whole has one hash. */
export const articleSchema = z.strictObject({
  nature: z.string(),
  operation: z.string(),
  params: z.record(z.string(), z.string()),
  title: z.string(),
  text: z.string().nullable(),
  count: z.int().min(0),
  rows: z.array(z.record(z.string(), z.unknown())),
  observed_at: z.iso.datetime(),
  data_age_hours: z.number(),
  source_ref: z.string().nullable(),
  source_tier: z.string().nullable(),
  record_hash: z.string().regex(RECORD_HASH),
  hash_core_version: z.literal(3),
  record_hash_verifiable: z.strictObject({ mode: z.literal('offline'), note: z.string() }),
  provenance: provenanceSchema,
  grade: z.string(),
  scope: z.string(),
  _proof: proofTextSchema.optional(),
  _citation: citationSchema.optional(),
});
