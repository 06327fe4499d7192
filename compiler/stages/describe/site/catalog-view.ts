import { type CatalogRow, parseCatalogRow } from '../../../contract/release.ts';

const NEWLINE = 0x0a;

/** The compiled list of latest readings, read where it lies: it may have a hundred thousand lines. */
export class CatalogView {
  readonly #bytes: Buffer;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Rows of one signal in the order of the list. */
  *rows(signalId: string): Generator<CatalogRow> {
    const start = `[${JSON.stringify(signalId)},`;
    for (let at = this.#find(signalId); this.#startsWith(start, at); ) {
      const end = this.#end(at);
      yield parseCatalogRow(this.#bytes.toString('utf8', at, end));
      at = end + 1;
    }
  }

  /** Start of the first line whose signal is not before one; the length of the list where there is none. */
  #find(signalId: string): number {
    let [low, high] = [0, this.#bytes.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const start = middle === 0 ? 0 : this.#bytes.lastIndexOf(NEWLINE, middle - 1) + 1;
      const row = parseCatalogRow(this.#bytes.toString('utf8', start, this.#end(start)));
      if (row.signal_id < signalId) low = this.#end(start) + 1;
      else high = start;
    }
    return low;
  }

  #end(start: number): number {
    return this.#bytes.indexOf(NEWLINE, start);
  }

  #startsWith(start: string, at: number): boolean {
    const end = at + Buffer.byteLength(start);
    return end <= this.#bytes.length && this.#bytes.toString('utf8', at, end) === start;
  }
}
