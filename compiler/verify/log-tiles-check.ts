import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { messageOf } from '../format/errors.ts';
import type { ReleaseEntry } from '../format/release-entry.ts';
import {
  bundleEntries,
  encodeBundle,
  LOG_FOLDER,
  parseTilePath,
  TILE_HEIGHT,
  TILE_WIDTH,
  type Tile,
  tilePath,
} from '../format/tiles.ts';
import { readAll } from '../system/disk.ts';
import { dataFolder, foundFiles, listedFiles, placeOfFile } from './file-list.ts';
import type { OpenRelease } from './release-head.ts';

const LEAF = 0;
const NODE = 1;

type TakeEntry = (position: number, entry: Uint8Array) => void;

/** Reads every entry of a log and compares each tile with what the entries give. */
export class LogTilesCheck {
  /** Tiles beyond the size of the checkpoint, as a killed compile leaves them. */
  readonly strays: string[] = [];
  readonly #source: LogSource;
  readonly #size: number;
  readonly #tree = new RecomputedTree((height, hash) => this.#subtree(height, hash));
  readonly #rows = new Map<number, { index: number; hashes: Uint8Array[] }>();
  /** Partial tiles that lie there, by the path of the tile that they are the start of. */
  readonly #partial = new Map<string, Tile[]>();
  readonly #expected = new Set<string>();
  #bundle: readonly Uint8Array[] = [];

  constructor(source: LogSource, size: number) {
    this.#source = source;
    this.#size = size;
    for (const path of source.logFiles) {
      const tile = parseTilePath(path);
      if (tile === null || tile.width === TILE_WIDTH) continue;
      const whole = tilePath({ ...tile, width: TILE_WIDTH });
      this.#partial.set(whole, [...(this.#partial.get(whole) ?? []), tile]);
    }
  }

  get size(): number {
    return this.#tree.size;
  }

  /** Hex of the root of the entries so far. */
  rootHex(): string {
    return bytesToHex(this.#tree.root());
  }

  /** Takes entries up to a size; false when they cannot be read. */
  growTo(size: number, take: TakeEntry): boolean {
    while (this.#tree.size < size) {
      const position = this.#tree.size;
      if (position % TILE_WIDTH === 0) this.#bundle = this.#entriesFrom(position);
      const entry = this.#bundle[position % TILE_WIDTH];
      if (entry === undefined) return false;
      this.#tree.add(sha256.create().update(Uint8Array.of(LEAF)).update(entry).digest());
      take(position, entry);
    }
    return true;
  }

  /** Compares the tiles of the right edge, and names every tile that should not be there. */
  finish(): void {
    for (const [level, { index, hashes }] of this.#rows) {
      if (hashes.length > 0) this.#compare({ level, index, width: hashes.length }, hashes);
    }
    for (const path of this.#source.logFiles) {
      if (!path.startsWith(`${LOG_FOLDER}/tile/`) || this.#expected.has(path)) continue;
      if (parseTilePath(path) !== null) this.strays.push(path);
      else this.#source.faults.add(path, '', 'not the path of a tile; remove it');
    }
  }

  #entriesFrom(position: number): Uint8Array[] {
    const width = Math.min(TILE_WIDTH, this.#size - position);
    const tile = { level: 'entries', index: position / TILE_WIDTH, width } as const;
    const path = tilePath(tile);
    this.#expected.add(path);
    const bytes = this.#source.read(path);
    if (bytes === null) return [];
    try {
      const entries = bundleEntries(bytes);
      if (entries.length !== tile.width)
        throw new RangeError(`${entries.length} entries in place of ${tile.width}`);
      this.#compareStarts(tile, bytes, (width) => encodeBundle(entries.slice(0, width)).length);
      return entries;
    } catch (error) {
      this.#source.faults.add(path, '', messageOf(error));
      return [];
    }
  }

  #subtree(height: number, hash: Uint8Array): void {
    if (height % TILE_HEIGHT !== 0) return;
    const level = height / TILE_HEIGHT;
    const row = this.#rows.get(level) ?? { index: 0, hashes: [] };
    this.#rows.set(level, row);
    row.hashes.push(hash);
    if (row.hashes.length < TILE_WIDTH) return;
    this.#compare({ level, index: row.index, width: TILE_WIDTH }, row.hashes);
    row.index += 1;
    row.hashes = [];
  }

  #compare(tile: Tile, hashes: readonly Uint8Array[]): void {
    const path = tilePath(tile);
    this.#expected.add(path);
    const want = Buffer.concat(hashes);
    const bytes = this.#source.read(path);
    if (bytes !== null && !want.equals(bytes)) {
      this.#source.faults.add(path, '', 'not the hashes that the entries give; restore it');
    }
    this.#compareStarts(tile, want, (width) => 32 * width);
  }

  /** Partial tiles of earlier sizes: each the start of the tile that goes on from it. */
  #compareStarts(tile: Tile, whole: Uint8Array, lengthOf: (width: number) => number): void {
    for (const partial of this.#partial.get(tilePath({ ...tile, width: TILE_WIDTH })) ?? []) {
      const path = tilePath(partial);
      if (partial.width >= tile.width || this.#expected.has(path)) continue;
      this.#expected.add(path);
      const bytes = this.#source.read(path);
      const start = Buffer.from(whole.subarray(0, lengthOf(partial.width)));
      const detail = 'not the start of the tile that goes on from it; remove it';
      if (bytes !== null && !start.equals(bytes)) this.#source.faults.add(path, '', detail);
    }
  }
}

/** The hash over two subtrees, RFC 6962 §2.1. */
function nodeOf(left: Uint8Array, right: Uint8Array): Uint8Array {
  return sha256.create().update(Uint8Array.of(NODE)).update(left).update(right).digest();
}

/** A tree that is counted up leaf by leaf like a binary number; whoever made the log shares nothing with it. */
export class RecomputedTree {
  size = 0;
  /** A complete subtree for each bit of the size, lowest first. */
  readonly #bits: (Uint8Array | null)[] = [];
  readonly #onSubtree: (height: number, hash: Uint8Array) => void;

  /** `onSubtree` hears of every subtree as it becomes complete. */
  constructor(onSubtree: (height: number, hash: Uint8Array) => void = () => undefined) {
    this.#onSubtree = onSubtree;
  }

  add(leaf: Uint8Array): void {
    this.size += 1;
    let carry = leaf;
    let height = 0;
    this.#onSubtree(height, carry);
    for (let held = this.#bits[height]; held; held = this.#bits[height]) {
      this.#bits[height] = null;
      carry = nodeOf(held, carry);
      height += 1;
      this.#onSubtree(height, carry);
    }
    this.#bits[height] = carry;
  }

  root(): Uint8Array {
    let root: Uint8Array | null = null;
    for (const held of this.#bits) {
      if (held) root = root === null ? held : nodeOf(held, root);
    }
    return root ?? sha256(new Uint8Array(0));
  }

  /** Count and root, spelled as an entry of the log spells them. */
  get head(): ReleaseEntry['all'] {
    return { count: this.size, root: `sha256:${bytesToHex(this.root())}` };
  }
}

/** Longest file of a log, or of an index: a shard of the largest one has millions of lines. */
const FILE_BYTES_MAX = 2 ** 30;
const LISTED = /^(index\/hashes|statements|verify)\//;

/** A log beside its releases, and what the release lists of it, as a checker asks for them. */
export interface LogSource extends OpenRelease {
  /** Plain files below the folder of the log, by their path beside the releases. */
  readonly logFiles: ReadonlySet<string>;
  /** Listed paths below `index/hashes/`, `statements/` and `verify/`. */
  readonly listed: ReadonlySet<string>;
  /** The bytes of a file of either kind; null, and a fault, when there are none. */
  read(path: string): Uint8Array | null;
}

export function logSource({ disk, root, head, faults }: OpenRelease): LogSource {
  const data = dataFolder(root);
  const places = new Map<string, string>();
  for (const file of listedFiles(disk, root)) {
    if (LISTED.test(file.path)) places.set(file.path, placeOfFile(root, file));
  }
  const logFiles = new Set<string>();
  const folder = disk.entry(`${data}/${LOG_FOLDER}`)?.kind;
  if (folder !== undefined && folder !== 'folder')
    faults.add(LOG_FOLDER, '', `not a folder: a ${folder}`);
  for (const { path, kind } of folder === 'folder' ? foundFiles(disk, data, LOG_FOLDER) : []) {
    if (kind === 'file') logFiles.add(path);
    else faults.add(path, '', `not a plain file: a ${kind}; remove it`);
  }
  return {
    disk,
    root,
    head,
    faults,
    logFiles,
    listed: new Set(places.keys()),
    read(path) {
      const isOfLog = path.startsWith(`${LOG_FOLDER}/`);
      const place = isOfLog ? `${data}/${path}` : places.get(path);
      try {
        if (place === undefined || disk.entry(place)?.kind !== 'file') {
          throw new Error(`missing; restore ${isOfLog ? 'the log' : 'the release'} from a copy`);
        }
        return readAll(disk.chunks(place), FILE_BYTES_MAX);
      } catch (error) {
        faults.add(path, '', messageOf(error));
        return null;
      }
    },
  };
}
