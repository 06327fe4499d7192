import { z } from 'zod';
import { citationSchema, proofTextSchema } from './citation.ts';
import { TABLE, type TableRow } from './endpoints.ts';
import {
  bundleSchema,
  legHeadSchema,
  lifecycleSchema,
  provenanceSchema,
  sourceSchema,
} from './record.ts';
import { RECORD_HASH } from './record-hash.ts';

/** Folder of stored documents; an operation whose file stands there is served from one. */
const FOLDER = 'document/';

/** Whether an operation is served from stored documents: without one it is an empty line. */
export function isDocument({ file }: Pick<TableRow, 'file'>): boolean {
  return file?.startsWith(FOLDER) === true;
}

/** Every operation that is served from stored documents. */
export const DOCUMENT_ENDPOINTS = TABLE.filter(isDocument);

/** What an operation's documents are made of: legs in causal order, or a text with rows. */
export function documentForm({ tag }: Pick<TableRow, 'tag'>): 'legs' | 'article' {
  return tag === '[3-LEG]' ? 'legs' : 'article';
}

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
const legsDocumentSchema = bundleSchema
  .omit({ last_fact: true, leg_availability: true, entity: true })
  .extend({
    title: z.string(),
    topic: z.string().optional(),
    legs: z.record(z.string(), legSchema),
  })
  .strict();

/** A document of a text and rows: the document as a whole has one hash. */
const articleSchema = z.strictObject({
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

/** The strict schema of an operation that is served from stored documents. */
export function documentSchemaOf(endpoint: Pick<TableRow, 'tag'>): z.ZodType {
  return documentForm(endpoint) === 'legs' ? legsDocumentSchema : articleSchema;
}
