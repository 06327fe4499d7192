import { defined } from '../../contract/defined.ts';
import { HASH_BYTES, leafHash, nodeHash, subtreesOf } from '../../contract/merkle.ts';
import {
  TILE_HEIGHT,
  TILE_WIDTH,
  type Tile,
  tileOfSubtree,
  tilePath,
  tilesOf,
} from '../../contract/tiles.ts';
import {
  BUNDLED_BYTES,
  emptyRow,
  hexOf,
  LogTree,
  type PutTile,
  partBytes,
  type Row,
  sha256,
} from './log-tree.ts';
import type { PreviousRelease, SignedLog } from './previous-log.ts';

/** Full tiles that are read of each log that is gone on from. */
const TILES_SAMPLED = 16;

/**
 * The tree of a log from its right edge alone, which its partial tiles hold: of those before them a sample is read. Null when they do
 * not give the signed root, or when an entry of theirs is not the one of its hash.
 */
export function resumeLog(
  previous: PreviousRelease,
  { signed }: SignedLog,
  put: PutTile,
): LogTree | null {
  if (!isSampleThere(previous, signed)) return null;
  const rows = rowsOf(previous, signed.size);
  if (rows === null || !areEntriesHashed(rows)) return null;
  const tree = new LogTree(put, { size: signed.size, peaks: peaksOf(rows, signed.size), rows });
  return hexOf(tree.root()) === hexOf(signed.root) ? tree : null;
}

/** Reads some full tiles, which the tree does not need: other ones for each root, so that damage does not stay unseen. */
function isSampleThere(previous: PreviousRelease, { size, root }: SignedLog['signed']): boolean {
  const full = tilesOf(size).filter(({ width }) => width === TILE_WIDTH);
  const from = Buffer.from(root).readUInt32BE();
  for (let at = 0; at < Math.min(full.length, TILES_SAMPLED); at += 1) {
    const tile = full[(from + at) % full.length];
    if (tile !== undefined && previous.read(tilePath(tile)) === null) return false;
  }
  return true;
}

type TreeRows = ReadonlyMap<Tile['level'], Row>;

function rowsOf(previous: PreviousRelease, size: number): Map<Tile['level'], Row> | null {
  const rows = new Map<Tile['level'], Row>();
  for (const level of levelsOf(size)) {
    const count = countAt(level, size);
    const row = emptyRow(level, Math.floor(count / TILE_WIDTH));
    if (!fillRow(row, count % TILE_WIDTH, previous)) return null;
    rows.set(level, row);
  }
  return rows;
}

function levelsOf(size: number): Tile['level'][] {
  const levels: Tile['level'][] = size > 0 ? ['entries'] : [];
  for (let level = 0; size >= TILE_WIDTH ** level; level += 1) levels.push(level);
  return levels;
}

/** Paths of tiles of the previous release that were partial, and are full now. */
export function filledTiles(previous: PreviousRelease, before: number, size: number): string[] {
  return levelsOf(before).flatMap((level) => {
    const index = Math.floor(countAt(level, before) / TILE_WIDTH);
    const isFull = countAt(level, size) >= (index + 1) * TILE_WIDTH;
    const full = tilePath({ level, index, width: TILE_WIDTH });
    return isFull ? [...previous.under(`${full}.p/`)] : [];
  });
}

/** Hashes that a row of tiles has, or entries of the row of bundles. */
function countAt(level: Tile['level'], size: number): number {
  return level === 'entries' ? size : Math.floor(size / TILE_WIDTH ** level);
}

/** Reads the partial tile of a row; false when the release does not have it so. */
function fillRow(row: Row, width: number, previous: PreviousRelease): boolean {
  if (width === 0) return true;
  const bytes = previous.read(tilePath({ ...row, width }));
  if (bytes?.length !== width * partBytes(row.level)) return false;
  row.bytes.set(bytes);
  row.width = width;
  return true;
}

function areEntriesHashed(rows: TreeRows): boolean {
  const bundle = rows.get('entries');
  const hashes = rows.get(0)?.bytes;
  if (bundle === undefined) return true;
  for (let at = 0; at < bundle.width; at += 1) {
    const entry = bundle.bytes.subarray(at * BUNDLED_BYTES + 2, (at + 1) * BUNDLED_BYTES);
    const hash = hashes?.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES);
    if (hash?.equals(leafHash(entry, sha256)) !== true) return false;
  }
  return true;
}

/** The complete subtrees of the whole tree, each of which ends in a partial tile. */
function peaksOf(rows: TreeRows, size: number) {
  return subtreesOf({ start: 0, end: size }).map((subtree) => {
    const { tile, height, offset } = tileOfSubtree(subtree, size);
    const { bytes } = defined(rows.get(tile.level), 'the row of the level');
    const hashes = Array.from({ length: 2 ** height }, (_, at) => {
      const start = (offset + at) * HASH_BYTES;
      return Buffer.from(bytes.subarray(start, start + HASH_BYTES));
    });
    return { height: tileHeight(tile.level) + height, hash: foldedHash(hashes) };
  });
}

function tileHeight(level: Tile['level']): number {
  return level === 'entries' ? 0 : level * TILE_HEIGHT;
}

/** The hash of a complete subtree from the hashes of a level below it. */
function foldedHash(hashes: readonly Uint8Array[]): Uint8Array {
  const [left, right] = hashes;
  if (left === undefined) throw new RangeError('Cannot hash a subtree: it is empty');
  if (right === undefined) return left;
  const middle = hashes.length / 2;
  return nodeHash(foldedHash(hashes.slice(0, middle)), foldedHash(hashes.slice(middle)), sha256);
}
