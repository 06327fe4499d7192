import { type Catalog, placesOf } from '../../../contract/catalog/catalog.ts';
import type { Place, Signal } from '../../../contract/catalog/line.ts';
import { endpointAt } from '../../../contract/endpoints.ts';
import { grouped } from '../../../contract/lists.ts';
import { knownFilePath } from '../../../contract/path.ts';
import {
  type CatalogRow,
  CODINGS,
  type FileEntry,
  isPacked,
  packedPath,
} from '../../../contract/release.ts';
import {
  FOUND_MAX,
  findUrl,
  SITE_DATA,
  SITE_FIND_URL,
  type SiteFind,
  type SiteFound,
  type SiteMap,
  type SiteMapRow,
  type SitePoint,
  siteWords,
} from '../../../contract/site.ts';
import type { CatalogNews } from '../../publish/catalog-changes.ts';
import { fileEntry } from '../../publish/file-writer.ts';
import type { Press } from '../../publish/press.ts';
import type { Shelf } from '../stored-bodies.ts';
import type { CatalogView } from './catalog-view.ts';
import { entityFiles, type SiteFile } from './entity-pieces.ts';
import { mapPath, piecesFolder } from './site-paths.ts';

/** Entities of a piece before it is cut by the next letter. */
const PIECE_ROWS_MAX = 1000;
/** Longest beginning of a word that is told apart. */
const KEY_CHARS_MAX = 12;

/** What the pieces are made from, and what is there of them already. */
interface PieceMaterial {
  readonly shelf: Shelf;
  readonly catalog: Catalog;
  /** The newest readings of the release. */
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
  const files = map === null ? lists : [map, ...lists];
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
    if (body === null) {
      addAll(there, packedPaths(path));
      continue;
    }
    const bytes = Buffer.from(JSON.stringify(body), 'utf8');
    const packed = packedPaths(path);
    if (isPacked(bytes)) addAll(there, packed);
    // A list that was cut into pieces is short now.
    else
      addAll(
        before,
        packed.filter((each) => find(each) !== null),
      );
    if (find(path)?.sha256 !== fileEntry(path, bytes).sha256) press.pack(path, bytes);
  }
  return [...before].filter((path) => !there.has(path));
}

function packedPaths(path: string): string[] {
  return CODINGS.map((coding) => packedPath(path, coding));
}

function addAll(set: Set<string>, paths: readonly string[]): void {
  for (const path of paths) set.add(path);
}

/** The free preview of a series, as far as the map shows it. */
interface StoredPreview {
  readonly entity_name: string | null;
  readonly rows: readonly {
    readonly observed_at: string;
    readonly current: Readonly<Record<string, unknown>>;
  }[];
}

/** The free last seven of every entity that has a position; null where none has. */
function mapFile(
  signal: Signal,
  places: ReadonlyMap<string, Place>,
  shelf: Shelf,
): SiteFile | null {
  const [metric] = signal.metrics;
  const rows = [...places].flatMap(([entity, place]): SiteMapRow[] => {
    const path = knownFilePath(endpointAt('/gauge/history-preview'), {
      signal_id: signal.id,
      entity,
    });
    if (!shelf.has(path)) return [];
    const preview = JSON.parse(new TextDecoder().decode(shelf.read(path))) as StoredPreview;
    return [rowOf(entity, place, { preview, metric })];
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

/** A word with the entity that it finds. */
type WordEntry = readonly [word: string, row: CatalogRow];

/** Every word of every entity, in pieces by how it begins. */
export function findFiles(rows: Iterable<CatalogRow>): SiteFile[] {
  const entries: WordEntry[] = [];
  for (const row of rows) {
    for (const word of siteWords(row.entity, row.entity_name)) entries.push([word, row]);
  }
  const pieces = [...byKey(entries, 1)].flatMap(([key, list]) => cut(key, list));
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

function byKey(
  entries: readonly WordEntry[],
  chars: number,
): ReadonlyMap<string, readonly WordEntry[]> {
  return grouped(entries, ([word]) => keyOf(word, chars));
}

/** One piece, or one for each next letter; words that are the key itself stay in the piece of the key. */
function cut(key: string, entries: readonly WordEntry[]): [string, readonly WordEntry[]][] {
  const chars = key.length;
  if (entries.length <= PIECE_ROWS_MAX || chars >= KEY_CHARS_MAX) return [[key, entries]];
  const parts = byKey(entries, chars + 1);
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
