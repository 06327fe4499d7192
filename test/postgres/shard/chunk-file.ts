import { hash } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs';
import { deserialize, serialize } from 'node:v8';
import type { JobChunk } from '../../../compiler/jobs/chunk-builder.ts';

/** The chunks of one job, one behind the other in a file of the shared folder. */
export interface ChunkFile {
  readonly path: string;
  readonly chunks: readonly { readonly bytes: number; readonly sha256: string }[];
}

/** How the names of such files end, before and after all chunks are there. */
export const PARTIAL = '.partial';
export const CHUNKS = '.chunks';

/** Writes the chunks of a job. A worker that is lost leaves a file that counts for nothing. */
export class ChunkWriter {
  readonly #path: string;
  readonly #file: number;
  readonly #chunks: ChunkFile['chunks'][number][] = [];

  /** `path` is without its ending, and no other worker uses it. */
  constructor(path: string) {
    this.#path = path;
    this.#file = openSync(path + PARTIAL, 'wx');
  }

  add(chunk: JobChunk): void {
    // The bytes of a chunk stand in memory that serves again, so they are copied here.
    const bytes = serialize(chunk);
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#file, bytes, at);
    this.#chunks.push({ bytes: bytes.length, sha256: hash('sha256', bytes) });
  }

  finish(): ChunkFile {
    const path = this.#path + CHUNKS;
    fsyncSync(this.#file);
    renameSync(this.#path + PARTIAL, path);
    return { path, chunks: this.#chunks };
  }

  /** Ends the writing; a file that was not finished goes. */
  close(): void {
    closeSync(this.#file);
    rmSync(this.#path + PARTIAL, { force: true });
  }
}

/** Hands over the chunks of a file. Throws a RangeError at the first one that is not what was answered. */
export function readChunks({ path, chunks }: ChunkFile, take: (chunk: JobChunk) => void): void {
  const file = openSync(path, 'r');
  try {
    for (const { bytes, sha256 } of chunks) {
      const body = read(file, bytes);
      if (hash('sha256', body) !== sha256)
        throw new RangeError(`Cannot take "${path}": its bytes are not those that were answered`);
      take(deserialize(body));
    }
  } finally {
    closeSync(file);
  }
}

/** Fewer bytes where the file ends before. */
function read(file: number, size: number): Buffer {
  const bytes = Buffer.alloc(size);
  let at = 0;
  for (let got = -1; at < size && got !== 0; at += got) {
    got = readSync(file, bytes, at, size - at, null);
  }
  return bytes.subarray(0, at);
}
