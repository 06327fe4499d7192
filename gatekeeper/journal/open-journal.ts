import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { networkFault } from '../../compiler/contract/network-fault.ts';
import type { Config } from '../config/config.ts';
import { isPostgresUrl, shownPlace } from '../config/postgres-url.ts';
import type { Journal } from '../money/journal.ts';
import type { Trouble } from '../state/service-state.ts';
import { messageOf } from '../system/message-of.ts';
import { StartError } from '../system/start-error.ts';
import { JOURNAL_NAME } from './journal-file.ts';
import { isEmptyJournal, traceOfShop } from './lost-journal.ts';
import { sqliteJournal } from './sqlite-journal.ts';

/** A journal that somebody must close. */
export interface OpenJournal {
  readonly journal: Journal;
  /** Whether it cannot be reached at this moment, whether or not somebody pays. */
  isLost(): boolean;
  close(): Promise<void>;
}

export interface JournalOptions {
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** A time that has certainly come, by which what is old is deleted; null while nobody can tell, which it is without it. */
  readonly passedMs?: () => number | null;
  /** Told when a journal that others share is lost, and when it is back. */
  readonly lost: Pick<Trouble, 'begin' | 'end'>;
  /** Told how long each sync of a disk took that is ours, in milliseconds. */
  readonly onSync?: (ms: number) => void;
}

/** Where the settings say that the journal lies. */
export type JournalPlace = Pick<Config, 'stateDir' | 'journal'>;

/** Opens the journal of the settings; throws a StartError that tells what to do when it cannot. */
export async function openJournal(place: JournalPlace, by: JournalOptions): Promise<OpenJournal> {
  return isPostgresUrl(place.journal) ? openShared(place, by) : openFile(place, by);
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
async function openShared(
  { journal: url, stateDir }: JournalPlace,
  by: JournalOptions,
): Promise<OpenJournal> {
  const { postgresJournal } = await import('./postgres/postgres-journal.ts');
  try {
    // A journal in a file that nobody moved here is one that this shop has used.
    const file = join(stateDir, JOURNAL_NAME);
    const trace = (): string | null =>
      traceOfShop(stateDir) ?? (isEmptyJournal(file) ? null : file);
    const journal = await postgresJournal({ url, trace, ...by });
    return { journal, isLost: () => journal.isLost(), close: () => journal.close() };
  } catch (cause) {
    if (cause instanceof StartError) throw cause;
    const why = `${networkFault(cause)?.words ?? messageOf(cause)}; start the server and make the database, or correct SIGNALPRESS_JOURNAL`;
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
