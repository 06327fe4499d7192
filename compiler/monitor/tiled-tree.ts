import { sha256 } from '@noble/hashes/sha2.js';
import type { Checkpoint } from '../contract/checkpoint.ts';
import { defined } from '../contract/defined.ts';
import {
  besideRanges,
  completeLevels,
  HASH_BYTES,
  hashOfSubtrees,
  leafHash,
  type Range,
  type Subtree,
  stretchRoot,
  subtreesOf,
} from '../contract/merkle.ts';
import {
  bundleEntries,
  TILE_WIDTH,
  type Tile,
  tileOfSubtree,
  tilePath,
} from '../contract/tiles.ts';
import type { LogClient } from './log-client.ts';

/** Longest bundle: 256 entries, each of at most 65,535 bytes after its length. */
const BUNDLE_BYTES_MAX = TILE_WIDTH * (2 + 65_535);

/** Entries of a log that stand side by side, and the hashes beside them that lead to its root. */
export interface LoggedEntries {
  /** Position of the first of them. */
  readonly index: number;
  readonly entries: readonly Uint8Array[];
  readonly beside: readonly Uint8Array[];
}

/** A tile is not there, or not of its length. */
export class TileError extends Error {
  override readonly name = 'TileError';
}

/** The tree of so many entries as the tiles of an address have it. What it says is worth nothing until it leads to a signed root. */
export class TiledTree {
  readonly #client: LogClient;
  readonly #size: number;
  /** Hashes of tiles, and those above them; a proof takes some dozens. */
  readonly #tiles = new Map<string, readonly (readonly Uint8Array[])[]>();

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

  async hashes(ranges: readonly Range[]): Promise<Uint8Array[]> {
    const hashes: Uint8Array[] = [];
    for (const range of ranges) hashes.push(await this.hash(range));
    return hashes;
  }

  /** Neighbouring entries, proven to stand there in the tree that was signed; throws as `hash`. */
  async entries(range: Range, { root }: Pick<Checkpoint, 'root'>): Promise<LoggedEntries> {
    const [size, start] = [this.#size, range.start];
    const entries: Uint8Array[] = [];
    const first = Math.floor(start / TILE_WIDTH);
    for (let index = first; index * TILE_WIDTH < range.end; index += 1) {
      const from = index * TILE_WIDTH;
      const width = Math.min(TILE_WIDTH, size - from);
      const bundle = await this.#bundle({ level: 'entries', index, width });
      entries.push(...bundle.slice(Math.max(0, start - from), range.end - from));
    }
    const leaves = entries.map((entry) => leafHash(entry, sha256));
    const beside = await this.hashes(besideRanges(range, size));
    const own = stretchRoot({ size, start, leaves, beside }, sha256);
    if (own !== null && Buffer.compare(own, root) === 0) return { index: start, entries, beside };
    throw new TileError('its entries do not lead to the root that it signed');
  }

  async #bundle(tile: Tile): Promise<Uint8Array[]> {
    const path = tilePath(tile);
    const full = tilePath({ ...tile, width: TILE_WIDTH });
    const bytes =
      (await this.#client.get(`/${path}`, BUNDLE_BYTES_MAX)) ??
      (await this.#client.get(`/${full}`, BUNDLE_BYTES_MAX));
    if (bytes === null) throw new TileError(`"${path}" is not there`);
    try {
      return bundleEntries(bytes).slice(0, tile.width);
    } catch (cause) {
      throw new TileError(`"${path}" is no bundle of entries`, { cause });
    }
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
