import { type Checkpoint, openNote } from '../../compiler/contract/checkpoint.ts';
import { CHECKPOINT_PATH } from '../../compiler/contract/tiles.ts';
import { formatTlogProof, type TlogProof } from '../../compiler/contract/tlog-proof.ts';
import { FOR_EVERYBODY } from '../http/cost.ts';
import { BoundedMap } from '../system/bounded-map.ts';
import { inclusionProof } from './log-files.ts';
import { findLeaf } from './log-index.ts';
import { logTip } from './log-tip.ts';
import { oncePerRelease, perRelease } from './per-release.ts';
import type { ReleaseIndex, ReleaseReader } from './release-index.ts';

type Inclusion = Pick<TlogProof, 'index' | 'hashes'>;

/** The place of a hash in the log, and the text of its proof against one signed note. */
interface KeptProof extends Inclusion {
  readonly note: string;
  readonly text: string;
}

/** Bytes of proofs that are kept for one release. */
const PROOFS_BYTES_MAX = 4 * 1024 * 1024;
/** What a proof takes beside its text. */
const PROOF_BYTES = 256;
/** What each of its hashes takes. */
const HASH_ENTRY_BYTES = 128;

/** By hash; null for a hash that is no entry. */
const proofs = oncePerRelease(
  () => new BoundedMap<string, KeptProof | null>({ bytes: PROOFS_BYTES_MAX, isByUse: true }),
);

/**
 * That a hash is an entry of the log, as a tlog-proof@v1 text against the newest checkpoint; null for one that is none, and
 * for a release without a log. Throws when the log cannot be read.
 */
export async function leafProof(hash: string, reader: ReleaseReader): Promise<string | null> {
  const newest = await newestCheckpoint(reader.release);
  if (newest === null) return null;
  const kept = proofs(reader.release);
  const known = kept.get(hash);
  if (known === null || known?.note === newest.note) return known?.text ?? null;
  // A witness may have signed the checkpoint since: the place in the tree is the same.
  const inclusion = known ?? (await inclusionOf(hash, newest, reader));
  const made = inclusion === null ? null : keptProof(inclusion, newest.note);
  const size = made === null ? 0 : made.text.length + HASH_ENTRY_BYTES * made.hashes.length;
  kept.set(hash, made, PROOF_BYTES + size);
  return made?.text ?? null;
}

function keptProof({ index, hashes }: Inclusion, note: string): KeptProof {
  return { index, hashes, note, text: formatTlogProof({ index, hashes, checkpoint: note }) };
}

/** The signed note that proofs of now lead to; null for a release without a log. */
export async function newestNote(release: ReleaseIndex): Promise<string | null> {
  return (await newestCheckpoint(release))?.note ?? null;
}

interface SignedCheckpoint extends Checkpoint {
  readonly note: string;
}

/** The checkpoint with the head of the release in it, with whatever witnesses have signed it; of a release from before the listed one. */
async function newestCheckpoint(release: ReleaseIndex): Promise<SignedCheckpoint | null> {
  const tip = await logTip(release);
  if (tip === null) return listedCheckpoint(release);
  return { ...tip.proof.signed, note: tip.proof.checkpoint };
}

const listedCheckpoint = perRelease(
  async (release: ReleaseIndex): Promise<SignedCheckpoint | null> => {
    if (!release.has(CHECKPOINT_PATH)) return null;
    const { bytes } = await release.body(CHECKPOINT_PATH, FOR_EVERYBODY);
    const note = bytes.toString('utf8');
    const opened = openNote(note);
    if (opened === null) throw new RangeError(`Cannot read "${CHECKPOINT_PATH}": no checkpoint`);
    return { ...opened.checkpoint, note };
  },
);

async function inclusionOf(
  hash: string,
  { size }: Checkpoint,
  reader: ReleaseReader,
): Promise<Inclusion | null> {
  const leaf = await findLeaf(hash.slice('sha256:'.length), reader);
  if (leaf.state !== 'found') return null;
  const { index } = leaf;
  const hashes = await inclusionProof(index, size, reader);
  return { index, hashes: hashes.map((one) => Buffer.from(one, 'hex')) };
}
