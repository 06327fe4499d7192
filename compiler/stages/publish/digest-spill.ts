import { appendFileSync, closeSync, existsSync, mkdirSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { HASH_BYTES } from '../../contract/merkle.ts';
import { DIGEST_LINE_BYTES } from './digest-lines.ts';

/** First bytes that a digest can have. */
export const FIRST_BYTES = 256;

const ROOM_AT_FIRST = 1024;
/** Lines in memory, 2.4 MB, before they go to the disk. */
const LINES_MAX = 65_536;
const PIECE_LINES = 8192;

/** Says what group a line belongs to that begins at a place. */
type GroupOf = (lines: Buffer, at: number) => number;

/** Digests with a number each, in groups, in memory that does not grow; see DIGEST_LINE_BYTES. */
export class DigestSpill {
  readonly #folder: string;
  readonly #groups: number;
  readonly #groupOf: GroupOf;
  #held = Buffer.alloc(0);
  #count = 0;
  /** Where the lines of each group end in what is held, as long as they stand together. */
  #ends: Uint32Array | null = null;

  /** `folder` holds what is too much for the memory. */
  private constructor(folder: string, groups: number, groupOf: GroupOf) {
    this.#folder = folder;
    this.#groups = groups;
    this.#groupOf = groupOf;
  }

  static byFirstByte(folder: string): DigestSpill {
    return new DigestSpill(folder, FIRST_BYTES, (lines, at) => lines[at] ?? 0);
  }

  /** Groups by the numbers, which are below `groups`. */
  static byNumber(folder: string, groups: number): DigestSpill {
    return new DigestSpill(folder, groups, (lines, at) => lines.readUInt32BE(at + HASH_BYTES));
  }

  /** Adds a digest of 32 bytes. */
  add(digest: Uint8Array, number: number): void {
    if (this.#count === LINES_MAX) this.#flush();
    this.#makeRoom();
    const start = this.#count * DIGEST_LINE_BYTES;
    this.#held.set(digest, start);
    this.#held.writeUInt32BE(number, start + HASH_BYTES);
    this.#count += 1;
    this.#ends = null;
  }

  /** Lines of a group in the order in which they were added; valid until one is added. */
  group(group: number): Buffer {
    const pieces = [...this.pieces(group)];
    return pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
  }

  /** The same, some lines at a time. */
  *pieces(group: number): Generator<Buffer> {
    const path = this.#pathOf(group);
    if (existsSync(path)) yield* piecesOf(path);
    yield this.#heldOf(group);
  }

  #heldOf(group: number): Buffer {
    this.#ends ??= this.#arrange();
    const from = group === 0 ? 0 : this.#ends[group - 1];
    return this.#held.subarray(from, this.#ends[group]);
  }

  /** Puts the lines of each group together. */
  #arrange(): Uint32Array {
    const lines = this.#held.subarray(0, this.#count * DIGEST_LINE_BYTES);
    const arranged = Buffer.allocUnsafe(this.#held.length);
    const ends = this.#starts(lines);
    for (let at = 0; at < lines.length; at += DIGEST_LINE_BYTES) {
      const group = this.#groupOf(lines, at);
      const to = ends[group] ?? 0;
      lines.copy(arranged, to, at, at + DIGEST_LINE_BYTES);
      ends[group] = to + DIGEST_LINE_BYTES;
    }
    this.#held = arranged;
    return ends;
  }

  /** Where the lines of each group are to begin. */
  #starts(lines: Buffer): Uint32Array {
    const starts = new Uint32Array(this.#groups + 1);
    for (let at = 0; at < lines.length; at += DIGEST_LINE_BYTES) {
      const next = this.#groupOf(lines, at) + 1;
      starts[next] = (starts[next] ?? 0) + DIGEST_LINE_BYTES;
    }
    for (let group = 1; group < starts.length; group += 1) {
      starts[group] = (starts[group] ?? 0) + (starts[group - 1] ?? 0);
    }
    return starts;
  }

  #flush(): void {
    mkdirSync(this.#folder, { recursive: true });
    for (let group = 0; group < this.#groups; group += 1) {
      const lines = this.#heldOf(group);
      if (lines.length > 0) appendFileSync(this.#pathOf(group), lines);
    }
    this.#count = 0;
    this.#ends = null;
  }

  #makeRoom(): void {
    if ((this.#count + 1) * DIGEST_LINE_BYTES <= this.#held.length) return;
    const lines = Math.min(LINES_MAX, Math.max(ROOM_AT_FIRST, 2 * this.#count));
    const grown = Buffer.allocUnsafe(lines * DIGEST_LINE_BYTES);
    this.#held.copy(grown);
    this.#held = grown;
  }

  #pathOf(group: number): string {
    return join(this.#folder, String(group));
  }
}

function* piecesOf(path: string): Generator<Buffer> {
  const file = openSync(path, 'r');
  try {
    for (let at = 0; ; ) {
      const piece = Buffer.allocUnsafe(PIECE_LINES * DIGEST_LINE_BYTES);
      const read = readSync(file, piece, 0, piece.length, at);
      const whole = read - (read % DIGEST_LINE_BYTES);
      if (whole === 0) return;
      yield piece.subarray(0, whole);
      at += whole;
    }
  } finally {
    closeSync(file);
  }
}
