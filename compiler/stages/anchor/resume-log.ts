import type { LogBatch } from '../../contract/log-batch.ts';
import { HASH_BYTES, leafHash, nodeHash, subtreesOf } from '../../contract/merkle.ts';
import {
  ENTRY_BYTES,
  TILE_HEIGHT,
  TILE_WIDTH,
  type Tile,
  tileOfSubtree,
  tilePath,
} from '../../contract/tiles.ts';
import { hexOf, LogTree, type PutTile, type Row, sha256 } from './log-tree.ts';
import type { PreviousRelease, SignedLog } from './previous-log.ts';

/** Bytes of an entry in a bundle, behind its length. */
const BUNDLED_BYTES = 2 + ENTRY_BYTES;

/**
 * The tree of a log from its right edge alone, which its partial tiles hold: no entry before them is read. Null when they do
 * not give the signed root, or when an entry of theirs is not the one of its hash.
 */
export function resumeLog(
  previous: PreviousRelease,
  { signed, batches }: SignedLog,
  put: PutTile,
): LogTree | null {
  const rows = rowsOf(previous, signed.size, batches);
  if (rows === null || !areEntriesHashed(rows)) return null;
  const tree = new LogTree(put, { size: signed.size, peaks: peaksOf(rows, signed.size), rows });
  return hexOf(tree.root()) === hexOf(signed.root) ? tree : null;
}

type Rows = ReadonlyMap<Tile['level'], Row>;

function rowsOf(
  previous: PreviousRelease,
  size: number,
  batches: readonly LogBatch[],
): Map<Tile['level'], Row> | null {
  const rows = new Map<Tile['level'], Row>();
  const levels: Tile['level'][] = size > 0 ? ['entries'] : [];
  for (let level = 0; size >= TILE_WIDTH ** level; level += 1) levels.push(level);
  for (const level of levels) {
    const index = Math.floor(countAt(level, size) / TILE_WIDTH);
    const parts = partsOf(previous, { level, index, width: countAt(level, size) % TILE_WIDTH });
    if (parts === null) return null;
    rows.set(level, { level, index, parts, cuts: cutsOf(batches, { level, index }) });
  }
  return rows;
}

/** Hashes that a row of tiles has, or entries of the row of bundles. */
function countAt(level: Tile['level'], size: number): number {
  return level === 'entries' ? size : Math.floor(size / TILE_WIDTH ** level);
}

/** What a partial tile holds; null when the release does not have it so. */
function partsOf(previous: PreviousRelease, tile: Tile): Buffer[] | null {
  if (tile.width === 0) return [];
  const each = tile.level === 'entries' ? BUNDLED_BYTES : HASH_BYTES;
  const bytes = previous.read(tilePath(tile));
  if (bytes?.length !== tile.width * each) return null;
  return Array.from({ length: tile.width }, (_, at) => bytes.subarray(at * each, (at + 1) * each));
}

/** Widths at which the checkpoints of batches cut the last tile of a row. */
function cutsOf(batches: readonly LogBatch[], row: Pick<Tile, 'level' | 'index'>): Set<number> {
  const cuts = new Set<number>();
  for (const { size } of batches) {
    const count = countAt(row.level, size);
    if (Math.floor(count / TILE_WIDTH) === row.index) cuts.add(count % TILE_WIDTH);
  }
  return cuts;
}

function areEntriesHashed(rows: Rows): boolean {
  const hashes = rows.get(0)?.parts ?? [];
  const entries = rows.get('entries')?.parts ?? [];
  return entries.every((entry, at) => {
    const hash = hashes[at];
    return hash !== undefined && hexOf(leafHash(entry.subarray(2), sha256)) === hexOf(hash);
  });
}

/** The complete subtrees of the whole tree, each of which ends in a partial tile. */
function peaksOf(rows: Rows, size: number) {
  return subtreesOf({ start: 0, end: size }).map((subtree) => {
    const { tile, height, offset } = tileOfSubtree(subtree, size);
    const parts = rows.get(tile.level)?.parts.slice(offset, offset + 2 ** height) ?? [];
    return { height: tileHeight(tile.level) + height, hash: foldedHash(parts) };
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
