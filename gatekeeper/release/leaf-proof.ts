import { type Checkpoint, parseCheckpoint, parseNote } from '../../compiler/contract/checkpoint.ts';
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

/** Bytes of inclusion proofs that are kept for one release. */
const INCLUSIONS_BYTES_MAX = 2 * 1024 * 1024;
/** What a proof takes beside its hashes. */
const INCLUSION_BYTES = 256;
/** What each of its hashes takes. */
const HASH_ENTRY_BYTES = 128;

/** By hash; null for a hash that is no entry. */
const inclusions = oncePerRelease(
  () => new BoundedMap<string, Inclusion | null>({ bytes: INCLUSIONS_BYTES_MAX, isByUse: true }),
);

/**
 * That a hash is an entry of the log, as a tlog-proof@v1 text against the newest checkpoint; null for one that is none, and
 * for a release without a log. Throws when the log cannot be read.
 */
export async function leafProof(hash: string, reader: ReleaseReader): Promise<string | null> {
  const newest = await newestCheckpoint(reader.release);
  const inclusion = newest === null ? null : await inclusionOf(hash, newest, reader);
  if (newest === null || inclusion === null) return null;
  return formatTlogProof({ ...inclusion, checkpoint: newest.note });
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
    const stated = parseCheckpoint(parseNote(note)?.text ?? '');
    if (stated === null) throw new RangeError(`Cannot read "${CHECKPOINT_PATH}": no checkpoint`);
    return { ...stated, note };
  },
);

async function inclusionOf(
  hash: string,
  { size }: Checkpoint,
  reader: ReleaseReader,
): Promise<Inclusion | null> {
  const kept = inclusions(reader.release);
  const known = kept.get(hash);
  if (known !== undefined) return known;
  const leaf = await findLeaf(hash.slice('sha256:'.length), reader);
  const made = leaf.state === 'found' ? await madeInclusion(leaf.index, size, reader) : null;
  kept.set(hash, made, INCLUSION_BYTES + HASH_ENTRY_BYTES * (made?.hashes.length ?? 0));
  return made;
}

async function madeInclusion(
  index: number,
  size: number,
  reader: ReleaseReader,
): Promise<Inclusion> {
  const hashes = await inclusionProof(index, size, reader);
  return { index, hashes: hashes.map((hash) => Buffer.from(hash, 'hex')) };
}
