import { createHash, type Hash } from 'node:crypto';
import type { Release } from '../../contract/release.ts';
import { isPublicPath, publicStretches } from '../../contract/release.ts';
import { pathOfLine, pathOrder } from './file-list-bytes.ts';
import { endOf, findLine } from './sorted-lines.ts';

/** The public lines of a list, hashed while the list is written behind another one. */
export class PublicLines {
  readonly #before: Buffer;
  readonly #stretches: ReturnType<typeof publicStretches>;
  readonly #hash: Hash = createHash('sha256');
  #count = 0;

  constructor(before: Buffer) {
    this.#before = before;
    const lines = { bytes: before, order: pathOrder };
    this.#stretches = publicStretches((text) => findLine(lines, text).start);
  }

  /** Lines of the other list from one place up to another stay. */
  keep(from: number, to: number): void {
    for (const [start, end] of this.#stretches) {
      const stretch = this.#before.subarray(Math.max(from, start), Math.min(to, end));
      this.#hash.update(stretch);
      for (let at = 0; at < stretch.length; at = endOf(stretch, at)) this.#count += 1;
    }
  }

  /** Adds a line with its line end. */
  add(line: string): void {
    if (!isPublicPath(pathOfLine(line))) return;
    this.#hash.update(line, 'latin1');
    this.#count += 1;
  }

  /** What the head states; call it once. */
  sum(): NonNullable<Release['public_files']> {
    return { sha256: `sha256:${this.#hash.digest('hex')}`, count: this.#count };
  }
}
