import { z } from 'zod';
import { logBatch } from './log-batch.ts';

const count = z.int().min(0);
const hex = z.string().regex(/^[0-9a-f]{64}$/);
const digits = z.string().regex(/^sha256:[0-9a-f]{8,64}$/);

/** What is known of the timestamp of a tree. */
const words = {
  ots_state: z.enum(['unstamped', 'pending', 'confirmed']),
  bitcoin_height: count.nullable(),
  bitcoin_block: hex.nullable(),
  stamped_at: z.iso.datetime().nullable(),
  ots_proof: z.string().nullable(),
  ots_note: z.string(),
};
const inclusion = {
  ...logBatch.shape,
  index: count,
  leaf_hash: hex,
  inclusion_proof: z.array(hex),
};
const lookUp = { endpoint: z.literal('gauge/anchor'), hash: digits };

/** `/gauge/anchor`: the batches of the log, or what it says of one hash. */
export const anchorSchema = z.union([
  z.strictObject({
    endpoint: z.literal('gauge/anchor'),
    day: z.iso.date().optional(),
    log: z.strictObject({ size: count, checkpoint: z.string(), files: z.string() }).nullable(),
    total: count,
    shown: count,
    batches: z.array(z.strictObject({ ...logBatch.shape, ...words })),
    note: z.string(),
  }),
  z.strictObject({
    ...lookUp,
    found: z.literal(true),
    ...inclusion,
    ...words,
    note: z.string(),
  }),
  z.strictObject({
    ...lookUp,
    found: z.literal(false),
    ambiguous: z.literal(true).optional(),
    matches: count.optional(),
    note: z.string(),
  }),
]);

/** `/proof/:record_hash`: what a hash is taken of, its place in the log, the timestamp of that; the core only of a reading that is free. */
export const proofSchema = z.strictObject({
  endpoint: z.literal('proof'),
  hash: digits,
  found: z.boolean(),
  kind: z.enum(['reading', 'row', 'citation']).optional(),
  record_status: z.strictObject({ state: z.enum(['current', 'superseded', 'not_found']) }),
  signal_id: z.string().nullable().optional(),
  entity: z.string().nullable().optional(),
  observed_at: z.string().nullable().optional(),
  hash_core: z.record(z.string(), z.unknown()).nullable(),
  hash_core_members: z.array(z.string()).nullable(),
  recompute: z.string().optional(),
  inclusion: z.strictObject(inclusion).nullable(),
  anchor: z.strictObject(words).nullable(),
  ambiguous: z.literal(true).optional(),
  note: z.string(),
});
