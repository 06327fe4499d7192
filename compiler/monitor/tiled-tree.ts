import { sha256 } from '@noble/hashes/sha2.js';
import type { Checkpoint } from '../contract/checkpoint.ts';
import { defined } from '../contract/defined.ts';
import {
  completeLevels,
  consistencyRanges,
  HASH_BYTES,
  hashOfSubtrees,
  inclusionRanges,
  type Range,
  type Subtree,
  subtreesOf,
  verifyConsistency,
} from '../contract/merkle.ts';
import { TILE_WIDTH, type Tile, tileOfSubtree, tilePath } from '../contract/tiles.ts';
import type { LogClient } from './log-client.ts';

/** A tile is not there, or not of its length. */
export class TileError extends Error {
  override readonly name = 'TileError';
}

type Levels = readonly (readonly Uint8Array[])[];

/** The tree of so many entries as the tiles of an address have it. What it says is worth nothing until it leads to a signed root. */
export class TiledTree {
  readonly #client: LogClient;
  readonly #size: number;
  /** Hashes of tiles, and those above them; a proof takes some dozens. */
  readonly #tiles = new Map<string, Levels>();

  constructor(client: LogClient, size: number) {
    this.#client = client;
    this.#size = size;
  }

  /** The hash of a range; throws a TileError or an UnreachableError. */
  async hash(range: Range): Promise<Uint8Array> {
    const hashes: Uint8Array[] = [];
    for (const subtree of subtreesOf(range)) hashes.push(await this.#subtree(subtree));
    return hashOfSubtrees(hashes, sha256);
  }

  /** The hashes of some ranges, in their order. */
  async hashes(ranges: readonly Range[]): Promise<Uint8Array[]> {
    const hashes: Uint8Array[] = [];
    for (const range of ranges) hashes.push(await this.hash(range));
    return hashes;
  }

  async #subtree(subtree: Subtree): Promise<Uint8Array> {
    const { tile, height, offset } = tileOfSubtree(subtree, this.#size);
    const path = tilePath(tile);
    const levels = this.#tiles.get(path) ?? completeLevels(await this.#read(tile), sha256);
    this.#tiles.set(path, levels);
    return defined(levels[height]?.[offset / 2 ** height], 'a hash of a tile');
  }

  /** A partial tile may be gone once the full one is there. */
  async #read(tile: Tile): Promise<Uint8Array[]> {
    const full = { ...tile, width: TILE_WIDTH };
    const bytes = (await this.#bytes(tile)) ?? (await this.#bytes(full));
    if (bytes === null) throw new TileError(`"${tilePath(tile)}" is not there`);
    return Array.from({ length: tile.width }, (_, at) =>
      bytes.slice(at * HASH_BYTES, (at + 1) * HASH_BYTES),
    );
  }

  async #bytes(tile: Tile): Promise<Uint8Array | null> {
    const path = tilePath(tile);
    const bytes = await this.#client.get(`/${path}`, TILE_WIDTH * HASH_BYTES);
    if (bytes === null || bytes.length === tile.width * HASH_BYTES) return bytes;
    throw new TileError(`"${path}" has ${bytes.length} bytes`);
  }
}

/** How a tree follows an older one. A fork comes with what proves it. */
export type Growth =
  | { readonly kind: 'grown' }
  | { readonly kind: 'fork'; readonly root: Uint8Array; readonly proof: readonly Uint8Array[] }
  | { readonly kind: 'unproven'; readonly why: string };

/**
 * Whether a signed tree begins with another one, of fewer entries, by tiles that anybody may have given: only tiles that lead to
 * the root of the larger one say anything. Throws an UnreachableError.
 */
export async function growth(old: Checkpoint, next: Checkpoint, tree: TiledTree): Promise<Growth> {
  if (old.size === 0) return { kind: 'grown' };
  try {
    const proof = await tree.hashes(consistencyRanges(old.size, next.size));
    const claim = { size1: old.size, size2: next.size, root2: next.root, proof };
    if (verifyConsistency({ ...claim, root1: old.root }, sha256)) return { kind: 'grown' };
    const root = await tree.hash({ start: 0, end: old.size });
    if (verifyConsistency({ ...claim, root1: root }, sha256)) return { kind: 'fork', root, proof };
    return { kind: 'unproven', why: 'its tiles do not lead to the root that it signed' };
  } catch (error) {
    if (!(error instanceof TileError)) throw error;
    return { kind: 'unproven', why: `its tiles are not whole: ${error.message}` };
  }
}

/** The leaf hash at a position, and the hashes that prove it, as the tiles have them; throws as `TiledTree.hash`. */
export async function leafProof(
  index: number,
  size: number,
  tree: TiledTree,
): Promise<{ readonly leaf: Uint8Array; readonly hashes: readonly Uint8Array[] }> {
  const leaf = await tree.hash({ start: index, end: index + 1 });
  return { leaf, hashes: await tree.hashes(inclusionRanges(index, size)) };
}
