import { isBasket } from '../../contract/basket.ts';
import type { Catalog } from '../../contract/catalog/catalog.ts';
import {
  type CatalogFault,
  type CatalogFile,
  type NamedFile,
  pointerOf,
} from '../../contract/catalog/catalog-file.ts';
import { parseCatalog, WHOLE_CATALOG_PATH } from '../../contract/catalog/whole-catalog.ts';
import { type Endpoint, endpointAt } from '../../contract/endpoints.ts';
import { grouped } from '../../contract/grouped.ts';
import { knownFilePath } from '../../contract/path.ts';
import { CATALOG_PATH, parseCatalogRow } from '../../contract/release.ts';
import { CompileError } from '../intake/compile-error.ts';
import { CATALOG_FOLDER, catalogFault, type LoadedCatalog } from '../intake/load-catalog.ts';
import { type ChangedRow, type Sold, type SoldChange, soldChanges } from './changed-sales.ts';
import { type FileListBytes, readStored } from './file-list-bytes.ts';
import { previousFiles } from './release-store.ts';

/** The option that lets a catalogue change what was sold. */
export const ACCEPT_CHANGES = '--accept-catalog-changes';

/** A catalogue with `sha256:` of its bytes, which tell that nothing changed. */
export interface JudgedCatalog extends LoadedCatalog {
  readonly sha256: string;
}

const MANIFEST = knownFilePath(endpointAt('/manifest'), { all: '1' });

/**
 * Refuses a catalogue that breaks what the current release sells. Throws a CompileError that names every change, with its
 * member; where they are accepted, they are returned as texts.
 */
export function refuseChanges(
  data: string,
  loaded: JudgedCatalog,
  { accepted }: { readonly accepted: boolean },
): readonly string[] {
  const sold = soldBefore(data, loaded);
  if (sold === null) return [];
  const changes = soldChanges(sold, loaded.catalog);
  if (accepted) return changes.map((change) => `${placeText(loaded, change)} ${change.change}`);
  if (changes.length > 0) {
    throw new CompileError(changes.map((change) => catalogFault(faultOf(loaded, change))));
  }
  return [];
}

function placeText(loaded: LoadedCatalog, { row }: SoldChange): string {
  const { file, pointer } = placeOf(loaded.files, row);
  return `${file} ${pointer}:`;
}

function faultOf({ files }: LoadedCatalog, { row, change, remedy }: SoldChange): CatalogFault {
  return {
    ...placeOf(files, row),
    reason: `${change}; ${remedy}, or compile with ${ACCEPT_CHANGES}`,
  };
}

/** What the current release sells; null where nothing is sold, or by the same catalogue. */
function soldBefore(data: string, { sha256 }: JudgedCatalog): Sold | null {
  const files = previousFiles(data)?.files() ?? null;
  const entry = files?.find(WHOLE_CATALOG_PATH) ?? null;
  // A release of the time before catalogues says nothing that could be compared.
  if (files === null || entry === null) return null;
  if (`sha256:${entry.sha256}` === sha256) return null;
  const read = (path: string): Buffer => bytesOf(data, files, path);
  const catalog = catalogBefore(data, read(WHOLE_CATALOG_PATH));
  return {
    catalog,
    entities: recordedEntities(read(CATALOG_PATH)),
    paths: soldPaths(read(MANIFEST), catalog),
  };
}

function bytesOf(data: string, files: FileListBytes, path: string): Buffer {
  const entry = files.find(path);
  if (entry === null) throw unreadable(data, `it has no "${path}"`);
  try {
    return readStored(data, entry);
  } catch (cause) {
    throw unreadable(data, cause instanceof Error ? cause.message : String(cause));
  }
}

function catalogBefore(data: string, bytes: Buffer): Catalog {
  try {
    return parseCatalog(bytes);
  } catch (cause) {
    throw unreadable(data, cause instanceof Error ? cause.message : String(cause));
  }
}

/** Without what was sold, nobody knows what a changed catalogue breaks. */
function unreadable(data: string, state: string): CompileError {
  const message =
    `the catalogue changed, and what the current release sells cannot be read: ${state}; ` +
    'restore that release from a copy, or put the catalogue back';
  return new CompileError([{ code: 'cannot_publish', file: data, message }]);
}

/** By signal, from the list of latest readings. */
function recordedEntities(list: Buffer): ReadonlyMap<string, readonly string[]> {
  const rows = list.toString('utf8').split('\n').slice(0, -1).map(parseCatalogRow);
  const groups = grouped(rows, ({ signal_id }) => signal_id);
  return new Map([...groups].map(([id, own]) => [id, own.map(({ entity }) => entity)]));
}

interface Entry {
  readonly path: string;
  readonly sells_now: boolean;
}

function soldPaths(manifest: Buffer, { operationByPath }: Catalog): ReadonlySet<string> {
  const { entries } = JSON.parse(manifest.toString('utf8')) as { entries: readonly Entry[] };
  const sold = entries.filter(
    ({ path, sells_now }) => sells_now && isSold(operationByPath.get(path)),
  );
  return new Set(sold.map(({ path }) => path));
}

/** Whether money opens an operation: a price, the prices of what is in a basket, or a token that was bought. */
function isSold(row: Endpoint | undefined): boolean {
  return row !== undefined && (row.priceUsd !== null || row.token || isBasket(row));
}

type Files = readonly NamedFile<CatalogFile>[];
type Place = Omit<CatalogFault, 'reason'>;

/** Where the publisher's own files hold a row, else where it could be put back. */
function placeOf(files: Files, row: ChangedRow): Place {
  if ('ruler' in row) return keyedPlace(files, 'rulers', row.ruler);
  if ('price' in row)
    return leftOutPlace(files, row.price) ?? keyedPlace(files, 'prices', row.price);
  const inLine = 'of' in row ? linePlace(files, { line: row.of, member: 'signals' }) : null;
  return linePlace(files, row) ?? inLine ?? topPlace(files, 'lines');
}

function leftOutPlace(files: Files, path: string): Place | null {
  for (const { file, value } of files) {
    const at = value.leftOut?.indexOf(path) ?? -1;
    if (at >= 0) return { file, pointer: pointerOf(['leftOut', at]) };
  }
  return null;
}

function keyedPlace(files: Files, member: 'rulers' | 'prices', id: string): Place {
  const holder = files.find(({ value }) => Object.hasOwn(value[member] ?? {}, id));
  if (holder === undefined) return topPlace(files, member);
  return { file: holder.file, pointer: pointerOf([member, id]) };
}

/** Where a row could be put back: in the first file that has such rows. */
function topPlace(files: Files, member: 'lines' | 'rulers' | 'prices'): Place {
  const holder = files.find(({ value }) => value[member] !== undefined) ?? files[0];
  return holder === undefined
    ? { file: CATALOG_FOLDER, pointer: '' }
    : { file: holder.file, pointer: pointerOf([member]) };
}

type LineRowChange = Exclude<ChangedRow, { ruler: string } | { price: string }>;

function linePlace(files: Files, row: LineRowChange): Place | null {
  for (const { file, value } of files) {
    for (const [at, line] of (value.lines ?? []).entries()) {
      const below = memberIn(line, row);
      if (below !== null) return { file, pointer: pointerOf(['lines', at, ...below]) };
    }
  }
  return null;
}

type LineRow = NonNullable<CatalogFile['lines']>[number];

/** Where a line holds a row; null for another line. */
function memberIn(line: LineRow, row: LineRowChange): readonly PropertyKey[] | null {
  if ('signal' in row) return signalMember(line, row);
  if ('line' in row) return line.id === row.line ? membersOf(line, row.member) : null;
  if (line.id !== row.of) return null;
  const at = line.entities.findIndex((one) => typeof one !== 'string' && one.id === row.entity);
  if (at >= 0) return ['entities', at];
  const beside = line.places?.findIndex(({ id }) => id === row.entity) ?? -1;
  return beside >= 0 ? ['places', beside] : [];
}

function signalMember(
  line: LineRow,
  { signal, member }: Extract<ChangedRow, { signal: string }>,
): readonly PropertyKey[] | null {
  const at = line.signals?.findIndex(({ id }) => id === signal) ?? -1;
  if (at >= 0) return ['signals', at, ...membersOf(line.signals?.[at] ?? {}, member)];
  const isOfLifecycle = line.lifecycle !== undefined && signal.startsWith(`${line.id}.`);
  return isOfLifecycle ? ['lifecycle'] : null;
}

/** A member that was left out has no place of its own. */
function membersOf(row: object, member: string): readonly PropertyKey[] {
  return member !== '' && Object.hasOwn(row, member) ? [member] : [];
}
