import { z } from 'zod';
import { DAY_MS } from '../../compiler/contract/iso-time.ts';
import {
  type Claim,
  DEAD_AFTER_S,
  JOURNAL_RETENTION_DAYS,
  type JournalEntry,
} from '../money/journal.ts';
import { soldBytes, soldHash } from './body-store.ts';

/** A body with its encoding, or neither once it was cleaned up. */
const storedBody = z.union([
  z.object({ encoding: z.string(), bytes: z.instanceof(Uint8Array) }),
  z.object({ encoding: z.null(), bytes: z.null() }),
]);
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
});
const entryRow = paymentRow.and(storedBody);

/** What a row of payments with its body says; throws when the disk returns other bytes than were sold. */
export function entryOf(row: unknown): JournalEntry {
  const { body, bytes, encoding, content_type, valid_before, tx, settled_at, usd, ...same } =
    entryRow.parse(row);
  return {
    ...same,
    ...(usd == null ? {} : { usd }),
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
  readonly identifier: string | null;
  readonly usd: string | null;
}

export function claimValues(claim: Claim, now: number): ClaimValues {
  const { key, resource, version, signed, value, validBefore, body, contentType } = claim;
  const { identifier = null, usd = null } = claim;
  // A body must outlive its authorization, or a payment that can still settle could not be delivered.
  const retention = now + JOURNAL_RETENTION_DAYS * DAY_MS;
  const dead = (validBefore + DEAD_AFTER_S) * 1000;
  return {
    row: [key, resource, version, signed, value, validBefore, contentType, now],
    sha256: soldHash(body),
    purgeAt: Math.min(Math.max(retention, dead), Number.MAX_SAFE_INTEGER),
    identifier,
    usd,
  };
}
