import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { NOTE_CHARS_MAX, openNote } from '../../format/checkpoint.ts';
import type { Release } from '../../format/release.ts';
import {
  CHECKPOINT_PATH,
  LOG_FOLDER,
  LOG_KEY_PATH,
  parseTilePath,
  TILE_WIDTH,
  tilePath,
} from '../../format/tiles.ts';
import { keptTiles, type OpenLog, openLog } from '../../release/log-folder.ts';
import { edgeTiles, hexOf } from '../../release/log-tree.ts';
import { errorText } from '../../system/error-text.ts';
import { readPlain, STORED_BYTES_MAX } from '../../system/plain-file.ts';
import { canonicalHash } from '../../verify/body-check.ts';
import { type Destination, type LocalFile, LongerError, UploadError } from './destination.ts';

/** Timestamps change until they are confirmed: so many of the newest are compared with each upload. */
const ANCHORS_COMPARED = 128;
/** Of what was there before, one in so many files is compared with each upload. */
const COMPARED_SHARE = 24;

/** The log of a data folder, as it is published beside the releases. */
export interface OwnLog extends OpenLog {
  readonly data: string;
  readonly checkpoint: LocalFile;
}

/** The log that has a release; null for a release of the first format. Throws an UploadError for a log without the release. */
export function ownLog(data: string, release: Release, isFirst: boolean): OwnLog | null {
  try {
    const log = openLog(data);
    if (log === null && isFirst) return null;
    if (log?.entryOf(release.sequence)?.head !== canonicalHash(release)) {
      throw new RangeError('the current release is not in it');
    }
    return { ...log, data, checkpoint: localFile(data, CHECKPOINT_PATH) };
  } catch (cause) {
    throw new UploadError(
      `Cannot publish the log of "${data}": ${errorText(cause)}; restore it from a copy`,
      { cause },
    );
  }
}

function localFile(data: string, path: string): LocalFile {
  const place = join(data, path);
  return { place, bytes: readPlain(place, STORED_BYTES_MAX) };
}

/** The bytes of a file; null for none, and for what is longer than what was published. */
export async function bytesThere(
  destination: Destination,
  path: string,
  max: number,
): Promise<Buffer | null> {
  try {
    return await destination.read(path, max);
  } catch (error) {
    if (error instanceof LongerError) return null;
    throw error;
  }
}

/** How many entries the destination has of this log; throws an UploadError where this checkpoint may not take its place. */
export async function entriesThere(
  log: OwnLog,
  destination: Destination,
  all: boolean,
): Promise<number> {
  const note = await bytesThere(destination, CHECKPOINT_PATH, NOTE_CHARS_MAX);
  const there = note === null ? undefined : openNote(note.toString('utf8'))?.checkpoint;
  if (there === undefined) return 0;
  const { origin, size } = log.signed;
  const isOwn = there.origin === origin;
  const refuse = (state: string): never => {
    throw new UploadError(
      `Cannot publish the log of ${size} entries to "${destination.name}": ${state}`,
    );
  };
  // Readers who saw the longer one would call the shorter one a lie.
  if (isOwn && there.size > size) return refuse(`it has ${there.size} entries there`);
  if (!isOwn && !all) return refuse(`the log "${there.origin}" is there; name another place`);
  if (!isOwn) return 0;
  const own = log.hashOf({ start: 0, end: there.size });
  if (hexOf(own) !== hexOf(there.root))
    return refuse('another history of it is there; name another place');
  return all ? 0 : there.size;
}

interface Upload {
  /** Entries that are there. */
  readonly there: number;
  /** Whether all that should be there is compared. */
  readonly isThere: boolean;
  /** Writes a file where other bytes are there. */
  readonly renew: (path: string, file: LocalFile) => Promise<void>;
}

/** Writes what the log has beyond the entries that are there; the checkpoint follows once the release is there. */
export async function writeLog(log: OwnLog, { there, isThere, renew }: Upload): Promise<void> {
  const { data, signed } = log;
  const paths = readdirSync(join(data, LOG_FOLDER), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(join(data, '/').length))
    .filter((path) => path !== CHECKPOINT_PATH)
    .sort();
  const timeOf = (path: string): number => statSync(join(data, path)).mtimeMs;
  const anchors = paths
    .filter((path) => path.startsWith(`${LOG_FOLDER}/anchor/`))
    .map((path) => ({ path, time: timeOf(path) }))
    .sort((one, other) => other.time - one.time);
  const compared = new Set(anchors.slice(0, ANCHORS_COMPARED).map(({ path }) => path));
  const turn = signed.size % COMPARED_SHARE;
  for (const [at, path] of paths.entries()) {
    const isLooked = isThere || at % COMPARED_SHARE === turn || compared.has(path);
    if (isLooked || isNew(path, log, there)) await renew(path, localFile(data, path));
  }
}

/** Whether a file belongs to entries after the first `there`; another than a tile or a list of hashes always does. */
function isNew(path: string, { signed, last }: OwnLog, there: number): boolean {
  const tile = parseTilePath(path);
  if (tile !== null) {
    const unit = tile.level === 'entries' ? 1 : TILE_WIDTH ** tile.level;
    return (tile.index * TILE_WIDTH + tile.width) * unit > there;
  }
  const [, sequence] = /^log\/new\/(\d+)$/.exec(path) ?? [];
  if (sequence !== undefined) return Number(sequence) > last.sequence - (signed.size - there);
  return there === 0 || path === LOG_KEY_PATH;
}

/** Partial tiles of older sizes, which an earlier upload wrote and nobody reads any more. */
export function staleTiles({ signed }: OwnLog, there: number): string[] {
  const kept = keptTiles(signed.size);
  const paths = [...keptTiles(there)];
  for (let size = there + 1; size < signed.size; size += 1) {
    paths.push(...edgeTiles(size).map(tilePath));
  }
  return [...new Set(paths)].filter((path) => !kept.has(path));
}
