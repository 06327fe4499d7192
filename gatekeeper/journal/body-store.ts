import { createHash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import type Database from 'libsql';
import { z } from 'zod';
import { DAY_MS } from '../../compiler/contract/iso-time.ts';
import { RECORD_HASH } from '../../compiler/contract/record-hash.ts';
import { citationOf } from '../release/citation-text.ts';

/** Bodies from this size on are stored compressed: a census is six times smaller, one record hardly. */
const GZIP_BYTES_MIN = 16_384;
/** Time between clean-ups. */
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

  /** See SoldCitations. */
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

type BodyRow = [Buffer, 'gzip' | 'identity', Buffer, number, string | null, string | null];

/** A body as both engines store it: hash, encoding, bytes, end of its time, digits and text of its citation. */
export function bodyRow(sha256: Buffer, body: Buffer, purgeAt: number): BodyRow {
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

/** SHA-256 of the bytes. */
function bodyHash(body: Uint8Array): Buffer {
  return createHash('sha256').update(body).digest();
}

const soldHashes = new WeakMap<Buffer, Buffer>();

/** SHA-256 of a body that is sold as it stands: the same buffer is sold many times and never written to. */
export function soldHash(body: Buffer): Buffer {
  const known = soldHashes.get(body);
  if (known !== undefined) return known;
  const hash = bodyHash(body);
  soldHashes.set(body, hash);
  return hash;
}

/** The bytes as they were sold; throws when the disk returns others. */
export function soldBytes(stored: Uint8Array, encoding: string, sha256: Uint8Array): Buffer {
  const bytes = Buffer.from(stored);
  const body = encoding === 'gzip' ? gunzipSync(bytes) : bytes;
  if (bodyHash(body).equals(sha256)) return body;
  throw new Error(
    'Cannot read a sold body from the journal: its hash does not match; check the disk',
  );
}
