import { closeSync, openSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import Database from 'libsql';
import { z } from 'zod';
import { groupSync } from './group-sync.ts';
import {
  type Conclusion,
  JOURNAL_RETENTION_DAYS,
  type Journal,
  type JournalEntry,
} from './journal.ts';

/** Bodies from this size on are stored compressed: a census is six times smaller, one record hardly. */
export const GZIP_BYTES_MIN = 16_384;
/** Rows that one clean-up removes, so that it never holds up payments for long. */
export const PURGE_ROWS_MAX = 500;
/** Time between clean-ups. */
export const PURGE_INTERVAL_MS = 600_000;

const FORMAT = 1;
const DAY_MS = 86_400_000;
/** After this time beyond `validBefore` no chain accepts the authorization. */
const CHAIN_CLOCK_MARGIN_MS = 600_000;
/** One write more than this wait for another process is a failure. */
const BUSY_TIMEOUT_MS = 2000;

// One row per payment, found by key alone; purge_at is indexed for the clean-up.
const SCHEMA = `
CREATE TABLE IF NOT EXISTS payment(
  key TEXT PRIMARY KEY NOT NULL, state TEXT NOT NULL, resource TEXT NOT NULL, digest TEXT NOT NULL,
  body BLOB NOT NULL, encoding TEXT NOT NULL, content_type TEXT NOT NULL, value TEXT NOT NULL,
  valid_before INTEGER NOT NULL, tx TEXT, detail TEXT, created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL, purge_at INTEGER NOT NULL) STRICT;
CREATE INDEX IF NOT EXISTS payment_purge_at ON payment(purge_at);
`;
const CLAIM = `
INSERT INTO payment(key, state, resource, digest, body, encoding, content_type, value, valid_before, tx, detail, created_at, updated_at, purge_at)
VALUES(?, 'settling', ?, ?, ?, ?, ?, ?, ?, NULL, NULL, ?, ?, ?)
ON CONFLICT(key) DO UPDATE SET state = 'settling', resource = excluded.resource, digest = excluded.digest,
  body = excluded.body, encoding = excluded.encoding, content_type = excluded.content_type, value = excluded.value,
  valid_before = excluded.valid_before, detail = NULL, updated_at = excluded.updated_at, purge_at = excluded.purge_at
WHERE payment.state = 'refused'`;
// What is settled stays settled, whatever a late answer says.
const CONCLUDE = `
UPDATE payment SET state = ?, tx = ?, detail = ?, updated_at = ? WHERE key = ? AND state IN ('settling', 'unknown')`;
const FIND = 'SELECT * FROM payment WHERE key = ?';
const PURGE =
  'DELETE FROM payment WHERE key IN (SELECT key FROM payment WHERE purge_at < ? LIMIT ?)';

const rowSchema = z.object({
  key: z.string(),
  state: z.enum(['settling', 'settled', 'refused', 'unknown']),
  resource: z.string(),
  digest: z.string(),
  body: z.instanceof(Uint8Array),
  encoding: z.enum(['identity', 'gzip']),
  content_type: z.string(),
  value: z.string(),
  valid_before: z.number(),
  tx: z.string().nullable(),
  detail: z.string().nullable(),
});

/** Where the journal lies and what time it is there. */
export interface SqliteJournalOptions {
  /** File of the database; `-wal` and `-shm` appear beside it. */
  readonly path: string;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

type Work = () => unknown;
interface Waiting {
  readonly work: Work;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** A journal in one SQLite file: writes of one tick share one transaction, and one sync of the disk. */
export function sqliteJournal({ path, clock }: SqliteJournalOptions): Journal & { close(): void } {
  const db = opened(path);
  const sync = groupSync(`${path}-wal`);
  const commit = groupCommit(db, () => sync.synced());
  const find = db.prepare(FIND);
  const claim = db.prepare(CLAIM);
  const conclude = db.prepare(CONCLUDE);
  const purge = purger(db, clock);
  return {
    async find(key) {
      const row = find.get(key);
      return row === undefined ? null : entryOf(row);
    },
    async claim(entry) {
      const now = clock();
      const values = claimValues(entry, now);
      const changes = await commit(() => claim.run(...values).changes);
      purge(now);
      return changes === 1;
    },
    async conclude({ key, state, transaction, detail }: Conclusion) {
      const values = [state, transaction ?? null, detail ?? null, clock(), key];
      const changes = await commit(() => conclude.run(...values).changes);
      if (changes !== 1)
        throw new Error(`Cannot conclude payment "${key}": not open in the journal`);
    },
    close() {
      sync.close();
      db.close();
    },
  };
}

function opened(path: string): Database.Database {
  // What was bought, tokens among it, is nobody else's to read; SQLite gives its side files the same mode.
  closeSync(openSync(path, 'a', 0o600));
  const db = new Database(path, { timeout: BUSY_TIMEOUT_MS });
  // NORMAL: the commit itself does not wait for the disk; groupCommit does, without holding up the thread.
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = NORMAL');
  const format = z.object({ user_version: z.number() });
  const { user_version } = format.parse(db.prepare('PRAGMA user_version').get());
  if (user_version !== 0 && user_version !== FORMAT) {
    db.close();
    throw new Error(
      `Cannot open journal "${path}": format ${user_version}, this program writes ${FORMAT}; use the program that made it`,
    );
  }
  db.exec(`${SCHEMA} PRAGMA user_version = ${FORMAT};`);
  return db;
}

/**
 * Runs what one tick asks for in one transaction. A promise resolves when the commit is on the disk, not in
 * its queue: nobody is asked to move money before that.
 */
function groupCommit(
  db: Database.Database,
  synced: () => Promise<void>,
): <T>(work: () => T) => Promise<T> {
  const transact = transactions(db);
  let waiting: Waiting[] = [];
  const flush = (): void => {
    const group = waiting;
    waiting = [];
    const outcome = transact(group);
    if (outcome === null) return;
    // One bad write must not take the others with it.
    for (const one of group) {
      const alone = group.length === 1 ? outcome : transact([one]);
      if (alone !== null) one.reject(alone.error);
    }
  };
  return async <T>(work: () => T) => {
    const result = await new Promise<T>((resolve, reject) => {
      if (waiting.length === 0) setImmediate(flush);
      waiting.push({ work, resolve: resolve as Waiting['resolve'], reject });
    });
    await synced();
    return result;
  };
}

/** Null when all is committed and every promise resolved; otherwise the error, with nothing written. */
type Transact = (group: readonly Waiting[]) => { readonly error: unknown } | null;

function transactions(db: Database.Database): Transact {
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = db.prepare('COMMIT');
  return (group) => {
    const results: unknown[] = [];
    try {
      begin.run();
      for (const { work } of group) results.push(work());
      commit.run();
    } catch (error) {
      rollback(db);
      return { error };
    }
    for (const [index, { resolve }] of group.entries()) resolve(results[index]);
    return null;
  };
}

function rollback(db: Database.Database): void {
  try {
    if (db.inTransaction) db.exec('ROLLBACK');
  } catch {
    // The error that led here is the one to report; a failed BEGIN leaves nothing to undo.
  }
}

function purger(db: Database.Database, clock: () => number): (now: number) => void {
  const statement = db.prepare(PURGE);
  let last = clock();
  return (now) => {
    if (now - last < PURGE_INTERVAL_MS) return;
    last = now;
    try {
      statement.run(now, PURGE_ROWS_MAX);
    } catch {
      // Old rows may wait for the next clean-up; payments may not.
    }
  };
}

function claimValues(
  entry: Omit<JournalEntry, 'state' | 'transaction' | 'detail'>,
  now: number,
): (string | number | Buffer)[] {
  const { key, resource, digest, body, contentType, value, validBefore } = entry;
  const gzip = body.length >= GZIP_BYTES_MIN;
  const stored = gzip ? gzipSync(body, { level: 1 }) : body;
  // A row must outlive its authorization, or one payment could open a second resource.
  const retention = now + JOURNAL_RETENTION_DAYS * DAY_MS;
  const dead = validBefore * 1000 + CHAIN_CLOCK_MARGIN_MS;
  const purgeAt = Math.min(Math.max(retention, dead), Number.MAX_SAFE_INTEGER);
  const encoding = gzip ? 'gzip' : 'identity';
  return [
    ...[key, resource, digest, stored, encoding, contentType, value],
    ...[validBefore, now, now, purgeAt],
  ];
}

function entryOf(row: unknown): JournalEntry {
  const { encoding, content_type, valid_before, tx, body, ...same } = rowSchema.parse(row);
  const bytes = Buffer.from(body);
  return {
    ...same,
    body: encoding === 'gzip' ? gunzipSync(bytes) : bytes,
    contentType: content_type,
    validBefore: valid_before,
    transaction: tx,
  };
}
