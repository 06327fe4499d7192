import {
  factsText,
  LOG_INDEX_FOLDER,
  type LogLine,
  type LogRun,
  leadOf,
  logLineText,
  parseLogLine,
  runPaths,
  runsOf,
  shardOfLead,
} from '../contract/log-runs.ts';
import { HASH_BYTES } from '../contract/merkle.ts';
import { SHARD_STARTS, verifyShardPath } from '../contract/path.ts';
import { parseVerifyEntry } from '../contract/release.ts';
import { decodeUtf8 } from '../contract/strict-json.ts';
import { reason } from './body-check.ts';
import { KnownHashes, sharedDigests } from './known-hashes.ts';
import type { LogSource } from './log-source.ts';

/**
 * Compares the index of the log with its entries, and the published hashes with it; answers how many were found. The public part
 * of a release has none of them.
 */
export function checkLogIndex(source: LogSource, digests: Buffer): number {
  if (source.isPublic) return 0;
  const runs = runsOf(digests.length / HASH_BYTES);
  const indexed = sharedDigests(runs.map((run) => checkRun(source, run, digests)));
  const expected = new Set(runs.flatMap(runPaths));
  for (const path of source.paths) {
    if (path.startsWith(`${LOG_INDEX_FOLDER}/`) && !expected.has(path))
      source.faults.add(path, '', 'belongs to no run of this log');
  }
  const known = new KnownHashes(indexed);
  return SHARD_STARTS.map(verifyShardPath).reduce(
    (sum, path) => sum + checkPublished(source, path, known),
    0,
  );
}

/** Every entry of the run has one line in the file of its hash; answers the sorted digests of the lines. */
function checkRun(source: LogSource, run: LogRun, digests: Buffer): Buffer {
  const found: Buffer[] = [];
  for (const [shard, path] of runPaths(run).entries()) {
    const bytes = source.read(path);
    if (bytes === null) continue;
    try {
      found.push(checkShard({ source, path, run, shard }, decodeUtf8(bytes), digests));
    } catch (error) {
      source.faults.add(path, '', reason(error));
    }
  }
  const indexed = Buffer.concat(found);
  const count = indexed.length / HASH_BYTES;
  if (count !== run.count) {
    const folder = `${LOG_INDEX_FOLDER}/${run.start}-${run.count}`;
    source.faults.add(folder, '', `${count} lines for ${run.count} entries`);
  }
  return indexed;
}

interface Shard {
  readonly source: LogSource;
  readonly path: string;
  readonly run: LogRun;
  readonly shard: number;
}

function checkShard(shard: Shard, text: string, digests: Buffer): Buffer {
  const { source, path } = shard;
  const found: Buffer[] = [];
  let last = '';
  for (const [index, line] of text.split('\n').slice(0, -1).entries()) {
    const read = parseLogLine(line);
    const hex = read.record_hash.slice('sha256:'.length);
    const digest = Buffer.from(hex, 'hex');
    const fault =
      lineFault({ ...read, line, hex, last }, shard) ??
      (isAt(digests, read.position, digest) ? null : 'not the entry that it names');
    if (fault !== null) source.faults.add(path, `line ${index + 1}`, fault);
    last = hex;
    found.push(digest);
  }
  if (text !== '' && !text.endsWith('\n')) source.faults.add(path, '', 'cut off in its last line');
  return Buffer.concat(found);
}

interface ReadLine extends LogLine {
  readonly line: string;
  readonly hex: string;
  /** Hex digits of the line before. */
  readonly last: string;
}

function lineFault(read: ReadLine, { run, shard }: Shard): string | null {
  const { position, facts, line, hex, last } = read;
  if (logLineText(hex, position, factsText(facts)) !== `${line}\n`) {
    return 'not spelled as compile writes it';
  }
  if (hex <= last) return 'out of order or twice';
  if (shardOfLead(run, leadOf(hex)) !== shard) return 'belongs into another file';
  const isOurs = position >= run.start && position < run.start + run.count;
  return isOurs ? null : 'belongs into another run';
}

function isAt(digests: Buffer, position: number, digest: Buffer): boolean {
  const at = position * HASH_BYTES;
  return digest.equals(digests.subarray(at, at + HASH_BYTES));
}

/** Every record hash that the release lists is an entry; citations are none. */
function checkPublished(source: LogSource, path: string, known: KnownHashes): number {
  const shard = source.paths.has(path) ? source.read(path) : null;
  if (shard === null) return 0;
  let found = 0;
  try {
    for (const [index, line] of decodeUtf8(shard).split('\n').slice(0, -1).entries()) {
      const { kind, record_hash } = parseVerifyEntry(line);
      if (kind === 'citation') continue;
      if (known.has(record_hash)) found += 1;
      else source.faults.add(path, `line ${index + 1}`, `"${record_hash}" is not in the log`);
    }
  } catch (error) {
    source.faults.add(path, '', reason(error));
  }
  return found;
}
