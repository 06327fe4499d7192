import { closeSync, openSync } from 'node:fs';
import Database from 'libsql';
import { z } from 'zod';
import { refuseUnlessPlain } from '../system/plain-file.ts';
import { StartError } from '../system/start-error.ts';

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
// the process that asks for the money of an open payment at this moment; `identifier` the payer's own name of the purchase;
// `usd` what a token that is not USDC was worth.
const SCHEMA = `
CREATE TABLE IF NOT EXISTS body(
  sha256 BLOB NOT NULL UNIQUE, encoding TEXT NOT NULL, bytes BLOB NOT NULL, purge_at INTEGER NOT NULL,
  citation_hash TEXT, citation TEXT) STRICT;
CREATE INDEX IF NOT EXISTS body_purge_at ON body(purge_at);
CREATE TABLE IF NOT EXISTS payment(
  id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, state TEXT NOT NULL, resource TEXT NOT NULL,
  version INTEGER NOT NULL, signed TEXT NOT NULL, value TEXT NOT NULL, valid_before INTEGER NOT NULL,
  body BLOB NOT NULL, content_type TEXT NOT NULL, tx TEXT, detail TEXT,
  created_at INTEGER NOT NULL, settled_at INTEGER, holder TEXT, identifier TEXT, usd TEXT) STRICT;
CREATE TABLE IF NOT EXISTS accepted_clock(
  id INTEGER PRIMARY KEY, at INTEGER NOT NULL, newest INTEGER NOT NULL, payment_id INTEGER NOT NULL) STRICT;
CREATE INDEX IF NOT EXISTS payment_not_settled ON payment(state, id) WHERE state <> 'settled';
CREATE INDEX IF NOT EXISTS payment_tx ON payment(lower(tx)) WHERE tx IS NOT NULL;
CREATE INDEX IF NOT EXISTS body_citation_hash ON body(citation_hash) WHERE citation_hash IS NOT NULL;
`;
const ADD_CITATIONS =
  'ALTER TABLE body ADD COLUMN citation_hash TEXT; ALTER TABLE body ADD COLUMN citation TEXT';

/** Columns of payments that came later. A version without them writes its rows as before, so the format stays the same. */
const LATER_COLUMNS = ['holder', 'identifier', 'usd'];
const HAS_COLUMN = "SELECT 1 FROM pragma_table_info('payment') WHERE name = ?";
const IDENTIFIERS = `
CREATE UNIQUE INDEX IF NOT EXISTS payment_identifier ON payment(identifier)
  WHERE identifier IS NOT NULL AND state <> 'refused'`;

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
/** A row of it. */
export const tokenRow = z.object({ token: z.string() });

/** Only for who looks for sales: each settlement writes into it. */
const SALES = `
CREATE INDEX IF NOT EXISTS payment_sale ON payment(${ACCOUNT}, resource, id) WHERE state = 'settled'`;

const versionRow = z.object({ user_version: z.number() });

/** Opens the journal for writing and makes its tables; throws for the file of another format. */
export function openJournalFile(path: string, { findsSales = false } = {}): Database.Database {
  refuseUnlessPlain(path);
  // What was bought, tokens among it, is nobody else's to read; SQLite gives its side files the same mode.
  closeSync(openSync(path, 'a', 0o600));
  const db = new Database(path, { timeout: BUSY_TIMEOUT_MS });
  // NORMAL: the commit itself does not wait for the disk; GroupCommit does, without holding up the thread.
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = NORMAL');
  db.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  const format = checkFormat(db, path, [0, FORMAT_WITHOUT_CITATIONS, JOURNAL_FORMAT]);
  const change = format === FORMAT_WITHOUT_CITATIONS ? `${ADD_CITATIONS};` : '';
  db.exec(`BEGIN IMMEDIATE; ${change} ${SCHEMA} PRAGMA user_version = ${JOURNAL_FORMAT};`);
  const has = db.prepare(HAS_COLUMN);
  for (const name of LATER_COLUMNS) {
    if (has.get([name]) === undefined) db.exec(`ALTER TABLE payment ADD COLUMN ${name} TEXT`);
  }
  db.exec(`${IDENTIFIERS}; ${findsSales ? `${SALES};` : ''} COMMIT`);
  return db;
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
