import { closeSync, fstatSync, readSync } from 'node:fs';
import { openPlain } from '../system/plain-file.ts';

const SPARE_PART = 1 / 8;

/** Memory that serves for one piece after the other: pieces of many megabytes that are freed one by one leave holes. */
export class ReusedBytes {
  #bytes: Buffer = Buffer.alloc(0);

  /** So many bytes of any content, valid until the next call. */
  take(size: number): Buffer {
    if (size > this.#bytes.length) this.#bytes = Buffer.allocUnsafe(withSpare(size));
    return this.#bytes.subarray(0, size);
  }

  /** The content of a file followed by `rest`; valid until the next call. */
  file(path: string, rest: Buffer): Buffer {
    const file = openPlain(path);
    try {
      const { size } = fstatSync(file);
      const bytes = this.take(size + rest.length);
      for (let at = 0; at < size; ) at += readSome(file, bytes.subarray(at, size), at);
      rest.copy(bytes, size);
      return bytes;
    } finally {
      closeSync(file);
    }
  }
}

/** Somewhat more than a size, so that a somewhat longer piece fits too. */
export function withSpare(size: number): number {
  return size + Math.ceil(size * SPARE_PART);
}

function readSome(file: number, into: Buffer, position: number): number {
  const read = readSync(file, into, 0, into.length, position);
  if (read === 0) throw new RangeError('Cannot read a file to its end: it became shorter');
  return read;
}
