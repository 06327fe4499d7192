import type { Checkpoint } from '../../contract/checkpoint.ts';
import {
  LOG_SIZE_MAX,
  type LogBatch,
  logBatchesPath,
  parseLogBatches,
} from '../../contract/log-batch.ts';
import {
  CHECKPOINT_PATH,
  decodeBundle,
  logEntry,
  TILE_WIDTH,
  tilePath,
} from '../../contract/tiles.ts';
import { CompileError } from '../intake/compile-error.ts';
import { repeatedAt, sortedLines } from '../publish/digest-lines.ts';
import { type DigestSpill, FIRST_BYTES } from '../publish/digest-spill.ts';
import { openCheckpoint } from './log-signer.ts';
import { hexOf, type LogTree } from './log-tree.ts';

/** The release whose log is continued; `read` is null for a file that the release does not have. */
export interface PreviousRelease {
  /** Who signed it. */
  readonly issuerDid: string;
  read(path: string): Buffer | null;
}

/** What the log of a previous release says of itself. */
export interface SignedLog {
  readonly batches: readonly LogBatch[];
  /** What the signed note of its newest checkpoint states. */
  readonly signed: Checkpoint;
}

/**
 * Reads what the log of the previous release says of itself. Null when that release has no log; throws a CompileError when no
 * key of the issuer signed its checkpoint, or when its list of batches does not lead there.
 */
export function readSignedLog(
  previous: PreviousRelease,
  issuers: readonly string[],
): SignedLog | null {
  const checkpoint = previous.read(CHECKPOINT_PATH)?.toString('utf8');
  if (checkpoint === undefined) return null;
  const signed = openCheckpoint(checkpoint, [...issuers, previous.issuerDid]);
  if (signed === null) {
    throw broken(CHECKPOINT_PATH, 'not a checkpoint that this issuer signed');
  }
  const batches = readBatches(previous);
  const last = batches.at(-1);
  if (
    (last?.size ?? 0) !== signed.size ||
    (last?.root ?? hexOf(signed.root)) !== hexOf(signed.root)
  ) {
    throw broken(logBatchesPath(0), 'its last batch is not the one of the checkpoint');
  }
  return { batches, signed };
}

/**
 * Replays the log of the previous release into an empty tree: every entry is hashed again, and every checkpoint that was
 * signed must come out of it. Throws a CompileError when it is not what was signed.
 */
export function replayLog(
  previous: PreviousRelease,
  { batches, signed }: SignedLog,
  into: { readonly tree: LogTree; readonly digests: DigestSpill },
): void {
  const entries = entriesOf(previous, signed.size);
  for (const row of batches) {
    growTo(row.size, entries, into);
    const isSame = into.tree.size === row.size && hexOf(into.tree.root()) === row.root;
    if (!isSame) throw broken(`batch "${row.batch}"`, `${row.size} entries do not give its root`);
    into.tree.cut();
  }
  refuseRepeats(into.digests);
}

function refuseRepeats(digests: DigestSpill): void {
  for (let first = 0; first < FIRST_BYTES; first += 1) {
    const position = repeatedAt(sortedLines(digests.group(first)));
    if (position !== null) throw broken(`entry ${position}`, 'it is in the log twice');
  }
}

/** The rows of the list of batches of a release; empty when it has no log. */
export function readBatches(previous: PreviousRelease): LogBatch[] {
  const batches: LogBatch[] = [];
  for (let number = 0; ; number += 1) {
    const path = logBatchesPath(number);
    const text = previous.read(path)?.toString('utf8');
    if (text === undefined) return batches;
    for (const row of parsedBatches(path, text)) {
      if (row.size_before !== (batches.at(-1)?.size ?? 0) || row.size <= row.size_before) {
        throw broken(path, `batch "${row.batch}" does not follow the one before`);
      }
      batches.push(row);
    }
  }
}

function parsedBatches(path: string, text: string): LogBatch[] {
  try {
    return parseLogBatches(text);
  } catch (cause) {
    throw broken(path, cause instanceof Error ? cause.message : 'unreadable');
  }
}

/** Record hashes of a log in their order, one bundle in memory at a time. */
function* entriesOf(previous: PreviousRelease, size: number): Generator<string> {
  if (size > LOG_SIZE_MAX) throw broken(CHECKPOINT_PATH, `more than ${LOG_SIZE_MAX} entries`);
  for (let index = 0; index * TILE_WIDTH < size; index += 1) {
    const width = Math.min(TILE_WIDTH, size - index * TILE_WIDTH);
    const path = tilePath({ level: 'entries', index, width });
    const bytes = previous.read(path);
    const hashes = bytes === null ? [] : decoded(path, bytes);
    if (hashes.length !== width) throw broken(path, `${hashes.length} entries instead of ${width}`);
    yield* hashes;
  }
}

function decoded(path: string, bytes: Buffer): string[] {
  try {
    return decodeBundle(bytes);
  } catch (cause) {
    throw broken(path, cause instanceof Error ? cause.message : 'unreadable');
  }
}

function growTo(
  size: number,
  entries: Generator<string>,
  { tree, digests }: { readonly tree: LogTree; readonly digests: DigestSpill },
): void {
  while (tree.size < size) {
    const step = entries.next();
    if (step.done === true) return;
    digests.add(Buffer.from(step.value.slice('sha256:'.length), 'hex'), tree.size);
    tree.append(logEntry(step.value));
  }
}

function broken(file: string, state: string): CompileError {
  const message =
    `the log of the previous release cannot be continued: ${state}; nothing was signed. Restore that release from ` +
    'a copy: a log never shrinks or forks';
  return new CompileError([{ code: 'log_refused', file, message }]);
}
