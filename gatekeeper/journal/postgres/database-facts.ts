import type pg from 'pg';
import { z } from 'zod';
import type { JournalFacts } from '../../money/journal.ts';
import { NEWEST_OF } from './newest.ts';
import { hasTables } from './schema.ts';
import { checkState, NEWEST_ROWS } from './session.ts';

const OPEN = `
SELECT count(*) AS n, min(created_at) AS oldest FROM signalpress.payment
WHERE state <> 'settled' AND state IN ('settling', 'unknown')`;
const openRow = z.object({ n: z.number(), oldest: z.number().nullable() });
const newestRow = z.object({ ms: z.number() });

/** What a journal holds; null before its first start. Throws a StartError for a database that may forget payments. */
export async function databaseFacts(client: pg.ClientBase): Promise<JournalFacts | null> {
  await checkState((text, values) => client.query(text, values));
  if (!(await hasTables(client))) return null;
  const newest = await client.query(NEWEST_OF, [NEWEST_ROWS]);
  const open = await client.query(OPEN);
  const { n, oldest } = openRow.parse(open.rows[0]);
  return { newestMs: newestRow.parse(newest.rows[0]).ms, open: n, oldestMs: oldest, damage: null };
}
