import { createHash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import type Database from 'libsql';
import { z } from 'zod';
import { DAY_MS } from '../../../compiler/format/iso-time.ts';
import { RECORD_HASH } from '../../../compiler/format/record-hash.ts';
import type { ChainHead } from '../../settle/evidence.ts';
import {
  type Claim,
  DEAD_AFTER_S,
  JOURNAL_RETENTION_DAYS,
  type JournalEntry,
  type KnownPayment,
  type OpenSummary,
  type Review,
} from '../../settle/journal.ts';
import { citationOf } from '../release/read-body.ts';

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

const summaryRow = z.object({ payments: z.number(), oldest: z.number().nullable() });

/** Number and first time of what is open, out of a row for each of its states. */
export function summaryOf(settlingRow: unknown, unknownRow: unknown): OpenSummary {
  const [settling, unknown] = [summaryRow.parse(settlingRow), summaryRow.parse(unknownRow)];
  const times = [settling.oldest, unknown.oldest].filter((at) => at !== null);
  const oldestMs = times.length === 0 ? null : Math.min(...times);
  return { settling: settling.payments, unknown: unknown.payments, oldestMs };
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

/** Bodies from this size on are stored compressed: a census is six times smaller, one record hardly. */
const GZIP_BYTES_MIN = 16_384;
export const PURGE_INTERVAL_MS = 600_000;
/** Rows that one clean-up removes, so that it never holds up payments for long. */
export const PURGE_ROWS_MAX = 200;
/** Kept longer than asked for by this much, so that a body sold every minute is not touched every minute. */
const KEEP_EXTRA_MS = DAY_MS;

const KEEP = `
INSERT INTO body(sha256, encoding, bytes, purge_at, citation_hash, citation) VALUES(?, ?, ?, ?, ?, ?)
ON CONFLICT(sha256) DO UPDATE SET purge_at = max(purge_at, excluded.purge_at)`;
// Hex digits come before the letter g. Two rows are enough to know that a prefix is ambiguous.
const HASHES = `
SELECT DISTINCT citation_hash AS hash FROM body WHERE citation_hash >= ?1 AND citation_hash < ?1 || 'g' LIMIT 2`;
const CITATION = 'SELECT citation FROM body WHERE citation_hash = ?';
const PURGE = 'DELETE FROM body WHERE rowid IN (SELECT rowid FROM body WHERE purge_at < ? LIMIT ?)';

const hashRow = z.object({ hash: z.string() });
const citationRow = z.object({ citation: z.string() });

/** Sold bytes by their hash: the same body is stored once, whoever buys it. */
export class BodyStore {
  readonly #keep: Database.Statement;
  readonly #hashes: Database.Statement;
  readonly #citation: Database.Statement;
  readonly #purge: Database.Statement;

  constructor(db: Database.Database) {
    this.#keep = db.prepare(KEEP);
    this.#hashes = db.prepare(HASHES);
    this.#citation = db.prepare(CITATION);
    this.#purge = db.prepare(PURGE);
  }

  /** Inside a transaction: the body is there from its commit on, at least until `purgeAt`. */
  keep(sha256: Buffer, body: Buffer, purgeAt: number): void {
    this.#keep.run(bodyRow(sha256, body, purgeAt));
  }

  citations(digits: string): unknown[] {
    return this.#hashes.all([digits]).map((row) => {
      const { hash } = hashRow.parse(row);
      return JSON.parse(citationRow.parse(this.#citation.get([hash])).citation);
    });
  }

  purge(now: number): void {
    this.#purge.run([now, PURGE_ROWS_MAX]);
  }
}

/** A body as both engines store it: hash, encoding, bytes, end of its time, digits and text of its citation. */
export function bodyRow(
  sha256: Buffer,
  body: Buffer,
  purgeAt: number,
): [Buffer, 'gzip' | 'identity', Buffer, number, string | null, string | null] {
  const gzip = body.length >= GZIP_BYTES_MIN;
  const stored = gzip ? gzipSync(body, { level: 1 }) : body;
  const until = Math.min(purgeAt + KEEP_EXTRA_MS, Number.MAX_SAFE_INTEGER);
  return [sha256, gzip ? 'gzip' : 'identity', stored, until, ...citedBy(body)];
}

/** Hex digits and text of the citation of a body, kept apart so that a look-up reads no long body; nulls where it has none. */
function citedBy(body: Buffer): [hash: string | null, citation: string | null] {
  const citation = citationOf(body);
  const hash = String(citation?.record_hash);
  if (!RECORD_HASH.test(hash)) return [null, null];
  return [hash.slice('sha256:'.length), JSON.stringify(citation)];
}

/** SHA-256 of a body that is sold as it stands. */
export function soldHash(body: Uint8Array): Buffer {
  return createHash('sha256').update(body).digest();
}

/** The bytes as they were sold; throws when the disk returns others. */
export function soldBytes(stored: Uint8Array, encoding: string, sha256: Uint8Array): Buffer {
  const bytes = Buffer.from(stored);
  const body = encoding === 'gzip' ? gunzipSync(bytes) : bytes;
  if (soldHash(body).equals(sha256)) return body;
  throw new Error(
    'Cannot read a sold body from the journal: its hash does not match; check the disk',
  );
}
