import {
  type AnchorState,
  anchorProofPath,
  anchorStatePath,
  parseAnchorState,
} from '../../../compiler/format/anchor-state.ts';
import type { HashLine } from '../../../compiler/format/hash-index.ts';
import { releaseName } from '../../../compiler/format/release.ts';
import { FILE_COST } from '../../wire/cost.ts';
import { entryOfSequence, type LogTree } from './log-files.ts';
import { logTip } from './log-tip.ts';
import type { ReleaseReader } from './release-index.ts';
import { faultOf } from './release-source.ts';
import { takenProof } from './taken-files.ts';

/** Files that a proof takes off the disk, about: tiles, a bundle and a block. */
const PROOF_FILES = 4;

/**
 * The proof that a hash was taken in by a release, and this one's entry in the log, against the newest checkpoint; throws
 * when the disk does not allow it.
 */
export async function inclusionOf(
  { record_hash: hash, sequence, index }: HashLine,
  { release, spend }: ReleaseReader,
) {
  spend(PROOF_FILES * FILE_COST);
  const { tree, proof } = await logTip(release);
  const { entry, index: entry_index } = await entryOfSequence(sequence, tree);
  const { place } = release;
  const path = await takenProof({ hash, index, entry }, { place, spend });
  return {
    batch: releaseName(entry),
    /** Position among all that the release took in. */
    index,
    inclusion_proof: path.map(hexOf),
    root: entry.new.root,
    entry,
    entry_index,
    entry_proof: (await tree.proof(entry_index)).map(hexOf),
    log_root: hexOf(tree.root),
    checkpoint: proof.checkpoint,
  };
}

const NOTES = {
  pending: 'a calendar has promised to anchor this root; a promise, not a proof',
  confirmed: 'the proof leads to a Bitcoin block; its header was not checked by the publisher',
  checked: 'the proof leads to a Bitcoin block, whose header was checked by the publisher',
} as const;

const UNSTAMPED = {
  ots_state: 'unstamped',
  bitcoin_height: null,
  bitcoin_block: null,
  stamped_at: null,
  ots_proof: null,
  ots_note: 'not submitted to a timestamp calendar',
} as const;

/** Roots that are looked at for the stamp of an entry: those of so many releases. */
const STAMPS_LOOKED_AT = 48;
const STATE_BYTES_MAX = 4096;

/** The stamp of the first stamped root of the log that covers an entry, as far as it is at hand. */
export async function anchorWords(index: number, { release, spend }: ReleaseReader) {
  const { tree } = await logTip(release);
  const last = Math.min(tree.size, index + STAMPS_LOOKED_AT);
  for (let size = index + 1; size <= last; size += 1) {
    spend(FILE_COST);
    const words = await stampOf(size, tree, release.place);
    if (words !== null) return words;
  }
  return UNSTAMPED;
}

/** The stamp of the root that the log had at a size; null for none. */
async function stampOf(size: number, tree: LogTree, place: ReleaseReader['release']['place']) {
  const root = hexOf(await tree.rangeHash({ start: 0, end: size }));
  const fault = (bytes: Buffer) => faultOf(() => anchorStateOf(bytes, root));
  const bytes = await place.log(anchorStatePath(root), { max: STATE_BYTES_MAX, fault });
  if (bytes === null) return null;
  const { ots_state, bitcoin_height, bitcoin_block, stamped_at } = anchorStateOf(bytes, root);
  const ots_note = bitcoin_block === null ? NOTES[ots_state] : NOTES.checked;
  const ots_proof = `/${anchorProofPath(root)}`;
  return { ots_state, bitcoin_height, bitcoin_block, stamped_at, ots_proof, ots_note };
}

/** The state of the time stamp of a root; throws for any other bytes. */
export function anchorStateOf(bytes: Buffer, root: string): AnchorState {
  const state = parseAnchorState(bytes.toString('utf8'));
  if (state.root !== root) throw new RangeError('it is of another root');
  return state;
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

/** The newest releases of the log, or those of a day, newest first, at most so many; `total` counts all. */
export async function batchesOf(
  { day, max }: { readonly day: string | undefined; readonly max: number },
  { release, spend }: ReleaseReader,
) {
  const { tree } = await logTip(release);
  const dayAt = async (index: number): Promise<string> => {
    spend(1);
    return (await tree.entry(index)).entry?.as_of.slice(0, DAY_CHARS) ?? '';
  };
  // Days never fall along the log, and entries of the first format come first and have none.
  const start = await firstIndex(tree.size, async (at) => (await dayAt(at)) >= (day ?? '0'));
  const end =
    day === undefined
      ? tree.size
      : await firstIndex(tree.size, async (at) => (await dayAt(at)) > day);
  const batches: object[] = [];
  let words: Awaited<ReturnType<typeof anchorWords>> = UNSTAMPED;
  if (end > start) words = await anchorWords(end - 1, { release, spend });
  for (let index = end - 1; index >= Math.max(start, end - max); index -= 1) {
    const { entry } = await tree.entry(index);
    if (entry === null) continue;
    words = (await stampOf(index + 1, tree, release.place)) ?? words;
    const { as_of, sequence, new: taken } = entry;
    batches.push({
      batch: releaseName(entry),
      day: as_of.slice(0, DAY_CHARS),
      sequence,
      as_of,
      ...taken,
      entry_index: index,
      ...words,
    });
  }
  return { total: end - start, batches };
}

const DAY_CHARS = 'YYYY-MM-DD'.length;

async function firstIndex(
  length: number,
  holds: (at: number) => Promise<boolean>,
): Promise<number> {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (await holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
