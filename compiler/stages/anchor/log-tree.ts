import { hash } from 'node:crypto';
import {
  HASH_BYTES,
  hashOfSubtrees,
  leafHash,
  nodeHash,
  type Sha256,
} from '../../contract/merkle.ts';
import { TILE_HEIGHT, TILE_WIDTH, type Tile, tilePath } from '../../contract/tiles.ts';

/** SHA-256 for the tree. */
export const sha256: Sha256 = (bytes) => hash('sha256', bytes, 'buffer');

/** Takes a finished tile or bundle. */
export type PutTile = (path: string, bytes: Uint8Array) => void;

/** The last tile of a level, which is not full yet. */
export interface Row {
  readonly level: Tile['level'];
  index: number;
  /** What the last tile of the row holds so far. */
  parts: Uint8Array[];
  /** Widths at which a checkpoint cut the last tile. */
  readonly cuts: Set<number>;
}

/** The right edge of a tree, all that appending to it needs. */
export interface TreeEdge {
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

  constructor(put: PutTile, edge: TreeEdge = { size: 0, peaks: [], rows: new Map() }) {
    this.#size = edge.size;
    this.#peaks = edge.peaks;
    this.#rows = edge.rows;
    this.#put = put;
  }

  get size(): number {
    return this.#size;
  }

  append(entry: Uint8Array): void {
    this.#size += 1;
    this.#push('entries', Buffer.concat([Buffer.from([entry.length >> 8, entry.length]), entry]));
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
    return hashOfSubtrees(
      this.#peaks.map((peak) => peak.hash),
      sha256,
    );
  }

  /** Remembers that a checkpoint is signed at this size: its partial tiles are kept until they are full. */
  cut(): void {
    for (const row of this.#rows.values()) row.cuts.add(row.parts.length);
  }

  /** Gives away the partial tiles of every cut since they began. */
  finish(): void {
    for (const { level, index, parts, cuts } of this.#rows.values()) {
      for (const width of cuts) {
        if (width === 0) continue;
        this.#put(tilePath({ level, index, width }), Buffer.concat(parts.slice(0, width)));
      }
    }
  }

  #push(level: Tile['level'], part: Uint8Array): void {
    const row = this.#rows.get(level) ?? { level, index: 0, parts: [], cuts: new Set() };
    this.#rows.set(level, row);
    row.parts.push(part);
    if (row.parts.length < TILE_WIDTH) return;
    this.#put(tilePath({ level, index: row.index, width: TILE_WIDTH }), Buffer.concat(row.parts));
    row.index += 1;
    row.parts = [];
    row.cuts.clear();
  }
}

/** Hex of a hash of the tree. */
export function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, HASH_BYTES).toString('hex');
}
