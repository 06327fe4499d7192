import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { unpackedPath } from '../contract/codings.ts';
import type { StoredBodies } from './stored-bodies.ts';

/** What is wrong with a file that holds another one under a content coding; null for any other file, and for a sound one. */
export function packedFault(path: string, bodies: StoredBodies): string | null {
  const of = unpackedPath(path);
  if (of === null) return null;
  const original = bodies.list.find(of.path);
  if (original === null) return `is a form of "${of.path}", which is not listed`;
  const bytes = bodies.bytes(path);
  // A damaged file is named once, by its hash.
  if (bytes === null) return null;
  const unpack = of.coding === 'br' ? brotliDecompressSync : gunzipSync;
  try {
    const unpacked = unpack(bytes, { maxOutputLength: original.size });
    if (bytesToHex(sha256(unpacked)) === original.sha256) return null;
  } catch {
    // Longer than the original, or no stream of that coding.
  }
  return `does not unpack to "${of.path}"`;
}
