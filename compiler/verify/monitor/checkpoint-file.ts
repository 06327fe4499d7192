// Every checkpoint that was seen, in a file that is only added to. When it has grown too long, every second one of its older
// half is left out: each is proven to be the start of the next, so those that stay bind what is gone.

import { appendFileSync, existsSync } from 'node:fs';
import { bytesToHex } from '@noble/hashes/utils.js';
import { z } from 'zod';
import { formatNote, type NoteSignature, openNote } from '../../format/checkpoint.ts';
import { readPlain, replaceFile } from '../../system/plain-file.ts';

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
    for (const row of this.#read()) this.#take(row);
  }

  get count(): number {
    return this.#rows;
  }

  /** Root in hex of a tree of this size that was seen; undefined where none is kept. */
  rootAt(size: number): string | undefined {
    return this.#roots.get(size);
  }

  noteAt(size: number): string | null {
    return this.#read().find(({ note }) => openNote(note)?.checkpoint.size === size)?.note ?? null;
  }

  /** Keeps a checkpoint if none of its size is kept yet. */
  add(row: SeenCheckpoint): void {
    const kept = { ...row, note: shortened(row.note) };
    const size = openNote(kept.note)?.checkpoint.size;
    if (size === undefined || this.#roots.has(size)) return;
    appendFileSync(this.#path, lineOf(kept), { flush: true });
    this.#take(kept);
    if (this.#rows <= this.#most.rows && this.#bytes <= this.#most.bytes) return;
    const rows = this.#read();
    const thinned = rows.filter((_, at) => at >= Math.floor(rows.length / 2) || at % 2 === 0);
    replaceFile(this.#path, thinned.map(lineOf).join(''));
    this.#roots.clear();
    [this.#rows, this.#bytes] = [0, 0];
    for (const each of thinned) this.#take(each);
  }

  #take(row: SeenCheckpoint): void {
    const checkpoint = openNote(row.note)?.checkpoint;
    if (checkpoint !== undefined) this.#roots.set(checkpoint.size, bytesToHex(checkpoint.root));
    this.#rows += 1;
    this.#bytes += Buffer.byteLength(lineOf(row));
  }

  #read(): SeenCheckpoint[] {
    if (!existsSync(this.#path)) return [];
    const text = readPlain(this.#path, FILE_BYTES_MAX).toString('utf8');
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    // The next line must not go on in the middle of another.
    if (whole !== text) replaceFile(this.#path, whole);
    const lines = whole.split('\n').slice(0, -1);
    return lines.map((line, at) => {
      try {
        return rowSchema.parse(JSON.parse(line));
      } catch (cause) {
        throw new RangeError(
          `Cannot read the checkpoints that were seen: line ${at + 1} is damaged; name another --state, and keep this folder`,
          { cause },
        );
      }
    });
  }
}

function lineOf(row: SeenCheckpoint): string {
  return `${JSON.stringify(row)}\n`;
}

/** The same note with as many lines as may be kept, those of the log first. */
function shortened(text: string): string {
  const opened = openNote(text);
  if (opened === null || text.length <= NOTE_CHARS_KEPT) return text;
  const { note, checkpoint } = opened;
  const isOwn = ({ name }: NoteSignature): boolean => name === checkpoint.origin;
  const signatures = note.signatures.filter(isOwn);
  for (const line of note.signatures.filter((each) => !isOwn(each))) {
    const longer = formatNote({ ...note, signatures: [...signatures, line] });
    if (longer.length <= NOTE_CHARS_KEPT) signatures.push(line);
  }
  return formatNote({ ...note, signatures });
}
