import { logIndexPath } from '../../contract/log-batch.ts';
import { SHARD_STARTS } from '../../contract/path.ts';
import { mergedLines, sortedLines } from '../publish/digest-lines.ts';
import type { DigestSpill } from '../publish/digest-spill.ts';
import { ForgottenError } from '../remember/forgotten-error.ts';
import type { HeldDigests } from './fresh-digests.ts';
import type { PreviousRelease } from './previous-log.ts';

/** The digests of a log, looked up in the shards of the release that holds it. */
export function storedDigests(previous: PreviousRelease): HeldDigests {
  return (first) => readShard(previous, logIndexPath(SHARD_STARTS[first] ?? ''));
}

/** A shard that cannot be read is written anew by a full compile, which reads the entries instead. */
function readShard(previous: PreviousRelease, path: string): Buffer {
  try {
    return previous.read(path) ?? Buffer.alloc(0);
  } catch (cause) {
    throw new ForgottenError(`Cannot go on from "${path}"`, { cause });
  }
}

/** The digests of a log that was read entry by entry, each with its position. */
export function gatheredDigests(entries: DigestSpill): HeldDigests {
  return (first) => sortedLines(entries.group(first));
}

interface LogDigests {
  /** Those of the log so far. */
  readonly held: HeldDigests;
  /** Those that are new, with their positions. */
  readonly added: DigestSpill;
  /** Whether a shard is in the previous release and can be left as it is. */
  readonly stands: (path: string) => boolean;
}

/** Path and lines of each look-up shard that entries were added to, or that does not stand. */
export function* logShards({
  held,
  added,
  stands,
}: LogDigests): Generator<readonly [string, Buffer]> {
  for (const [first, start] of SHARD_STARTS.entries()) {
    const path = logIndexPath(start);
    const lines = sortedLines(added.group(first));
    if (lines.length === 0 && stands(path)) continue;
    const shard = mergedLines(held(first), lines);
    if (shard.length > 0) yield [path, shard];
  }
}
