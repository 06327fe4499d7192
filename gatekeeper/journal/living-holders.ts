import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import Database from 'libsql';

const NAME_BYTES = 8;

/**
 * Processes that use one journal file. Each of them locks a small file of its own for as long as it lives; the system
 * frees the lock when the process ends, however it ends. So a payment that is open is told from one that was left open,
 * and no clock is asked.
 */
export interface LivingHolders {
  /** Name of this process in the rows of the journal. */
  readonly own: string;
  isAlive(holder: string): boolean;
  close(): void;
}

/** Takes a lock beside the journal; the caller must keep others from doing so at the same time. */
export function livingHolders(journalPath: string): LivingHolders {
  const prefix = `${journalPath}-holder-`;
  for (const name of holdersAt(prefix)) if (!isLocked(prefix + name)) rmSync(prefix + name);
  const own = randomBytes(NAME_BYTES).toString('hex');
  const lock = new Database(prefix + own, { timeout: 0 });
  lock.exec('BEGIN EXCLUSIVE');
  return {
    own,
    isAlive: (holder) => holder === own || isLocked(prefix + holder),
    close() {
      lock.close();
      for (const side of ['', '-journal']) rmSync(prefix + own + side, { force: true });
    },
  };
}

function holdersAt(prefix: string): string[] {
  const start = basename(prefix);
  const names = readdirSync(dirname(prefix)).filter((name) => name.startsWith(start));
  // What SQLite itself puts beside such a file belongs to it.
  return names.map((name) => name.slice(start.length)).filter((name) => /^[0-9a-f]+$/.test(name));
}

/** Whether another connection holds the lock of a file; a file that is gone has no holder. */
function isLocked(path: string): boolean {
  if (!existsSync(path)) return false;
  const lock = new Database(path, { timeout: 0, fileMustExist: true });
  try {
    lock.exec('BEGIN IMMEDIATE; ROLLBACK');
    return false;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY') return true;
    throw error;
  } finally {
    lock.close();
  }
}
