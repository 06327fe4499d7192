import { execFileSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { RELEASE_NAME, type Release, releaseSchema } from '../../contract/release.ts';
import { CompileError } from '../intake/compile-error.ts';

/** Releases kept beside the current one, so that requests in flight and rollbacks find theirs. */
export const RELEASES_KEPT = 3;
/** Twice the longest payment: a paid retry within it still finds the bytes that were bought. */
export const RELEASE_AGE_MIN_MS = 600_000;
const CURRENT = 'current';
const STAGING = '.staging';
const SIGNATURES = 'signatures';
/** Locks that this very process holds: after a restart another one may have its number. */
const HELD = new Set<string>();

/** A release being written: nothing of it is visible before `publish`. */
export interface Staging {
  /** Folder that becomes the release. */
  readonly root: string;
  /** Folder for what only this compile needs. */
  readonly scratch: string;
  /** Signatures of the release before, and where this compile puts its own until it is published. */
  readonly signatures: { readonly kept: string; readonly made: string };
  readonly previous: Release | null;
  /** Makes the folder durable and switches `current` to it in one step. */
  publish(name: string): string;
  discard(): void;
}

/** Opens the data folder for one compile; throws a CompileError while another compile runs. */
export function openStaging(data: string): Staging {
  const releases = join(data, 'releases');
  mkdirSync(releases, { recursive: true });
  const unlock = lock(data);
  const staging = join(data, STAGING);
  rmSync(staging, { recursive: true, force: true });
  const root = join(staging, 'release');
  mkdirSync(root, { recursive: true });
  const discard = (): void => {
    rmSync(staging, { recursive: true, force: true });
    unlock();
  };
  return {
    root,
    scratch: join(staging, 'scratch'),
    signatures: { kept: join(data, SIGNATURES), made: join(staging, SIGNATURES) },
    previous: currentRelease(data),
    discard,
    publish(name) {
      const target = join(releases, name);
      if (currentName(data) === name) {
        throw cannotPublish(data, `release "${name}" is the current one already`);
      }
      // What a killed compile left under this name was never served.
      rmSync(target, { recursive: true, force: true });
      syncTree(root);
      renameSync(root, target);
      syncFolder(releases);
      switchCurrent(data, name);
      keepSignatures(data, join(staging, SIGNATURES));
      prune(releases, name);
      discard();
      return target;
    },
  };
}

function cannotPublish(data: string, message: string): CompileError {
  return new CompileError([{ code: 'cannot_publish', file: data, message }]);
}

/** The release that `current` names, or null before the first. */
function currentRelease(data: string): Release | null {
  const head = join(data, CURRENT, RELEASE_NAME);
  return existsSync(head) ? releaseSchema.parse(JSON.parse(readFileSync(head, 'utf8'))) : null;
}

/** One compile at a time: a lock file with the process id, taken over when that process is gone. */
function lock(data: string): () => void {
  const path = join(data, '.lock');
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
        throw cannotPublish(
          data,
          `another compile (process ${holder}) is writing here; wait for it`,
        );
      }
      release();
    }
  }
  throw cannotPublish(data, 'the lock file keeps coming back; is another compile starting?');
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

/** One sync of the whole file system instead of an fsync per file, which costs a millisecond each. */
function syncTree(root: string): void {
  try {
    execFileSync('sync', ['-f', root], { stdio: 'ignore' });
  } catch {
    execFileSync('sync', { stdio: 'ignore' });
  }
}

function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** A symlink cannot be replaced in place: a new one is renamed over it, which is atomic. */
function switchCurrent(data: string, name: string): void {
  const fresh = join(data, `.${CURRENT}.new`);
  rmSync(fresh, { force: true });
  symlinkSync(join('releases', name), fresh);
  renameSync(fresh, join(data, CURRENT));
  syncFolder(data);
}

/** Only what was published is remembered; a store that is lost costs time, nothing else. */
function keepSignatures(data: string, made: string): void {
  if (!existsSync(made)) return;
  const kept = join(data, SIGNATURES);
  rmSync(kept, { recursive: true, force: true });
  renameSync(made, kept);
}

/** Removes releases that are neither among the newest nor young; ages are the disk's own. */
function prune(releases: string, name: string): void {
  const written = (release: string): number => statSync(join(releases, release)).mtimeMs;
  const others = readdirSync(releases)
    .filter((other) => other !== name)
    .sort();
  for (const old of others.slice(0, -RELEASES_KEPT)) {
    if (written(name) - written(old) < RELEASE_AGE_MIN_MS) continue;
    rmSync(join(releases, old), { recursive: true, force: true });
  }
}

/** Name of the release that `current` points to, or null. */
export function currentName(data: string): string | null {
  const link = join(data, CURRENT);
  return existsSync(link) ? basename(readlinkSync(link)) : null;
}
