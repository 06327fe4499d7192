import { appendFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { verifyShardPath } from '../../contract/path.ts';
import { type FileEntry, parseVerifyEntry } from '../../contract/release.ts';
import type { FileWriter } from './file-writer.ts';

const FLUSH_CHARS = 8_000_000;

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
        const lines = readFileSync(join(folder, shard), 'utf8').split('\n').sort();
        const text = lines.filter((line) => line !== '').join('\n');
        return writer.write(shardPath(text), `${text}\n`);
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

function shardPath(text: string): string {
  const [first = ''] = text.split('\n', 1);
  return verifyShardPath(parseVerifyEntry(first).record_hash);
}
