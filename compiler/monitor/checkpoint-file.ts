// Every checkpoint that was seen, in a file that is only added to. When it has grown too long, every second one of its older
// half is left out: each is proven to be the start of the next, so those that stay bind what is gone.

import { appendFileSync, existsSync } from 'node:fs';
import { bytesToHex } from '@noble/hashes/utils.js';
import { z } from 'zod';
import { formatNote, openNote, parseNote } from '../contract/checkpoint.ts';
import { replaceFile } from '../stages/publish/replace-file.ts';
import { readPlain } from '../verify/plain-file.ts';

/** Checkpoints that are kept before the older half is thinned, and bytes of them: a log can make its notes long. */
const ROWS_MAX = 16_384;
const KEPT_BYTES_MAX = 64 << 20;
/** Longest note that is kept, in characters: further lines of witnesses are left out. */
const NOTE_CHARS_KEPT = 2048;
const FILE_BYTES_MAX = 128 << 20;

const rowSchema = z.strictObject({ seen_at: z.string(), address: z.string(), note: z.string() });

type SeenCheckpoint = z.infer<typeof rowSchema>;

export class CheckpointFile {
  readonly #path: string;
  readonly #most: Readonly<{ rows: number; bytes: number }>;
  /** Root in hex by size. */
  readonly #roots = new Map<number, string>();
  #rows = 0;
  #bytes = 0;

  /** Opens the file, which need not be there; a last line that a power cut left half written is dropped. */
  constructor(path: string, { rows = ROWS_MAX, bytes = KEPT_BYTES_MAX } = {}) {
    this.#path = path;
    this.#most = { rows, bytes };
    this.#take(this.#read());
  }

  get count(): number {
    return this.#rows;
  }

  /** Root in hex of a tree of this size that was seen; undefined where none is kept. */
  rootAt(size: number): string | undefined {
    return this.#roots.get(size);
  }

  noteAt(size: number): string | null {
    return this.#read().find(({ note }) => checkpointOf(note)?.size === size)?.note ?? null;
  }

  /** Keeps a checkpoint if none of its size is kept yet. */
  add(row: SeenCheckpoint): void {
    const kept = { ...row, note: shortened(row.note) };
    const checkpoint = checkpointOf(kept.note);
    if (checkpoint === null || this.#roots.has(checkpoint.size)) return;
    const line = lineOf(kept);
    appendFileSync(this.#path, line, { flush: true });
    this.#roots.set(checkpoint.size, bytesToHex(checkpoint.root));
    this.#rows += 1;
    this.#bytes += Buffer.byteLength(line);
    const { rows, bytes } = this.#most;
    if (this.#rows > rows || this.#bytes > bytes) this.#thin();
  }

  #thin(): void {
    const rows = this.#read();
    const half = Math.floor(rows.length / 2);
    const kept = rows.filter((_, at) => at >= half || at % 2 === 0);
    replaceFile(this.#path, kept.map(lineOf).join(''));
    this.#take(kept);
  }

  #take(rows: readonly SeenCheckpoint[]): void {
    this.#roots.clear();
    for (const { note } of rows) {
      const checkpoint = checkpointOf(note);
      if (checkpoint !== null) this.#roots.set(checkpoint.size, bytesToHex(checkpoint.root));
    }
    this.#rows = rows.length;
    this.#bytes = rows.reduce((sum, row) => sum + Buffer.byteLength(lineOf(row)), 0);
  }

  #read(): SeenCheckpoint[] {
    if (!existsSync(this.#path)) return [];
    const text = readPlain(this.#path, FILE_BYTES_MAX).toString('utf8');
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    // The next line must not go on in the middle of another.
    if (whole !== text) replaceFile(this.#path, whole);
    return whole.split('\n').slice(0, -1).map(rowOf);
  }
}

function rowOf(line: string, at: number): SeenCheckpoint {
  try {
    return rowSchema.parse(JSON.parse(line));
  } catch (cause) {
    throw new RangeError(
      `Cannot read the checkpoints that were seen: line ${at + 1} is damaged; name another --state, and keep this folder`,
      { cause },
    );
  }
}

function lineOf(row: SeenCheckpoint): string {
  return `${JSON.stringify(row)}\n`;
}

function checkpointOf(note: string) {
  return openNote(note)?.checkpoint ?? null;
}

/** The same note with as many lines as may be kept, those of the log first. */
function shortened(note: string): string {
  const parsed = parseNote(note);
  const origin = checkpointOf(note)?.origin;
  if (parsed === null || note.length <= NOTE_CHARS_KEPT) return note;
  const own = parsed.signatures.filter(({ name }) => name === origin);
  const others = parsed.signatures.filter(({ name }) => name !== origin);
  const signatures = [...own];
  for (const line of others) {
    const longer = formatNote({ ...parsed, signatures: [...signatures, line] });
    if (longer.length <= NOTE_CHARS_KEPT) signatures.push(line);
  }
  return formatNote({ ...parsed, signatures });
}
