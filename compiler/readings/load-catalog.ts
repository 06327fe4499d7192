import { type Dirent, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { BUILTIN } from '../catalog/builtin.ts';
import { type Catalog, catalogOf } from '../catalog/catalog.ts';
import {
  type CatalogFault,
  type CatalogFile,
  formatFaults,
  type NamedFile,
} from '../catalog/catalog-file.ts';
import { catalogFaults } from '../catalog/check-catalog.ts';
import {
  builtinCatalog,
  builtinRest,
  type WholeCatalog,
  wholeFile,
} from '../catalog/whole-catalog.ts';
import { messageOf } from '../format/errors.ts';
import { decodeUtf8, JsonError, parseJson } from '../format/strict-json.ts';
import type { Signal } from '../products/shapes/line.ts';
import { CompileError, type InputFault } from '../system/compile-error.ts';
import { readPlain } from '../system/plain-file.ts';
import { CATALOG_FOLDER, isLitter } from './list-snapshots.ts';

/** Longest file of a catalogue that is read: a line with 100,000 named entities is some 12 MB. */
const FILE_BYTES_MAX = 64 * 1024 * 1024;

/** What faults call the built-in catalogue. */
const BUILTIN_NAME = 'the built-in catalogue';

/** The catalogue of a shop with the files that its publisher wrote; none for the built-in one. */
export interface LoadedCatalog extends WholeCatalog {
  readonly files: readonly NamedFile<CatalogFile>[];
}

/** The catalogue of a folder of snapshots: its files in `catalog/`, else the built-in one; throws a CompileError. */
export function loadCatalog(snapshots: string): LoadedCatalog {
  const folder = join(snapshots, CATALOG_FOLDER);
  if (!existsSync(folder)) return { ...builtinCatalog(), files: [] };
  const faults: InputFault[] = [];
  const names = catalogNames(folder, faults);
  const files = names.flatMap((name) => readFile(folder, name, faults));
  if (names.length === 0 && faults.length === 0) {
    const message = 'the folder holds no file; write one such as tides.json, or remove the folder';
    faults.push({ code: 'bad_catalog', file: CATALOG_FOLDER, message });
  }
  refuse(faults);
  return wholeOf(files);
}

/** Joins files that have the format; throws a CompileError that names every row which does not fit the others. */
function wholeOf(files: readonly NamedFile<CatalogFile>[]): LoadedCatalog {
  const own = files.map(({ value }) => value);
  // What one file alone says cannot be joined with what another one adds to the built-in catalogue.
  const apart = catalogFaults(files).filter(({ pointer }) => pointer === '/extends');
  refuse(apart.map(catalogFault));
  refuse(catalogFaults([...builtinFor(own), ...files]).map(catalogFault));
  const file = wholeFile(own);
  const catalog = catalogOf([file]);
  refuse(changedSignals(files, catalog).map(catalogFault));
  return { catalog, file, files };
}

/** The rows that own files refer to without repeating them. */
function builtinFor(own: readonly CatalogFile[]): NamedFile<CatalogFile>[] {
  return own[0]?.extends === 'builtin' ? [{ file: BUILTIN_NAME, value: builtinRest(own) }] : [];
}

function refuse(faults: readonly InputFault[]): void {
  if (faults.length > 0) throw new CompileError(faults);
}

/** Names of the files in the order of their names, whatever order the disk has. */
function catalogNames(folder: string, faults: InputFault[]): string[] {
  const entries = readdirSync(folder, { withFileTypes: true });
  const stored = entries.filter((entry) => !isBeside(entry));
  for (const { name } of stored.filter((entry) => !isCatalogFile(entry))) {
    const message =
      'not a file of a catalogue; name a plain file with lower-case letters, such as tides.json';
    faults.push({ code: 'bad_name', file: `${CATALOG_FOLDER}/${name}`, message });
  }
  return stored
    .filter(isCatalogFile)
    .map(({ name }) => name)
    .sort();
}

function isBeside(entry: Dirent): boolean {
  return (
    isLitter(entry) || (entry.isFile() && (entry.name[0] === '.' || entry.name === 'README.md'))
  );
}

function isCatalogFile(entry: Dirent): boolean {
  return entry.isFile() && /^[a-z0-9][a-z0-9_-]*\.json$/.test(entry.name);
}

/** A file with its parsed value; none where it is not strict JSON or lacks the format. */
function readFile(folder: string, name: string, faults: InputFault[]): NamedFile<CatalogFile>[] {
  const file = `${CATALOG_FOLDER}/${name}`;
  let text = '';
  try {
    text = decodeUtf8(readPlain(join(folder, name), FILE_BYTES_MAX));
    const value = parseJson(text);
    const own = formatFaults({ file, value });
    faults.push(...own.map(catalogFault));
    return own.length > 0 ? [] : [{ file, value: value as unknown as CatalogFile }];
  } catch (error) {
    faults.push({ code: 'bad_catalog', file, ...lineOf(error, text), message: messageOf(error) });
    return [];
  }
}

function lineOf(error: unknown, text: string): Pick<InputFault, 'line'> {
  if (!(error instanceof JsonError) || error.at < 0) return {};
  return { line: text.slice(0, error.at).split('\n').length };
}

export function catalogFault({ file, pointer, reason }: CatalogFault): InputFault {
  const field = pointer === '' ? {} : { field: pointer };
  return { code: 'bad_catalog', file, ...field, message: reason };
}

/** Signals that keep an id of the built-in catalogue and mean something else: who has one body alone would misread it. */
function changedSignals(
  files: readonly NamedFile<CatalogFile>[],
  catalog: Catalog,
): CatalogFault[] {
  return files.flatMap(({ file, value }) =>
    (value.lines ?? []).flatMap(({ id }, at) => {
      const signals = catalog.lineById.get(id)?.signals ?? [];
      return signals.filter(isChanged).map((signal) => ({
        file,
        pointer: `/lines/${at}`,
        reason:
          `"${signal.id}" has another main metric or other bands than in ${BUILTIN_NAME}, ` +
          'by which readers judge it; give the signal another id',
      }));
    }),
  );
}

function isChanged(signal: Signal): boolean {
  const builtin = BUILTIN.entryById.get(signal.id)?.signal;
  return builtin !== undefined && meaningOf(signal) !== meaningOf(builtin);
}

function meaningOf({ metrics, bands = [], ownThresholds = [] }: Signal): string {
  return JSON.stringify([metrics[0], bands, ownThresholds]);
}
