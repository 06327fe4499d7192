import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import type { Release } from '../../contract/release.ts';
import { CompileError } from '../intake/compile-error.ts';
import { STATE_FOLDER } from '../remember/memory.ts';
import { fileWriter, type StoreWriter } from './file-writer.ts';
import type { ListedFiles } from './listed-files.ts';
import {
  CURRENT_LINK,
  currentName,
  pruneReleases,
  RELEASES_FOLDER,
  readRelease,
  releaseFiles,
  sweep,
} from './release-folders.ts';
import { syncFolder } from './replace-file.ts';

const STAGING = '.staging';
const SIGNATURES = 'signatures';
/** Locks that this very process holds: after a restart another one may have its number. */
const HELD = new Set<string>();

/** A release being written: nothing of it is visible before `publish`. */
export interface Staging {
  /** The data folder. */
  readonly data: string;
  /** Folder that becomes the release. */
  readonly root: string;
  /** Folder for what only this compile needs. */
  readonly scratch: string;
  /** Folder for what the next compile is to remember; it takes the place of what this one remembers when it is published. */
  readonly state: string;
  /** When it was opened, by the clock of the disk. */
  readonly openedMs: number;
  /** Signatures of the release before, and where this compile puts its own until it is published. */
  readonly signatures: { readonly kept: string; readonly made: string };
  readonly writer: StoreWriter;
  readonly previous: PreviousFiles | null;
  /** Makes everything durable and switches `current` to the new folder in one step. */
  publish(name: string): string;
  /** Forgets what was written so far, to begin again. */
  restart(): void;
  /** Leaves the data folder as it was. */
  discard(): void;
}

/** The release that is to be superseded. */
export interface PreviousFiles {
  readonly name: string;
  readonly head: Release;
  /** Read when it is asked for first; null when it is not the one that the head signs. */
  files(): ListedFiles | null;
}

/**
 * Opens the data folder for one compile; throws a CompileError while another compile runs. Files that the release
 * before lists are trusted to be what they were, unless `anew`.
 */
export function openStaging(data: string, { anew = false } = {}): Staging {
  mkdirSync(join(data, RELEASES_FOLDER), { recursive: true });
  const unlock = lock(data);
  const staging = join(data, STAGING);
  const wasKilled = existsSync(staging);
  rmSync(staging, { recursive: true, force: true });
  if (wasKilled) sweep(data);
  const root = join(staging, 'release');
  mkdirSync(root, { recursive: true });
  const previous = previousFiles(data);
  const writer = fileWriter({
    data,
    spare: join(staging, 'spare'),
    isKept: (entry) => !anew && previous?.files()?.has(entry) === true,
  });
  const clear = (): void => rmSync(staging, { recursive: true, force: true });
  return {
    data,
    root,
    scratch: join(staging, 'scratch'),
    state: join(staging, STATE_FOLDER),
    openedMs: statSync(root).mtimeMs,
    signatures: { kept: join(data, SIGNATURES), made: join(staging, SIGNATURES) },
    writer,
    previous,
    restart() {
      writer.undo();
      clear();
      mkdirSync(root, { recursive: true });
    },
    discard() {
      // A switch that failed after the link was renamed has published all the same.
      if (currentName(data) === (previous?.name ?? null)) writer.undo();
      clear();
      unlock();
    },
    publish(name) {
      const target = publishFolder(data, root, name);
      takeOver(data, staging, SIGNATURES);
      takeOver(data, staging, STATE_FOLDER);
      pruneReleases(data);
      clear();
      unlock();
      return target;
    },
  };
}

/** Makes everything durable, then the folder a release, then the release the current one. */
function publishFolder(data: string, root: string, name: string): string {
  const releases = join(data, RELEASES_FOLDER);
  const target = join(releases, name);
  if (currentName(data) === name) {
    throw cannotPublish(data, `release "${name}" is the current one already`);
  }
  try {
    // What a killed compile left under this name was never served.
    rmSync(target, { recursive: true, force: true });
    syncTree(root);
    renameSync(root, target);
    syncFolder(releases);
    switchCurrent(data, name);
  } catch (error) {
    if (currentName(data) !== name) rmSync(target, { recursive: true, force: true });
    throw error;
  }
  return target;
}

/** The release that `current` names; null before the first. */
export function previousFiles(data: string): PreviousFiles | null {
  const name = currentName(data);
  if (name === null) return null;
  let list: ListedFiles | null | undefined;
  return {
    name,
    head: readRelease(data, name),
    files() {
      if (list === undefined) list = releaseFiles(data, name);
      return list;
    },
  };
}

function cannotPublish(data: string, message: string): CompileError {
  return new CompileError([{ code: 'cannot_publish', file: data, message }]);
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

/** A symlink cannot be replaced in place: a new one is renamed over it, which is atomic. */
function switchCurrent(data: string, name: string): void {
  const fresh = join(data, `.${CURRENT_LINK}.new`);
  rmSync(fresh, { force: true });
  symlinkSync(join(RELEASES_FOLDER, name), fresh);
  renameSync(fresh, join(data, CURRENT_LINK));
  syncFolder(data);
}

/** Only what was published is remembered; what is lost in between costs time, nothing else. */
function takeOver(data: string, staging: string, name: string): void {
  const made = join(staging, name);
  if (!existsSync(made)) return;
  const kept = join(data, name);
  rmSync(kept, { recursive: true, force: true });
  renameSync(made, kept);
}
