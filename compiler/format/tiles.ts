// The static layout of C2SP tlog-tiles, tile height 8, below LOG_FOLDER of a release and below `/log/` of the service.

import type { Checkpoint } from './checkpoint.ts';
import {
  HASH_BYTES,
  hashOfSubtrees,
  inclusionRanges,
  isEqual,
  leafHash,
  type Range,
  rootOver,
  type Sha256,
  subtreesOf,
  verifyInclusion,
} from './merkle.ts';
import { RECORD_HASH } from './record-hash.ts';

/** Hashes of a full tile, and entries of a full bundle. */
export const TILE_WIDTH = 256;
/** Longest tile or bundle: 256 entries, each of at most 65,535 bytes after its length. */
export const TILE_BYTES_MAX = TILE_WIDTH * (2 + 65_535);
/** Height of the subtree whose hash stands in a tile of level 1. */
export const TILE_HEIGHT = 8;
/** Folder of the log in a release. */
export const LOG_FOLDER = 'log';
/** Path of the newest checkpoint in a release. */
export const CHECKPOINT_PATH = `${LOG_FOLDER}/checkpoint`;
/** Path of the verifier key of the log. */
export const LOG_KEY_PATH = `${LOG_FOLDER}/vkey`;

/** The record hashes that a release took in, 32 bytes each, sorted; no file where it took in none. */
export function takenPath(sequence: number): string {
  return `${LOG_FOLDER}/new/${sequence}`;
}

/** One tile or one bundle of entries; `width` is 256 when it is full. */
export interface Tile {
  /** Level of the tile, or the word of a bundle. */
  readonly level: number | 'entries';
  readonly index: number;
  readonly width: number;
}

/** Where a tile stands in a release: `log/tile/0/x001/x234/067`, with `.p/<width>` behind a partial one. */
export function tilePath({ level, index, width }: Tile): string {
  const partial = width === TILE_WIDTH ? '' : `.p/${width}`;
  return `${LOG_FOLDER}/tile/${level}/${indexPath(index)}${partial}`;
}

/** Groups of three digits, all but the last after an `x`. */
function indexPath(index: number): string {
  const groups: string[] = [];
  let left = index;
  do {
    groups.unshift(String(left % 1000).padStart(3, '0'));
    left = Math.floor(left / 1000);
  } while (left > 0);
  return groups.map((group, at) => (at < groups.length - 1 ? `x${group}` : group)).join('/');
}

const TILE_PATH =
  /^log\/tile\/(entries|[0-9])\/((?:x[0-9]{3}\/){0,5}[0-9]{3})(?:\.p\/([1-9][0-9]{0,2}))?$/;

/** The inverse of tilePath; null for any other path. */
export function parseTilePath(path: string): Tile | null {
  const [, word, digits = '', partial] = TILE_PATH.exec(path) ?? [];
  if (word === undefined) return null;
  const tile: Tile = {
    level: word === 'entries' ? word : Number(word),
    index: Number(digits.replaceAll(/[x/]/g, '')),
    width: partial === undefined ? TILE_WIDTH : Number(partial),
  };
  return tilePath(tile) === path && tile.width <= TILE_WIDTH ? tile : null;
}

/** Every tile of a tree of `size` entries: full ones, then the partial one, of each level from 0 up, bundles last. */
export function tilesOf(size: number): Tile[] {
  const tiles: Tile[] = [];
  for (let level = 0; size >= TILE_WIDTH ** level; level += 1) {
    tiles.push(...row(level, Math.floor(size / TILE_WIDTH ** level)));
  }
  return [...tiles, ...row('entries', size)];
}

function row(level: Tile['level'], count: number): Tile[] {
  const full = Math.floor(count / TILE_WIDTH);
  const tiles = Array.from({ length: full }, (_, index) => ({ level, index, width: TILE_WIDTH }));
  const width = count % TILE_WIDTH;
  return width === 0 ? tiles : [...tiles, { level, index: full, width }];
}

/** The tile that holds the subtree of a height and an index, in a tree of `size` entries, and where in it. */
export function tileOfSubtree(
  { height, index }: { readonly height: number; readonly index: number },
  size: number,
): { tile: Tile; height: number; offset: number } {
  const level = Math.floor(height / TILE_HEIGHT);
  const inner = height % TILE_HEIGHT;
  const first = index * 2 ** inner;
  const tileIndex = Math.floor(first / TILE_WIDTH);
  const count = Math.floor(size / TILE_WIDTH ** level) - tileIndex * TILE_WIDTH;
  const tile = { level, index: tileIndex, width: Math.min(count, TILE_WIDTH) };
  return { tile, height: inner, offset: first % TILE_WIDTH };
}

/** The hashes of a tile; throws a RangeError for bytes of another width. */
export function tileHashes({ width }: Pick<Tile, 'width'>, bytes: Uint8Array): Uint8Array[] {
  if (bytes.length !== width * HASH_BYTES) {
    throw new RangeError(`Cannot read a tile of ${width} hashes: it has ${bytes.length} bytes`);
  }
  return Array.from({ length: width }, (_, at) => {
    return bytes.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES);
  });
}

/** The hash of a range of a tree of `size` entries, from the hashes of its tiles. */
export function hashInTiles(
  range: Range,
  size: number,
  hashesOf: (tile: Tile) => readonly Uint8Array[],
  sha256: Sha256,
): Uint8Array {
  const hashes = subtreesOf(range).map((subtree) => {
    const { tile, height, offset } = tileOfSubtree(subtree, size);
    return rootOver(hashesOf(tile).slice(offset, offset + 2 ** height), sha256);
  });
  return hashOfSubtrees(hashes, sha256);
}

/**
 * A log whose files are at hand, read against what a checkpoint states; `read` gives the bytes at a path. All of it throws where
 * they do not lead to the root.
 */
export function tiledLog(
  { size, root }: Pick<Checkpoint, 'size' | 'root'>,
  read: (path: string) => Uint8Array,
  sha256: Sha256,
) {
  const hashOf = (range: Range): Uint8Array =>
    hashInTiles(range, size, (tile) => tileHashes(tile, read(tilePath(tile))), sha256);
  const leafAt = (index: number): Uint8Array => {
    const leaf = hashOf({ start: index, end: index + 1 });
    const proof = inclusionRanges(index, size).map(hashOf);
    if (verifyInclusion({ index, size, leaf, proof, root }, sha256)) return leaf;
    throw new RangeError(`its tiles do not lead from entry ${index} to its root`);
  };
  return {
    hashOf,
    leafAt,
    entryAt(at: number): Uint8Array {
      const index = Math.floor(at / TILE_WIDTH);
      const width = Math.min(TILE_WIDTH, size - index * TILE_WIDTH);
      const entry = bundleEntries(read(tilePath({ level: 'entries', index, width })))[
        at % TILE_WIDTH
      ];
      const leaf = leafAt(at);
      if (entry !== undefined && isEqual(leafHash(entry, sha256), leaf)) return entry;
      throw new RangeError(`its entry ${at} is not that of its tiles`);
    },
  };
}

const encoder = new TextEncoder();

/** The bytes of an entry, the ASCII text of a record hash; throws a RangeError for any other text. */
export function logEntry(recordHash: string): Uint8Array {
  if (!RECORD_HASH.test(recordHash)) {
    throw new RangeError(`Cannot log "${recordHash.slice(0, 80)}": not a record hash`);
  }
  return encoder.encode(recordHash);
}

/** A bundle: each entry after its length in two bytes, big-endian. */
export function encodeBundle(entries: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(entries.reduce((sum, entry) => sum + 2 + entry.length, 0));
  let at = 0;
  for (const entry of entries) {
    bytes[at] = entry.length >> 8;
    bytes[at + 1] = entry.length & 0xff;
    bytes.set(entry, at + 2);
    at += 2 + entry.length;
  }
  return bytes;
}

/** The entries of a bundle; throws a RangeError for bytes that encodeBundle never makes. */
export function bundleEntries(bytes: Uint8Array): Uint8Array[] {
  const entries: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = at + 2 + (((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0));
    if (at + 2 > bytes.length || end > bytes.length) {
      throw new RangeError(`Cannot read a bundle: entry ${entries.length} is cut off`);
    }
    entries.push(bytes.subarray(at + 2, end));
    at = end;
  }
  return entries;
}
