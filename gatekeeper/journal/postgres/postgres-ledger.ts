import pg from 'pg';
import { z } from 'zod';
import { clockIsBehind } from '../../money/clock-guard.ts';
import type { JournalFacts } from '../../money/journal.ts';
import { StartError } from '../../system/start-error.ts';
import type { AcceptedClock } from '../accepted-clock.ts';
import {
  LEDGER_PAGE_ROWS,
  type LedgerFilter,
  type LedgerRow,
  ledgerRow,
  ledgerRowOf,
} from '../ledger.ts';
import { connectionOptions } from './connection.ts';
import { hasTables, NEWEST_OF } from './schema.ts';
import { checkState, NEWEST_ROWS } from './session.ts';

const selectBy = (time: string): string => `
SELECT * FROM signalpress.payment
WHERE id > $1 AND ${time} >= $2 AND ${time} < $3 AND ($4::text IS NULL OR state = $4) ORDER BY id LIMIT $5`;
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

/** The same for a journal that is there. */
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

/** Reads payments in the order in which they were taken, page by page, as they stand at this moment. */
export async function* postgresLedgerRows(
  client: pg.ClientBase,
  filter: LedgerFilter,
): AsyncGenerator<LedgerRow> {
  const { time, sinceMs = 0, untilMs = Number.MAX_SAFE_INTEGER, state = null } = filter;
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  try {
    let after = 0;
    for (;;) {
      const values = [after, sinceMs, untilMs, state, LEDGER_PAGE_ROWS];
      const { rows } = await client.query(selectBy(time), values);
      for (const row of rows) {
        const parsed = ledgerRow.parse(row);
        after = parsed.id;
        yield ledgerRowOf(parsed);
      }
      if (rows.length < LEDGER_PAGE_ROWS) return;
    }
  } finally {
    await client.query('COMMIT');
  }
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
