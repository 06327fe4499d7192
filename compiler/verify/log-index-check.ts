import { LOG_INDEX_BYTES, logIndexPath } from '../contract/log-batch.ts';
import { HASH_BYTES } from '../contract/merkle.ts';
import { SHARD_STARTS, verifyShardPath } from '../contract/path.ts';
import { parseVerifyEntry } from '../contract/release.ts';
import { decodeUtf8 } from '../contract/strict-json.ts';
import { reason } from './body-check.ts';
import type { LogSource } from './log-source.ts';

/** Compares the look-up index with the entries, and the published hashes with it; answers how many were found. */
export function checkLogIndex(source: LogSource, digests: Buffer): number {
  let lines = 0;
  let found = 0;
  for (const [first, start] of SHARD_STARTS.entries()) {
    const path = logIndexPath(start);
    const shard = source.paths.has(path) ? source.read(path) : new Uint8Array(0);
    if (shard === null) continue;
    const bytes = Buffer.from(shard.buffer, shard.byteOffset, shard.length);
    lines += checkShard({ source, path, first, bytes }, digests);
    found += checkPublished({ source, path: verifyShardPath(start), first, bytes });
  }
  const size = digests.length / HASH_BYTES;
  if (lines !== size) source.faults.add('log/index', '', `${lines} lines for ${size} entries`);
  return found;
}

interface Shard {
  readonly source: LogSource;
  readonly path: string;
  readonly first: number;
  readonly bytes: Buffer;
}

/** Every line is the digest of the entry that it names, and none is there twice. */
function checkShard({ source, path, first, bytes }: Shard, digests: Buffer): number {
  const count = bytes.length / LOG_INDEX_BYTES;
  if (!Number.isInteger(count)) {
    source.faults.add(path, '', 'cut off in its last line');
    return 0;
  }
  let last: Buffer = Buffer.alloc(0);
  for (let line = 0; line < count; line += 1) {
    const at = line * LOG_INDEX_BYTES;
    const digest = bytes.subarray(at, at + HASH_BYTES);
    const entry = bytes.readUInt32BE(at + HASH_BYTES) * HASH_BYTES;
    const isRight =
      digest[0] === first && digest.equals(digests.subarray(entry, entry + HASH_BYTES));
    if (!isRight) source.faults.add(path, `line ${line + 1}`, 'not the entry that it names');
    if (last.compare(digest) >= 0)
      source.faults.add(path, `line ${line + 1}`, 'out of order or twice');
    last = digest;
  }
  return count;
}

/** Every record hash that the release lists is an entry; citations are none. */
function checkPublished({ source, path, bytes }: Shard): number {
  const shard = source.paths.has(path) ? source.read(path) : null;
  if (shard === null) return 0;
  const known = new Set<string>();
  for (let at = 0; at < bytes.length; at += LOG_INDEX_BYTES) {
    known.add(bytes.toString('hex', at, at + HASH_BYTES));
  }
  let found = 0;
  try {
    for (const [index, line] of decodeUtf8(shard).split('\n').slice(0, -1).entries()) {
      const { kind, record_hash } = parseVerifyEntry(line);
      if (kind === 'citation') continue;
      if (known.has(record_hash.slice('sha256:'.length))) found += 1;
      else source.faults.add(path, `line ${index + 1}`, `"${record_hash}" is not in the log`);
    }
  } catch (error) {
    source.faults.add(path, '', reason(error));
  }
  return found;
}
