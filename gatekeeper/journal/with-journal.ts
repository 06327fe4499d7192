import { accessSync } from 'node:fs';
import { join } from 'node:path';
import type Database from 'libsql';
import { isRealDay } from '../../compiler/contract/cutoff.ts';
import { messageOf } from '../message-of.ts';
import { StartError } from '../start-error.ts';
import { JOURNAL_NAME, readJournalFile } from './journal-file.ts';

/** Lets a command use the journal of a state folder, beside the gatekeeper that writes it. */
export function withJournal<T>(
  state: string,
  use: (db: Database.Database) => T,
  open: (path: string) => Database.Database = readJournalFile,
): T {
  const path = join(state, JOURNAL_NAME);
  let db: Database.Database;
  try {
    accessSync(path);
    db = open(path);
  } catch (cause) {
    if (cause instanceof StartError) throw cause;
    const why = 'missing, or not a journal of this program; name its folder with --state';
    throw new StartError(`Cannot open payment journal "${path}": ${why}`, { cause });
  }
  try {
    return use(db);
  } catch (cause) {
    if (cause instanceof StartError) throw cause;
    const why = `${messageOf(cause)}; check the disk, and restore a backup if it is damaged`;
    throw new StartError(`Cannot use payment journal "${path}": ${why}`, { cause });
  } finally {
    db.close();
  }
}

/** Start of a UTC day as an option gives it, in milliseconds since the epoch; throws a StartError for no day. */
export function dayStart(text: string): number {
  if (isRealDay(text)) return Date.parse(`${text}T00:00:00Z`);
  throw new StartError(
    `Cannot read day "${text}": not a calendar day; give one such as 2026-01-31`,
  );
}
