import { linkSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { readPlain } from '../../verify/plain-file.ts';

/** Lock of whoever publishes a release. */
const LOCK_NAME = '.lock';
/** A lock holds the digits of a process id. */
const LOCK_BYTES_MAX = 64;
const ATTEMPTS_MAX = 5;
/** Locks that this very process holds: after a restart another one may have its number. */
const HELD = new Set<string>();

/** Another process is writing into the data folder. */
export class LockedError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'LockedError';
  }
}

/**
 * One writer at a time: a lock file with the process id, taken over when that process is gone. Returns what gives the lock
 * back; throws a LockedError that names the holder.
 */
export function lockData(data: string, name = LOCK_NAME): () => void {
  if (/^https?:\/\//i.test(data)) {
    throw new RangeError(
      `Cannot write into "${data}": only a gatekeeper takes a URL; name a folder with --data, and "signalpress publish" copies it to a host`,
    );
  }
  mkdirSync(data, { recursive: true });
  const path = join(data, name);
  const key = resolve(path);
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    if (take(path)) {
      HELD.add(key);
      return () => {
        HELD.delete(key);
        rmSync(path, { force: true });
      };
    }
    const holder = holderOf(path);
    if (holder === null) continue;
    if (HELD.has(key) || isRunning(holder)) throw new LockedError(refusal(path, holder));
    takeAway(path, holder);
  }
  throw new LockedError(refusal(path, holderOf(path)));
}

/** Makes a lock of this process, whole from the first; false when there is one already. */
function take(path: string): boolean {
  const own = `${path}.${process.pid}`;
  writeFileSync(own, String(process.pid));
  try {
    linkSync(own, path);
    return true;
  } catch (cause) {
    if (isCode(cause, 'EEXIST')) return false;
    throw cause;
  } finally {
    rmSync(own, { force: true });
  }
}

/** Process id in a lock, 0 when it holds none; null when there is no lock. */
function holderOf(path: string): number | null {
  try {
    const text = readPlain(path, LOCK_BYTES_MAX).toString('utf8');
    return /^[1-9][0-9]*$/.test(text) ? Number(text) : 0;
  } catch (cause) {
    if (isCode(cause, 'ENOENT')) return null;
    throw cause;
  }
}

/** Takes the lock of a dead process away; only who holds the lock on doing so may, or a fresh one could go with it. */
function takeAway(path: string, holder: number): void {
  const breaking = `${path}.after-${holder}`;
  if (!take(breaking)) {
    const other = holderOf(breaking);
    if (other !== null && !isRunning(other)) rmSync(breaking, { force: true });
    return;
  }
  if (holderOf(path) === holder) rmSync(path, { force: true });
  rmSync(breaking, { force: true });
}

function refusal(lock: string, holder: number | null): string {
  return (
    `Cannot write into "${dirname(lock)}": another command (process ${holder}) is writing there; nothing was changed; ` +
    `run this again when it has ended, or remove "${lock}" if that process is another program`
  );
}

function isRunning(pid: number): boolean {
  if (pid === process.pid || !Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    return isCode(cause, 'EPERM');
  }
}

function isCode(cause: unknown, code: string): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === code;
}
