import { messageOf } from '../format/errors.ts';
import { readStored } from './release-list.ts';

/**
 * The release switch: a reader sees the old release or the new one, whole, at every moment.
 *
 *  1. `openStaging()` locks the data folder, and removes what a killed compile left.
 *  2. Bodies are written beside those of older releases, under names that hold their hash. So nothing that is served
 *     changes, and what the release before lists is not written again. A release that is no longer to be kept goes first:
 *     new bodies are written over the files that only it lists. The head and the list of files are written in `.staging`.
 *  3. `settle()` makes everything durable with one sync of the file system. Nothing is published before it is on the disk.
 *  4. `publish()` renames the folder into `releases/` and stages its entry in the log. Then the memory outside swaps, the
 *     checkpoint of the log is signed and replaced, and a new link renamed over `current`. That rename is the switch. What
 *     was killed in between is finished by the next turn (`publish/log/log-turn.ts`): a log has one entry of a sequence.
 *  5. The state for the next compile is moved last, and what is left of old releases is removed. A failure there costs time
 *     and undoes no release.
 *
 * rename(2) of POSIX is atomic, and a name is durable once its folder is synced. A kill at any call leaves the old release
 * or the new one served (`test/lab/kill/syscalls.ts` tries each). Gatekeepers look at the link by themselves.
 *
 * Known limits: links and `sync` are those of POSIX, so a data folder is no folder of Windows, and it stands on one file
 * system.
 */

import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Checkpoint } from '../format/checkpoint.ts';
import { CURRENT_LINK, RELEASES_FOLDER, type Release, releaseName } from '../format/release.ts';
import { BLOCKS_PATH } from '../format/statement-tree.ts';
import { CHECKPOINT_PATH } from '../format/tiles.ts';
import { CompileError } from '../system/compile-error.ts';
import { lockData } from '../system/data-lock.ts';
import { canonicalDigest } from '../system/jcs.ts';
import { syncFolder } from '../system/plain-file.ts';
import { fileWriter, type StoreWriter } from './file-writer.ts';
import { forgetStaged, isStaged, type OpenLog, openLog, refused, stagedLog } from './log-folder.ts';
import {
  currentName,
  doomedReleases,
  type LastPlace,
  RETENTION,
  type Retention,
  readRelease,
  refuseLostCurrent,
  releaseFiles,
  removeReleases,
  sweep,
} from './release-folders.ts';
import type { FileListBytes } from './release-list.ts';
import { SpareFiles } from './spare-files.ts';

/** Folder of what one compile remembers for the next, below the data folder. */
export const STATE_FOLDER = 'state';
const STAGING = '.staging';

/** A release that `current` names. */
export interface Published {
  readonly folder: string;
  /** Errors after the switch: what the next compile would have used could not be put away, which undoes no release. */
  readonly cleanupFailures: readonly unknown[];
}

/** Runs each step even if an earlier one failed; returns what was thrown. */
export function errorsOf(steps: readonly (() => void)[]): unknown[] {
  return steps.flatMap((step) => {
    try {
      step();
      return [];
    } catch (error) {
      return [error];
    }
  });
}

/** The last steps of a release: what it does to the log, between the moment that it stands and the switch. */
export interface LogSwitch {
  /** The log with its entry. */
  readonly next: Checkpoint;
  /** Writes the entry, which counts for nothing yet, and notes that it is staged. */
  stage(): void;
  /** Signs the log, and publishes its checkpoint. */
  publish(): void;
  /** Removes what no reader needs any more. */
  tidy(): void;
}

/** The turn of one command to continue a log. */
export interface LogTurn {
  /** Has the log remembered outside; throws a CompileError where it is not. What is not staged any more was refused for good. */
  swap(next: Checkpoint): Promise<void>;
}

/** A release being written: nothing of it is visible before it is published. */
export interface Staging {
  readonly data: string;
  /** Folder that becomes the release. */
  readonly root: string;
  /** Folder for what only this compile needs. */
  readonly scratch: string;
  /** Folder for what the next compile is to remember; it takes the place of what this one remembers when it is published. */
  readonly state: string;
  /** When it was opened, by the clock of the disk. */
  readonly openedMs: number;
  readonly writer: StoreWriter;
  readonly previous: PreviousFiles | null;
  /** The log beside the releases; null before the first. */
  readonly log: OpenLog | null;
  /** What the release is to follow; null before the first. */
  readonly place: LastPlace | null;
  /** Makes everything that was written durable; only then can it be published. */
  settle(): Promise<{ publish(name: string, log: LogSwitch): Promise<Published> }>;
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
  files(): FileListBytes | null;
}

interface StagingOptions {
  /** Files that the release before lists are not trusted to be what they were. */
  readonly full?: boolean;
  /** Which of the releases before this one stay; all of them for null. */
  readonly retention?: Retention | null;
  /** Whoever publishes has one. */
  readonly turn?: LogTurn;
}

/** Opens the data folder for one compile; throws a LockedError while another command writes there. */
export function openStaging(data: string, options: StagingOptions = {}): Staging {
  const unlock = lockData(data);
  try {
    return openLocked(data, { ...options, unlock });
  } catch (error) {
    unlock();
    throw error;
  }
}

function openLocked(
  data: string,
  { full = false, retention = RETENTION, turn, unlock }: StagingOptions & { unlock(): void },
): Staging {
  mkdirSync(join(data, RELEASES_FOLDER), { recursive: true });
  const log = openLog(data);
  if (log !== null) finishSwitch(data, log);
  if (stagedLog(data) !== null) {
    const message =
      'a release is staged and not published; "signalpress compile" publishes it first';
    throw new CompileError([{ code: 'cannot_publish', file: data, message }]);
  }
  forgetStaged(data);
  refuseLostCurrent(data);
  const previous = previousFiles(data);
  const place = lastPlace(log, previous);
  const staging = join(data, STAGING);
  const wasKilled = existsSync(staging);
  rmSync(staging, { recursive: true, force: true });
  if (wasKilled) sweep(data);
  const root = join(staging, 'release');
  mkdirSync(root, { recursive: true });
  const spares = new SpareFiles(data, () =>
    retention === null ? [] : removeReleases(data, doomedReleases(data, retention)),
  );
  const writer = fileWriter({
    data,
    spares,
    spare: join(staging, 'spare'),
    isKept: (entry) => !full && previous?.files()?.has(entry) === true,
  });
  const clear = (): void => rmSync(staging, { recursive: true, force: true });
  const publish = async (name: string, own: LogSwitch): Promise<Published> => {
    const folder = await publishFolder({ data, root, name, turn }, own);
    const cleanupFailures = errorsOf([
      () => forgetStaged(data),
      own.tidy,
      () => takeOverState(data, staging),
      () => spares.remove(),
      clear,
      unlock,
    ]);
    return { folder, cleanupFailures };
  };
  return {
    data,
    root,
    scratch: join(staging, 'scratch'),
    state: join(staging, STATE_FOLDER),
    openedMs: statSync(root).mtimeMs,
    writer,
    previous,
    log,
    place,
    restart() {
      writer.undo();
      clear();
      mkdirSync(root, { recursive: true });
    },
    discard() {
      // A switch that failed after the link was renamed has published all the same, and what is staged is published next time.
      if (currentName(data) === (previous?.name ?? null) && !isStaged(data)) writer.undo();
      spares.removeGiven();
      clear();
      unlock();
    },
    async settle() {
      await syncTree(root);
      return { publish };
    },
  };
}

/** Switches to the release of the newest entry, where a kill came between the log and the switch. */
function finishSwitch(data: string, { last }: OpenLog): void {
  const name = releaseName(last);
  if (currentName(data) === name || !existsSync(join(data, RELEASES_FOLDER, name))) return;
  if (canonicalDigest(readRelease(data, name)) === last.head) switchCurrent(data, name);
}

/**
 * What the next release follows: the newest entry of the log, whose release may be lost; null before the first. Throws a
 * CompileError where the log is not that of the current release.
 */
function lastPlace(log: OpenLog | null, previous: PreviousFiles | null): LastPlace | null {
  if (log !== null && previous === null) return { ...log.last };
  if (previous === null) return null;
  const own = { ...previous.head, head: canonicalDigest(previous.head) };
  if (log === null) {
    if (!previous.files()?.find(BLOCKS_PATH)) return own;
    throw refused(CHECKPOINT_PATH, 'it is lost, and the current release is in it');
  }
  const { last } = log;
  const { sequence } = own;
  const entry = log.entryOf(sequence);
  if (entry?.head === own.head) return last.sequence === sequence ? own : { ...own, ...last };
  const state =
    entry === null
      ? `its newest entry is release ${last.sequence}, and release ${sequence} is the current one`
      : `release ${sequence} is another one in it`;
  throw refused(CHECKPOINT_PATH, state);
}

interface PublishedFolder {
  readonly data: string;
  readonly root: string;
  readonly name: string;
  readonly turn: LogTurn | undefined;
}

/** Makes the folder a release, puts it into the log, then makes it the current one. */
async function publishFolder(
  { data, root, name, turn }: PublishedFolder,
  log: LogSwitch,
): Promise<string> {
  const releases = join(data, RELEASES_FOLDER);
  const target = join(releases, name);
  if (currentName(data) === name) {
    const message = `release "${name}" is already the current one`;
    throw new CompileError([{ code: 'cannot_publish', file: data, message }]);
  }
  try {
    // What a killed compile left under this name was never served.
    rmSync(target, { recursive: true, force: true });
    renameSync(root, target);
    syncFolder(releases);
    log.stage();
    await turn?.swap(log.next);
    log.publish();
    switchCurrent(data, name);
  } catch (error) {
    if (currentName(data) !== name && !isStaged(data))
      rmSync(target, { recursive: true, force: true });
    throw error;
  }
  return target;
}

/** The release that `current` names; null before the first. */
export function previousFiles(data: string): PreviousFiles | null {
  const name = currentName(data);
  if (name === null) return null;
  let list: FileListBytes | null | undefined;
  return {
    name,
    head: readRelease(data, name),
    files() {
      if (list === undefined) list = releaseFiles(data, name);
      return list;
    },
  };
}

/** One sync of the whole file system instead of an fsync per file, which costs a millisecond each. */
export async function syncTree(root: string): Promise<void> {
  const run = promisify(execFile);
  try {
    await run('sync', ['-f', root]);
  } catch {
    await run('sync');
  }
}

/** A symlink cannot be replaced in place: a new one is renamed over it, which is atomic. */
export function switchCurrent(data: string, name: string): void {
  const fresh = join(data, `.${CURRENT_LINK}.new`);
  rmSync(fresh, { force: true });
  symlinkSync(join(RELEASES_FOLDER, name), fresh);
  renameSync(fresh, join(data, CURRENT_LINK));
  syncFolder(data);
}

/** Only what was published is remembered; what is lost in between costs time, nothing else. */
function takeOverState(data: string, staging: string): void {
  const made = join(staging, STATE_FOLDER);
  if (!existsSync(made)) return;
  const kept = join(data, STATE_FOLDER);
  rmSync(kept, { recursive: true, force: true });
  renameSync(made, kept);
}

/** The release that is gone on from. */
export interface CurrentRelease {
  /** Who signed it. */
  readonly issuerDid: string;
  /** Null for a file that the release does not have; throws a CompileError for one that is damaged. */
  read(path: string): Buffer | null;
  /** Its paths that begin with a prefix, in order. */
  under(prefix: string): Iterable<string>;
}

/** The files of the release that `current` names in a data folder, unless they are open already; null before the first. */
export function currentRelease(
  data: string,
  open: PreviousFiles | null = previousFiles(data),
): CurrentRelease | null {
  if (open === null) return null;
  const listed = open.files();
  // What cannot be read is not the same as what was never there: a log that begins again would be a fork.
  if (listed === null) throw damaged(open.name, 'its list of files is not the one that was signed');
  return {
    issuerDid: open.head.issuer_did,
    read(path) {
      const entry = listed.find(path);
      try {
        return entry === null ? null : readStored(data, entry);
      } catch (cause) {
        throw damaged(path, messageOf(cause));
      }
    },
    under: (prefix) => listed.under(prefix),
  };
}

function damaged(file: string, state: string): CompileError {
  const message =
    `the previous release cannot be read: ${state}; restore that release from a copy, because a log is ` +
    'never restarted';
  return new CompileError([{ code: 'log_refused', file, message }]);
}
