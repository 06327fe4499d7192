import { z } from 'zod';
import { provenanceSchema } from './record.ts';
import { RECORD_HASH } from './record-hash.ts';

/** Items of one watchlist request. */
export const WATCH_ITEMS_MAX = 30;
/** How far `/gauge/watch-changes` looks back where the caller names no time. */
export const CHANGES_HOURS_DEFAULT = 24;
/** Rows of one page of `/gauge/manifest-sweep`; a page stays well under two megabytes. */
export const SWEEP_PAGE_ROWS = 5000;

const recordHash = z.string().regex(RECORD_HASH);

/** One signal of a watched item: the latest reading as its record holds it. */
const watchRowSchema = z.strictObject({
  signal_id: z.string(),
  entity: z.string(),
  entity_name: z.string().nullable(),
  current: z.record(z.string(), z.unknown()).nullable(),
  band: z.string().nullable(),
  observed_at: z.iso.datetime(),
  data_age_hours: z.number().nullable(),
  record_hash: recordHash,
  provenance: provenanceSchema,
});
export type WatchRow = z.infer<typeof watchRowSchema>;

const watched = {
  nature: z.string(),
  as_of: z.iso.datetime(),
  count: z.int(),
  items: z.array(
    z.strictObject({
      item: z.string(),
      industry: z.string(),
      entity: z.string(),
      /** False where nothing is stored of the pair; its rows are then empty. */
      found: z.boolean(),
      rows: z.array(watchRowSchema),
    }),
  ),
  unknown_items: z.array(z.string()),
  record_hash_verifiable: z.strictObject({ mode: z.literal('via-endpoint'), note: z.string() }),
  note: z.string(),
};

/** `/gauge/watch`: the latest readings of each item. */
export const watchSchema = z.strictObject(watched);

/** `/gauge/watch-changes`: of each item the readings observed after `since`. */
export const watchChangesSchema = z.strictObject({ ...watched, since: z.iso.datetime() });

/** `/gauge/manifest-sweep`: every latest reading by its time and hash. */
export const sweepSchema = z.strictObject({
  nature: z.string(),
  as_of: z.iso.datetime(),
  page: z.int(),
  pages: z.int(),
  total: z.int(),
  next: z.string().nullable(),
  rows: z.array(
    z.strictObject({
      industry: z.string(),
      signal_id: z.string(),
      entity: z.string(),
      observed_at: z.iso.datetime(),
      record_hash: recordHash,
    }),
  ),
});

/** `/gauge/subscribe`: the token that was bought. */
export const subscriptionSchema = z.strictObject({
  token: z.string(),
  plan: z.literal('watchlist'),
  expires_at: z.iso.datetime(),
  days: z.int(),
});
