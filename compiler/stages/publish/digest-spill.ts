import { closeSync, existsSync, readSync } from 'node:fs';
import { HASH_BYTES } from '../../contract/merkle.ts';
import { openPlain } from '../../verify/plain-file.ts';
import { DIGEST_LINE_BYTES, numberAt } from './digest-lines.ts';
import { LineSpill } from './line-spill.ts';

/** First bytes that a digest can have. */
export const FIRST_BYTES = 256;

/** In memory, before lines go to the disk. */
const BYTES_MAX = 65_536 * DIGEST_LINE_BYTES;
const PIECE_LINES = 8192;

/** Says what group a line belongs to that begins at a place. */
type GroupOf = (lines: Buffer, at: number) => number;

/** Digests with a number each, in groups, in memory that does not grow; see DIGEST_LINE_BYTES. */
export class DigestSpill {
  readonly #lines: LineSpill;
  readonly #line = Buffer.alloc(DIGEST_LINE_BYTES);

  /** `folder` holds what is too much for the memory. */
  private constructor(folder: string, groups: number, groupOf: GroupOf) {
    const form = { endOf: endOfDigest, groupOf, groups };
    this.#lines = new LineSpill(folder, form, BYTES_MAX);
  }

  static byFirstByte(folder: string): DigestSpill {
    return new DigestSpill(folder, FIRST_BYTES, (lines, at) => lines[at] ?? 0);
  }

  /** Groups by the numbers, which are below `groups`. */
  static byNumber(folder: string, groups: number): DigestSpill {
    return new DigestSpill(folder, groups, numberAt);
  }

  /** Adds a digest of 32 bytes. */
  add(digest: Uint8Array, number: number): void {
    this.#line.set(digest);
    this.#line.writeUInt32BE(number, HASH_BYTES);
    this.#lines.add(this.#line);
  }

  /** Lines of a group in the order in which they were added; valid until those of another are asked for, or one is added. */
  group(group: number): Buffer {
    return this.#lines.take(group);
  }

  /** The same, some lines at a time. */
  *pieces(group: number): Generator<Buffer> {
    const path = this.#lines.pathOf(group);
    if (existsSync(path)) yield* piecesOf(path);
    yield this.#lines.heldOf(group);
  }
}

function endOfDigest(_lines: Buffer, start: number): number {
  return start + DIGEST_LINE_BYTES;
}

function* piecesOf(path: string): Generator<Buffer> {
  const file = openPlain(path);
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
