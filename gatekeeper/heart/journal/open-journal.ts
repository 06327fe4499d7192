import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isCode, messageOf } from '../../../compiler/format/errors.ts';
import { networkFault } from '../../../compiler/format/network-fault.ts';
import type { Config } from '../../settings/config.ts';
import { isPostgresUrl, shownPlace } from '../../settings/settings.ts';
import type { Conclusion, Journal } from '../../settle/journal.ts';
import { CallWatch, type Trouble } from '../../wire/service-state.ts';
import { StartError } from '../../wire/start-error.ts';
import { isEmptyJournal, JOURNAL_NAME, traceOfShop } from './journal-file.ts';
import { sqliteJournal } from './sqlite-journal.ts';

interface OpenJournal {
  readonly journal: Journal;
  /** Whether it cannot be reached at this moment, whether or not somebody pays. */
  isLost(): boolean;
  close(): Promise<void>;
}

interface JournalOptions {
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
    if (cause instanceof StartError) throw cause;
    // mkdir accepts a folder that already exists.
    const isFile = isCode(cause, 'EEXIST');
    const why = isFile
      ? `: "${stateDir}" is a file; SIGNALPRESS_STATE must be a folder`
      : ` "${join(stateDir, JOURNAL_NAME)}": ${messageOf(cause)}; make it and its folder ` +
        'writable, restore a backup if it is damaged, or set SIGNALPRESS_STATE to a folder of its own';
    throw new StartError(`Cannot open payment journal${why}`, { cause });
  }
}

/** The client of the database is loaded only where there is one. */
async function openShared(
  { journal: url, stateDir }: JournalPlace,
  by: JournalOptions,
): Promise<OpenJournal> {
  const { postgresJournal } = await import('./postgres-journal.ts');
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

/** Settlements that are kept at most; beyond them the chain must be asked, as after a crash. */
const KEPT_SETTLEMENTS_MAX = 10_000;

type KeptSettlement = Conclusion & { readonly transaction: string };

/** Keeps settlements that could not be written, in memory, and writes them later: a full disk must not make them doubts. */
export function keepingSettlements(journal: Journal): Journal {
  const kept = new Map<string, KeptSettlement>();
  /** Whether nothing is left to write under a key. */
  const write = async (settlement: KeptSettlement): Promise<boolean> => {
    try {
      await journal.conclude(settlement);
    } catch {
      const state = (await journal.find(settlement.key))?.state;
      if (state === 'settling' || state === 'unknown') return false;
    }
    return kept.delete(settlement.key);
  };
  return {
    ...journal,
    async conclude(conclusion) {
      try {
        await journal.conclude(conclusion);
      } catch (error) {
        const { key, state, transaction } = conclusion;
        const isSettlement = state === 'settled' && transaction !== undefined;
        if (isSettlement && kept.size < KEPT_SETTLEMENTS_MAX)
          kept.set(key, { ...conclusion, transaction });
        throw error;
      }
    },
    async find(key) {
      const settlement = kept.get(key);
      if (settlement === undefined || (await write(settlement))) return journal.find(key);
      const entry = await journal.find(key);
      const { state, transaction, settledMs = null } = settlement;
      return entry === null ? null : { ...entry, state, transaction, settledMs };
    },
    async unresolved(after, limit) {
      for (const settlement of [...kept.values()]) {
        // The next ones would fail like this one.
        if (!(await write(settlement))) break;
      }
      const open = await journal.unresolved(after, limit);
      return open.filter(({ key }) => !kept.has(key));
    },
  };
}

/** How long a failed write counts: without buyers nothing shows that the journal has recovered. */
const WRITE_FAILURE_MS = 30_000;
/** What takes longer is slow: a buyer waits for several, one after the other. */
const SLOW_MS = 2000;

/** Notices whether payments can be looked up and written down in time. */
export function watchingWrites(
  journal: Journal,
  options: { clock: () => number; isLost: () => boolean; now?: () => number },
): { journal: Journal; failure(): string | null; slowness(): string | null } {
  const { clock, isLost } = options;
  const calls = new CallWatch({ ...options, slowMs: SLOW_MS });
  const { shared } = journal;
  let failed: { readonly at: number; readonly error: string } | null = null;
  const watched = async <T>(write: () => Promise<T>): Promise<T> => {
    try {
      const result = await calls.watched(write);
      failed = null;
      return result;
    } catch (error) {
      failed = isLost() ? null : { at: clock(), error: messageOf(error) };
      throw error;
    }
  };
  return {
    journal: {
      ...journal,
      // A purchase waits for each of these.
      ...(shared === undefined
        ? {}
        : { shared: { ...shared, learn: (key) => calls.watched(() => shared.learn(key)) } }),
      find: (key) => calls.watched(() => journal.find(key)),
      claim: (claim) => watched(() => journal.claim(claim)),
      conclude: (conclusion) => calls.watched(() => journal.conclude(conclusion)),
    },
    failure() {
      if (failed === null || Math.abs(clock() - failed.at) >= WRITE_FAILURE_MS) return null;
      return failed.error;
    },
    slowness() {
      if (isLost()) calls.forget();
      return calls.fault('a look into the payment journal, or a write,');
    },
  };
}
