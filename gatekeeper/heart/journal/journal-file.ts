import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, openSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'libsql';
import { z } from 'zod';
import { clockIsBehind } from '../../settle/clock-guard.ts';
import { hashedIdentifier } from '../../settle/extensions.ts';
import { readOwnFile, refuseUnlessPlain, replaceFile } from '../../wire/plain-file.ts';
import { StartError } from '../../wire/start-error.ts';
import { NEWEST_NAME } from '../release/newest-served.ts';

/** File of the payment journal inside the state folder. */
export const JOURNAL_NAME = 'payments.db';
/** Version of the table layout; a file with another number belongs to another version. */
const JOURNAL_FORMAT = 3;
/** An older layout with the same rows; some facts about its bodies are unknown. */
const FORMAT_WITHOUT_CITATIONS = 2;
/** Longest wait for a write of another process. */
const BUSY_TIMEOUT_MS = 2000;
/** Pages that the write-ahead log collects before they are moved: each move waits for the disk. */
const CHECKPOINT_PAGES = 2000;

// A body is stored once, however often it is sold: prices repeat every reading thousands of times. Rows of
// payments are never deleted once they are settled, for they are the ledger; bodies go after the retention. `holder` is
// the process that asks for the money of an open payment at this moment; `identifier` the hash of the payer's own name of the
// purchase; `client` that of the network address which brought it; `usd` what a token that is not USDC was worth;
// `claim_block` the newest block of the chain before the claim; `final_at` when no reorganisation could take the transfer
// away any more, `reorganised_at` when one did; `waiting_since` when it was settled while nobody waited for its answer, until
// that is delivered; `refund_from` the account that pays it back, `refund_at` when that was begun or sent, and `refund_tx`.
const SCHEMA = `
CREATE TABLE IF NOT EXISTS body(
  sha256 BLOB NOT NULL UNIQUE, encoding TEXT NOT NULL, bytes BLOB NOT NULL, purge_at INTEGER NOT NULL,
  citation_hash TEXT, citation TEXT) STRICT;
CREATE INDEX IF NOT EXISTS body_purge_at ON body(purge_at);
CREATE TABLE IF NOT EXISTS payment(
  id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, state TEXT NOT NULL, resource TEXT NOT NULL,
  version INTEGER NOT NULL, signed TEXT NOT NULL, value TEXT NOT NULL, valid_before INTEGER NOT NULL,
  body BLOB NOT NULL, content_type TEXT NOT NULL, tx TEXT, detail TEXT,
  created_at INTEGER NOT NULL, settled_at INTEGER, holder TEXT, identifier TEXT, usd TEXT, client TEXT,
  claim_block TEXT, final_at INTEGER, reorganised_at INTEGER, waiting_since INTEGER, refund_from TEXT, refund_at INTEGER,
  refund_tx TEXT) STRICT;
CREATE TABLE IF NOT EXISTS used_message(message TEXT PRIMARY KEY, until INTEGER NOT NULL) STRICT;
CREATE INDEX IF NOT EXISTS used_message_until ON used_message(until);
CREATE TABLE IF NOT EXISTS accepted_clock(
  id INTEGER PRIMARY KEY, at INTEGER NOT NULL, newest INTEGER NOT NULL, payment_id INTEGER NOT NULL) STRICT;
CREATE INDEX IF NOT EXISTS payment_not_settled ON payment(state, id) WHERE state <> 'settled';
CREATE INDEX IF NOT EXISTS payment_tx ON payment(lower(tx)) WHERE tx IS NOT NULL;
CREATE INDEX IF NOT EXISTS body_citation_hash ON body(citation_hash) WHERE citation_hash IS NOT NULL;
`;
const ADD_CITATIONS =
  'ALTER TABLE body ADD COLUMN citation_hash TEXT; ALTER TABLE body ADD COLUMN citation TEXT';

/** Columns of payments that came later. A version without them writes its rows as before, so the format stays the same. */
const LATER_COLUMNS = {
  holder: 'TEXT',
  identifier: 'TEXT',
  usd: 'TEXT',
  client: 'TEXT',
  claim_block: 'TEXT',
  final_at: 'INTEGER',
  reorganised_at: 'INTEGER',
  waiting_since: 'INTEGER',
  refund_from: 'TEXT',
  refund_at: 'INTEGER',
  refund_tx: 'TEXT',
};
const HAS_COLUMN = "SELECT 1 FROM pragma_table_info('payment') WHERE name = ?";
const IDENTIFIERS = `
CREATE UNIQUE INDEX IF NOT EXISTS payment_identifier ON payment(identifier)
  WHERE identifier IS NOT NULL AND state <> 'refused'`;
/** Names that a version of before wrote down as they came: `0x…|id`. */
const PLAIN_IDENTIFIERS = `
SELECT id, identifier FROM payment
WHERE identifier IS NOT NULL AND state <> 'refused' AND identifier >= '0x' AND identifier < '0y' LIMIT 1000`;
const HASH_IDENTIFIER = 'UPDATE payment SET identifier = ? WHERE id = ?';
const plainRow = z.object({ id: z.number(), identifier: z.string() });

/** Paid without a delivery so far, or paid back. */
export const MAY_BE_OWED = 'waiting_since IS NOT NULL OR refund_from IS NOT NULL';
/** Of what no node showed, nobody asks whether it is still there. */
export const IS_UNFINAL = "state = 'settled' AND final_at IS NULL AND claim_block IS NOT NULL";
const LATER_INDEXES = `
CREATE INDEX IF NOT EXISTS payment_unfinal ON payment(id) WHERE ${IS_UNFINAL};
CREATE INDEX IF NOT EXISTS payment_owed ON payment(id) WHERE ${MAY_BE_OWED}`;

/** What stands before the nonce in the key of a payment. */
export const ACCOUNT = 'substr(key, 1, length(key) - 67)';
/** The first part of a key: network and asset of a payment, or that it is a receipt. */
const TOKEN = `
CASE WHEN first.key LIKE 'receipt|%' THEN 'receipt'
  WHEN length(first.key) > 110 THEN substr(first.key, 1, length(first.key) - 110) ELSE first.key END`;
/** Most tokens of before that are looked for. */
const TOKENS_MAX = 64;

/** The tokens of all payments in a table, each as `network|asset`: one look-up in the index of keys for each. */
export const tokensIn = (table: string): string => `
WITH RECURSIVE first(key) AS (
  SELECT min(key) FROM ${table}
  UNION ALL
  SELECT (SELECT min(later.key) FROM ${table} AS later WHERE later.key > ${TOKEN} || '}') FROM first
  WHERE first.key IS NOT NULL)
SELECT ${TOKEN} AS token FROM first WHERE first.key IS NOT NULL LIMIT ${TOKENS_MAX}`;
export const tokenRow = z.object({ token: z.string() });

/** Finds the sales of an account that signs in. */
const SALES = `
CREATE INDEX IF NOT EXISTS payment_sale ON payment(${ACCOUNT}, resource, id) WHERE state = 'settled'`;

const versionRow = z.object({ user_version: z.number() });

/** Opens the journal for writing and makes its tables; throws for the file of another format, and where it is lost. */
export function openJournalFile(path: string, { isLossAccepted = false } = {}): Database.Database {
  refuseUnlessPlain(path);
  const trace = isLossAccepted ? null : traceOfJournal(path);
  if (isMissing(path)) {
    if (trace !== null) throw lostJournal(path, trace);
    // What was bought, tokens among it, is nobody else's to read; SQLite gives its side files the same mode. Nothing but
    // SQLite closes a file that is there: with it would go the locks of this process, and a reader that ends would remove
    // the log in service.
    closeSync(openSync(path, 'a', 0o600));
  }
  const db = new Database(path, { timeout: BUSY_TIMEOUT_MS });
  // Asked after the trace: gatekeepers that start together make the journal before they leave one.
  if (trace !== null && isEmpty(db)) {
    db.close();
    throw lostJournal(path, trace);
  }
  // NORMAL: the commit itself does not wait for the disk; GroupCommit does, without holding up the thread.
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = NORMAL');
  db.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  const format = checkFormat(db, path, [0, FORMAT_WITHOUT_CITATIONS, JOURNAL_FORMAT]);
  const change = format === FORMAT_WITHOUT_CITATIONS ? `${ADD_CITATIONS};` : '';
  db.exec(`BEGIN IMMEDIATE; ${change} ${SCHEMA} PRAGMA user_version = ${JOURNAL_FORMAT};`);
  const has = db.prepare(HAS_COLUMN);
  for (const [name, type] of Object.entries(LATER_COLUMNS)) {
    if (has.get([name]) === undefined) db.exec(`ALTER TABLE payment ADD COLUMN ${name} ${type}`);
  }
  db.exec(`${IDENTIFIERS}; ${LATER_INDEXES}; ${SALES};`);
  hashIdentifiers(db);
  db.exec('COMMIT');
  return db;
}

function hashIdentifiers(db: Database.Database): void {
  const plain = db.prepare(PLAIN_IDENTIFIERS);
  const change = db.prepare(HASH_IDENTIFIER);
  for (let rows = plain.all([]); rows.length > 0; rows = plain.all([])) {
    for (const { id, identifier } of rows.map((row) => plainRow.parse(row)))
      change.run([hashedIdentifier(identifier), id]);
  }
}

/** Key of the hashes of network addresses; it lies beside the journal, so a copy of the journal tells no address. */
const CLIENT_KEY_NAME = 'client.key';
const CLIENT_KEY = /^[0-9a-f]{64}$/;

/** The key beside a journal, made where there is none; the caller must keep others from doing so at the same time. */
export function clientSecret(journalPath: string): Uint8Array {
  const path = join(dirname(journalPath), CLIENT_KEY_NAME);
  const found = existsSync(path) ? readOwnFile(path, 4096).bytes.toString('utf8').trim() : '';
  if (CLIENT_KEY.test(found)) return Buffer.from(found, 'hex');
  const made = randomBytes(32);
  replaceFile(path, made.toString('hex'));
  return made;
}

/** Opens the journal beside the gatekeeper that writes it, for reading alone; throws when it is not there. */
export function readJournalFile(path: string): Database.Database {
  refuseUnlessPlain(path);
  const db = new Database(path, { timeout: BUSY_TIMEOUT_MS, readonly: true, fileMustExist: true });
  checkFormat(db, path, [FORMAT_WITHOUT_CITATIONS, JOURNAL_FORMAT]);
  return db;
}

/** The format of the file; throws for an unknown one. */
function checkFormat(db: Database.Database, path: string, known: readonly number[]): number {
  const { user_version } = versionRow.parse(db.prepare('PRAGMA user_version').get());
  if (known.includes(user_version)) return user_version;
  db.close();
  throw new StartError(
    `Cannot open payment journal "${path}": its format is ${user_version}, but this version writes ${JOURNAL_FORMAT}; ` +
      'run the version that wrote it, or name another folder with SIGNALPRESS_STATE',
  );
}

/**
 * A journal that is not there is that of a new shop, or it is lost: removed, on a disk that is not mounted, in a database
 * that was made anew. An empty one in its place would not know what was sold: it could be charged again, and be
 * asked for with the payments of others. So it is made only where nothing shows that there was one.
 */

/** A file that shows that a shop with this state folder has opened its journal; null for a new one. */
export function traceOfShop(stateDir: string): string | null {
  // Written when a release is first served, and the journal is made before.
  const newest = join(stateDir, NEWEST_NAME);
  return existsSync(newest) ? newest : null;
}

/** A file that shows that there was a journal at a path; null for none. */
export function traceOfJournal(path: string): string | null {
  const trace = traceOfShop(dirname(path));
  const log = `${path}-wal`;
  // SQLite throws away the log that it finds beside an empty file.
  return trace ?? (isMissing(path) && existsSync(log) ? log : null);
}

/** Whether there is no file, or one without tables: those of a young journal stand in its log alone. */
export function isEmptyJournal(path: string): boolean {
  if (isMissing(path)) return true;
  const db = new Database(path, { readonly: true, fileMustExist: true });
  try {
    return isEmpty(db);
  } finally {
    db.close();
  }
}

function isEmpty(db: Database.Database): boolean {
  try {
    return db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined;
  } catch {
    // Whoever reads on says what is wrong with it.
    return false;
  }
}

function isMissing(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0;
}

/** The error of a lost journal; the trace is null where this process itself has used it. */
export function lostJournal(journal: string, trace: string | null): StartError {
  const proof = trace === null ? 'this gatekeeper' : `"${trace}"`;
  return new StartError(
    `Cannot open payment journal "${journal}": it is lost, for ${proof} shows that this shop has served; with an empty ` +
      'one, what was sold could be asked for and charged again; mount its disk, restore a backup (gatekeeper/README.md), ' +
      'move it with "ledger migrate", or correct SIGNALPRESS_STATE and SIGNALPRESS_JOURNAL; if it is lost for good, keep a copy of what is left and run ' +
      '"signalpress-gate ledger accept-loss"',
  );
}

/** Rows at the end of the journal that are looked at for its newest time. */
const NEWEST_ROWS = 1000;

// What stands before an accepted clock was noted by a wrong one, and says nothing about the time.
const NEWEST = `
WITH accepted AS (SELECT at, payment_id FROM accepted_clock ORDER BY id DESC LIMIT 1)
SELECT max(coalesce((SELECT at FROM accepted), 0), coalesce(max(created_at), 0), coalesce(max(settled_at), 0)) AS ms
FROM (SELECT created_at, settled_at FROM payment
  WHERE id > coalesce((SELECT payment_id FROM accepted), 0) ORDER BY id DESC LIMIT ?)`;
const AHEAD = 'SELECT count(*) AS n FROM payment WHERE created_at > ?1 OR settled_at > ?1';
const ACCEPT = `
INSERT INTO accepted_clock(at, newest, payment_id) SELECT ?, ?, coalesce(max(id), 0) FROM payment`;

const newestRow = z.object({ ms: z.number() });
const countRow = z.object({ n: z.number() });

/** The newest time that counts, in milliseconds since the epoch; 0 when there is none. */
export function newestTime(db: Database.Database): number {
  return newestRow.parse(db.prepare(NEWEST).get([NEWEST_ROWS])).ms;
}

/** Times of the journal that were set aside. */
export interface AcceptedClock {
  readonly newestMs: number;
  /** Payments that were noted with times ahead of the accepted clock; they stay as they are. */
  readonly payments: number;
}

/** Sets aside the times that a clock which ran ahead left behind; null if no time in the journal blocks payments. */
export function acceptClock(db: Database.Database, nowMs: number): AcceptedClock | null {
  const newestMs = newestTime(db);
  if (!clockIsBehind(nowMs, newestMs)) return null;
  db.pragma('synchronous = FULL');
  db.prepare(ACCEPT).run([nowMs, newestMs]);
  return { newestMs, payments: countRow.parse(db.prepare(AHEAD).get([nowMs])).n };
}
