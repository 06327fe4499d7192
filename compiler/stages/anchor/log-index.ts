import { LOG_INDEX_BYTES, logIndexPath } from '../../contract/log-batch.ts';
import { HASH_BYTES } from '../../contract/merkle.ts';
import { digestOrder } from '../publish/digest-order.ts';
import type { DigestSet } from './digest-set.ts';

/** The look-up shards of digests whose first stands at `start` of the log: path and bytes of each that is not empty. */
export function* logIndex(
  { bytes }: Pick<DigestSet, 'bytes'>,
  start = 0,
): Generator<readonly [string, Buffer]> {
  for (const [first, positions] of digestOrder(bytes).entries()) {
    if (positions.length === 0) continue;
    const hex = first.toString(16).padStart(2, '0');
    yield [logIndexPath(`sha256:${hex}`), shardOf(positions, bytes, start)];
  }
}

function shardOf(positions: Uint32Array, digests: Buffer, start: number): Buffer {
  const bytes = Buffer.alloc(positions.length * LOG_INDEX_BYTES);
  for (const [line, position] of positions.entries()) {
    const at = position * HASH_BYTES;
    digests.copy(bytes, line * LOG_INDEX_BYTES, at, at + HASH_BYTES);
    bytes.writeUInt32BE(start + position, line * LOG_INDEX_BYTES + HASH_BYTES);
  }
  return bytes;
}
