import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { defined } from '../contract/defined.ts';
import { messageOf } from '../contract/errors.ts';
import { isPublicPath, type Release } from '../contract/release.ts';
import { RELEASE_PROOF_NAME } from '../contract/release-leaf.ts';
import {
  decodeBundle,
  ENTRY_BYTES,
  parseTilePath,
  TILE_HEIGHT,
  TILE_WIDTH,
  tilePath,
} from '../contract/tiles.ts';
import { TLOG_PROOF_BYTES_MAX } from '../contract/tlog-proof.ts';
import { readAll } from './disk.ts';
import { listedFiles, placeOfFile } from './file-list.ts';
import type { Faults } from './release-fault.ts';
import type { OpenRelease } from './release-head.ts';

const LEAF = 0;
const NODE = 1;

/** Reads every entry of a log and compares each tile with what the entries give. */
export class LogTilesCheck {
  /** Digests in the order of the log. */
  readonly digests: Buffer;
  readonly #source: LogSource;
  readonly #size: number;
  readonly #tree = new RecomputedTree((height, hash) => this.#subtree(height, hash));
  readonly #rows = new Map<number, { index: number; hashes: Uint8Array[] }>();
  /** Partial tiles that checkpoints of these sizes need, by their path; gone once the tile is full. */
  readonly #partial = new Map<string, { readonly level: number; readonly width: number }>();
  readonly #expected = new Set<string>();
  #bundle: { readonly index: number; readonly hashes: readonly string[] } = {
    index: -1,
    hashes: [],
  };

  constructor(source: LogSource, size: number) {
    this.#source = source;
    this.#size = size;
    this.digests = Buffer.alloc(size * 32);
  }

  get total(): number {
    return this.#size;
  }

  get size(): number {
    return this.#tree.size;
  }

  /** Hex of the root of the entries so far. */
  rootHex(): string {
    return bytesToHex(this.#tree.root());
  }

  /** Takes entries up to a size; false when they cannot be read. */
  growTo(size: number): boolean {
    while (this.#tree.size < size) {
      const hash = this.#entry(this.#tree.size);
      if (hash === null) return false;
      this.digests.write(hash.slice('sha256:'.length), this.#tree.size * 32, 'hex');
      this.#tree.add(
        sha256.create().update(Uint8Array.of(LEAF)).update(new TextEncoder().encode(hash)).digest(),
      );
    }
    return true;
  }

  /** A checkpoint was signed here: its partial tiles must be there as long as they are not full. */
  cut(): void {
    for (const [level, { index, hashes }] of this.#rows) {
      const width = hashes.length;
      if (width > 0) this.#partial.set(tilePath({ level, index, width }), { level, width });
    }
  }

  /** Compares what is partial, and names every tile that should not be there. */
  finish(): void {
    for (const [path, { level, width }] of this.#partial) {
      this.#compare(
        path,
        defined(this.#rows.get(level), 'the row of the level').hashes.slice(0, width),
      );
      if (level === 0) this.#compareBundle(path, width);
    }
    for (const path of this.#source.paths) {
      if (!path.startsWith('log/tile/') || this.#expected.has(path)) continue;
      const state =
        parseTilePath(path) === null ? 'not the path of a tile' : 'belongs to no checkpoint';
      this.#source.faults.add(path, '', state);
    }
  }

  #entry(position: number): string | null {
    const index = Math.floor(position / TILE_WIDTH);
    if (this.#bundle.index !== index) {
      const width = Math.min(TILE_WIDTH, this.#size - index * TILE_WIDTH);
      const path = tilePath({ level: 'entries', index, width });
      this.#expected.add(path);
      this.#bundle = { index, hashes: this.#hashesOf(path, width) };
    }
    return this.#bundle.hashes[position % TILE_WIDTH] ?? null;
  }

  #hashesOf(path: string, width: number): string[] {
    const bytes = this.#source.read(path);
    try {
      const hashes = bytes === null ? [] : decodeBundle(bytes);
      if (bytes === null || hashes.length === width) return hashes;
      throw new RangeError(`${hashes.length} entries instead of ${width}`);
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
    this.#compare(tilePath({ level, index: row.index, width: TILE_WIDTH }), row.hashes);
    for (const [path, partial] of this.#partial) {
      if (partial.level === level) this.#partial.delete(path);
    }
    row.index += 1;
    row.hashes = [];
  }

  #compare(path: string, hashes: readonly Uint8Array[]): void {
    this.#expected.add(path);
    const bytes = this.#source.read(path);
    if (bytes === null || Buffer.concat(hashes).equals(bytes)) return;
    this.#source.faults.add(path, '', 'not the hashes that the entries give');
  }

  /** The bundle that an earlier checkpoint cut: the start of what the newest one holds. */
  #compareBundle(levelPath: string, width: number): void {
    const path = levelPath.replace('/tile/0/', '/tile/entries/');
    if (this.#expected.has(path)) return;
    this.#expected.add(path);
    const bytes = this.#source.read(path);
    const start = Buffer.concat(
      this.#bundle.hashes
        .slice(0, width)
        .map((hash) => Buffer.concat([Buffer.of(0, ENTRY_BYTES), Buffer.from(hash)])),
    );
    if (bytes !== null && !start.equals(bytes)) {
      this.#source.faults.add(path, '', 'not the start of the bundle that replaced it');
    }
  }
}

/** The hash over two subtrees, RFC 6962 §2.1. */
function nodeOf(left: Uint8Array, right: Uint8Array): Uint8Array {
  return sha256.create().update(Uint8Array.of(NODE)).update(left).update(right).digest();
}

/** A tree that is counted up leaf by leaf like a binary number; whoever made the log shares nothing with it. */
class RecomputedTree {
  size = 0;
  /** A complete subtree for each bit of the size, lowest first. */
  readonly #bits: (Uint8Array | null)[] = [];
  readonly #onSubtree: (height: number, hash: Uint8Array) => void;

  /** `onSubtree` hears of every subtree as it becomes complete. */
  constructor(onSubtree: (height: number, hash: Uint8Array) => void) {
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
}

/** Longest file of a log: a shard of the largest log has 16.8 million lines of 36 bytes. */
const FILE_BYTES_MAX = 2 ** 30;

/** The files of a release as a checker of its log asks for them. */
export interface LogSource {
  readonly head: Release;
  readonly faults: Faults;
  /** Listed paths below `log/` and `verify/`. */
  readonly paths: ReadonlySet<string>;
  /** Whether nothing but the public part is at hand, which has no index of the log. */
  readonly isPublic: boolean;
  /** The bytes of a listed file; null, and a fault, when there are none. */
  read(path: string): Uint8Array | null;
  /** The bytes of RELEASE_PROOF_NAME; null, and a fault, when there are none. */
  proof(): Uint8Array | null;
}

export function logSource({ disk, root, head, faults }: OpenRelease): LogSource {
  const places = new Map<string, string>();
  let isPublic = true;
  for (const listed of listedFiles(disk, root)) {
    isPublic &&= isPublicPath(listed.path);
    if (/^(log|verify)\//.test(listed.path)) places.set(listed.path, placeOfFile(root, listed));
  }
  const readAt = (path: string, place: string | undefined, max: number): Uint8Array | null => {
    try {
      if (place === undefined || disk.entry(place)?.kind !== 'file') throw new Error('missing');
      return readAll(disk.chunks(place), max);
    } catch (error) {
      faults.add(path, '', messageOf(error));
      return null;
    }
  };
  return {
    head,
    faults,
    paths: new Set(places.keys()),
    isPublic,
    read: (path) => readAt(path, places.get(path), FILE_BYTES_MAX),
    proof: () => readAt(RELEASE_PROOF_NAME, `${root}/${RELEASE_PROOF_NAME}`, TLOG_PROOF_BYTES_MAX),
  };
}
