import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import type Database from 'libsql';
import { z } from 'zod';
import { isCode } from '../format/errors.ts';
import { PACKAGE_FOLDER } from './package-folder.ts';
import { plainChunks, readPlain } from './plain-file.ts';

/** Lock of whoever publishes a release. */
const LOCK_NAME = '.lock';
const LOCK_BYTES_MAX = 1024;
/** How often a holder touches its lock, and how long one of another machine stands that nobody touches. */
const TOUCH_MS = 30_000;
const LEFT_MS = 15 * 60_000;
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
 * folder of several machines, which need not see each other's locks: whether another one still writes shows by the time of
 * that file, which its holder touches. What was not touched for 15 minutes is taken over.
 * Returns what gives the lock back; throws a LockedError that names the holder.
 */
export function lockData(data: string, name = LOCK_NAME, warn = toScreen): () => void {
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
  let text: string;
  try {
    text = noteHolder(path, warn);
  } catch (error) {
    unlock();
    throw error;
  }
  const touching = setInterval(() => touch(path, text), TOUCH_MS).unref();
  return () => {
    clearInterval(touching);
    // One that slept too long no longer holds it.
    if (textAt(path) === text) rmSync(path, { force: true });
    unlock();
  };
}

function toScreen(text: string): void {
  process.stderr.write(`WARNING: ${text}\n`);
}

/** Writes the same bytes over themselves, so that the file gets its time from the file system. */
function touch(path: string, text: string): void {
  try {
    if (textAt(path) === text) writeFileSync(path, text, { flag: 'r+' });
  } catch {
    // A disk that fails now and then must not end the work; the next turn tries again.
  }
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

/**
 * Writes down who holds the lock, over what a process of this machine left, or another machine long ago; throws a LockedError
 * where another machine touched it since. Returns what it wrote.
 */
function noteHolder(path: string, warn: (text: string) => void): string {
  const own: Holder = { pid: process.pid, host: hostname(), boot: bootId() };
  const left = holderAt(path);
  // A container gets another name with each start, and a machine another boot id.
  const isOfHere = left === null || left.host === own.host || left.boot === own.boot;
  const text = `${JSON.stringify(own)}\n`;
  const isLeft = !isOfHere && nowBeside(path) - timeOf(path) > LEFT_MS;
  if (isLeft) {
    warn(
      `Took over "${dirname(path)}" from process ${left.pid} on "${left.host}": it has not touched its lock for 15 minutes`,
    );
  }
  try {
    if (isOfHere || isLeft) rmSync(path, { force: true });
    writeFileSync(path, text, { flag: 'wx' });
    return text;
  } catch (cause) {
    if (!isCode(cause, 'EEXIST')) throw cause;
    const state = 'took the lock there, and whether it still runs cannot be seen from this machine';
    const end = new Date(timeOf(path) + LEFT_MS).toISOString();
    const until = `it has ended, or after ${end}, when it is taken over unless that machine touches it again`;
    throw refusal(path, state, `${until}; if it runs no more, you may remove "${path}" before`);
  }
}

/** When a file was written, in milliseconds since the epoch; 0 for one that is gone. */
function timeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** The time by the clock that gave the lock its time: on a shared disk that is neither machine's own. */
function nowBeside(path: string): number {
  const probe = `${path}-now`;
  try {
    writeFileSync(probe, '');
    return timeOf(probe);
  } finally {
    rmSync(probe, { force: true });
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
    return holderSchema.parse(JSON.parse(textAt(path) ?? ''));
  } catch (cause) {
    if (cause instanceof SyntaxError || cause instanceof z.ZodError) return null;
    throw cause;
  }
}

function textAt(path: string): string | null {
  try {
    return readPlain(path, LOCK_BYTES_MAX).toString('utf8');
  } catch (cause) {
    if (isCode(cause, 'ENOENT')) return null;
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
