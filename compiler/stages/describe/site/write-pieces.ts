import { CODINGS, isPacked, packedPath } from '../../../contract/codings.ts';
import { lineOf, SIGNALS } from '../../../contract/lines.ts';
import type { FileEntry } from '../../../contract/release.ts';
import { SITE_DATA } from '../../../contract/site.ts';
import type { CatalogNews } from '../../publish/catalog-changes.ts';
import { fileEntry } from '../../publish/file-writer.ts';
import type { Press } from '../../publish/press.ts';
import type { Shelf } from '../stored-bodies.ts';
import type { CatalogView } from './catalog-view.ts';
import { entityFiles, type SiteFile } from './entity-pieces.ts';
import { findFiles } from './find-files.ts';
import { mapFile } from './map-file.ts';
import { piecesFolder } from './site-paths.ts';

/** What the pieces are made from, and what is there of them already. */
export interface PieceMaterial {
  readonly shelf: Shelf;
  readonly catalog: CatalogView;
  /** Signals of which something may have changed. */
  readonly changed: readonly string[];
  /** What differs from the release before, upon which this one is built; null where it is built upon nothing. */
  readonly news: Pick<CatalogNews, 'hasOtherNames' | 'touched'> | null;
  /** A file that the release lists so far. */
  readonly find: (path: string) => FileEntry | null;
}

/** Writes what differs of the lists of entities, the maps and the words; returns the paths that are no longer. */
export function writePieces(press: Press, material: PieceMaterial): string[] {
  const { catalog, changed, news } = material;
  const gone = changed.flatMap((id) => writeSignal(id, press, material));
  if (news?.hasOtherNames === false) return gone;
  const all = SIGNALS.flatMap(({ id }) => [...catalog.rows(id)]);
  return [...gone, ...writeFolder(`${SITE_DATA}/find/`, findFiles(all), { press, material })];
}

function writeSignal(id: string, press: Press, material: PieceMaterial): string[] {
  const signal = SIGNALS.find((each) => each.id === id);
  const line = lineOf(id);
  if (signal === undefined || line === undefined) return [];
  const map = mapFile(signal, line, material.shelf);
  const { catalog, news, find } = material;
  const has = (path: string): boolean => find(path) !== null;
  const before = news === null ? null : { touched: news.touched.get(id) ?? [], has };
  const lists = entityFiles(id, catalog, before);
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
