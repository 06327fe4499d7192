import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  type Checkpoint,
  checkpointText,
  NOTE_CHARS_MAX,
  openNote,
  parseCheckpoint,
} from '../format/checkpoint.ts';
import { defined, messageOf } from '../format/errors.ts';
import { leafHash, type Range } from '../format/merkle.ts';
import { parseReleaseEntry, type ReleaseEntry } from '../format/release-entry.ts';
import {
  bundleEntries,
  CHECKPOINT_PATH,
  LOG_FOLDER,
  LOG_KEY_PATH,
  TILE_BYTES_MAX,
  TILE_WIDTH,
  type Tile,
  tiledLog,
  tileHashes,
  tilePath,
} from '../format/tiles.ts';
import { CompileError } from '../system/compile-error.ts';
import { LockedError, lockData } from '../system/data-lock.ts';
import { durableFolder, readPlain, replaceFile, syncFolder } from '../system/plain-file.ts';
import { edgeTiles, hexOf, rootOf, sha256, type TreeEdge } from './log-tree.ts';

/** How many sizes of the log keep their partial tiles: a reader of a checkpoint of before still finds them. */
const SIZES_KEPT = 8;

/** The log beside the releases, as its newest checkpoint states it. */
export interface OpenLog {
  /** The signed note, whose signatures are for the caller to check. */
  readonly note: string;
  readonly signed: Checkpoint;
  readonly edge: TreeEdge;
  /** The newest entry. */
  readonly last: ReleaseEntry;
  /** The entry of a release; null where the log has none of that sequence. */
  entryOf(sequence: number): ReleaseEntry | null;
  /** The hash of a range of its entries. */
  hashOf(range: Range): Uint8Array;
}

/**
 * Opens the log of a data folder; null before the first checkpoint. Throws a CompileError for one that does not give its
 * root.
 */
export function openLog(data: string): OpenLog | null {
  const note = readNote(data);
  if (note === null) return null;
  const signed = openNote(note)?.checkpoint;
  if (signed === undefined) throw refused(CHECKPOINT_PATH, 'it is not a checkpoint');
  return { note, ...logAt(data, signed) };
}

/** The log of a data folder as it has a size and a root; throws a CompileError where its files do not give that root. */
export function logAt(data: string, signed: Checkpoint): Omit<OpenLog, 'note'> {
  const edge = readEdge(data, signed);
  const { size } = signed;
  const log = filesOfLog(data, signed);
  const entryAt = (index: number): ReleaseEntry | null =>
    parseReleaseEntry(readOrRefuse(LOG_FOLDER, () => log.entryAt(index)));
  const last = size === 0 ? null : entryAt(size - 1);
  if (last === null) throw refused(CHECKPOINT_PATH, 'its newest entry is not that of a release');
  return {
    signed,
    edge,
    last,
    entryOf(sequence) {
      const index = size - 1 - (last.sequence - sequence);
      const entry = index < 0 || index >= size ? null : entryAt(index);
      return entry?.sequence === sequence ? entry : null;
    },
    hashOf: (range) => readOrRefuse(LOG_FOLDER, () => log.hashOf(range)),
  };
}

/** The files of a log as a checkpoint states it; what they do not give is thrown. */
export function filesOfLog(data: string, signed: Pick<Checkpoint, 'size' | 'root'>) {
  return tiledLog(signed, (path) => bytesAt(data, path), sha256);
}

/** The signed note of the newest checkpoint; null before the first. */
export function readNote(data: string): string | null {
  const path = join(data, CHECKPOINT_PATH);
  return existsSync(path) ? readPlain(path, NOTE_CHARS_MAX).toString('utf8') : null;
}

/** Reads what is not full yet: it has to give the root that was signed, and each entry its hash. */
export function readEdge(data: string, { size, root }: Checkpoint): TreeEdge {
  const edge: TreeEdge = { size, rows: [], bundle: [] };
  for (let level = 0; size >= TILE_WIDTH ** level; level += 1) edge.rows[level] = [];
  for (const tile of edgeTiles(size)) {
    if (tile.level === 'entries') edge.bundle = readBundle(data, tile);
    else {
      const path = tilePath(tile);
      edge.rows[tile.level] = readOrRefuse(path, () => tileHashes(tile, bytesAt(data, path)));
    }
  }
  if (hexOf(rootOf(edge)) !== hexOf(root)) {
    throw refused(CHECKPOINT_PATH, 'its tiles do not give the root that was signed');
  }
  const hashes = edge.rows[0] ?? [];
  const isSame = edge.bundle.every(
    (entry, at) => hexOf(leafHash(entry, sha256)) === hexOf(defined(hashes[at], 'the hash')),
  );
  if (!isSame) throw refused(CHECKPOINT_PATH, 'an entry is not the one of its hash');
  return edge;
}

function readBundle(data: string, tile: Tile): Uint8Array[] {
  const path = tilePath(tile);
  const entries = readOrRefuse(path, () => bundleEntries(bytesAt(data, path)));
  if (entries.length === tile.width) return entries;
  throw refused(path, `it has ${entries.length} entries`);
}

function bytesAt(data: string, path: string): Buffer {
  return readPlain(join(data, path), TILE_BYTES_MAX);
}

/** What is wrong with files of a log is refused by their name. */
export function readOrRefuse<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw refused(path, messageOf(cause));
  }
}

/** Writes files of the log, and waits for the disk. Beyond the size that the checkpoint states they mean nothing yet. */
export function writeLogFiles(data: string, files: ReadonlyMap<string, Uint8Array>): void {
  for (const [path, bytes] of files) {
    const folder = dirname(join(data, path));
    durableFolder(folder);
    writeFileSync(join(data, path), bytes, { flush: true });
    syncFolder(folder);
  }
}

/** Replaces the checkpoint, by which all that was written counts from now on, and before it the key where that is another one. */
export function publishCheckpoint(
  data: string,
  { note, key }: { readonly note: string; readonly key: string },
): void {
  const path = join(data, LOG_KEY_PATH);
  const isSame = existsSync(path) && readPlain(path, NOTE_CHARS_MAX).toString('utf8') === key;
  if (!isSame) replaceFile(path, key);
  changeCheckpoint(data, () => note);
}

/** Says what the log will be, from the moment that its next entry is staged until that is published. */
const STAGED_NAME = '.staged-log';

/** Whether an entry was staged and is not forgotten yet, published or not. */
export function isStaged(data: string): boolean {
  return existsSync(join(data, STAGED_NAME));
}

/** The log as it will be once the entry that is staged is published; null where none is. */
export function stagedLog(data: string): Checkpoint | null {
  if (!isStaged(data)) return null;
  const bytes = readPlain(join(data, STAGED_NAME), NOTE_CHARS_MAX);
  const staged = parseCheckpoint(bytes.toString('utf8'));
  if (staged === null) throw refused(STAGED_NAME, 'it is damaged');
  const note = readNote(data);
  const size = note === null ? 0 : (openNote(note)?.checkpoint.size ?? 0);
  return staged.size > size ? staged : null;
}

/** Notes what the log will be, once all files of it are on the disk. */
export function noteStaged(data: string, next: Checkpoint): void {
  replaceFile(join(data, STAGED_NAME), checkpointText(next));
}

/** The entry was published, or is given up. */
export function forgetStaged(data: string): void {
  rmSync(join(data, STAGED_NAME), { force: true });
}

/** Lock of whoever replaces the checkpoint: that of a compile may be held for minutes. */
const CHECKPOINT_LOCK = '.cosigning';
const LOCK_ATTEMPTS_MAX = 50;
const LOCK_RETRY_MS = 100;

/** Replaces the checkpoint by what follows from the published one, while nobody else replaces it; returns it. */
export function changeCheckpoint(data: string, change: (note: string | null) => string): string {
  const unlock = lockCheckpoint(data);
  try {
    const before = readNote(data);
    const note = change(before);
    // Beside the log, which a kill leaves without a stranger.
    if (note !== before) replaceFile(join(data, CHECKPOINT_PATH), note, join(data, DRAFT_NAME));
    return note;
  } finally {
    unlock();
  }
}

const DRAFT_NAME = '.checkpoint.new';

/** Waits for others that replace it; they do so in no time. */
function lockCheckpoint(data: string): () => void {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return lockData(data, CHECKPOINT_LOCK);
    } catch (error) {
      if (!(error instanceof LockedError) || attempt === LOCK_ATTEMPTS_MAX) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOCK_RETRY_MS);
    }
  }
}

/** Paths of the partial tiles that a log of `size` entries keeps. */
export function keptTiles(size: number): Set<string> {
  const kept = new Set<string>();
  for (let of = Math.max(1, size - SIZES_KEPT + 1); of <= size; of += 1) {
    for (const tile of edgeTiles(of)) kept.add(tilePath(tile));
  }
  return kept;
}

/** Removes the partial tiles of older sizes, so that the folder grows by what is new alone. */
export function trimTiles(data: string, size: number): void {
  const kept = keptTiles(size);
  for (const { level, index } of edgeTiles(size + 1).concat(
    edgeTiles(Math.max(1, size - SIZES_KEPT)),
  )) {
    const folder = `${tilePath({ level, index, width: TILE_WIDTH })}.p`;
    if (!existsSync(join(data, folder))) continue;
    const names = readdirSync(join(data, folder)).filter((name) => !kept.has(`${folder}/${name}`));
    for (const name of names) rmSync(join(data, folder, name));
  }
}

/** That the log is not what was signed, or not that of these releases. */
export function refused(file: string, state: string): CompileError {
  const message =
    `the log cannot be continued: ${state}; nothing was signed. Restore the folder "${LOG_FOLDER}" and the newest ` +
    'release from a copy: a log never shrinks or forks';
  return new CompileError([{ code: 'log_refused', file, message }]);
}
