import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import {
  FILE_LINE_BYTES_MAX,
  FILES_NAME,
  type FileEntry,
} from '../../compiler/contract/release.ts';
import { costOfHashing, FILE_COST, PIECE_COST, type Spend } from '../http/cost.ts';
import { BoundedMap } from '../system/bounded-map.ts';
import { Slots, SlotsFullError } from '../system/slots.ts';
import type { EarlierRelease } from './earlier-releases.ts';
import { ListedFiles } from './listed-files.ts';
import { DamagedFileError, UnreachableFileError } from './read-body.ts';
import type { ReleaseFolder } from './release-source.ts';

// The list of an earlier release stays on the disk: of a large shop it is 60 MB. It is read whole once, for its hash, and
// a path is looked up where its line stands.

/** Lists that are open at once, and requests that wait for one. */
const OPEN_MAX = 2;
const WAITING_MAX = 64;
/** Entries that are remembered, found or not: who is told a price comes back to pay. */
const ENTRIES_MAX = 4096;
/** Bytes that are hashed before others have their turn. */
const HASHED_PIECE_BYTES = 256 * 1024;
/** A stretch of the list that is read whole. */
const STRETCH_BYTES = 16 * 1024;
const [LINE_END, SPACE] = [0x0a, 0x20];

const slots = new Slots(OPEN_MAX, WAITING_MAX);
/** Of a folder, by the hash of the list and the path. */
const entries = new WeakMap<ReleaseFolder, BoundedMap<string, FileEntry | null>>();
/** Which file it was whose hash was right, by release. */
const checkedFiles = new WeakMap<EarlierRelease, string>();

/**
 * The entry of a path in the list of an earlier release, at the cost of who asks; null where it is not listed. Throws a
 * DamagedFileError for a list that is gone or differs, and an UnreachableFileError while too many ask.
 */
export async function earlierEntry(
  path: string,
  earlier: EarlierRelease,
  { folder, spend }: { readonly folder: ReleaseFolder; readonly spend: Spend },
): Promise<FileEntry | null> {
  const key = `${earlier.head.files_sha256} ${path}`;
  const kept = entries.get(folder) ?? new BoundedMap<string, FileEntry | null>(ENTRIES_MAX);
  entries.set(folder, kept);
  const known = kept.get(key);
  if (known !== undefined) return known;
  const entry = await slots
    .run(() => withList(earlier, folder, (list) => found(path, list, { earlier, spend })))
    .catch((error: unknown) => {
      if (!(error instanceof SlotsFullError)) throw error;
      throw new UnreachableFileError(`Cannot look up "${path}": ${error.message}`);
    });
  kept.set(key, entry);
  return entry;
}

interface Search {
  readonly earlier: EarlierRelease;
  readonly spend: Spend;
}

async function withList<Found>(
  { name }: EarlierRelease,
  folder: ReleaseFolder,
  look: (list: FileHandle) => Promise<Found>,
): Promise<Found> {
  const list = await folder.openList(name).catch((cause: unknown) => {
    throw new DamagedFileError(`Cannot serve release "${name}": its ${FILES_NAME} is unreadable`, {
      cause,
    });
  });
  try {
    return await look(list);
  } finally {
    await list.close();
  }
}

async function found(path: string, list: FileHandle, search: Search): Promise<FileEntry | null> {
  const { size } = await checkList(list, search);
  const stretch = await stretchOf(path, { list, size, spend: search.spend });
  return ListedFiles.of(stretch).get(path) ?? null;
}

/** Checks the list against its head, unless exactly this file was checked before. */
async function checkList(
  list: FileHandle,
  { earlier, spend }: Search,
): Promise<{ readonly size: number }> {
  spend(FILE_COST);
  const { size, ino, mtimeMs, ctimeMs } = await list.stat();
  const file = [ino, size, mtimeMs, ctimeMs].join(' ');
  if (checkedFiles.get(earlier) === file) return { size };
  spend(costOfHashing(size));
  if ((await hashOf(list, size)) !== earlier.head.files_sha256) {
    const state = `its ${FILES_NAME} differs from what its head signs; restore it from a copy`;
    throw new DamagedFileError(`Cannot serve release "${earlier.name}": ${state}`);
  }
  checkedFiles.set(earlier, file);
  return { size };
}

async function hashOf(list: FileHandle, size: number): Promise<string> {
  const hash = createHash('sha256');
  const room = Buffer.allocUnsafe(Math.min(HASHED_PIECE_BYTES, size));
  for (let at = 0; at < size; at += room.length) hash.update(await pieceOf(list, at, room));
  return `sha256:${hash.digest('hex')}`;
}

/** As much of the list as there is room for, or as it has. */
async function pieceOf(list: FileHandle, at: number, room: Buffer): Promise<Buffer> {
  const { bytesRead } = await list.read(room, 0, room.length, at);
  return room.subarray(0, bytesRead);
}

interface OpenList {
  readonly list: FileHandle;
  readonly size: number;
  readonly spend: Spend;
}

/** Whole lines of the sorted list, among them the one of a path if it is there. */
async function stretchOf(path: string, { list, size, spend }: OpenList): Promise<Buffer> {
  const wanted = Buffer.from(path, 'utf8');
  // The line begins at `low` or behind it, and in front of `high`.
  let [low, high] = [0, size];
  const room = Buffer.allocUnsafe(STRETCH_BYTES + FILE_LINE_BYTES_MAX);
  while (high - low > STRETCH_BYTES) {
    const middle = Math.floor((low + high) / 2);
    spend(PIECE_COST);
    // One byte earlier: a line begins in the middle where that is a line end.
    const from = middle - 1;
    const line = lineIn(await pieceOf(list, from, room.subarray(0, 2 * FILE_LINE_BYTES_MAX)));
    const start = line === null ? high : from + line.at;
    if (line === null || start >= high) high = middle;
    else if (line.path.compare(wanted) <= 0) low = start;
    else high = start;
  }
  const piece = await pieceOf(list, low, room.subarray(0, high - low + FILE_LINE_BYTES_MAX));
  return piece.subarray(0, piece.lastIndexOf(LINE_END) + 1);
}

/** The first line that begins in a piece, and its path; null where none does. */
function lineIn(piece: Buffer): { readonly at: number; readonly path: Buffer } | null {
  const at = piece.indexOf(LINE_END) + 1;
  const end = at === 0 ? -1 : piece.indexOf(LINE_END, at);
  if (end === -1) return null;
  const pathAt = piece.lastIndexOf(SPACE, end) + 1;
  return { at, path: piece.subarray(pathAt, end) };
}
