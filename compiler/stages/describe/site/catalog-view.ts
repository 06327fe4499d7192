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
    for (let at = this.#find(start); this.#startsWith(start, at); ) {
      const end = this.#bytes.indexOf(NEWLINE, at);
      yield parseCatalogRow(this.#bytes.toString('utf8', at, end));
      at = end + 1;
    }
  }

  /** Start of the first line that begins so; the length of the list where none does. */
  #find(start: string): number {
    if (this.#startsWith(start, 0)) return 0;
    const before = this.#bytes.indexOf(`\n${start}`);
    return before < 0 ? this.#bytes.length : before + 1;
  }

  #startsWith(start: string, at: number): boolean {
    const end = at + Buffer.byteLength(start);
    return end <= this.#bytes.length && this.#bytes.toString('utf8', at, end) === start;
  }
}
