/**
 * What releases took in: files of the log beside the releases, each the hashes under the root that the entry of its release
 * states. A long one is hashed once for everybody, and what is above its blocks is kept; from then on a look-up reads one block.
 */
import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { completeLevels, HASH_BYTES, isEqual, rangeHash } from '../../../compiler/format/merkle.ts';
import { type ReleaseEntry, takenLeaf } from '../../../compiler/format/release-entry.ts';
import {
  BLOCK_LEAVES,
  blockWidth,
  statementPath,
} from '../../../compiler/format/statement-tree.ts';
import { takenPath } from '../../../compiler/format/tiles.ts';
import { FILE_COST, type Spend } from '../../wire/cost.ts';
import { BoundedMap } from '../../wire/maps.ts';
import { hexInTurns } from './listed-files.ts';
import { DamagedFileError, sha256 } from './read-body.ts';
import { type ReleasePlace, readLog } from './release-source.ts';

/** What is known of a file once all of it was hashed. */
type TakenFile = Awaited<ReturnType<typeof hashFile>>;

interface TakenReader {
  readonly place: Pick<ReleasePlace, 'log'>;
  readonly spend: Spend;
}

/** Hashes that are hashed before others have their turn: some milliseconds. */
const TURN_HASHES = 16 * BLOCK_LEAVES;
/** Hashes for the price of a request, up to a bound: all of them are hashed once. */
const HASHES_A_UNIT = 32;
const HASHING_COST_MAX = 100;

/** Bytes of hashes above blocks that are kept: those of some millions of readings. */
const KEPT_BYTES_MAX = 4 * 1024 * 1024;
/** By root, so for every release that is served. */
const hashed = new BoundedMap<string, TakenFile>({ bytes: KEPT_BYTES_MAX, isByUse: true });
const hashing = new Map<string, Promise<TakenFile>>();

/** The file of an entry, checked as a whole; throws like ReleaseIndex.body where it cannot be had. */
export async function takenFile(
  entry: ReleaseEntry,
  { place, spend }: TakenReader,
): Promise<TakenFile> {
  const { root, count } = entry.new;
  const known = hashed.get(root) ?? hashing.get(root);
  if (known !== undefined) return known;
  spend(Math.min(count / HASHES_A_UNIT, HASHING_COST_MAX));
  const making = hashFile(entry, place).finally(() => hashing.delete(root));
  hashing.set(root, making);
  return making;
}

async function hashFile(entry: ReleaseEntry, place: TakenReader['place']) {
  const { root, count } = entry.new;
  const whole = createHash('sha256');
  const roots: Uint8Array[] = [];
  for (let start = 0; start < count; start += TURN_HASHES) {
    if (start > 0) await setImmediate();
    const bytes = await readHashes(
      entry,
      { start, count: Math.min(TURN_HASHES, count - start) },
      place,
    );
    whole.update(bytes);
    for (let at = 0; at < bytes.length; at += BLOCK_LEAVES * HASH_BYTES) {
      const leaves = leavesIn(bytes.subarray(at, at + BLOCK_LEAVES * HASH_BYTES));
      roots.push(rootOf(leaves));
    }
  }
  const blocks = completeLevels(roots, sha256);
  const made = rangeHash({ start: 0, end: roots.length }, blocks, sha256);
  if (root !== `sha256:${Buffer.from(made).toString('hex')}`) throw damaged(entry);
  // The roots of its blocks and the hashes above them, and the hash of its bytes.
  const file = { blocks, sha256: whole.digest('hex') };
  hashed.set(root, file, 2 * HASH_BYTES * (roots.length + 1));
  return file;
}

/** The inclusion proof of a hash that an entry took in, at a position among them, its sibling first. */
export async function takenProof(
  {
    hash,
    index,
    entry,
  }: { readonly hash: string; readonly index: number; readonly entry: ReleaseEntry },
  reader: TakenReader,
): Promise<Uint8Array[]> {
  const { count } = entry.new;
  const { blocks } = await takenFile(entry, reader);
  reader.spend(FILE_COST);
  const number = Math.floor(index / BLOCK_LEAVES);
  const part = { start: number * BLOCK_LEAVES, count: blockWidth(number, count) };
  const leaves = leavesIn(await readHashes(entry, part, reader.place));
  const isBlock = isEqual(rootOf(leaves), blocks[0]?.[number]);
  const isThere = isEqual(takenLeaf(hash, sha256), leaves[index % BLOCK_LEAVES]);
  if (!isBlock || !isThere) throw damaged(entry);
  return statementPath({ index, count }, completeLevels(leaves, sha256), blocks, sha256);
}

/** Longest such file that is given as a whole. */
const GIVEN_BYTES_MAX = 64 * 1024 * 1024;

/** All bytes of the file of an entry, checked. */
export async function takenBytes(entry: ReleaseEntry, reader: TakenReader): Promise<Buffer> {
  const { count } = entry.new;
  if (count * HASH_BYTES > GIVEN_BYTES_MAX) {
    const path = takenPath(entry.sequence);
    throw new DamagedFileError(
      `Cannot serve "${path}": more than ${GIVEN_BYTES_MAX} bytes; let a web server give the folder of the log`,
    );
  }
  const { sha256: wanted } = await takenFile(entry, reader);
  reader.spend(FILE_COST);
  const bytes = await readHashes(entry, { start: 0, count }, reader.place);
  if ((await hexInTurns(bytes)) !== wanted) throw damaged(entry);
  return bytes;
}

async function readHashes(
  { sequence, new: { count: all } }: ReleaseEntry,
  { start, count }: { readonly start: number; readonly count: number },
  place: TakenReader['place'],
): Promise<Buffer> {
  const max = count * HASH_BYTES;
  const fault = ({ length }: Buffer): string | null =>
    length === max ? null : `${length} bytes instead of ${max}`;
  const part = count === all ? { max, fault } : { max, fault, start: start * HASH_BYTES };
  return readLog(place, takenPath(sequence), part);
}

function leavesIn(bytes: Buffer): Uint8Array[] {
  return Array.from({ length: bytes.length / HASH_BYTES }, (_, at) => {
    const hex = bytes.toString('hex', at * HASH_BYTES, (at + 1) * HASH_BYTES);
    return takenLeaf(`sha256:${hex}`, sha256);
  });
}

function rootOf(leaves: readonly Uint8Array[]): Uint8Array {
  return rangeHash({ start: 0, end: leaves.length }, completeLevels(leaves, sha256), sha256);
}

function damaged({ sequence }: ReleaseEntry): DamagedFileError {
  return new DamagedFileError(
    `Cannot read the log: "${takenPath(sequence)}" is not what its entry states; restore it from a copy`,
  );
}
