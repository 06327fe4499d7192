import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { isPostgresUrl, shownPlace } from '../config/postgres-url.ts';
import type { Log } from '../log/line-log.ts';
import type { Journal } from '../money/journal.ts';
import { messageOf } from '../system/message-of.ts';
import { StartError } from '../system/start-error.ts';
import { JOURNAL_NAME } from './journal-file.ts';
import { sqliteJournal } from './sqlite-journal.ts';

/** A journal that somebody must close. */
export interface OpenJournal {
  readonly journal: Journal;
  /** Whether it cannot be reached at this moment, whether or not somebody pays. */
  isLost(): boolean;
  close(): Promise<void>;
}

interface JournalOptions {
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly log: Log;
  /** Told how long each sync of a disk took that is ours, in milliseconds. */
  readonly onSync?: (ms: number) => void;
  /** Whether sales are looked for by who paid. */
  readonly findsSales?: boolean;
}

/** Where the settings say that the journal lies. */
export type JournalPlace = Pick<Config, 'stateDir' | 'journal'>;

/** Opens the journal of the settings; throws a StartError that tells what to do when it cannot. */
export async function openJournal(place: JournalPlace, by: JournalOptions): Promise<OpenJournal> {
  return isPostgresUrl(place.journal) ? openShared(place.journal, by) : openFile(place, by);
}

async function openFile({ stateDir }: JournalPlace, by: JournalOptions): Promise<OpenJournal> {
  try {
    await mkdir(stateDir, { recursive: true, mode: 0o700 });
    const journal = sqliteJournal({ ...by, path: join(stateDir, JOURNAL_NAME) });
    return { journal, isLost: () => false, close: async () => journal.close() };
  } catch (cause) {
    return refuseFile(stateDir, cause);
  }
}

/** The client of the database is loaded only where there is one. */
async function openShared(url: string, by: JournalOptions): Promise<OpenJournal> {
  const { postgresJournal } = await import('./postgres/postgres-journal.ts');
  try {
    const journal = await postgresJournal({ url, ...by });
    return { journal, isLost: () => journal.isLost(), close: () => journal.close() };
  } catch (cause) {
    if (cause instanceof StartError) throw cause;
    const why = `${messageOf(cause)}; start the server and make the database, or correct SIGNALPRESS_JOURNAL`;
    throw new StartError(`Cannot open payment journal at "${shownPlace(url)}": ${why}`, { cause });
  }
}

function refuseFile(stateDir: string, cause: unknown): never {
  if (cause instanceof StartError) throw cause;
  // mkdir accepts a folder that already exists.
  if (cause instanceof Error && 'code' in cause && cause.code === 'EEXIST') {
    throw new StartError(
      `Cannot open payment journal: "${stateDir}" is a file; SIGNALPRESS_STATE must be a folder`,
      { cause },
    );
  }
  throw new StartError(
    `Cannot open payment journal "${join(stateDir, JOURNAL_NAME)}": ${messageOf(cause)}; make it and its folder ` +
      'writable, restore a backup if it is damaged, or set SIGNALPRESS_STATE to a folder of its own',
    { cause },
  );
}
