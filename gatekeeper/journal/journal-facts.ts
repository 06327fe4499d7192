import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type Database from 'libsql';
import { z } from 'zod';
import type { Config } from '../config/config.ts';
import { isPostgresUrl, shownPlace } from '../config/postgres-url.ts';
import type { JournalFacts } from '../money/journal.ts';
import { newestTime } from './accepted-clock.ts';
import { JOURNAL_NAME } from './journal-file.ts';
import { lostJournal, refuseLost, traceOfShop } from './lost-journal.ts';
import { withDatabase, withJournal } from './with-journal.ts';

const openRow = z.object({ n: z.number(), oldest: z.number().nullable() });
const checkRow = z.object({ quick_check: z.string() });
const OPEN = `
SELECT count(*) AS n, min(created_at) AS oldest FROM payment WHERE state IN ('settling', 'unknown')`;

/** Reads the journal beside the gatekeepers that write it; null where there is none yet. Throws a StartError where it is lost. */
export async function journalFacts({ stateDir, journal }: Config): Promise<JournalFacts | null> {
  if (isPostgresUrl(journal)) {
    const { databaseFacts } = await import('./postgres/postgres-ledger.ts');
    const facts = await withDatabase(journal, databaseFacts, 'perhaps empty');
    const trace = facts === null ? traceOfShop(stateDir) : null;
    if (trace !== null) throw lostJournal(shownPlace(journal), trace);
    return facts;
  }
  const path = join(stateDir, JOURNAL_NAME);
  refuseLost(path);
  return existsSync(path) ? withJournal(stateDir, fileFacts) : null;
}

function fileFacts(db: Database.Database): JournalFacts {
  const { quick_check } = checkRow.parse(db.prepare('PRAGMA quick_check(1)').get());
  if (quick_check !== 'ok') return { newestMs: 0, open: 0, oldestMs: null, damage: quick_check };
  const { n, oldest } = openRow.parse(db.prepare(OPEN).get());
  return { newestMs: newestTime(db), open: n, oldestMs: oldest, damage: null };
}
