import { defined } from '../../compiler/contract/defined.ts';
import { firstWhere } from '../../compiler/contract/lists.ts';
import {
  type AnchorState,
  anchorProofPath,
  anchorStatePath,
  BATCHES_PER_FILE,
  type LogBatch,
  logBatchesPath,
  parseAnchorState,
  parseLogBatches,
} from '../../compiler/contract/log-batch.ts';
import {
  HASH_BYTES,
  hashOfSubtrees,
  inclusionRanges,
  leafHash,
  nodeHash,
  type Range,
  type Subtree,
  subtreesOf,
} from '../../compiler/contract/merkle.ts';
import { logEntry, TILE_WIDTH, tileOfSubtree, tilePath } from '../../compiler/contract/tiles.ts';
import { costOfParsing, FOR_EVERYBODY } from '../http/cost.ts';
import { BoundedMap } from '../system/bounded-map.ts';
import { logTip, type TipFile } from './log-tip.ts';
import { oncePerRelease, perRelease } from './per-release.ts';
import { sha256 } from './read-body.ts';
import type { Body, ReleaseIndex, ReleaseReader } from './release-index.ts';

/** What is known of all batches of a log without holding their rows. */
interface LogOutline {
  /** Size of the log after each row. */
  sizes: readonly number[];
  /** Row numbers by day. */
  days: ReadonlyMap<string, readonly number[]>;
}

/** The outline of the log of a release; empty for a release without one. */
export const logOutline = perRelease(async (release: ReleaseIndex): Promise<LogOutline> => {
  const sizes: number[] = [];
  const days = new Map<string, number[]>();
  for (let number = 0; release.has(logBatchesPath(number)); number += 1) {
    for (const { size, day } of await batchFile(number, { release, spend: FOR_EVERYBODY })) {
      days.set(day, [...(days.get(day) ?? []), sizes.length]);
      sizes.push(size);
    }
  }
  return { sizes, days };
});

/** Bytes of files of batches that are kept parsed. */
const BATCHES_BYTES_MAX = 8 * 1024 * 1024;
const parsedBatches = oncePerRelease(
  () => new BoundedMap<Body, readonly LogBatch[]>({ bytes: BATCHES_BYTES_MAX, isByUse: true }),
);

async function batchFile(
  number: number,
  { release, spend }: ReleaseReader,
): Promise<readonly LogBatch[]> {
  const body = await release.body(logBatchesPath(number), spend);
  const parsed = parsedBatches(release);
  const known = parsed.get(body);
  if (known !== undefined) return known;
  const { length } = body.bytes;
  spend(costOfParsing(length));
  const rows = parseLogBatches(body.bytes.toString('utf8'));
  parsed.set(body, rows, length);
  return rows;
}

/** Rows by their numbers, which ascend; each file of the list is read once. */
export async function batchRows(
  numbers: readonly number[],
  reader: ReleaseReader,
): Promise<LogBatch[]> {
  const rows: LogBatch[] = [];
  let held: { file: number; rows: readonly LogBatch[] } = { file: -1, rows: [] };
  for (const number of numbers) {
    const file = Math.floor(number / BATCHES_PER_FILE);
    if (held.file !== file) held = { file, rows: await batchFile(file, reader) };
    const row = held.rows[number % BATCHES_PER_FILE];
    if (row === undefined) throw new RangeError(`Cannot read batch ${number}: not in the list`);
    rows.push(row);
  }
  return rows;
}

/** Number of the row that brought an entry into the log. */
function rowOfEntry(index: number, { sizes }: LogOutline): number {
  return firstWhere(sizes.length - 1, (row) => defined(sizes[row], 'the size of a batch') > index);
}

/** The inclusion proof of an entry in the tree of `size` entries, made from tiles; hashes in hex. */
export async function inclusionProof(
  index: number,
  size: number,
  reader: ReleaseReader,
): Promise<string[]> {
  // The listed tree, or, where that is too small, the one with the head of the release in it.
  const { sizes } = await logOutline(reader.release);
  const listed = sizes.at(-1) ?? 0;
  const tip = size > listed ? await logTip(reader.release) : null;
  const tree = { size: tip?.row.size ?? listed, own: tip?.files ?? new Map() };
  const proof: string[] = [];
  for (const range of inclusionRanges(index, size)) {
    proof.push(await rangeHash(range, tree, reader));
  }
  return proof;
}

interface TiledTree {
  size: number;
  /** Tiles that are not listed, by path. */
  own: ReadonlyMap<string, TipFile>;
}

async function rangeHash(range: Range, tree: TiledTree, reader: ReleaseReader): Promise<string> {
  const hashes: Uint8Array[] = [];
  for (const subtree of subtreesOf(range)) {
    hashes.push(await subtreeHash(subtree, tree, reader));
  }
  return Buffer.from(hashOfSubtrees(hashes, sha256)).toString('hex');
}

async function subtreeHash(
  subtree: Subtree,
  { size, own }: TiledTree,
  { release, spend }: ReleaseReader,
): Promise<Uint8Array> {
  const { tile, height, offset } = tileOfSubtree(subtree, size);
  const path = tilePath(tile);
  const body = own.get(path) ?? (await release.body(path, spend));
  const kept = hashedTiles(release);
  const levels = kept.get(body) ?? levelsOf(body.bytes);
  kept.set(body, levels, HASHED_TILE_BYTES);
  const at = (offset / 2 ** height) * HASH_BYTES;
  return defined(levels[height], 'a level of a tile').subarray(at, at + HASH_BYTES);
}

/** Bytes of tiles that are kept with the hashes above them: each entry that is proven asks for those of its tiles. */
const HASHED_TILES_BYTES_MAX = 4 * 1024 * 1024;
/** A full tile and all that is above it. */
const HASHED_TILE_BYTES = 2 * TILE_WIDTH * HASH_BYTES;
const hashedTiles = oncePerRelease(
  () =>
    new BoundedMap<Body | TipFile, readonly Buffer[]>({
      bytes: HASHED_TILES_BYTES_MAX,
      isByUse: true,
    }),
);

/** The hashes of a tile, and those of its complete subtrees, by height. */
function levelsOf(hashes: Buffer): readonly Buffer[] {
  const levels = [hashes];
  for (
    let below = hashes;
    below.length >= 2 * HASH_BYTES;
    below = defined(levels.at(-1), 'a level')
  ) {
    const above = Buffer.alloc(Math.floor(below.length / (2 * HASH_BYTES)) * HASH_BYTES);
    for (let at = 0; at < above.length; at += HASH_BYTES) {
      const left = below.subarray(2 * at, 2 * at + HASH_BYTES);
      const right = below.subarray(2 * at + HASH_BYTES, 2 * at + 2 * HASH_BYTES);
      above.set(nodeHash(left, right, sha256), at);
    }
    levels.push(above);
  }
  return levels;
}

interface AnchorWords {
  readonly ots_state: 'unstamped' | AnchorState['ots_state'];
  readonly bitcoin_height: number | null;
  readonly bitcoin_block: string | null;
  readonly stamped_at: string | null;
  readonly ots_proof: string | null;
  readonly ots_note: string;
}

const NOTES = {
  unstamped: 'not submitted to a timestamp calendar',
  pending: 'a calendar has promised to anchor this root; a promise, not a proof',
  confirmed: 'the proof leads to a Bitcoin block; its header was not checked by the publisher',
  checked: 'the proof leads to a Bitcoin block, whose header was checked by the publisher',
} as const;

/** The timestamp state of a root. */
export async function anchorWords(
  root: string,
  { release, spend }: ReleaseReader,
): Promise<AnchorWords> {
  const path = anchorStatePath(root);
  if (!release.has(path)) {
    return {
      ots_state: 'unstamped',
      bitcoin_height: null,
      bitcoin_block: null,
      stamped_at: null,
      ots_proof: null,
      ots_note: NOTES.unstamped,
    };
  }
  const { bytes } = await release.body(path, spend);
  const { ots_state, bitcoin_height, bitcoin_block, stamped_at } = parseAnchorState(
    bytes.toString('utf8'),
  );
  const note = bitcoin_block === null ? NOTES[ots_state] : NOTES.checked;
  const ots_proof = `/${anchorProofPath(root)}`;
  return { ots_state, bitcoin_height, bitcoin_block, stamped_at, ots_proof, ots_note: note };
}

/** That a record hash is an entry of the log, in the tree whose root its batch was signed and stamped with. */
interface InclusionWords extends LogBatch {
  index: number;
  leaf_hash: string;
  inclusion_proof: readonly string[];
}

/** The batch of an entry; the head of the release has none yet. */
async function rowOf(index: number, reader: ReleaseReader): Promise<LogBatch | undefined> {
  if (index === reader.release.head.log_index) return (await logTip(reader.release))?.row;
  const outline = await logOutline(reader.release);
  const [row] = await batchRows([rowOfEntry(index, outline)], reader);
  return row;
}

/** The proof that an entry is in the tree of its batch, and the timestamp of that tree. */
export async function inclusionOf(
  { hash, index }: { hash: string; index: number },
  reader: ReleaseReader,
): Promise<{ inclusion: InclusionWords; anchor: AnchorWords }> {
  const row = await rowOf(index, reader);
  if (row === undefined) throw new RangeError(`Cannot prove "${hash}": no batch holds it`);
  const leaf = Buffer.from(leafHash(logEntry(hash), sha256)).toString('hex');
  const inclusion_proof = await inclusionProof(index, row.size, reader);
  const inclusion = { ...row, index, leaf_hash: leaf, inclusion_proof };
  return { inclusion, anchor: await anchorWords(row.root, reader) };
}
