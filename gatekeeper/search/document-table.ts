import type { SearchDocument } from '../../compiler/contract/search-index.ts';
import { lineStarts } from '../release/line-starts.ts';

/** The documents of a compiled index, each parsed when it is asked for. */
export class DocumentTable {
  readonly #bytes: Buffer;
  readonly #starts: Uint32Array;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#starts = lineStarts(bytes);
  }

  row(number: number): SearchDocument {
    const [start = 0, next = 1] = this.#starts.subarray(number, number + 2);
    return JSON.parse(this.#bytes.toString('utf8', start, next - 1)) as SearchDocument;
  }
}
