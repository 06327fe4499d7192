import {
  type Checkpoint,
  checkpointText,
  formatNote,
  noteKeyHash,
} from '../../format/checkpoint.ts';
import { decodeBase64Url, parseDidKey } from '../../format/did-key.ts';
import { sha256 } from '../../release/log-tree.ts';
import type { Sealer } from '../../system/sealer.ts';

/** The signed note of a checkpoint, by the keys of the issuer under the name of the log: two in an overlap. */
export function signCheckpoint(
  checkpoint: Checkpoint,
  { logSigners }: Pick<Sealer, 'logSigners'>,
): string {
  const text = checkpointText(checkpoint);
  const name = checkpoint.origin;
  const signatures = logSigners.map(({ did, signText }) => {
    const keyHash = noteKeyHash(name, parseDidKey(did), sha256);
    return { name, keyHash, signature: decodeBase64Url(signText(text)) };
  });
  return formatNote({ text, signatures });
}
