import { z } from 'zod';
import { member, orNull } from '../../format/members.ts';
import { provenance } from './record.ts';

/** Items of one watchlist request. */
export const WATCH_ITEMS_MAX = 30;
/** How far `/gauge/watch-changes` looks back where the caller names no time. */
export const CHANGES_HOURS_DEFAULT = 24;
/** Rows of one page of `/gauge/manifest-sweep`; a page stays well under two megabytes. */
export const SWEEP_PAGE_ROWS = 5000;

/** One signal of a watched item: the latest reading as its record holds it. */
const watchRowSchema = z.strictObject({
  signal_id: member.signal_id,
  entity: member.entity,
  entity_name: member.entity_name,
  current: orNull(member.current),
  band: orNull(member.band),
  observed_at: member.observed_at,
  data_age_hours: orNull(member.data_age_hours),
  record_hash: member.record_hash,
  provenance,
});
export type WatchRow = z.infer<typeof watchRowSchema>;

const watched = {
  nature: member.nature,
  as_of: member.as_of,
  count: z.int().describe('number of entries'),
  items: z
    .array(
      z.strictObject({
        item: z.string().describe('the item as it was asked for, industry:entity'),
        industry: member.industry,
        entity: member.entity,
        /** False where nothing is stored of the pair; its rows are then empty. */
        found: z.boolean().describe('whether it is stored'),
        rows: z.array(watchRowSchema).describe('the rows'),
      }),
    )
    .describe('one entry for each item'),
  unknown_items: z.array(z.string()).describe('items that are not known'),
  record_hash_verifiable: z
    .strictObject({
      mode: z
        .literal('via-endpoint')
        .describe('where it can be recomputed: offline, or by an operation'),
      note: member.note,
    })
    .describe('how the record hash can be recomputed'),
  note: member.note,
};

/** `/gauge/watch`: the latest readings of each item. */
export const watchSchema = z.strictObject(watched);

/** `/gauge/watch-changes`: of each item the readings observed after `since`. */
export const watchChangesSchema = z.strictObject({
  ...watched,
  since: z.iso.datetime().describe('UTC date-time; only later observations are listed'),
});

/** `/gauge/manifest-sweep`: every latest reading by its time and hash. */
export const sweepSchema = z.strictObject({
  nature: member.nature,
  as_of: member.as_of,
  page: z.int().describe('this page, from 1'),
  pages: z.int().describe('number of pages'),
  total: z.int().describe('number of all entries'),
  next: z.string().nullable().describe('request for the next page; null on the last'),
  rows: z
    .array(
      z.strictObject({
        industry: member.industry,
        signal_id: member.signal_id,
        entity: member.entity,
        observed_at: member.observed_at,
        record_hash: member.record_hash,
      }),
    )
    .describe('the rows'),
});

/** `/gauge/subscribe`: the token that was bought. */
export const subscriptionSchema = z.strictObject({
  token: z.string().meta({
    description: 'signed token; send it as Authorization: Bearer',
    examples: ['invented-token'],
  }),
  plan: z.literal('watchlist').describe('what the token opens'),
  expires_at: z.iso.datetime().describe('UTC date-time at which the token ends'),
  days: z.int().describe('days'),
});
