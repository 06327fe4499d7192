import type Database from 'libsql';
import { Books, type LedgerFilter, type LedgerRow } from '../../gatekeeper/heart/journal/ledger.ts';

/** All payments of an open journal file that a filter lets through. */
export async function ledgerRows(
  db: Database.Database,
  filter: LedgerFilter = { time: 'created_at' },
): Promise<LedgerRow[]> {
  const books = new Books(async (text, values) => db.prepare(text).all([...values]), 'file');
  const rows: LedgerRow[] = [];
  for await (const row of books.rows(filter)) rows.push(row);
  return rows;
}
