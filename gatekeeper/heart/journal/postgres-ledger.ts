import { createHash } from 'node:crypto';
import { accessSync } from 'node:fs';
import { join } from 'node:path';
import type Database from 'libsql';
import pg from 'pg';
import { z } from 'zod';
import { defined, messageOf } from '../../../compiler/format/errors.ts';
import { networkFault } from '../../../compiler/format/network-fault.ts';
import { isPostgresUrl, shownPlace } from '../../settings/settings.ts';
import { clockIsBehind } from '../../settle/clock-guard.ts';
import type { JournalFacts } from '../../settle/journal.ts';
import { StartError } from '../../wire/start-error.ts';
import { connectionOptions, hasTables, makeTables, NEWEST_OF, storable } from './connection.ts';
import { type AcceptedClock, JOURNAL_NAME, openJournalFile } from './journal-file.ts';
import { checkState, NEWEST_ROWS } from './session.ts';

const AHEAD =
  'SELECT count(*) AS n FROM signalpress.payment WHERE created_at > $1 OR settled_at > $1';
const ACCEPT = `
INSERT INTO signalpress.accepted_clock(at, newest, payment_id)
SELECT $1, $2, coalesce(max(id), 0) FROM signalpress.payment`;

const OPEN = `
SELECT count(*) AS n, min(created_at) AS oldest FROM signalpress.payment
WHERE state <> 'settled' AND state IN ('settling', 'unknown')`;
const openRow = z.object({ n: z.number(), oldest: z.number().nullable() });
const newestRow = z.object({ ms: z.number() });
const countRow = z.object({ n: z.number() });

/** A connection for commands, which may read for long; throws a StartError where there is no journal. */
export async function commandClient(url: string): Promise<pg.Client> {
  const options = connectionOptions(url);
  const client = new pg.Client({ ...options, statement_timeout: 0, query_timeout: 0 });
  client.on('error', () => {});
  await client.connect();
  return client;
}

export async function journalClient(url: string): Promise<pg.Client> {
  const client = await commandClient(url);
  try {
    if (await hasTables(client)) return client;
  } catch (error) {
    await client.end();
    throw error;
  }
  await client.end();
  throw new StartError(
    'Cannot open payment journal in PostgreSQL: the database holds none; name the one of the gatekeeper in SIGNALPRESS_JOURNAL',
  );
}

/** Sets aside the times that a clock which ran ahead left behind; null if no time in the journal blocks payments. */
export async function acceptPostgresClock(
  client: pg.ClientBase,
  nowMs: number,
): Promise<AcceptedClock | null> {
  const newestMs = newestRow.parse((await client.query(NEWEST_OF, [NEWEST_ROWS])).rows[0]).ms;
  if (!clockIsBehind(nowMs, newestMs)) return null;
  await client.query(ACCEPT, [nowMs, newestMs]);
  const { rows } = await client.query(AHEAD, [nowMs]);
  return { newestMs, payments: countRow.parse(rows[0]).n };
}

/** What a journal holds; null before its first start. Throws a StartError for a database that may forget payments. */
export async function databaseFacts(client: pg.ClientBase): Promise<JournalFacts | null> {
  await checkState((text, values) => client.query(text, values));
  if (!(await hasTables(client))) return null;
  const newest = await client.query(NEWEST_OF, [NEWEST_ROWS]);
  const open = await client.query(OPEN);
  const { n, oldest } = openRow.parse(open.rows[0]);
  return { newestMs: newestRow.parse(newest.rows[0]).ms, open: n, oldestMs: oldest, damage: null };
}

/**
 * Moves a journal from its file to PostgreSQL: all rows in one transaction, which is committed only once what was written
 * is read back and has the same count and the same digest. A process that dies in the middle leaves nothing behind, and
 * the next one begins again. The file is not changed, and stays locked until the end.
 */

interface Holdings {
  readonly payments: number;
  readonly bodies: number;
  readonly clocks: number;
  /** SHA-256 over all rows in their order, hex. */
  readonly digest: string;
}

interface Migrated extends Holdings {
  /** False when the database held exactly these rows before. */
  readonly isNew: boolean;
}

interface JournalTable {
  readonly name: 'payment' | 'body' | 'accepted_clock';
  /** Column with the order of rows: unique, and above `least` everywhere. */
  readonly order: string;
  readonly least: number | Buffer;
  readonly columns: readonly (readonly [name: string, type: string])[];
  /** Rows that are moved at once; bodies are large. */
  readonly page: number;
}

/** Names and types out of `name type, name type`. */
function columnsOf(text: string): JournalTable['columns'] {
  return text.split(',').map((column) => {
    const [name = '', type = ''] = column.trim().split(' ');
    return [name, type];
  });
}

const TABLES: readonly JournalTable[] = [
  {
    name: 'body',
    order: 'sha256',
    least: Buffer.alloc(0),
    columns: columnsOf(
      'sha256 bytea, encoding text, bytes bytea, purge_at bigint, citation_hash text, citation text',
    ),
    page: 50,
  },
  {
    name: 'payment',
    order: 'id',
    least: 0,
    columns: columnsOf(`
      id bigint, key text, state text, resource text, version integer, signed text, value text,
      valid_before bigint, body bytea, content_type text, tx text, detail text, created_at bigint,
      settled_at bigint, identifier text, usd text, claim_block text, final_at bigint,
      reorganised_at bigint, waiting_since bigint, refund_from text, refund_at bigint, refund_tx text`),
    page: 1000,
  },
  {
    name: 'accepted_clock',
    order: 'id',
    least: 0,
    columns: columnsOf('id bigint, at bigint, newest bigint, payment_id bigint'),
    page: 1000,
  },
];

const LOCK = `
SET LOCAL lock_timeout = '5s';
LOCK TABLE signalpress.payment, signalpress.body, signalpress.accepted_clock IN EXCLUSIVE MODE`;
const SESSIONS = `
SELECT count(*) AS n FROM pg_locks
WHERE locktype = 'advisory' AND granted AND objsubid = 2 AND objid::bigint BETWEEN 1 AND 2147483647
  AND classid = 'signalpress.payment'::regclass::oid
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
const NEXT_IDS = ['payment', 'accepted_clock'].map(
  (name) => `
SELECT setval(pg_get_serial_sequence('signalpress.${name}', 'id'), max(id)) FROM signalpress.${name} HAVING max(id) > 0`,
);

type JournalRow = Readonly<Record<string, unknown>>;
type ReadPage = (table: JournalTable, after: unknown) => Promise<readonly JournalRow[]>;

/** Moves the journal of a state folder to the database; throws a StartError that says what to do when it cannot. */
export async function migrateJournal(stateDir: string, url: string): Promise<Migrated> {
  if (!isPostgresUrl(url)) {
    throw new StartError(
      'Cannot move the payment journal: no database is named; set SIGNALPRESS_JOURNAL to postgres://user:password@host:5432/database',
    );
  }
  const path = join(stateDir, JOURNAL_NAME);
  const db = lockedFile(path);
  try {
    return await into(url, (client) => moved(db, client));
  } finally {
    db.exec('ROLLBACK');
    db.pragma('journal_mode = WAL');
    db.close();
  }
}

export function migratedLine({ payments, bodies, clocks, digest, isNew }: Migrated): string {
  const what = `payments ${payments}, bodies ${bodies}, accepted clocks ${clocks}; sha256:${digest}`;
  return isNew
    ? `moved and read back: ${what}\nstart the gatekeepers with SIGNALPRESS_JOURNAL; keep the file until the first backup of the database`
    : `nothing to move, the database holds exactly these rows: ${what}`;
}

/** Only who is alone with the file can leave its write-ahead log: so a gatekeeper that uses it is noticed. */
function lockedFile(path: string): Database.Database {
  try {
    accessSync(path);
  } catch (cause) {
    const why = 'missing; name its folder with --state';
    throw new StartError(`Cannot move payment journal "${path}": ${why}`, { cause });
  }
  const db = openJournalFile(path);
  try {
    db.exec('PRAGMA journal_mode = DELETE');
    db.exec('BEGIN EXCLUSIVE');
  } catch (cause) {
    db.close();
    const why = `${messageOf(cause)}; stop the gatekeeper that uses it`;
    throw new StartError(`Cannot move payment journal "${path}": ${why}`, { cause });
  }
  return db;
}

async function into<T>(url: string, use: (client: pg.ClientBase) => Promise<T>): Promise<T> {
  try {
    const client = await commandClient(url);
    try {
      await makeTables(client);
      return await use(client);
    } finally {
      await client.end();
    }
  } catch (cause) {
    if (cause instanceof StartError) throw cause;
    const why = `${networkFault(cause)?.words ?? messageOf(cause)}; nothing was changed, so correct that and run it again`;
    throw new StartError(`Cannot move the payment journal to "${shownPlace(url)}": ${why}`, {
      cause,
    });
  }
}

async function moved(db: Database.Database, client: pg.ClientBase): Promise<Migrated> {
  const { n } = countRow.parse((await client.query(SESSIONS)).rows[0]);
  if (n > 0)
    throw new StartError(
      `Cannot move the payment journal: gatekeepers use the database (${n}); stop them, or name an empty database`,
    );
  await client.query('BEGIN');
  await client.query(LOCK);
  const source = fileReader(db);
  const target: ReadPage = async (table, after) => {
    const { name, order, page } = table;
    const text = `SELECT ${namesOf(table)} FROM signalpress.${name} WHERE ${order} > $1 ORDER BY ${order} LIMIT ${page}`;
    return (await client.query(text, [after])).rows;
  };
  const given = await holdingsOf(source);
  const found = await holdingsOf(target);
  if (found.digest === given.digest) {
    await client.query('ROLLBACK');
    return { ...given, isNew: false };
  }
  if (found.payments + found.bodies + found.clocks > 0) {
    throw new StartError(
      `Cannot move the payment journal: the database holds other rows already (payments ${found.payments}, bodies ${found.bodies}, ` +
        `accepted clocks ${found.clocks}); name an empty database`,
    );
  }
  for (const table of TABLES) await copy(table, source, client);
  for (const next of NEXT_IDS) await client.query(next);
  const written = await holdingsOf(target);
  if (written.digest !== given.digest) {
    throw new Error(`what was written reads back differently (${written.digest})`);
  }
  await client.query('COMMIT');
  return { ...given, isNew: true };
}

function namesOf({ columns }: JournalTable): string {
  return columns.map(([name]) => name).join(', ');
}

function fileReader(db: Database.Database): ReadPage {
  const statements = new Map(
    TABLES.map((table) => {
      const { name, order, page } = table;
      const text = `SELECT ${namesOf(table)} FROM ${name} WHERE ${order} > ? ORDER BY ${order} LIMIT ${page}`;
      return [name, db.prepare(text)];
    }),
  );
  return async ({ name }, after) =>
    defined(statements.get(name), name).all([after]) as JournalRow[];
}

async function* pages(table: JournalTable, read: ReadPage): AsyncGenerator<readonly JournalRow[]> {
  let after: unknown = table.least;
  for (;;) {
    const rows = await read(table, after);
    if (rows.length > 0) yield rows;
    if (rows.length < table.page) return;
    after = written(rows.at(-1)?.[table.order]);
  }
}

async function holdingsOf(read: ReadPage): Promise<Holdings> {
  const hash = createHash('sha256');
  const counts = { body: 0, payment: 0, accepted_clock: 0 };
  for (const table of TABLES) {
    for await (const rows of pages(table, read)) {
      counts[table.name] += rows.length;
      for (const row of rows)
        hash.update(`${JSON.stringify([table.name, ...cellsOf(table, row)])}\n`);
    }
  }
  const { payment: payments, body: bodies, accepted_clock: clocks } = counts;
  return { payments, bodies, clocks, digest: hash.digest('hex') };
}

/** The cells of a row as they are compared. */
function cellsOf({ columns }: JournalTable, row: JournalRow): unknown[] {
  return columns.map(([column]) => {
    const value = written(row[column]);
    return value instanceof Uint8Array ? createHash('sha256').update(value).digest('hex') : value;
  });
}

/** A cell as PostgreSQL stores it. */
function written(value: unknown): unknown {
  if (typeof value === 'string') return storable(value);
  const isBytes = value instanceof ArrayBuffer || value instanceof Uint8Array;
  return isBytes ? Buffer.from(value as Uint8Array) : value;
}

async function copy(table: JournalTable, read: ReadPage, client: pg.ClientBase): Promise<void> {
  const { name, columns } = table;
  const types = columns.map(([, type], at) => `$${at + 1}::${type}[]`).join(', ');
  const claim = name === 'payment' ? [', claim', ', gen_random_uuid()'] : ['', ''];
  const text = `INSERT INTO signalpress.${name}(${namesOf(table)}${claim[0]}) SELECT *${claim[1]} FROM unnest(${types})`;
  for await (const rows of pages(table, read)) {
    const values = columns.map(([column]) => rows.map((row) => written(row[column])));
    await client.query(text, values);
  }
}
