import { hash } from 'node:crypto';
import { type Catalog, placesOf } from '../catalog/catalog.ts';
import {
  FOUND_MAX,
  findUrl,
  SITE_DATA,
  SITE_FIND_URL,
  SITE_ROWS_MAX,
  type SiteEntities,
  type SiteEntityRow,
  type SiteFind,
  type SiteFound,
  type SiteMap,
  type SiteMapRow,
  type SitePiece,
  type SitePieceRef,
  type SitePoint,
  siteWords,
} from '../catalog/site.ts';
import { defined } from '../format/errors.ts';
import { firstWhere, grouped } from '../format/lists.ts';
import {
  type CatalogRow,
  CODINGS,
  type FileEntry,
  isPacked,
  packedPath,
  parseCatalogRow,
} from '../format/release.ts';
import { textHash } from '../format/text-hash.ts';
import type { Place, Signal } from '../products/shapes/line.ts';
import { encodeSegment } from '../products/shapes/path.ts';
import type { CatalogNews } from '../release/catalog-changes.ts';
import { fileEntry } from '../release/file-writer.ts';
import type { Press } from '../release/press.ts';
import type { Shelf } from './examples.ts';
import { previewOf, type StoredPreview, worstOf, worstPath } from './worst.ts';

/** Entities of a piece before it is cut by the next letter. */
const PIECE_ROWS_MAX = 1000;
/** Longest beginning of a word that is told apart. */
const KEY_CHARS_MAX = 12;

interface PieceMaterial {
  readonly shelf: Shelf;
  readonly catalog: Catalog;
  readonly view: CatalogView;
  /** Signals that may have changed. */
  readonly changed: readonly string[];
  /** What differs from the release before, upon which this one is built; null where it is built upon nothing. */
  readonly news: Pick<CatalogNews, 'hasOtherNames' | 'touched'> | null;
  /** A file that the release lists so far. */
  readonly find: (path: string) => FileEntry | null;
}

/** Writes what differs of the lists of entities, the maps and the words; returns the paths that are no longer. */
export function writePieces(press: Press, material: PieceMaterial): string[] {
  const { catalog, view, changed, news } = material;
  const gone = changed.flatMap((id) => writeSignal(id, press, material));
  if (news?.hasOtherNames === false) return gone;
  const all = catalog.signals.flatMap(({ id }) => [...view.rows(id)]);
  return [...gone, ...writeFolder(`${SITE_DATA}/find/`, findFiles(all), { press, material })];
}

function writeSignal(id: string, press: Press, material: PieceMaterial): string[] {
  const { catalog, view, shelf, news, find } = material;
  const entry = catalog.entryById.get(id);
  if (entry === undefined) return [];
  const map = mapFile(entry.signal, placesOf(catalog, entry.line.id), shelf);
  const has = (path: string): boolean => find(path) !== null;
  const before = news === null ? null : { touched: news.touched.get(id) ?? [], has };
  const lists = entityFiles(id, view, before);
  const worst = worstOf(entry, view.rows(id), shelf);
  const files: SiteFile[] = [
    ...(map === null ? [] : [map]),
    ...(worst === null ? [] : [[worstPath(id), worst] as const]),
    ...lists,
  ];
  return writeFolder(piecesFolder(id), files, { press, material });
}

/** Writes the files that differ, and returns what else the folder holds. */
function writeFolder(
  folder: string,
  files: readonly SiteFile[],
  { press, material }: { readonly press: Press; readonly material: PieceMaterial },
): string[] {
  const { shelf, find } = material;
  const there = new Set<string>();
  const before = new Set(shelf.under(folder));
  for (const [path, body] of files) {
    there.add(path);
    const packed = CODINGS.map((coding) => packedPath(path, coding));
    const bytes = body === null ? null : Buffer.from(JSON.stringify(body), 'utf8');
    const isLong = bytes === null || isPacked(bytes);
    for (const each of packed) {
      if (isLong) there.add(each);
      // A list that was cut into pieces is short now.
      else if (find(each) !== null) before.add(each);
    }
    if (bytes === null) continue;
    if (find(path)?.sha256 !== fileEntry(path, bytes).sha256) press.pack(path, bytes);
  }
  return [...before].filter((path) => !there.has(path));
}

/** The free last seven of every entity that has a position; null where none has. */
function mapFile(
  signal: Signal,
  places: ReadonlyMap<string, Place>,
  shelf: Shelf,
): SiteFile | null {
  const [metric] = signal.metrics;
  const rows = [...places].flatMap(([entity, place]): SiteMapRow[] => {
    const preview = previewOf(shelf, { signal_id: signal.id, entity });
    return preview === null ? [] : [rowOf(entity, place, { preview, metric })];
  });
  const body: SiteMap = { signal_id: signal.id, metric, rows };
  return rows.length === 0 ? null : [mapPath(signal.id), body];
}

function rowOf(
  entity: string,
  { name, latitude, longitude }: Place,
  { preview, metric }: { readonly preview: StoredPreview; readonly metric: string },
): SiteMapRow {
  const points = preview.rows.map(({ observed_at, current }): SitePoint => {
    const { [metric]: value, band } = current;
    const number = typeof value === 'number' ? value : null;
    return typeof band === 'string' ? [observed_at, number, band] : [observed_at, number];
  });
  return [entity, preview.entity_name ?? name, latitude, longitude, points];
}

type WordEntry = readonly [word: string, row: CatalogRow];

/** Every word of every entity, in pieces by how it begins. */
export function findFiles(rows: Iterable<CatalogRow>): SiteFile[] {
  const entries: WordEntry[] = [];
  for (const row of rows) {
    for (const word of siteWords(row.entity, row.entity_name)) entries.push([word, row]);
  }
  const pieces = [...grouped(entries, ([word]) => keyOf(word, 1))].flatMap(([key, list]) =>
    cut(key, list),
  );
  pieces.sort(([a], [b]) => (a < b ? -1 : 1));
  const find: SiteFind = { keys: pieces.map(([key]) => key) };
  const files = pieces.map(([key, list]): SiteFile => [findUrl(key).slice(1), found(key, list)]);
  return [[SITE_FIND_URL.slice(1), find], ...files];
}

/** The beginning of a word, of so many UTF-16 units, or one more where that would halve a character. */
function keyOf(word: string, chars: number): string {
  const key = word.slice(0, chars);
  return key.isWellFormed() ? key : word.slice(0, chars + 1);
}

/** One piece, or one for each next letter; words that are the key itself stay in the piece of the key. */
function cut(key: string, entries: readonly WordEntry[]): [string, readonly WordEntry[]][] {
  const chars = key.length;
  if (entries.length <= PIECE_ROWS_MAX || chars >= KEY_CHARS_MAX) return [[key, entries]];
  const parts = grouped(entries, ([word]) => keyOf(word, chars + 1));
  // All of them are the same word.
  if (parts.size === 1 && parts.has(key)) return [[key, entries]];
  return [...parts].flatMap(([longer, list]): [string, readonly WordEntry[]][] => {
    return longer === key ? [[key, list]] : cut(longer, list);
  });
}

function found(key: string, entries: readonly WordEntry[]): SiteFound {
  const signals: Record<string, (readonly [string, string | null])[]> = {};
  const seen = new Set<CatalogRow>();
  for (const [, row] of entries) {
    if (seen.has(row)) continue;
    seen.add(row);
    if (seen.size > FOUND_MAX) continue;
    signals[row.signal_id] ??= [];
    signals[row.signal_id]?.push([row.entity, row.entity_name]);
  }
  return { key, total: seen.size, signals };
}

/** Entities of a piece on average. */
const PIECE_ROWS = 256;
const NAME_DIGITS = 16;

/** A file of the page by its path; null for a body that is as the release before has it. */
export type SiteFile = readonly [path: string, body: object | null];

/** What is known of the release before: which entities have another line now, and which files it has. */
interface PreviousPieces {
  readonly touched: readonly string[];
  readonly has: (path: string) => boolean;
}

/**
 * The list of a signal's entities, with its pieces where it is long. Where a piece ends follows from the entity that
 * begins the next one, and its name from the one that begins it: an entity more or less changes one piece or two. Only
 * pieces with a touched entity are read and made again.
 */
export function entityFiles(
  signal_id: string,
  catalog: CatalogView,
  before: PreviousPieces | null,
): SiteFile[] {
  const lines = [...catalog.lines(signal_id)];
  const rowsOf = (some: readonly CatalogLine[]): SiteEntityRow[] =>
    some.map((line) => shownRow(catalog.rowAt(line)));
  const list = (made: Omit<SiteEntities, 'signal_id'>): SiteFile => {
    return [listPath(signal_id), { signal_id, ...made }];
  };
  if (lines.length <= SITE_ROWS_MAX) return [list({ rows: rowsOf(lines), pieces: [] })];
  const cut = piecesOf(lines).map((piece, at, all): [SiteFile, SitePieceRef] => {
    const { entity: first } = defined(piece[0], 'the first line of a piece');
    const path = `${piecesFolder(signal_id)}${hash('sha256', first, 'hex').slice(0, NAME_DIGITS)}.json`;
    const isKept =
      before?.has(path) === true && !isTouched(before.touched, first, all[at + 1]?.[0]?.entity);
    const body: SitePiece | null = isKept ? null : { signal_id, rows: rowsOf(piece) };
    return [[path, body], { url: `/${path}`, first, entities: piece.length }];
  });
  return [list({ rows: null, pieces: cut.map(([, ref]) => ref) }), ...cut.map(([file]) => file)];
}

/** Whether an entity is touched from the first of a piece to the first of the next one, which may be a new cut itself. */
function isTouched(touched: readonly string[], first: string, next: string | undefined): boolean {
  const found =
    touched[
      firstWhere(touched.length, (at) => defined(touched[at], 'the touched entity') >= first)
    ];
  return found !== undefined && (next === undefined || found <= next);
}

function shownRow({ entity, entity_name, observed_at, last_looked_at }: CatalogRow): SiteEntityRow {
  return [entity, entity_name, observed_at, last_looked_at];
}

function piecesOf(lines: readonly CatalogLine[]): CatalogLine[][] {
  const pieces: CatalogLine[][] = [[]];
  for (const line of lines) {
    const isFull = (pieces.at(-1)?.length ?? 0) > 0 && beginsPiece(line.entity);
    if (isFull) pieces.push([]);
    pieces.at(-1)?.push(line);
  }
  return pieces;
}

/** True for one name in PIECE_ROWS. */
function beginsPiece(entity: string): boolean {
  const digest = textHash(entity);
  // Low bits alone depend on the low bits of the text.
  return ((digest >>> 16) ^ (digest & 0xffff)) % PIECE_ROWS === 0;
}

const NEWLINE = 0x0a;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** A line of the list, by its first byte and the one after its last. */
interface CatalogLine {
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

  *rows(signalId: string): Generator<CatalogRow> {
    for (const line of this.lines(signalId)) yield this.rowAt(line);
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

export function listPath(signalId: string): string {
  return `${SITE_DATA}/entities/${encodeSegment(signalId)}.json`;
}

function piecesFolder(signalId: string): string {
  return `${SITE_DATA}/entities/${encodeSegment(signalId)}/`;
}

export function mapPath(signalId: string): string {
  return `${SITE_DATA}/map/${encodeSegment(signalId)}.json`;
}
