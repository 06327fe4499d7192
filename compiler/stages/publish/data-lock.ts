import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import type Database from 'libsql';
import { z } from 'zod';
import { PACKAGE_FOLDER } from '../../package-folder.ts';
import { plainChunks, readPlain } from '../../verify/plain-file.ts';

/** Lock of whoever publishes a release. */
const LOCK_NAME = '.lock';
const LOCK_BYTES_MAX = 1024;
/** Looks at a file of the system's lock that its holders remove one after another. */
const ATTEMPTS_MAX = 5;
/** Locks of this process; one that nobody refers to would be closed some time. */
const HELD = new Set<Database.Database>();
/** Tells one start of a system from another, in all containers alike; only Linux has it. */
const BOOT_ID = '/proc/sys/kernel/random/boot_id';

const holderSchema = z.object({ pid: z.int(), host: z.string(), boot: z.string() });
type Holder = z.infer<typeof holderSchema>;

/** Another process is writing into the data folder. */
export class LockedError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'LockedError';
  }
}

/**
 * One writer at a time in a folder. The system's own lock on a small file decides: it holds between all containers of a
 * machine, and ends with its process, however that ends. Beside it stands who holds it. That is for people, and for a
 * folder of several machines, which need not see each other's locks: what another machine left is not judged.
 * Returns what gives the lock back; throws a LockedError that names the holder.
 */
export function lockData(data: string, name = LOCK_NAME): () => void {
  if (/^https?:\/\//i.test(data)) {
    throw new RangeError(
      `Cannot write into "${data}": only a gatekeeper takes a URL; name a folder with --data, and "signalpress publish" copies it to a host`,
    );
  }
  mkdirSync(data, { recursive: true });
  const path = join(data, name);
  const held = `${path}-held`;
  const lock = systemLock(held);
  if (lock === null) throw refusal(path, 'is writing there', 'it has ended');
  const unlock = (): void => {
    rmSync(held, { force: true });
    HELD.delete(lock);
    lock.close();
  };
  try {
    noteHolder(path);
  } catch (error) {
    unlock();
    throw error;
  }
  return () => {
    rmSync(path, { force: true });
    unlock();
  };
}

/** Takes the system's lock on a file; null while another one holds it. */
function systemLock(path: string): Database.Database | null {
  // Loaded when a lock is taken: most starts of the program take none.
  const Sqlite: typeof Database = createRequire(join(PACKAGE_FOLDER, 'package.json'))('libsql');
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    // Never opened while this process holds it: closing a file again would free its locks.
    if (!existsSync(path)) writeFileSync(path, '', { flag: 'a' });
    const before = fileAt(path);
    const lock = new Sqlite(path, { timeout: 0 });
    try {
      lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    } catch (cause) {
      lock.close();
      if (isCode(cause, 'SQLITE_BUSY')) return null;
      throw new Error(`Cannot lock "${path}": ${String(cause)}; remove that file`, { cause });
    }
    // Who gave the lock back removed its file, and a lock on that one keeps nobody out.
    if (before !== null && fileAt(path) === before) {
      HELD.add(lock);
      return lock;
    }
    lock.close();
  }
  return null;
}

function fileAt(path: string): string | null {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? null : `${stats.dev} ${stats.ino}`;
}

/** Writes down who holds the lock, over what a process of this machine left; throws a LockedError for another machine. */
function noteHolder(path: string): void {
  const own: Holder = { pid: process.pid, host: hostname(), boot: bootId() };
  const left = holderAt(path);
  // A container gets another name with each start, and a machine another boot id.
  const isOfHere = left === null || left.host === own.host || left.boot === own.boot;
  try {
    if (isOfHere) rmSync(path, { force: true });
    writeFileSync(path, `${JSON.stringify(own)}\n`, { flag: 'wx' });
  } catch (cause) {
    if (!isCode(cause, 'EEXIST')) throw cause;
    const state = 'took the lock there, and whether it still runs cannot be seen from this machine';
    throw refusal(path, state, `it has ended, or remove "${path}" if it runs no more`);
  }
}

/** Where the system tells none, the name of the machine stands for it. */
function bootId(): string {
  // The file says that it is empty, so nothing that asks for its size can read it.
  return existsSync(BOOT_ID)
    ? Buffer.concat([...plainChunks(BOOT_ID)])
        .toString('utf8')
        .trim()
    : `of ${hostname()}`;
}

/** Who wrote the lock; null for nobody, and for what a power cut left of it. */
function holderAt(path: string): Holder | null {
  try {
    return holderSchema.parse(JSON.parse(readPlain(path, LOCK_BYTES_MAX).toString('utf8')));
  } catch (cause) {
    const isUnreadable = cause instanceof SyntaxError || cause instanceof z.ZodError;
    if (isUnreadable || isCode(cause, 'ENOENT')) return null;
    throw cause;
  }
}

function refusal(lock: string, state: string, until: string): LockedError {
  const holder = holderAt(lock);
  const who = holder === null ? '' : ` (process ${holder.pid} on "${holder.host}")`;
  return new LockedError(
    `Cannot write into "${dirname(lock)}": another command${who} ${state}; nothing was changed; run this again when ${until}`,
  );
}

function isCode(cause: unknown, code: string): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === code;
}
