import { defined } from '../../compiler/contract/defined.ts';
import { type CatalogRow, parseCatalogRow } from '../../compiler/contract/release.ts';
import { lineStarts } from '../release/line-starts.ts';

/** A line begins with its signal id: `["`, the id, a quote. */
const QUOTE = 0x22;
const ID_AT = 2;
/** FNV-1a with 32 bits. */
const [HASH_BASIS, HASH_PRIME] = [0x811c9dc5, 0x01000193];

/**
 * The compiled list of latest readings, looked up where its bytes lie: as objects with their look-ups, 100,000 rows take
 * 60 MB of heap.
 */
export class CatalogTable {
  readonly #bytes: Buffer;
  /** Where each line begins, and where one more would. */
  readonly #starts: Uint32Array;
  #chains: EntityChains | null = null;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#starts = lineStarts(bytes);
  }

  get size(): number {
    return this.#starts.length - 1;
  }

  row(number: number): CatalogRow {
    const [start = 0, next = 1] = this.#starts.subarray(number, number + 2);
    return parseCatalogRow(this.#bytes.toString('utf8', start, next - 1));
  }

  signalOf(number: number): string {
    const start = defined(this.#starts[number], 'the start of the row') + ID_AT;
    return this.#bytes.toString('latin1', start, this.#bytes.indexOf(QUOTE, start));
  }

  list(numbers: Iterable<number>): RowList {
    return new RowList(this, Uint32Array.from(numbers));
  }

  /** Numbers of the rows of an entity, spelt in lower case, in the order of the list. */
  numbersOf(lowerCased: string): number[] {
    return [...this.likelyOf(lowerCased)].filter(
      (number) => this.row(number).entity.toLowerCase() === lowerCased,
    );
  }

  /** The same without parsing a row; a few of them may be of another entity. */
  *likelyOf(lowerCased: string): Generator<number> {
    this.#chains ??= this.#linked();
    const { first, next, hashes } = this.#chains;
    const hash = hashOf(lowerCased);
    for (let one = first[hash % first.length]; one !== undefined && one > 0; one = next[one - 1]) {
      if (hashes[one - 1] === hash) yield one - 1;
    }
  }

  /** From the end, so that each chain has the order of the list. */
  #linked(): EntityChains {
    const { size } = this;
    const first = new Uint32Array(size + 1);
    const [next, hashes] = [new Uint32Array(size), new Uint32Array(size)];
    for (let number = size - 1; number >= 0; number -= 1) {
      const hash = hashOf(this.row(number).entity.toLowerCase());
      const chain = hash % first.length;
      hashes[number] = hash;
      next[number] = defined(first[chain], 'the chain');
      first[chain] = number + 1;
    }
    return { first, next, hashes };
  }
}

/** Rows by the hash of their entity in lower case; numbers of rows plus one, 0 where a chain ends. */
interface EntityChains {
  readonly first: Uint32Array;
  /** By the number of a row, the one after it in its chain. */
  readonly next: Uint32Array;
  readonly hashes: Uint32Array;
}

/** Some rows of a table, in an order of their own; each is made when it is asked for. */
export class RowList implements Iterable<CatalogRow> {
  readonly #table: CatalogTable;
  readonly #numbers: Uint32Array;

  constructor(table: CatalogTable, numbers: Uint32Array) {
    this.#table = table;
    this.#numbers = numbers;
  }

  get length(): number {
    return this.#numbers.length;
  }

  /** A negative place counts from the end. */
  at(place: number): CatalogRow | undefined {
    const number = this.#numbers.at(place);
    return number === undefined ? undefined : this.#table.row(number);
  }

  /** As of an array, with places from the start. */
  slice(from: number, to: number): RowList {
    return new RowList(this.#table, this.#numbers.subarray(from, to));
  }

  *[Symbol.iterator](): Generator<CatalogRow> {
    for (const number of this.#numbers) yield this.#table.row(number);
  }

  /** The same rows, the smallest key first; rows with the same key keep their order. */
  sortedBy<Key extends string | number>(key: (row: CatalogRow) => Key): RowList {
    const rows = Array.from(this.#numbers, (number) => ({
      number,
      key: key(this.#table.row(number)),
    }));
    rows.sort((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)));
    return this.#table.list(rows.map(({ number }) => number));
  }
}

function hashOf(text: string): number {
  let hash = HASH_BASIS;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), HASH_PRIME);
  }
  return hash >>> 0;
}
