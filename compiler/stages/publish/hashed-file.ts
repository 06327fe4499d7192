import { createHash, type Hash } from 'node:crypto';
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { openPlain } from '../../verify/plain-file.ts';

/** Bytes that are gathered before they are hashed and written. */
const HELD_BYTES = 1 << 20;

/** A new file that is hashed while it is written, in memory that does not grow. */
export class HashedFile {
  readonly #file: number;
  readonly #hash: Hash = createHash('sha256');
  readonly #held = Buffer.allocUnsafe(HELD_BYTES);
  #length = 0;

  constructor(path: string) {
    this.#file = openSync(path, 'wx');
  }

  copy(bytes: Buffer, from: number, to: number): void {
    for (let at = from; at < to; ) {
      const copied = bytes.copy(this.#held, this.#length, at, to);
      this.#advance(copied);
      at += copied;
    }
  }

  /** Adds text of one byte a character that is shorter than what is held at once. */
  text(text: string): void {
    if (this.#length + text.length > HELD_BYTES) this.#flush();
    this.#advance(this.#held.write(text, this.#length, 'latin1'));
  }

  /** The sha256 of the whole file, hex; call it once, also after a failure. */
  close(): string {
    try {
      this.#flush();
      return this.#hash.digest('hex');
    } finally {
      closeSync(this.#file);
    }
  }

  #advance(bytes: number): void {
    this.#length += bytes;
    if (this.#length === HELD_BYTES) this.#flush();
  }

  #flush(): void {
    const bytes = this.#held.subarray(0, this.#length);
    this.#hash.update(bytes);
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#file, bytes, at);
    this.#length = 0;
  }
}

/** The sha256 of a file, hex, in memory that does not grow. */
export function fileDigest(path: string): string {
  const file = openPlain(path);
  try {
    const digest = createHash('sha256');
    const bytes = Buffer.allocUnsafe(HELD_BYTES);
    for (let read = readSync(file, bytes); read > 0; read = readSync(file, bytes)) {
      digest.update(bytes.subarray(0, read));
    }
    return digest.digest('hex');
  } finally {
    closeSync(file);
  }
}
