import { LOG_INDEX_BYTES, logIndexPath } from '../../contract/log-batch.ts';
import { HASH_BYTES } from '../../contract/merkle.ts';
import { ForgottenError } from '../remember/forgotten-error.ts';
import { DigestSet } from './digest-set.ts';
import { logIndex } from './log-index.ts';
import type { PreviousRelease } from './previous-log.ts';

/** The digests that a log holds. */
export interface HeldDigests {
  /** Adds a digest of 32 bytes at the end; false when the log holds it already. */
  add(digest: Buffer): boolean;
  /** Path and bytes of each look-up shard that is not as the release before has it. */
  shards(): Iterable<readonly [string, Buffer]>;
}

/** The digests of a log of `size` entries, looked up in the shards of the release that holds it, and what is added. */
export function continuedDigests(previous: PreviousRelease, size: number): HeldDigests {
  const fresh = new DigestSet();
  const known = new Map<string, Buffer>();
  const shardAt = (path: string): Buffer => {
    const shard = known.get(path) ?? readShard(previous, path);
    known.set(path, shard);
    return shard;
  };
  return {
    add(digest) {
      const first = Buffer.from(digest.buffer, digest.byteOffset, 1).toString('hex');
      const shard = shardAt(logIndexPath(`sha256:${first}`));
      return !placeIn(shard, digest).found && fresh.add(digest);
    },
    *shards() {
      for (const [path, added] of logIndex(fresh, size)) {
        yield [path, merged(shardAt(path), added)];
      }
    },
  };
}

/** A shard that cannot be read is written anew by a full compile, which reads the entries instead. */
function readShard(previous: PreviousRelease, path: string): Buffer {
  try {
    return previous.read(path) ?? Buffer.alloc(0);
  } catch (cause) {
    throw new ForgottenError(`Cannot go on from "${path}"`, { cause });
  }
}

/** Where the line of a digest begins in a shard, or would. */
function placeIn(shard: Buffer, digest: Uint8Array): { start: number; found: boolean } {
  let low = 0;
  let high = shard.length / LOG_INDEX_BYTES;
  while (low < high) {
    const middle = (low + high) >> 1;
    const start = middle * LOG_INDEX_BYTES;
    const order = shard.compare(digest, 0, HASH_BYTES, start, start + HASH_BYTES);
    if (order === 0) return { start, found: true };
    if (order < 0) low = middle + 1;
    else high = middle;
  }
  return { start: low * LOG_INDEX_BYTES, found: false };
}

/** A shard with the lines of another one, none of which it has. */
function merged(shard: Buffer, added: Buffer): Buffer {
  const parts: Buffer[] = [];
  let from = 0;
  for (let at = 0; at < added.length; at += LOG_INDEX_BYTES) {
    const line = added.subarray(at, at + LOG_INDEX_BYTES);
    const { start } = placeIn(shard, line);
    parts.push(shard.subarray(from, start), line);
    from = start;
  }
  return Buffer.concat([...parts, shard.subarray(from)]);
}
