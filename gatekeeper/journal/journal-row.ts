import { z } from 'zod';
import { DAY_MS } from '../../compiler/contract/iso-time.ts';
import type { ChainHead } from '../money/evidence.ts';
import {
  type Claim,
  DEAD_AFTER_S,
  JOURNAL_RETENTION_DAYS,
  type JournalEntry,
  type KnownPayment,
  type Review,
} from '../money/journal.ts';
import { soldBytes, soldHash } from './body-store.ts';

/** A body with its encoding, or neither once it was cleaned up. */
const storedBody = z.union([
  z.object({ encoding: z.string(), bytes: z.instanceof(Uint8Array) }),
  z.object({ encoding: z.null(), bytes: z.null() }),
]);
/** Later columns are absent in what an older version wrote. */
const chainHead = z.custom<ChainHead>((text) => /^[0-9]+:0x[0-9a-f]+$/.test(String(text)));
const paymentRow = z.object({
  key: z.string(),
  state: z.enum(['settling', 'settled', 'refused', 'unknown']),
  resource: z.string(),
  version: z.union([z.literal(1), z.literal(2)]),
  signed: z.string(),
  value: z.string(),
  valid_before: z.number(),
  body: z.instanceof(Uint8Array),
  content_type: z.string(),
  tx: z.string().nullable(),
  settled_at: z.number().nullable(),
  detail: z.string().nullable(),
  usd: z.string().nullish(),
  identifier: z.string().nullable(),
  client: z.string().nullable(),
  claim_block: chainHead.nullish(),
  waiting_since: z.number().nullish(),
});
const entryRow = paymentRow.and(storedBody);
/** The columns of a payment that are known without its answer. */
export const KNOWN_COLUMNS = 'resource, signed, identifier, client, settled_at';
const knownRow = paymentRow.pick({
  resource: true,
  signed: true,
  identifier: true,
  client: true,
  settled_at: true,
});

/** What such a row says. */
export function knownOf(row: unknown): KnownPayment {
  const { settled_at: settledMs, ...same } = knownRow.parse(row);
  return { ...same, settledMs };
}

/** What a row of payments with its body says; throws when the disk returns other bytes than were sold. */
export function entryOf(row: unknown): JournalEntry {
  const { body, bytes, encoding, content_type, valid_before, tx, settled_at, ...parsed } =
    entryRow.parse(row);
  const { usd, claim_block: claimBlock, waiting_since, ...same } = parsed;
  return {
    ...same,
    ...(usd == null ? {} : { usd }),
    ...(claimBlock == null ? {} : { claimBlock }),
    ...(waiting_since == null ? {} : { isWaiting: true }),
    body: bytes === null ? null : soldBytes(bytes, encoding, body),
    contentType: content_type,
    validBefore: valid_before,
    transaction: tx,
    settledMs: settled_at,
  };
}

/** A claim as both engines write it. */
export interface ClaimValues {
  /** Key, resource, version, signed text, value, validBefore, media type, time. */
  readonly row: readonly (string | number)[];
  readonly sha256: Buffer;
  /** Until when its body must be kept, in milliseconds since the epoch. */
  readonly purgeAt: number;
  /** Identifier, worth in dollars, hash of the network address, block of the chain. */
  readonly more: readonly [string | null, string | null, string | null, string | null];
}

/** A statement for each review of a settled payment; its values are `reviewValues`. */
export const reviewsOf = (table: string, [value, key]: readonly [string, string]) => {
  const open = `WHERE key = ${key} AND state = 'settled' AND final_at IS NULL`;
  return {
    final: `UPDATE ${table} SET final_at = ${value} ${open}`,
    moved: `UPDATE ${table} SET tx = ${value} ${open}`,
    gone: `UPDATE ${table} SET state = 'unknown', detail = 'reorganised: ' || tx, tx = NULL, settled_at = NULL,
  waiting_since = NULL, reorganised_at = ${value} ${open}`,
  } as const;
};

export function reviewValues(review: Review, now: number): readonly [number | string, string] {
  return [review.state === 'moved' ? review.transaction : now, review.key];
}

export function claimValues(claim: Claim, now: number): ClaimValues {
  const { key, resource, version, signed, value, validBefore, body, contentType } = claim;
  const { identifier = null, usd = null, client = null, claimBlock = null } = claim;
  // A body must outlive its authorization, or a payment that can still settle could not be delivered.
  const retention = now + JOURNAL_RETENTION_DAYS * DAY_MS;
  const dead = (validBefore + DEAD_AFTER_S) * 1000;
  return {
    row: [key, resource, version, signed, value, validBefore, contentType, now],
    sha256: soldHash(body),
    purgeAt: Math.min(Math.max(retention, dead), Number.MAX_SAFE_INTEGER),
    more: [identifier, usd, client, claimBlock],
  };
}
