import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const LOCK_NAME = '.lock';
/** Locks that this very process holds: after a restart another one may have its number. */
const HELD = new Set<string>();

/** Somebody else writes into a data folder. */
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
export function lockData(data: string): () => void {
  mkdirSync(data, { recursive: true });
  const path = join(data, LOCK_NAME);
  const key = resolve(path);
  const release = (): void => {
    HELD.delete(key);
    rmSync(path, { force: true });
  };
  for (let attempt = 0; attempt < 2; attempt++) {
    try {
      writeFileSync(path, String(process.pid), { flag: 'wx' });
      HELD.add(key);
      return release;
    } catch (cause) {
      if (!isCode(cause, 'EEXIST')) throw cause;
      const holder = Number(readFileSync(path, 'utf8'));
      if (HELD.has(key) || isRunning(holder)) {
        const state = `another command (process ${holder}) is writing there`;
        throw new LockedError(refusal(data, state), { cause });
      }
      release();
    }
  }
  throw new LockedError(refusal(data, 'another command takes its lock again and again'));
}

function refusal(data: string, state: string): string {
  return `Cannot write into "${data}": ${state}; nothing was changed, run this again when it has ended`;
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
