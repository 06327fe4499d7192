import { createHash } from 'node:crypto';
import { checkpointText, formatNote, noteKeyHash } from '../../compiler/format/checkpoint.ts';
import { parseDidKey } from '../../compiler/format/did-key.ts';
import { leafHash } from '../../compiler/format/merkle.ts';
import { logEntry } from '../../compiler/format/tiles.ts';
import { formatTlogProof } from '../../compiler/format/tlog-proof.ts';
import { issuerDid, signBytes } from '../../compiler/system/sealer.ts';
import { BASE_URL, KEY } from '../shop.ts';

const ORIGIN = `${new URL(BASE_URL).host}/log`;
const sha256 = (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest();

/** A log of one entry, by any key and of any service. */
export function proofBy(hash: string, { key = KEY, origin = ORIGIN } = {}): string {
  const root = leafHash(logEntry(hash), sha256);
  const text = checkpointText({ origin, size: 1, root });
  const keyHash = noteKeyHash(origin, parseDidKey(issuerDid(key)), sha256);
  const signature = Buffer.from(signBytes(Buffer.from(text), key), 'base64url');
  const checkpoint = formatNote({ text, signatures: [{ name: origin, keyHash, signature }] });
  return formatTlogProof({ index: 0, hashes: [], checkpoint });
}
