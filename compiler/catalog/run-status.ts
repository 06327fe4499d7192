import { z } from 'zod';

const time = z.iso.datetime().nullable();

const sourceStatusSchema = z.strictObject({
  last_attempt: time,
  /** Of a fetch and import without a fault. */
  last_success: time,
  /** When other bytes came last. */
  last_change: time,
  next_due: time,
  consecutive_failures: z.int().min(0),
  /** Of the last attempt; null after a success. */
  last_error: z.string().nullable(),
  /** Readings that wait for the batch of the next hour. */
  waiting: z.int().min(0),
  /** Entries of the last answers that could not be read; what they may touch was published without a value. */
  unread: z.int().min(0).default(0),
  /** Where the last attempt asked not all: the address with which the next one begins, without its days. */
  resume_at: z.string().nullable().default(null),
});
export type SourceStatus = Readonly<z.infer<typeof sourceStatusSchema>>;

/** The status file of `signalpress run`. */
export const runStatusSchema = z.strictObject({
  version: z.literal(1),
  updated_at: time,
  /** Every fetch up to this time is imported, as far as it can be. */
  imported_through: time,
  compile: z.strictObject({
    /** Snapshots were written that no release holds. */
    is_due: z.boolean(),
    last_success: time,
    last_error: z.string().nullable(),
    /** Sequence of the last release that was published here. */
    release: z.int().nullable(),
  }),
  sources: z.record(z.string(), sourceStatusSchema),
  /** The day on which what the register says was told last. */
  warned_on: z.iso.date().nullable().default(null),
});

/** How everything stands; the status file holds it for other programs. */
export type RunStatus = Readonly<z.infer<typeof runStatusSchema>>;
