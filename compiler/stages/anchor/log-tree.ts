import { hash } from 'node:crypto';
import {
  HASH_BYTES,
  hashOfSubtrees,
  leafHash,
  nodeHash,
  type Sha256,
} from '../../contract/merkle.ts';
import { ENTRY_BYTES, TILE_HEIGHT, TILE_WIDTH, type Tile, tilePath } from '../../contract/tiles.ts';

/** SHA-256 for the tree; a digest as text is made in a third of the time of one in a buffer. */
export const sha256: Sha256 = (bytes) => Buffer.from(hash('sha256', bytes, 'binary'), 'latin1');

/** Takes a finished tile or bundle; its bytes serve for the next one afterwards. */
export type PutTile = (path: string, bytes: Uint8Array) => void;

/** Bytes of an entry in a bundle, behind its length. */
export const BUNDLED_BYTES = 2 + ENTRY_BYTES;

/** Bytes of what a tile of a level holds: hashes, or entries behind their length. */
export function partBytes(level: Tile['level']): number {
  return level === 'entries' ? BUNDLED_BYTES : HASH_BYTES;
}

/** The last tile of a level, which is not full yet. */
export interface Row {
  readonly level: Tile['level'];
  index: number;
  /** Room for a full tile, with what it holds so far. */
  readonly bytes: Buffer;
  width: number;
  /** Widths at which a checkpoint cut the last tile. */
  readonly cuts: Set<number>;
}

/** The right edge of a tree, all that appending to it needs. */
interface TreeEdge {
  readonly size: number;
  /** Complete subtrees of the whole tree, left to right, heights falling. */
  readonly peaks: { readonly height: number; readonly hash: Uint8Array }[];
  readonly rows: Map<Tile['level'], Row>;
}

/** A growing tree that gives away its tiles as they fill up; holds the right edge alone. */
export class LogTree {
  #size: number;
  readonly #peaks: TreeEdge['peaks'];
  readonly #rows: TreeEdge['rows'];
  readonly #put: PutTile;
  /** The entry that is being appended, behind its length. */
  readonly #bundled = Uint8Array.of(0, ENTRY_BYTES, ...new Uint8Array(ENTRY_BYTES));

  constructor(put: PutTile, edge: TreeEdge = { size: 0, peaks: [], rows: new Map() }) {
    this.#size = edge.size;
    this.#peaks = edge.peaks;
    this.#rows = edge.rows;
    this.#put = put;
  }

  get size(): number {
    return this.#size;
  }

  /** Appends an entry, which has ENTRY_BYTES bytes. */
  append(entry: Uint8Array): void {
    this.#size += 1;
    this.#bundled.set(entry, 2);
    this.#push('entries', this.#bundled);
    let node = leafHash(entry, sha256);
    let height = 0;
    this.#push(0, node);
    for (let left = this.#peaks.at(-1); left?.height === height; left = this.#peaks.at(-1)) {
      this.#peaks.pop();
      node = nodeHash(left.hash, node, sha256);
      height += 1;
      if (height % TILE_HEIGHT === 0) this.#push(height / TILE_HEIGHT, node);
    }
    this.#peaks.push({ height, hash: node });
  }

  root(): Uint8Array {
    return hashOfSubtrees(this.peaks(), sha256);
  }

  /** Hashes of the complete subtrees of the whole tree, left to right. */
  peaks(): Uint8Array[] {
    return this.#peaks.map((peak) => peak.hash);
  }

  /** Remembers that a checkpoint is signed at this size: its partial tiles are kept until they are full. */
  cut(): void {
    for (const row of this.#rows.values()) row.cuts.add(row.width);
  }

  /** Gives away the partial tiles of every cut since they began. */
  finish(): void {
    for (const { level, index, bytes, cuts } of this.#rows.values()) {
      for (const width of cuts) {
        if (width === 0) continue;
        this.#put(tilePath({ level, index, width }), bytes.subarray(0, width * partBytes(level)));
      }
    }
  }

  #push(level: Tile['level'], part: Uint8Array): void {
    const row = this.#rows.get(level) ?? emptyRow(level, 0);
    this.#rows.set(level, row);
    row.bytes.set(part, row.width * part.length);
    row.width += 1;
    if (row.width < TILE_WIDTH) return;
    this.#put(tilePath(row), row.bytes);
    row.index += 1;
    row.width = 0;
    row.cuts.clear();
  }
}

/** A row of which the last tile holds nothing yet. */
export function emptyRow(level: Tile['level'], index: number): Row {
  const bytes = Buffer.alloc(TILE_WIDTH * partBytes(level));
  return { level, index, bytes, width: 0, cuts: new Set() };
}

/** Hex of a hash of the tree. */
export function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, HASH_BYTES).toString('hex');
}
