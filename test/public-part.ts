import {
  cpSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { openNote } from '../compiler/format/checkpoint.ts';
import { citationSchema, citedTarget } from '../compiler/format/citation.ts';
import { defined } from '../compiler/format/errors.ts';
import { KEYS_PATH } from '../compiler/format/key-history.ts';
import { completeLevels, leafHash } from '../compiler/format/merkle.ts';
import {
  type FileEntry,
  formatFiles,
  isPublicPath,
  parseFiles,
  RELEASE_NAME,
} from '../compiler/format/release.ts';
import { parseReleaseEntry } from '../compiler/format/release-entry.ts';
import {
  BLOCK_LEAVES,
  BLOCKS_PATH,
  blockFilePath,
  blockLevels,
  blockWidth,
  statementLeaf,
  statementPath,
} from '../compiler/format/statement-tree.ts';
import type { JsonObject } from '../compiler/format/strict-json.ts';
import { bundleEntries, CHECKPOINT_PATH, LOG_FOLDER, tilePath } from '../compiler/format/tiles.ts';
import { formatTlogProof } from '../compiler/format/tlog-proof.ts';
import { formatProofExtra } from '../compiler/products/shapes/body-proof.ts';
import { storedPath } from '../compiler/products/shapes/path.ts';
import { type Disk, nodeDisk } from '../compiler/system/disk.ts';
import { fileOf } from './snapshot-folder.ts';
import { hex, sha256, Tree } from './verify/invented-issuer.ts';

/** The public lines of the list of the current release. */
export function publicEntries(data: string): FileEntry[] {
  const list = readFileSync(join(data, 'current', 'files.txt'), 'utf8');
  return parseFiles(list).filter(({ path }) => isPublicPath(path));
}

/** Fewer than one report names. */
const NAMED_AT_ONCE = 90;

/** Files in groups that one report names whole: without the list of keys nothing else is looked at. */
export function namedAtOnce(entries: readonly FileEntry[]): FileEntry[][] {
  const others = entries.filter(({ path }) => path !== KEYS_PATH);
  const groups = [entries.filter(({ path }) => path === KEYS_PATH)];
  for (let at = 0; at < others.length; at += NAMED_AT_ONCE) {
    groups.push(others.slice(at, at + NAMED_AT_ONCE));
  }
  return groups;
}

/** Copies what anybody may have of the current release and the log, in the layout of a data folder. */
export function copyPublicPart(data: string, to: string): string {
  const root = readlinkSync(join(data, 'current'));
  mkdirSync(join(to, root), { recursive: true });
  cpSync(join(data, root, RELEASE_NAME), join(to, root, RELEASE_NAME));
  cpSync(join(data, LOG_FOLDER), join(to, LOG_FOLDER), { recursive: true });
  const entries = publicEntries(data);
  writeFileSync(join(to, root, 'files.txt'), formatFiles(entries));
  for (const { path, sha256 } of entries) {
    const stored = storedPath(path, sha256);
    mkdirSync(dirname(join(to, stored)), { recursive: true });
    cpSync(join(data, stored), join(to, stored));
  }
  symlinkSync(root, join(to, 'current'));
  return to;
}

/** A body of the newest release with its proof, made of the files of that release and of a log of less than a tile. */
export function provenStored(root: string, body: JsonObject): JsonObject {
  const data = join(realpathSync(root), '../..');
  const checkpoint = readFileSync(join(data, CHECKPOINT_PATH), 'utf8');
  const size = defined(openNote(checkpoint)?.checkpoint, 'the checkpoint').size;
  const bundle = tilePath({ level: 'entries', index: 0, width: size });
  const entries = bundleEntries(readFileSync(join(data, bundle)));
  const entryBytes = defined(entries.at(-1), 'the newest entry');
  const { count } = defined(parseReleaseEntry(entryBytes) ?? undefined, 'its entry').all;
  const lines = readFileSync(fileOf(root, BLOCKS_PATH), 'utf8').split('\n').slice(0, -1);
  const roots = lines.map((line) => Buffer.from(line.slice(0, 64), 'hex'));
  const cited = citationSchema.parse(body._citation);
  const leaf = hex(statementLeaf(citedTarget(cited) ?? '', cited.record_hash, sha256));
  for (const number of roots.keys()) {
    const bytes = readFileSync(fileOf(root, blockFilePath(number)));
    const levels = blockLevels(bytes, blockWidth(number, count));
    const at = defined(levels[0], 'the leaves').findIndex((one) => hex(one) === leaf);
    if (at === -1) continue;
    const index = number * BLOCK_LEAVES + at;
    const hashes = statementPath({ index, count }, levels, completeLevels(roots, sha256), sha256);
    const extra = formatProofExtra({ entryBytes, index, hashes });
    const tree = new Tree(entries.map((entry) => leafHash(entry, sha256)));
    const proof = { index: size - 1, hashes: tree.path(size - 1), checkpoint, extra };
    return { ...body, _proof: formatTlogProof(proof) };
  }
  throw new RangeError('Cannot prove a body: the release has no such statement');
}

/** A disk on which some files hold other bytes than they do. */
export function overlayDisk(bytesOf: (path: string, bytes: Uint8Array) => Uint8Array): Disk {
  const read = (path: string): Uint8Array => bytesOf(path, Buffer.concat([...chunksOf(path)]));
  return {
    ...nodeDisk,
    entry(path) {
      const entry = nodeDisk.entry(path);
      return entry?.kind === 'file' ? { kind: 'file', size: read(path).length } : entry;
    },
    chunks: (path) => [read(path)],
  };
}

function* chunksOf(path: string): Generator<Uint8Array> {
  for (const chunk of nodeDisk.chunks(path)) yield chunk.slice();
}

/** The same bytes with one bit the other way round. */
export function flipBit(bytes: Uint8Array, bit: number): Uint8Array {
  const flipped = Uint8Array.from(bytes);
  flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return flipped;
}

/** Numbers from 0 up to a limit, the same ones for the same seed. */
export function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
