import { accessSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import type Database from 'libsql';
import type pg from 'pg';
import { z } from 'zod';
import { isRealDay } from '../../../compiler/format/cutoff.ts';
import { messageOf } from '../../../compiler/format/errors.ts';
import { networkFault } from '../../../compiler/format/network-fault.ts';
import type { Config } from '../../settings/config.ts';
import { isPostgresUrl, shownPlace } from '../../settings/settings.ts';
import type { JournalFacts } from '../../settle/journal.ts';
import { StartError } from '../../wire/start-error.ts';
import {
  isEmptyJournal,
  JOURNAL_NAME,
  lostJournal,
  newestTime,
  openJournalFile,
  readJournalFile,
  traceOfJournal,
  traceOfShop,
} from './journal-file.ts';
import { type AskBooks, Books } from './ledger.ts';
import type { JournalPlace } from './open-journal.ts';

/** Lets a command use the journal of a state folder, beside the gatekeeper that writes it. */
export async function withJournal<T>(
  state: string,
  use: (db: Database.Database) => T | Promise<T>,
  open: (path: string) => Database.Database = readJournalFile,
): Promise<T> {
  const path = join(state, JOURNAL_NAME);
  const db = opened(path, open);
  try {
    return await use(db);
  } catch (cause) {
    if (cause instanceof StartError) throw cause;
    const why = `${messageOf(cause)}; check the disk, and restore a backup if it is damaged`;
    throw new StartError(`Cannot use payment journal "${path}": ${why}`, { cause });
  } finally {
    db.close();
  }
}

function opened(path: string, open: (path: string) => Database.Database): Database.Database {
  try {
    accessSync(path);
    return open(path);
  } catch (cause) {
    if (cause instanceof StartError) throw cause;
    const why = 'missing, or not a journal of this program; name its folder with --state';
    throw new StartError(`Cannot open payment journal "${path}": ${why}`, { cause });
  }
}

export const STATE_OPTION =
  'folder of a payment journal in a file (default: what SIGNALPRESS_JOURNAL and SIGNALPRESS_STATE name)';

/** The journal in the folder that an option names, or else that of the settings. */
export function placeOf(state: string | undefined, settings: JournalPlace): JournalPlace {
  return state === undefined ? settings : { stateDir: state, journal: 'sqlite' };
}

/** Lets a command read a journal, wherever it lies, beside the gatekeepers that write it; `open` decides about a file. */
export async function withBooks<T>(
  place: JournalPlace,
  use: (books: Books) => Promise<T>,
  open: (path: string) => Database.Database = readJournalFile,
): Promise<T> {
  if (isPostgresUrl(place.journal)) {
    return withDatabase(place.journal, (client) => {
      const ask: AskBooks = async (text, values) =>
        (await client.query(text.replaceAll('?', '$'), [...values])).rows;
      return use(new Books(ask, 'database'));
    });
  }
  const used = (db: Database.Database): Promise<T> =>
    use(new Books(async (text, values) => db.prepare(text).all([...values]), 'file'));
  return withJournal(place.stateDir, used, open);
}

/** Opens the journal in a file so that what a command writes is on the disk before it goes on. */
export function writtenJournalFile(path: string): Database.Database {
  const db = openJournalFile(path);
  db.pragma('synchronous = FULL');
  return db;
}

/** The same for the journal in a database, with a connection to it; one without a journal is refused unless told otherwise. */
export async function withDatabase<T>(
  url: string,
  use: (client: pg.ClientBase) => Promise<T>,
  which: 'with a journal' | 'perhaps empty' = 'with a journal',
): Promise<T> {
  const { commandClient, journalClient } = await import('./postgres-ledger.ts');
  try {
    const client = await (which === 'perhaps empty' ? commandClient(url) : journalClient(url));
    try {
      return await use(client);
    } finally {
      await client.end();
    }
  } catch (cause) {
    if (cause instanceof StartError) throw cause;
    const why = `${networkFault(cause)?.words ?? messageOf(cause)}; start the server, or correct SIGNALPRESS_JOURNAL`;
    throw new StartError(`Cannot use payment journal at "${shownPlace(url)}": ${why}`, { cause });
  }
}

/** Start of a UTC day as an option gives it, in milliseconds since the epoch; throws a StartError for no day. */
export function dayStart(text: string): number {
  if (isRealDay(text)) return Date.parse(`${text}T00:00:00Z`);
  throw new StartError(
    `Cannot read day "${text}": not a calendar day; give one such as 2026-01-31`,
  );
}

const openRow = z.object({ n: z.number(), oldest: z.number().nullable() });
const checkRow = z.object({ quick_check: z.string() });
const OPEN = `
SELECT count(*) AS n, min(created_at) AS oldest FROM payment WHERE state IN ('settling', 'unknown')`;

/** Reads the journal beside the gatekeepers that write it; null where there is none yet. Throws a StartError where it is lost. */
export async function journalFacts({ stateDir, journal }: Config): Promise<JournalFacts | null> {
  if (isPostgresUrl(journal)) {
    const { databaseFacts } = await import('./postgres-ledger.ts');
    const facts = await withDatabase(journal, databaseFacts, 'perhaps empty');
    const trace = facts === null ? traceOfShop(stateDir) : null;
    if (trace !== null) throw lostJournal(shownPlace(journal), trace);
    return facts;
  }
  const path = join(stateDir, JOURNAL_NAME);
  const trace = traceOfJournal(path);
  if (trace !== null && isEmptyJournal(path)) throw lostJournal(path, trace);
  if (!existsSync(path)) return null;
  return withJournal(stateDir, (db) => {
    const { quick_check } = checkRow.parse(db.prepare('PRAGMA quick_check(1)').get());
    if (quick_check !== 'ok') return { newestMs: 0, open: 0, oldestMs: null, damage: quick_check };
    const { n, oldest } = openRow.parse(db.prepare(OPEN).get());
    return { newestMs: newestTime(db), open: n, oldestMs: oldest, damage: null };
  });
}
