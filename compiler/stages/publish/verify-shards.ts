import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { verifyShardPath } from '../../contract/path.ts';
import type { FileEntry } from '../../contract/release.ts';
import { ForgottenError } from '../remember/forgotten-error.ts';
import type { FileWriter } from './file-writer.ts';
import { editedLines, endOf, type LineEdit } from './sorted-lines.ts';

const FLUSH_CHARS = 2_000_000;

/** Collects look-up lines into sorted shards, in memory that does not grow. */
export interface VerifyShards {
  add(lines: string): void;
  /** Takes away lines that the release before has. */
  remove(lines: string): void;
  /** Writes the shards that differ from those of the release before. */
  write(writer: FileWriter): FileEntry[];
  /** Paths of shards of that release of which no line is left, once they are written. */
  readonly emptied: readonly string[];
}

/** The shards of the release before that this one goes on from, by their paths; null for one that it does not have. */
export type ShardsBefore = (path: string) => Buffer | null;

/** `folder` holds unsorted lines until they are written. */
export function verifyShards(folder: string, before: ShardsBefore = () => null): VerifyShards {
  mkdirSync(folder, { recursive: true });
  const added = new Spill(folder, 'added');
  const gone = new Spill(folder, 'gone');
  const emptied: string[] = [];
  return {
    emptied,
    add: (lines) => added.add(lines),
    remove: (lines) => gone.add(lines),
    write(writer) {
      const digits = new Set([...added.shards(), ...gone.shards()]);
      return [...digits].sort().flatMap((shard) => {
        const path = verifyShardPath(`sha256:${shard}`);
        const edits = { added: added.take(shard), gone: gone.take(shard) };
        const parts = edited(before(path) ?? Buffer.alloc(0), edits);
        if (parts === null) return [];
        if (parts.length > 0) return [writer.write(path, Buffer.concat(parts))];
        emptied.push(path);
        return [];
      });
    },
  };
}

/** `["sha256:ab…` puts the two digits that name the shard at a fixed place of the line. */
const DIGITS_AT = '["sha256:'.length;

/** Lines by shard, on the disk when they are many. */
class Spill {
  readonly #folder: string;
  readonly #kind: string;
  readonly #held = new Map<string, string[]>();
  readonly #seen = new Set<string>();
  #chars = 0;

  constructor(folder: string, kind: string) {
    this.#folder = folder;
    this.#kind = kind;
  }

  shards(): ReadonlySet<string> {
    return this.#seen;
  }

  add(text: string): void {
    for (const line of text.split('\n')) {
      if (line !== '') this.#addLine(line);
    }
    this.#chars += text.length;
    if (this.#chars > FLUSH_CHARS) this.#flush();
  }

  take(shard: string): Buffer {
    const path = this.#pathOf(shard);
    const held = this.#held.get(shard) ?? [];
    const rest = Buffer.from(held.map((line) => `${line}\n`).join(''), 'utf8');
    return existsSync(path) ? Buffer.concat([readFileSync(path), rest]) : rest;
  }

  #addLine(line: string): void {
    const shard = line.slice(DIGITS_AT, DIGITS_AT + 2);
    const lines = this.#held.get(shard);
    if (lines === undefined) this.#held.set(shard, [line]);
    else lines.push(line);
    this.#seen.add(shard);
  }

  #flush(): void {
    for (const [shard, lines] of this.#held) {
      appendFileSync(this.#pathOf(shard), `${lines.join('\n')}\n`);
    }
    this.#held.clear();
    this.#chars = 0;
  }

  #pathOf(shard: string): string {
    return join(this.#folder, `${this.#kind}-${shard}`);
  }
}

interface ShardEdits {
  readonly added: Buffer;
  readonly gone: Buffer;
}

/** A shard with lines added and taken away; null when nothing of it changes. */
function edited(before: Buffer, { added, gone }: ShardEdits): readonly Buffer[] | null {
  if (before.length === 0 && gone.length === 0) return sortedLines(added);
  const edits = new Map<string, LineEdit>();
  for (const line of linesOf(gone)) edits.set(line, { key: line, line: null });
  for (const line of linesOf(added)) {
    // A line that goes and comes back stays.
    if (!edits.delete(line)) edits.set(line, { key: line, line: `${line}\n` });
  }
  if (edits.size === 0) return null;
  const sorted = [...edits.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
  try {
    return editedLines({ bytes: before, keyOf: (line) => line }, sorted);
  } catch (cause) {
    throw new ForgottenError('Cannot change the look-up lines: one is not there', { cause });
  }
}

function linesOf(bytes: Buffer): string[] {
  return bytes.toString('utf8').split('\n').slice(0, -1);
}

/** Sorts by bytes without making a string of each line: a shard of a large release has tens of thousands. */
function sortedLines(bytes: Buffer): Buffer[] {
  const starts: number[] = [];
  for (let at = 0; at < bytes.length; at = endOf(bytes, at)) starts.push(at);
  starts.sort((a, b) => bytes.compare(bytes, b, endOf(bytes, b), a, endOf(bytes, a)));
  return starts.map((at) => bytes.subarray(at, endOf(bytes, at)));
}
