/**
 * The log as it lies beside the releases, read against one signed root. Nothing of it is trusted: the tiles at the right edge
 * give the root, each full tile hashes to its place in the one above it, and the entries of a bundle hash to their tile.
 */

import type { Checkpoint } from '../../../compiler/format/checkpoint.ts';
import { defined } from '../../../compiler/format/errors.ts';
import {
  completeLevels,
  HASH_BYTES,
  hashOfSubtrees,
  inclusionRanges,
  isEqual,
  leafHash,
  type Range,
  type Subtree,
  subtreesOf,
} from '../../../compiler/format/merkle.ts';
import {
  parseReleaseEntry,
  RELEASE_ENTRY_BYTES_MAX,
  type ReleaseEntry,
} from '../../../compiler/format/release-entry.ts';
import {
  bundleEntries,
  TILE_HEIGHT,
  TILE_WIDTH,
  type Tile,
  tileOfSubtree,
  tilePath,
} from '../../../compiler/format/tiles.ts';
import { BoundedMap } from '../../wire/maps.ts';
import { DamagedFileError, sha256 } from './read-body.ts';
import { faultOf, type ReleasePlace, readLog } from './release-source.ts';

/** The hashes of a tile, and those of its complete subtrees, by height. */
type Levels = readonly (readonly Uint8Array[])[];

/** Bytes of tiles and bundles that are kept. */
const KEPT_BYTES_MAX = 4 * 1024 * 1024;
/** A full tile and all that is above it. */
const TILE_BYTES = 2 * TILE_WIDTH * HASH_BYTES;

/** An entry of the log with its place; `entry` is null for one of the first format. */
export interface LogEntry {
  readonly index: number;
  readonly bytes: Uint8Array;
  readonly entry: ReleaseEntry | null;
}

export class LogTree {
  readonly size: number;
  readonly root: Uint8Array;
  readonly #place: Pick<ReleasePlace, 'log'>;
  readonly #tiles = new BoundedMap<string, Levels>({ bytes: KEPT_BYTES_MAX, isByUse: true });
  readonly #bundles = new BoundedMap<string, readonly Uint8Array[]>({
    bytes: KEPT_BYTES_MAX,
    isByUse: true,
  });
  /** The tiles that are not full, by path: a later log no longer has them. */
  #edge: Promise<ReadonlyMap<string, Levels>> | null = null;
  /** The bundle that is not full. */
  #last: readonly Uint8Array[] | null = null;

  constructor(place: Pick<ReleasePlace, 'log'>, { size, root }: Pick<Checkpoint, 'size' | 'root'>) {
    this.#place = place;
    this.size = size;
    this.root = root;
  }

  /** The tile that ends the tree at a place, or the full one there; null outside of the tree. */
  tileAt({ level, index }: Pick<Tile, 'level' | 'index'>): Tile | null {
    const below = level === 'entries' ? 1 : TILE_WIDTH ** level;
    const width = Math.min(Math.floor(this.size / below) - index * TILE_WIDTH, TILE_WIDTH);
    return width > 0 ? { level, index, width } : null;
  }

  /** The hashes of a tile, checked; throws like ReleaseIndex.body where it cannot be had. */
  async hashesOf(tile: Tile & { level: number }): Promise<readonly Uint8Array[]> {
    return defined((await this.#levels(tile))[0], 'the hashes of a tile');
  }

  /** The entries of a bundle, checked. */
  async entriesOf(tile: Tile): Promise<readonly Uint8Array[]> {
    const path = tilePath(tile);
    const isLast = tile.width < TILE_WIDTH;
    const known = isLast ? this.#last : this.#bundles.get(path);
    if (known != null) return known;
    const hashes = await this.hashesOf({ ...tile, level: 0 });
    const fault = (bytes: Buffer): string | null =>
      faultOf(() => {
        const entries = bundleEntries(bytes);
        const isSame = entries.every((entry, at) => isEqual(leafHash(entry, sha256), hashes[at]));
        if (!isSame || entries.length !== hashes.length)
          throw new RangeError('its entries are not those of its tile');
      });
    const max = tile.width * (2 + RELEASE_ENTRY_BYTES_MAX);
    const bytes = await readLog(this.#place, path, { max, fault });
    const entries = bundleEntries(bytes);
    if (isLast) this.#last = entries;
    else this.#bundles.set(path, entries, bytes.length);
    return entries;
  }

  /** One entry; throws a RangeError outside of the tree. */
  async entry(index: number): Promise<LogEntry> {
    const tile = this.tileAt({ level: 'entries', index: Math.floor(index / TILE_WIDTH) });
    const entries = tile === null ? [] : await this.entriesOf(tile);
    const bytes = entries[index % TILE_WIDTH];
    if (bytes === undefined) throw new RangeError(`Cannot read entry ${index} of ${this.size}`);
    return { index, bytes, entry: parseReleaseEntry(bytes) };
  }

  /** The inclusion proof of an entry, its sibling first. */
  async proof(index: number): Promise<Uint8Array[]> {
    const hashes: Uint8Array[] = [];
    for (const range of inclusionRanges(index, this.size)) hashes.push(await this.rangeHash(range));
    return hashes;
  }

  /** The hash of a range of entries: of the first `n` it is the root of the log when it had `n`. */
  async rangeHash(range: Range): Promise<Uint8Array> {
    const hashes: Uint8Array[] = [];
    for (const subtree of subtreesOf(range)) hashes.push(await this.#subtreeHash(subtree));
    return hashOfSubtrees(hashes, sha256);
  }

  async #subtreeHash(subtree: Subtree): Promise<Uint8Array> {
    const { tile, height, offset } = tileOfSubtree(subtree, this.size);
    return hashIn(await this.#levels(tile), height, offset);
  }

  async #levels(tile: Tile): Promise<Levels> {
    const path = tilePath(tile);
    if (tile.width < TILE_WIDTH) {
      this.#edge ??= this.#readEdge().catch((error: unknown) => {
        this.#edge = null;
        throw error;
      });
      return defined((await this.#edge).get(path), 'a tile of the edge');
    }
    const known = this.#tiles.get(path);
    if (known !== undefined) return known;
    const { level, index } = tile;
    const above = await this.#subtreeHash({ height: (Number(level) + 1) * TILE_HEIGHT, index });
    const fault = (bytes: Buffer): string | null =>
      lengthFault(bytes, tile) ??
      (isEqual(hashIn(levelsOf(bytes), TILE_HEIGHT, 0), above) ? null : OTHER_HASHES);
    const levels = levelsOf(
      await readLog(this.#place, path, { max: TILE_WIDTH * HASH_BYTES, fault }),
    );
    this.#tiles.set(path, levels, TILE_BYTES);
    return levels;
  }

  async #readEdge(): Promise<ReadonlyMap<string, Levels>> {
    const edge = new Map<string, Levels>();
    const hashes: Uint8Array[] = [];
    for (const subtree of subtreesOf({ start: 0, end: this.size })) {
      const { tile, height, offset } = tileOfSubtree(subtree, this.size);
      const path = tilePath(tile);
      const max = tile.width * HASH_BYTES;
      const fault = (bytes: Buffer): string | null => lengthFault(bytes, tile);
      const levels = edge.get(path) ?? levelsOf(await readLog(this.#place, path, { max, fault }));
      edge.set(path, levels);
      hashes.push(hashIn(levels, height, offset));
    }
    if (isEqual(hashOfSubtrees(hashes, sha256), this.root)) return edge;
    const paths = [...edge.keys()].map((path) => `"${path}"`).join(', ');
    throw new DamagedFileError(
      `Cannot read the log: ${paths} do not give the root that its checkpoint signs; restore it from a copy`,
    );
  }
}

/** The entry of a sequence, given the newest of the log; throws a RangeError where it has none. */
export async function entryOfSequence(
  sequence: number,
  tree: LogTree,
): Promise<LogEntry & { entry: ReleaseEntry }> {
  const newest = await tree.entry(tree.size - 1);
  const ahead = (newest.entry?.sequence ?? 0) - sequence;
  const found = ahead >= 0 && ahead < tree.size ? await tree.entry(tree.size - 1 - ahead) : null;
  const { entry = null } = found ?? {};
  if (found === null || entry?.sequence !== sequence) {
    throw new RangeError(`Cannot find release ${sequence} in the log`);
  }
  return { ...found, entry };
}

const OTHER_HASHES = 'it does not hash to its place in the tile above it';

function lengthFault({ length }: Buffer, { width }: Tile): string | null {
  return length === width * HASH_BYTES ? null : `${length} bytes instead of ${width * HASH_BYTES}`;
}

function levelsOf(bytes: Buffer): Levels {
  const hashes = Array.from({ length: bytes.length / HASH_BYTES }, (_, at) =>
    bytes.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES),
  );
  return completeLevels(hashes, sha256);
}

function hashIn(levels: Levels, height: number, offset: number): Uint8Array {
  return defined(levels[height]?.[offset / 2 ** height], 'a hash of a tile');
}
