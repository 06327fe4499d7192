import { HASH_BYTES } from '../contract/merkle.ts';
import { SHARD_STARTS, verifyShardPath } from '../contract/path.ts';
import { parseVerifyEntry } from '../contract/release.ts';
import { decodeUtf8 } from '../contract/strict-json.ts';
import { type Disk, lines } from './disk.ts';
import type { FileList } from './file-list.ts';
import { placeOfFile } from './release-tree.ts';

const LINE_BYTES_MAX = 65_536;

/** The record hashes of readings and rows that the look-ups of a release list, 32 bytes each. */
export class KnownHashes {
  readonly #digests: Buffer;

  /** `digests` must be sorted. */
  constructor(digests: SharedArrayBuffer) {
    this.#digests = Buffer.from(digests);
  }

  has(recordHash: string): boolean {
    const wanted = Buffer.from(recordHash.slice('sha256:'.length), 'hex');
    let low = 0;
    let high = this.#digests.length / HASH_BYTES;
    while (low < high) {
      const middle = (low + high) >> 1;
      const at = middle * HASH_BYTES;
      const order = wanted.compare(this.#digests, at, at + HASH_BYTES);
      if (order === 0) return true;
      if (order < 0) high = middle;
      else low = middle + 1;
    }
    return false;
  }
}

/** Digests of every reading and row in the look-ups, or null where these cannot be read; they are named elsewhere. */
export function readKnownHashes(disk: Disk, root: string, list: FileList) {
  const shards: Buffer[] = [];
  try {
    for (const start of SHARD_STARTS) {
      const listed = list.find(verifyShardPath(start));
      if (listed !== null) shards.push(digestsOf(disk.chunks(placeOfFile(root, listed))));
    }
  } catch {
    return null;
  }
  const all = Buffer.concat(shards);
  const shared = new SharedArrayBuffer(all.length);
  new Uint8Array(shared).set(all);
  return shared;
}

/** Sorted, since the lines of a shard begin with the hash and are sorted. */
function digestsOf(chunks: Iterable<Uint8Array>): Buffer {
  const digests: Buffer[] = [];
  for (const line of lines(chunks, LINE_BYTES_MAX)) {
    const { kind, record_hash } = parseVerifyEntry(decodeUtf8(line));
    if (kind !== 'citation') digests.push(Buffer.from(record_hash.slice('sha256:'.length), 'hex'));
  }
  return Buffer.concat(digests);
}
