import { pricedRow } from '../../compiler/catalog/route.ts';
import { defined } from '../../compiler/format/errors.ts';
import { CATALOG_PATH, type CatalogRow, parseCatalogRow } from '../../compiler/format/release.ts';
import { textHash } from '../../compiler/format/text-hash.ts';
import type { SignalEntry } from '../../compiler/products/shapes/line.ts';
import { canonicalTarget, type Values } from '../../compiler/products/shapes/path.ts';
import type { Endpoint } from '../../compiler/products/shapes/product.ts';
import { positionOf } from '../../compiler/products/shapes/reading-text.ts';
import { productsOf, stockStart } from '../../compiler/products/signal-products.ts';
import { type Answered, KEEP_FOR_RELEASE, type Question } from '../heart/answers/service.ts';
import { lineOf, lineStarts } from '../heart/release/listed-files.ts';
import { sellsNow } from '../heart/release/offered.ts';
import { perRelease, type ReleaseIndex } from '../heart/release/release-index.ts';
import { FOR_EVERYBODY } from '../wire/cost.ts';
import { FREE_BYTES_MAX, jsonBytes } from './json-content.ts';

/** Pairs after which a page of the catalog ends, at the end of a signal. */
const CATALOG_PAGE_PAIRS = 500;
/** Bytes of a page beside its pairs. */
const CATALOG_FRAME_BYTES = 10_000;
/** Most bytes of one answer, for one signal or for everything at once; the rest is on the next page. */
const CATALOG_PAGE_BYTES = FREE_BYTES_MAX - CATALOG_FRAME_BYTES;

/** The compiled list of latest readings; empty when the release has none. */
export const catalogTable = perRelease(async (release: ReleaseIndex): Promise<CatalogTable> => {
  if (!release.has(CATALOG_PATH)) return new CatalogTable(Buffer.alloc(0));
  return new CatalogTable((await release.body(CATALOG_PATH, FOR_EVERYBODY)).bytes);
});

/** The same by signal. */
export const catalogRows = perRelease(
  async (release: ReleaseIndex): Promise<ReadonlyMap<string, RowList>> => {
    const table = await catalogTable(release);
    const numbers = new Map<string, number[]>(
      release.catalog.signals.map((signal) => [signal.id, []]),
    );
    for (let row = 0; row < table.size; row += 1) numbers.get(table.signalOf(row))?.push(row);
    const held = [...numbers].filter(([, list]) => list.length > 0);
    return new Map(held.map(([id, list]) => [id, table.list(list)]));
  },
);

/** What is stored, in the words of every list that counts it; counted once. */
export const catalogCounts = perRelease(async (release: ReleaseIndex) => {
  const all = [...(await catalogRows(release))];
  return {
    signal_ids: all.length,
    industries: new Set(all.map(([id]) => release.catalog.entryById.get(id)?.line.industry)).size,
    pairs: all.reduce((sum, [, list]) => sum + list.length, 0),
    distinct_entities: distinctEntities(all.map(([, list]) => list)),
  };
});

/** Entities that have a reading, each counted once. */
export function distinctEntities(lists: Iterable<RowList>): number {
  const entities = new Set<string>();
  for (const rows of lists) for (const { entity } of rows) entities.add(entity);
  return entities.size;
}

/** A signal of the catalog, or a part of a long one, its JSON made once: the whole list is free. */
type CatalogPiece = ReturnType<typeof piecesOf>[number];

const catalogPieces = perRelease(async (release: ReleaseIndex): Promise<CatalogPiece[]> => {
  const rows = await catalogRows(release);
  return [...rows].flatMap(([id, list]) => {
    const entry = defined(release.catalog.entryById.get(id), 'the row of the signal');
    return piecesOf(headOf(entry, release), entry, list);
  });
});

/** `/gauge/catalog`: the legal pairs, filtered and paged. Computed, because filters and pages combine freely. */
export async function catalog(question: Question, release: ReleaseIndex): Promise<Answered> {
  const { page = '1', ...filters } = question.route.values;
  const { signal_id: signalId, industry } = filters;
  const pieces = (await catalogPieces(release))
    .filter((piece) => signalId === undefined || piece.signalId === signalId)
    .filter((piece) => industry === undefined || piece.industry === industry);
  const pages = paged(pieces, Object.keys(filters).length > 0 ? Infinity : CATALOG_PAGE_PAIRS);
  return jsonBytes(catalogPage(pages, Number(page), filters), KEEP_FOR_RELEASE);
}

function headOf(entry: SignalEntry, release: ReleaseIndex) {
  const { id: signalId } = entry.signal;
  // Whether something of the signal is stored for an operation that can answer about it.
  const isStocked = (row: Endpoint): boolean => {
    const start = stockStart(row, signalId);
    return start === null ? sellsNow(row, release) : release.files.pathsUnder(start, 1).length > 0;
  };
  const stocked = productsOf(entry, release.catalog.operations)
    .filter(isStocked)
    .map((row) => pricedRow(row, { signal_id: signalId }));
  /** Those that are free of this signal; absent where none is. */
  const free = stocked.flatMap(({ path, priceUsd }) => (priceUsd === null ? [path] : []));
  /** Paths of the paid operations that have an answer about the signal. */
  const sells = stocked.flatMap(({ path, priceUsd }) => (priceUsd === null ? [] : [path]));
  const { industry } = entry.line;
  return { signal_id: signalId, industry, sells, ...(free.length === 0 ? {} : { free }) };
}

/** The pairs of a signal; a signal longer than a page is cut between two pairs. */
function piecesOf(signal: ReturnType<typeof headOf>, known: SignalEntry, list: RowList) {
  const pieces: string[][] = [];
  let room = 0;
  for (const { entity, entity_name: name } of list) {
    const pair = { entity, name, entity_name: name, ...positionOf(known, entity) };
    const json = JSON.stringify(pair);
    const bytes = Buffer.byteLength(json) + 1;
    if (bytes > room) {
      pieces.push([]);
      room = CATALOG_PAGE_BYTES;
    }
    pieces.at(-1)?.push(json);
    room -= bytes;
  }
  const { signal_id: signalId, industry } = signal;
  const head = JSON.stringify(signal).slice(0, -1);
  return pieces.map((entities) => {
    const json = Buffer.from(`${head},"entities":[${entities.join(',')}]}`, 'utf8');
    return { signalId, industry, pairs: entities.length, json };
  });
}

/** Ends a page after enough pairs, and before it gets too long. */
function paged(pieces: readonly CatalogPiece[], pairsMax: number): CatalogPiece[][] {
  const pages: CatalogPiece[][] = [];
  let pairs = Infinity;
  let bytes = 0;
  for (const piece of pieces) {
    if (pairs >= pairsMax || bytes + piece.json.length > CATALOG_PAGE_BYTES) {
      pages.push([]);
      pairs = 0;
      bytes = 0;
    }
    pages.at(-1)?.push(piece);
    pairs += piece.pairs;
    bytes += piece.json.length;
  }
  return pages;
}

function catalogPage(
  pages: readonly (readonly CatalogPiece[])[],
  page: number,
  filters: Values,
): Buffer {
  const listed = pages.flat();
  const next = canonicalTarget('/gauge/catalog', { ...filters, page: String(page + 1) });
  const rest = JSON.stringify({
    page,
    pages: pages.length,
    total_signals: new Set(listed.map((piece) => piece.signalId)).size,
    total_pairs: listed.reduce((sum, piece) => sum + piece.pairs, 0),
    next: page < pages.length ? next : null,
    all: '/gauge/catalog?all=1',
  });
  const signals = (pages[page - 1] ?? []).flatMap(({ json }, at) =>
    at === 0 ? json : [COMMA, json],
  );
  return Buffer.concat([SIGNALS_START, ...signals, Buffer.from(`],${rest.slice(1)}`, 'utf8')]);
}

const SIGNALS_START = Buffer.from('{"signals":[');
const COMMA = Buffer.from(',');

/** A line begins with its signal id: `["`, the id, a quote. */
const QUOTE = 0x22;
const ID_AT = 2;

/** Looked up where its bytes lie: as objects with their look-ups, 100,000 rows take 60 MB of heap. */
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
    return parseCatalogRow(lineOf(this.#bytes, this.#starts, number));
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
    const hash = textHash(lowerCased);
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
      const hash = textHash(this.row(number).entity.toLowerCase());
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
  first: Uint32Array;
  /** By the number of a row, the one after it in its chain. */
  next: Uint32Array;
  hashes: Uint32Array;
}

/** Some rows of a table, in an order of their own; each is made when it is asked for. */
export class RowList implements Iterable<CatalogRow> {
  readonly #table: CatalogTable;
  readonly #numbers: Uint32Array;
  #byEntity: RowList | null = null;

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

  slice(from: number, to: number): RowList {
    return new RowList(this.#table, this.#numbers.subarray(from, to));
  }

  *[Symbol.iterator](): Generator<CatalogRow> {
    for (const number of this.#numbers) yield this.#table.row(number);
  }

  /** In the order in which they are listed, sorted at its first use. */
  get byEntity(): RowList {
    this.#byEntity ??= this.sortedBy(({ entity }) => entity);
    return this.#byEntity;
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
