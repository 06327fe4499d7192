import { firstWhere } from '../../../contract/lists.ts';
import { type CatalogRow, parseCatalogRow } from '../../../contract/release.ts';

const NEWLINE = 0x0a;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** A line of the list, by its first byte and the one after its last. */
export interface CatalogLine {
  readonly from: number;
  readonly to: number;
  readonly entity: string;
}

/** The compiled list of latest readings, read where it lies: it may have a hundred thousand lines. */
export class CatalogView {
  readonly #bytes: Buffer;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Where the lines of one signal stand, with their entities, in order; nothing else of them is read. */
  *lines(signalId: string): Generator<CatalogLine> {
    const start = Buffer.from(`[${JSON.stringify(signalId)},"`);
    for (let from = this.#find(signalId); this.#startsWith(start, from); ) {
      const to = this.#end(from);
      yield { from, to, entity: this.#textAt(from + start.length) };
      from = to + 1;
    }
  }

  rowAt({ from, to }: CatalogLine): CatalogRow {
    return parseCatalogRow(this.#bytes.toString('utf8', from, to));
  }

  /** Rows of one signal in the order of the list. */
  *rows(signalId: string): Generator<CatalogRow> {
    const start = Buffer.from(`[${JSON.stringify(signalId)},`);
    for (let at = this.#find(signalId); this.#startsWith(start, at); ) {
      const end = this.#end(at);
      yield parseCatalogRow(this.#bytes.toString('utf8', at, end));
      at = end + 1;
    }
  }

  /** Start of the first line whose signal is not before one; the length of the list where there is none. */
  #find(signalId: string): number {
    return firstWhere(this.#bytes.length, (at) => {
      const start = at === 0 ? 0 : this.#bytes.lastIndexOf(NEWLINE, at - 1) + 1;
      const row = parseCatalogRow(this.#bytes.toString('utf8', start, this.#end(start)));
      return row.signal_id >= signalId;
    });
  }

  /** A JSON text, from after its first quote. */
  #textAt(from: number): string {
    let to = from;
    while (this.#bytes[to] !== QUOTE) to += this.#bytes[to] === BACKSLASH ? 2 : 1;
    const text = this.#bytes.toString('utf8', from, to);
    return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text;
  }

  #end(start: number): number {
    return this.#bytes.indexOf(NEWLINE, start);
  }

  #startsWith(start: Buffer, at: number): boolean {
    const end = at + start.length;
    return end <= this.#bytes.length && this.#bytes.compare(start, 0, start.length, at, end) === 0;
  }
}
