import { appendFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { verifyShardPath } from '../../contract/path.ts';
import type { FileEntry } from '../../contract/release.ts';
import type { FileWriter } from './file-writer.ts';

const FLUSH_CHARS = 2_000_000;
const NEWLINE = 0x0a;

/** Collects look-up lines of all readings into sorted shards, in memory that does not grow. */
export interface VerifyShards {
  add(lines: string): void;
  write(writer: FileWriter): FileEntry[];
}

/** `folder` holds unsorted shards until they are written. */
export function verifyShards(folder: string): VerifyShards {
  mkdirSync(folder, { recursive: true });
  const shards = new Map<string, string[]>();
  const seen = new Set<string>();
  let held = 0;
  const flush = (): void => {
    for (const [shard, lines] of shards)
      appendFileSync(join(folder, shard), `${lines.join('\n')}\n`);
    shards.clear();
    held = 0;
  };
  return {
    add(text) {
      for (const line of text.split('\n')) {
        if (line !== '') addLine(shards, seen, line);
      }
      held += text.length;
      if (held > FLUSH_CHARS) flush();
    },
    write(writer) {
      flush();
      return [...seen].sort().map((shard) => {
        const bytes = sortedLines(readFileSync(join(folder, shard)));
        return writer.write(verifyShardPath(`sha256:${shard}`), bytes);
      });
    },
  };
}

/** `["sha256:ab…` puts the two digits that name the shard at a fixed place of the line. */
const DIGITS_AT = '["sha256:'.length;

function addLine(shards: Map<string, string[]>, seen: Set<string>, line: string): void {
  const shard = line.slice(DIGITS_AT, DIGITS_AT + 2);
  const lines = shards.get(shard);
  if (lines === undefined) shards.set(shard, [line]);
  else lines.push(line);
  seen.add(shard);
}

/** Sorts by bytes without making a string of each line: a shard of a large release has tens of thousands. */
function sortedLines(bytes: Buffer): Buffer {
  const starts: number[] = [];
  for (let at = 0; at < bytes.length; at = endOf(bytes, at)) starts.push(at);
  starts.sort((a, b) => bytes.compare(bytes, b, endOf(bytes, b), a, endOf(bytes, a)));
  return Buffer.concat(starts.map((at) => bytes.subarray(at, endOf(bytes, at))));
}

function endOf(bytes: Buffer, at: number): number {
  return bytes.indexOf(NEWLINE, at) + 1;
}
