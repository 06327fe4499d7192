import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { z } from 'zod';
import { codeOf } from '../../../compiler/format/errors.ts';
import { StartError } from '../../wire/start-error.ts';
import { IS_UNFINAL, MAY_BE_OWED } from './journal-file.ts';

export const POOL_CONNECTIONS = 16;
/** Longest that a connection may take to open, a place in the pool included. */
const CONNECT_TIMEOUT_MS = 5000;
const STATEMENT_TIMEOUT_MS = 5000;
/** Longest wait for its answer: a server that froze says nothing at all. */
const ANSWER_TIMEOUT_MS = 7000;
/** Silence after which the network is asked whether the server is still there. */
const KEEP_ALIVE_MS = 10_000;
/** Waits between attempts: a server that restarts is back before the last one. */
const RETRY_PAUSES_MS = [50, 100, 200, 400, 800, 1600];

const END_MS = 2000;

const INT8 = 20;

/** Options of every connection. Numbers of the journal are below 2^53. */
export function connectionOptions(url: string): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: 'signalpress-gate',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: 2 * STATEMENT_TIMEOUT_MS,
    query_timeout: ANSWER_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    types: {
      getTypeParser: (oid: number, format?: 'text' | 'binary') =>
        oid === INT8 ? Number : pg.types.getTypeParser(oid, format as 'text'),
    } as pg.CustomTypesConfig,
  };
}

/** Whether an attempt may work the next time: what the server refuses for good is not tried again. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) {
    const code = codeOf(error);
    const isMisspelt = code === 'ENOTFOUND' || code === 'ERR_INVALID_URL';
    return !isMisspelt && !(error instanceof TypeError);
  }
  // Connection lost, out of room for connections, shutting down or starting up, deadlock.
  return /^(08|40|53|57P)/.test(error.code ?? '');
}

/** Runs again what failed for a while at most; `isRetry`: the attempt before may have worked without its answer arriving. */
export async function persistently<T>(run: (isRetry: boolean) => Promise<T>): Promise<T> {
  for (const [at, pauseMs] of RETRY_PAUSES_MS.entries()) {
    try {
      return await run(at > 0);
    } catch (error) {
      if (!isTransient(error)) throw error;
    }
    await pause(pauseMs);
  }
  return run(true);
}

/** Waits for connections to end, but not for a server that froze. */
export async function atMost(ended: Promise<void>): Promise<void> {
  const timeout = new AbortController();
  const over = pause(END_MS, undefined, { signal: timeout.signal, ref: false }).catch(() => {});
  await Promise.race([ended, over]);
  timeout.abort();
}

/** PostgreSQL stores no NUL in a text; nothing but what a facilitator says can hold one. */
export function storable(text: string): string {
  return text.replaceAll('\0', '\ufffd');
}

/** Version of the tables in PostgreSQL; a database with another number belongs to another version. */
const POSTGRES_FORMAT = 1;
/** Makers of the tables wait for each other under this advisory lock. */
const MAKING = 7_241_020_117;

/** A version without these columns writes its rows as before, so the format stays the same. */
const LATER_COLUMNS = {
  identifier: 'text COLLATE "C"',
  usd: 'text',
  client: 'text COLLATE "C"',
  claim_block: 'text',
  final_at: 'bigint',
  reorganised_at: 'bigint',
  waiting_since: 'bigint',
  refund_from: 'text',
  refund_at: 'bigint',
  refund_tx: 'text',
};
const LATER = Object.entries(LATER_COLUMNS).map(([name, type]) => `${name} ${type}`);
const ADD_COLUMNS = `
ALTER TABLE signalpress.payment ${LATER.map((column) => `ADD COLUMN IF NOT EXISTS ${column}`).join(', ')}`;
const IDENTIFIERS = `
CREATE UNIQUE INDEX IF NOT EXISTS payment_identifier ON signalpress.payment(identifier)
  WHERE identifier IS NOT NULL AND state <> 'refused'`;
const LATER_INDEXES = `
CREATE INDEX IF NOT EXISTS payment_unfinal ON signalpress.payment(id) WHERE ${IS_UNFINAL};
CREATE INDEX IF NOT EXISTS payment_owed ON signalpress.payment(id) WHERE ${MAY_BE_OWED}`;
/** What stands before the nonce in the key of a payment. */
export const ACCOUNT = 'left(key, -67)';
/** Names that a version of before wrote down as they came (`0x…|id`) become what `hashedIdentifier` writes. */
const HASH_IDENTIFIERS = `
UPDATE signalpress.payment SET identifier = 'sha256:' || encode(sha256(convert_to(identifier, 'UTF8')), 'hex')
WHERE identifier IS NOT NULL AND state <> 'refused' AND identifier >= '0x' AND identifier < '0y'`;
// A secret that all gatekeepers have, and the messages that were used up at one of them.
const LATER_TABLES = `
CREATE TABLE IF NOT EXISTS signalpress.secret(id integer PRIMARY KEY, bytes bytea NOT NULL);
CREATE TABLE IF NOT EXISTS signalpress.used_message(message text COLLATE "C" PRIMARY KEY, until bigint NOT NULL);
CREATE INDEX IF NOT EXISTS used_message_until ON signalpress.used_message(until)`;
/** Finds the sales of an account that signs in. */
const SALES = `
CREATE INDEX IF NOT EXISTS payment_sale ON signalpress.payment((${ACCOUNT}) COLLATE "C", resource, id)
  WHERE state = 'settled'`;
/** Whether all that came later is there. */
const HAS_ALL = `
SELECT to_regclass('signalpress.payment_sale') IS NOT NULL AND to_regclass('signalpress.used_message_until') IS NOT NULL
  AND ${LATER.length} = (SELECT count(*) FROM pg_attribute
    WHERE attrelid = 'signalpress.payment'::regclass AND attname = ANY('{${Object.keys(LATER_COLUMNS).join()}}')) AS exists`;

// The rows are those of the SQLite journal. `holder` is the session of the gatekeeper that asks for the money of an open
// payment at this moment; `claim` tells one's own claim from another one when the answer to a commit was lost.
const TABLES = `
CREATE SCHEMA IF NOT EXISTS signalpress;
CREATE TABLE signalpress.format(version integer NOT NULL);
CREATE SEQUENCE signalpress.session AS integer CYCLE;
CREATE TABLE signalpress.body(
  sha256 bytea PRIMARY KEY, encoding text NOT NULL, bytes bytea NOT NULL, purge_at bigint NOT NULL,
  citation_hash text COLLATE "C", citation text);
CREATE INDEX body_purge_at ON signalpress.body(purge_at);
CREATE INDEX body_citation_hash ON signalpress.body(citation_hash) WHERE citation_hash IS NOT NULL;
CREATE TABLE signalpress.payment(
  id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, key text COLLATE "C" NOT NULL UNIQUE,
  state text NOT NULL CHECK (state IN ('settling', 'settled', 'refused', 'unknown')), resource text NOT NULL,
  version integer NOT NULL, signed text NOT NULL, value text NOT NULL, valid_before bigint NOT NULL,
  body bytea NOT NULL, content_type text NOT NULL, tx text, detail text,
  created_at bigint NOT NULL, settled_at bigint, holder integer, claim uuid NOT NULL, ${LATER.join(', ')});
${IDENTIFIERS};
${LATER_INDEXES};
CREATE INDEX payment_not_settled ON signalpress.payment(id) WHERE state <> 'settled';
CREATE INDEX payment_tx ON signalpress.payment(lower(tx)) WHERE tx IS NOT NULL;
CREATE TABLE signalpress.taken_transaction(tx text COLLATE "C" PRIMARY KEY, key text NOT NULL);
CREATE TABLE signalpress.accepted_clock(
  id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, at bigint NOT NULL, newest bigint NOT NULL,
  payment_id bigint NOT NULL);
INSERT INTO signalpress.format(version) VALUES (${POSTGRES_FORMAT});
`;

const existsRow = z.object({ exists: z.boolean() });
const versionRow = z.object({ version: z.number() });

/** Whether the tables are there; throws a StartError when they are those of another version. */
export async function hasTables(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query(
    "SELECT to_regclass('signalpress.format') IS NOT NULL AS exists",
  );
  if (!existsRow.parse(rows[0]).exists) return false;
  const found = await client.query('SELECT version FROM signalpress.format');
  const { version } = versionRow.parse(found.rows[0]);
  if (version === POSTGRES_FORMAT) return true;
  throw new StartError(
    `Cannot open payment journal in PostgreSQL: its format is ${version}, but this version writes ${POSTGRES_FORMAT}; ` +
      'run the version that wrote it, or name another database with SIGNALPRESS_JOURNAL',
  );
}

/** Makes the tables where there are none, all or nothing; gatekeepers that start together wait for the first one. */
export async function makeTables(client: pg.ClientBase): Promise<void> {
  const isThere = await hasTables(client);
  if (isThere && existsRow.parse((await client.query(HAS_ALL)).rows[0]).exists) {
    await client.query(HASH_IDENTIFIERS);
    return;
  }
  // Before the transaction: one that began before the wait would not see what the first one made.
  await client.query('SELECT pg_advisory_lock($1)', [MAKING]);
  try {
    const first = (await hasTables(client))
      ? `${ADD_COLUMNS}; ${IDENTIFIERS}; ${LATER_INDEXES};`
      : TABLES;
    await client.query(`BEGIN; ${first} ${HASH_IDENTIFIERS}; ${LATER_TABLES}; ${SALES}; COMMIT;`);
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  } finally {
    await client.query('SELECT pg_advisory_unlock($1)', [MAKING]).catch(() => {});
  }
}

/** The newest time that counts, in epoch milliseconds, or 0; a wrong clock noted what stands before an accepted one. */
export const NEWEST_OF = newestAmong('$1');

/** The same as an expression, for a fixed number of rows. */
export function newestAmong(rows: string): string {
  return `
WITH accepted AS (SELECT at, payment_id FROM signalpress.accepted_clock ORDER BY id DESC LIMIT 1)
SELECT greatest(coalesce((SELECT at FROM accepted), 0), coalesce(max(created_at), 0), coalesce(max(settled_at), 0)) AS ms
FROM (SELECT created_at, settled_at FROM signalpress.payment
  WHERE id > coalesce((SELECT payment_id FROM accepted), 0) ORDER BY id DESC LIMIT ${rows}) AS last`;
}
