import { LOG_INDEX_BYTES, logIndexPath } from '../../contract/log-batch.ts';
import { HASH_BYTES } from '../../contract/merkle.ts';
import type { DigestSet } from './digest-set.ts';

/** The look-up shards of digests whose first stands at `start` of the log: path and bytes of each that is not empty. */
export function* logIndex(digests: DigestSet, start = 0): Generator<readonly [string, Buffer]> {
  const positions = byFirstByte(digests);
  for (const [first, own] of positions.entries()) {
    if (own.length === 0) continue;
    own.sort((a, b) => Buffer.compare(digests.at(a), digests.at(b)));
    const hex = first.toString(16).padStart(2, '0');
    yield [logIndexPath(`sha256:${hex}`), shardOf(own, digests, start)];
  }
}

/** Positions by first byte of the digest, in one array for all of them. */
function byFirstByte(digests: DigestSet): Uint32Array[] {
  const ends = new Uint32Array(257);
  for (let at = 0; at < digests.size; at += 1) count(ends, (digests.at(at)[0] ?? 0) + 1);
  for (let first = 0; first < 256; first += 1) count(ends, first + 1, ends[first]);
  const all = new Uint32Array(digests.size);
  const next = ends.slice(0, 256);
  for (let at = 0; at < digests.size; at += 1) {
    const first = digests.at(at)[0] ?? 0;
    all[next[first] ?? 0] = at;
    count(next, first);
  }
  return Array.from({ length: 256 }, (_, first) => all.subarray(ends[first], ends[first + 1]));
}

function count(counts: Uint32Array, at: number, by = 1): void {
  counts[at] = (counts[at] ?? 0) + by;
}

function shardOf(positions: Uint32Array, digests: DigestSet, start: number): Buffer {
  const bytes = Buffer.alloc(positions.length * LOG_INDEX_BYTES);
  for (const [line, position] of positions.entries()) {
    digests.at(position).copy(bytes, line * LOG_INDEX_BYTES);
    bytes.writeUInt32BE(start + position, line * LOG_INDEX_BYTES + HASH_BYTES);
  }
  return bytes;
}
