import { join } from 'node:path';
import type { FileEntry } from '../format/release.ts';
import { SHARD_STARTS, verifyShardPath } from '../products/shapes/path.ts';
import { ForgottenError } from '../system/compile-error.ts';
import type { FileWriter } from './file-writer.ts';
import { byteAt, sortedLines } from './hash-lines.ts';
import { LineSpill } from './line-spill.ts';
import { ReusedBytes } from './reused-bytes.ts';
import {
  editLines,
  endOf,
  findLine,
  GatheredLines,
  type LineEdit,
  textOrder,
} from './sorted-lines.ts';

/** Of lines in memory, before they go to the disk. */
const HELD_BYTES_MAX = 2_000_000;

/** Collects look-up lines into sorted shards, in memory that does not grow. */
export interface VerifyShards {
  add(lines: string | Uint8Array): void;
  /** Takes away lines that the previous release has; an asterisk stands for a digit of their hash that is not known. */
  remove(lines: string | Uint8Array): void;
  /** Writes the shards that differ from those of the previous release. */
  write(writer: FileWriter): FileEntry[];
  /** Paths of shards of that release of which no line is left, once they are written. */
  readonly emptied: readonly string[];
}

/** The shards of the previous release that this one goes on from, by their paths; null for one that it does not have. */
type ShardsBefore = (path: string) => Buffer | null;

/** `folder` holds unsorted lines until they are written. */
export function verifyShards(folder: string, before: ShardsBefore = () => null): VerifyShards {
  const added = shardSpill(join(folder, 'added'));
  const gone = shardSpill(join(folder, 'gone'));
  const emptied: string[] = [];
  return {
    emptied,
    add: (lines) => added.add(bytesOf(lines)),
    remove: (lines) => gone.add(bytesOf(lines)),
    write(writer) {
      const rooms = { edited: new GatheredLines('latin1'), sorted: new ReusedBytes() };
      const entries: FileEntry[] = [];
      for (const [path, edits] of editsByPath(added, gone)) {
        const bytes = edited(before(path) ?? Buffer.alloc(0), edits, rooms);
        if (bytes === null) continue;
        if (bytes.length === 0) emptied.push(path);
        else entries.push(writer.write(path, bytes));
      }
      return entries;
    },
  };
}

interface ShardEdits {
  readonly added: Buffer;
  readonly gone: Buffer;
}

/** What is to be done to each shard that lines were added to or taken away from; valid until the next one is taken. */
function* editsByPath(
  added: LineSpill,
  gone: LineSpill,
): Generator<readonly [path: string, edits: ShardEdits]> {
  for (const [shard, start] of SHARD_STARTS.entries()) {
    const edits = { added: added.take(shard), gone: gone.take(shard) };
    if (edits.added.length + edits.gone.length > 0) yield [verifyShardPath(start), edits];
  }
}

/** `["sha256:ab…` puts the two digits that name the shard at a fixed place of the line. */
const DIGITS_AT = '["sha256:'.length;

const HASH_END = DIGITS_AT + 64;
/** Stands for a digit of a hash that is not known. */
const MASK = '*';
/** Behind them the digits that lines of one shard are sorted by first. */
const LEAD_AT = DIGITS_AT + 2;

function shardSpill(folder: string): LineSpill {
  const form = { endOf, groupOf: shardOf, groups: SHARD_STARTS.length };
  return new LineSpill(folder, form, HELD_BYTES_MAX);
}

function bytesOf(lines: string | Uint8Array): Uint8Array {
  return typeof lines === 'string' ? Buffer.from(lines, 'utf8') : lines;
}

function shardOf(lines: Buffer, start: number): number {
  return byteAt(lines, start + DIGITS_AT);
}

/** Memory that serves for one shard after the other. */
interface ShardBuffers {
  readonly edited: GatheredLines;
  readonly sorted: ReusedBytes;
}

/** A shard with lines added and taken away; null when nothing of it changes. */
function edited(before: Buffer, { added, gone }: ShardEdits, rooms: ShardBuffers): Buffer | null {
  if (before.length === 0 && gone.length === 0) return sortedLines(added, LEAD_AT, rooms.sorted);
  const edits = new Map<string, LineEdit>();
  for (const line of linesOf(gone)) {
    const key = wholeLine(before, line);
    edits.set(key, { key, line: null });
  }
  for (const line of linesOf(added)) {
    // A line that goes and comes back stays.
    if (!edits.delete(line)) edits.set(line, { key: line, line: `${line}\n` });
  }
  if (edits.size === 0) return null;
  const sorted = [...edits.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
  try {
    editLines({ bytes: before, order: textOrder }, sorted, rooms.edited);
  } catch (cause) {
    throw new ForgottenError('Cannot change the look-up lines: one is not there', { cause });
  }
  return rooms.edited.take();
}

/** The shard line whose hash is known except for some digits. */
function wholeLine(shard: Buffer, line: string): string {
  const mask = line.slice(0, HASH_END).indexOf(MASK);
  if (mask < 0) return line;
  const [known, rest] = [line.slice(0, mask), line.slice(HASH_END)];
  let at = findLine({ bytes: shard, order: textOrder }, known).start;
  while (at < shard.length) {
    const end = endOf(shard, at);
    const whole = shard.toString('latin1', at, end - 1);
    if (!whole.startsWith(known)) break;
    if (whole.slice(HASH_END) === rest) return whole;
    at = end;
  }
  throw new ForgottenError(`Cannot take away "${line}": not there`);
}

/** One character for each byte, so that lines are in the order of their bytes. */
function linesOf(bytes: Buffer): string[] {
  return bytes.toString('latin1').split('\n').slice(0, -1);
}
