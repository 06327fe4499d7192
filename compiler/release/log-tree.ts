import { hash } from 'node:crypto';
import { HASH_BYTES, leafHash, rootOver, type Sha256 } from '../format/merkle.ts';
import { encodeBundle, hashInTiles, TILE_WIDTH, type Tile, tilePath } from '../format/tiles.ts';

/** SHA-256 for the tree; a digest as text is made in a third of the time of one in a buffer. */
export const sha256: Sha256 = (bytes) => Buffer.from(hash('sha256', bytes, 'binary'), 'latin1');

/** The right edge of a log: all that appending to it needs. */
export interface TreeEdge {
  size: number;
  /** Hashes of the last tile of each level, as long as it is not full. */
  readonly rows: Uint8Array[][];
  /** Entries of the last bundle, as long as it is not full. */
  bundle: Uint8Array[];
}

/** Root of the whole tree. */
export function rootOf({ size, rows }: TreeEdge): Uint8Array {
  const hashesOf = ({ level }: Tile): readonly Uint8Array[] => rows[Number(level)] ?? [];
  return hashInTiles({ start: 0, end: size }, size, hashesOf, sha256);
}

/** Appends entries. Returns the tiles and bundles that change, by their paths. */
export function appendEntries(
  edge: TreeEdge,
  entries: readonly Uint8Array[],
): Map<string, Uint8Array> {
  const full = new Map<string, Uint8Array>();
  const touched = new Set<Tile['level']>(['entries']);
  const push = (level: number, node: Uint8Array): void => {
    touched.add(level);
    const row = edge.rows[level] ?? [];
    edge.rows[level] = row;
    row.push(node);
    if (row.length < TILE_WIDTH) return;
    const index = edge.size / TILE_WIDTH ** (level + 1) - 1;
    full.set(tilePath({ level, index, width: TILE_WIDTH }), Buffer.concat(row));
    edge.rows[level] = [];
    push(level + 1, rootOver(row, sha256));
  };
  for (const entry of entries) {
    edge.size += 1;
    edge.bundle.push(entry);
    push(0, leafHash(entry, sha256));
    if (edge.bundle.length < TILE_WIDTH) continue;
    const index = edge.size / TILE_WIDTH - 1;
    full.set(tilePath({ level: 'entries', index, width: TILE_WIDTH }), encodeBundle(edge.bundle));
    edge.bundle = [];
  }
  return new Map([...full, ...edgeFiles(edge, touched)]);
}

function* edgeFiles(
  { size, rows, bundle }: TreeEdge,
  touched: ReadonlySet<Tile['level']>,
): Generator<readonly [string, Uint8Array]> {
  for (const { level, index, width } of edgeTiles(size)) {
    if (!touched.has(level)) continue;
    const bytes = level === 'entries' ? encodeBundle(bundle) : Buffer.concat(rows[level] ?? []);
    yield [tilePath({ level, index, width }), bytes];
  }
}

/** The tiles and the bundle of a tree of `size` entries that are not full. */
export function edgeTiles(size: number): Tile[] {
  const tiles: Tile[] = [];
  const add = (level: Tile['level'], count: number): void => {
    const width = count % TILE_WIDTH;
    if (width > 0) tiles.push({ level, index: Math.floor(count / TILE_WIDTH), width });
  };
  add('entries', size);
  for (let level = 0; size >= TILE_WIDTH ** level; level += 1) {
    add(level, Math.floor(size / TILE_WIDTH ** level));
  }
  return tiles;
}

/** Hex of a hash of the tree. */
export function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, HASH_BYTES).toString('hex');
}
