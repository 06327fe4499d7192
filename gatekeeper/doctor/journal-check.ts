import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type Database from 'libsql';
import { z } from 'zod';
import type { Config } from '../config.ts';
import { JOURNAL_NAME } from '../journal/journal-file.ts';
import { isPostgresUrl } from '../journal/postgres/postgres-url.ts';
import { withJournal } from '../journal/with-journal.ts';
import type { Examined } from './check.ts';
import { type Finding, failed, ok, skipped, warning } from './finding.ts';

const openRow = z.object({ n: z.number(), oldest: z.number().nullable() });
const checkRow = z.object({ quick_check: z.string() });
const OPEN = `
SELECT count(*) AS n, min(created_at) AS oldest FROM payment WHERE state IN ('settling', 'unknown')`;

/** Reads the journal, also beside the gatekeeper that writes it: whether its file is whole, and what is open. */
export async function journalCheck({ config }: Examined): Promise<Finding[]> {
  if (isPostgresUrl(config.journal)) {
    return [skipped('in PostgreSQL, which "signalpress-gate ledger list" reads')];
  }
  const findings = readState(config, (db) => [structure(db), openPayments(db)]);
  const path = join(config.stateDir, JOURNAL_NAME);
  return findings ?? [skipped(`no "${path}" yet; the first start makes it`)];
}

function structure(db: Database.Database): Finding {
  const { quick_check } = checkRow.parse(db.prepare('PRAGMA quick_check(1)').get());
  if (quick_check === 'ok') return ok('its file is whole');
  return failed(
    `its file is damaged: ${quick_check}`,
    'stop the gatekeeper and restore a backup (gatekeeper/README.md)',
  );
}

function openPayments(db: Database.Database): Finding {
  const { n, oldest } = openRow.parse(db.prepare(OPEN).get());
  if (n === 0 || oldest === null) return ok('no payment is open');
  return warning(
    `open payments: ${n}, the oldest since ${new Date(oldest).toISOString()}`,
    'see them with "signalpress-gate ledger list --only unknown"; their buyers may send them again',
  );
}

/** What a reader finds in the journal of the state folder; null where there is none. */
export function readState<T>(
  { stateDir, journal }: Config,
  read: (db: Database.Database) => T,
): T | null {
  if (isPostgresUrl(journal)) return null;
  return existsSync(join(stateDir, JOURNAL_NAME)) ? withJournal(stateDir, read) : null;
}
