import type { LogBatch } from '../../compiler/contract/log-batch.ts';
import { leafHash } from '../../compiler/contract/merkle.ts';
import { logEntry } from '../../compiler/contract/tiles.ts';
import {
  type AnchorWords,
  anchorWords,
  batchRows,
  inclusionProof,
  logOutline,
  rowOfEntry,
} from './log-files.ts';
import { logTip } from './log-tip.ts';
import type { ReleaseReader } from './release-index.ts';
import { sha256 } from './sha256.ts';

/** That a record hash is an entry of the log, in the tree whose root its batch was signed and stamped with. */
interface InclusionWords extends LogBatch {
  readonly index: number;
  readonly leaf_hash: string;
  readonly inclusion_proof: readonly string[];
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
  { hash, index }: { readonly hash: string; readonly index: number },
  reader: ReleaseReader,
): Promise<{ readonly inclusion: InclusionWords; readonly anchor: AnchorWords }> {
  const row = await rowOf(index, reader);
  if (row === undefined) throw new RangeError(`Cannot prove "${hash}": no batch holds it`);
  const leaf = Buffer.from(leafHash(logEntry(hash), sha256)).toString('hex');
  const inclusion_proof = await inclusionProof(index, row.size, reader);
  const inclusion = { ...row, index, leaf_hash: leaf, inclusion_proof };
  return { inclusion, anchor: await anchorWords(row.root, reader) };
}
