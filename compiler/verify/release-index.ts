import type { Catalog } from '../catalog/catalog.ts';
import { messageOf } from '../format/errors.ts';
import {
  CATALOG_PATH,
  type CatalogRow,
  type CurrentEntry,
  formatCatalogRow,
  formatVerifyEntry,
  parseCatalogRow,
  parseVerifyEntry,
} from '../format/release.ts';
import {
  decodeUtf8,
  isObject,
  type JsonObject,
  type JsonValue,
  parseJson,
} from '../format/strict-json.ts';
import { endpointAt } from '../products/products.ts';
import { FILERS_PATH, parseFilerLine } from '../products/shapes/filing-index.ts';
import {
  filePath,
  parseFilePath,
  SHARD_STARTS,
  type Values,
  verifyShardPath,
} from '../products/shapes/path.ts';
import type { Endpoint } from '../products/shapes/product.ts';
import type { SignalRecord } from '../products/shapes/record.ts';
import { catalogRow } from '../products/shapes/record-views.ts';
import { type Disk, lines, readAll } from '../system/disk.ts';
import { objectNodes } from './body-check.ts';
import { type FileList, listedFiles, placeOfFile } from './file-list.ts';
import { filerLineFault, strayFilings } from './filing-relations.ts';
import { differences } from './relation.ts';
import { Faults } from './release-fault.ts';
import { BODY_BYTES_MAX, StoredBodies } from './stored-bodies.ts';

const LINE_BYTES_MAX = 65_536;
/** Files whose record hash stands for a reading. */
export const RECORD = /^record\//;
/** Files whose record hash, where they have one, stands for a roster row. */
const SUBJECT = /^subject\//;

interface IndexCheck {
  readonly disk: Disk;
  readonly list: FileList;
  readonly root: string;
  readonly faults: Faults;
}

interface ShardCheck extends IndexCheck {
  /** Row hashes by file; a roster holds thousands, and shards are in the order of hashes. */
  readonly rows: Map<string, ReadonlySet<string> | null>;
}

export interface WorkShare {
  readonly number: number;
  readonly of: number;
}

/** Compares each line of the catalog that is in the share with its record; returns how many lines there are. */
function checkCatalog(index: IndexCheck, { number, of }: WorkShare): number {
  let last = '';
  let at = 0;
  return eachLine(index, CATALOG_PATH, (line, where) => {
    at += 1;
    const row = parseCatalogRow(line);
    const isOurs = at % of === number;
    const order = `${row.signal_id}\n${row.entity}`;
    const isSorted = order > last;
    last = order;
    if (!isOurs) return null;
    if (formatCatalogRow(row) !== `${line}\n`) return [where, 'not a catalog line'];
    if (!isSorted) return [where, 'out of order, or listed twice'];
    const record = bodyOf(
      index,
      filePath(endpointAt('/gauge'), { signal_id: row.signal_id, entity: row.entity }) ?? 'record',
    );
    return record === null ? [where, 'no such record'] : rowFault(row, record, where);
  });
}

type IndexFault = readonly [where: string, detail: string] | null;

function rowFault(row: CatalogRow, record: JsonObject, where: string): IndexFault {
  const made = catalogRow(record as unknown as SignalRecord);
  const off = [...differences({ ...row }, { ...made })][0];
  return off === undefined ? null : [`${where} ${off}`, 'differs from the record'];
}

/** Compares the lines of one look-up shard with their files; returns how many there are. */
function checkShard(index: ShardCheck, path: string) {
  let last = '';
  let lastHash = '';
  const listed = { reading: 0, row: 0, subject: 0, citation: 0 };
  const lines = eachLine(index, path, (line, where) => {
    const entry = parseVerifyEntry(line);
    if (formatVerifyEntry(entry) !== `${line}\n`) return [where, 'not a look-up line'];
    if (verifyShardPath(entry.record_hash) !== path) return [where, 'belongs to another shard'];
    if (line <= last || entry.record_hash === lastHash) {
      return [where, 'out of order, or one hash listed twice'];
    }
    last = line;
    lastHash = entry.record_hash;
    listed[entry.kind] += 1;
    listed.subject += entry.kind === 'row' && SUBJECT.test(entry.file) ? 1 : 0;
    return currentFault(index, entry, where);
  });
  return { ...listed, lines };
}

function currentFault(index: ShardCheck, entry: CurrentEntry, where: string): IndexFault {
  const { kind, file, record_hash } = entry;
  if (kind === 'row') return rowEntryFault(index, entry, where);
  const body = bodyOf(index, file);
  if (body === null) return [where, 'listed, but there is no such file'];
  const carrier = kind === 'reading' ? body : body._citation;
  if (!isObject(carrier) || carrier.record_hash !== record_hash) {
    return [where, `listed, but "${file}" carries another hash`];
  }
  const known = kind === 'reading' ? entry : { observed_at: entry.observed_at };
  const named = { observed_at: body.observed_at, signal_id: body.signal_id, entity: body.entity };
  for (const [name, value] of Object.entries(named)) {
    const expected = (known as Partial<CurrentEntry>)[name as keyof typeof named];
    if (value !== undefined && expected !== undefined && expected !== value) {
      return [`${where} ${name}`, `differs from "${file}"`];
    }
  }
  return null;
}

/** A row stands anywhere in its file; that its hash recomputes is checked with the file. */
function rowEntryFault(index: ShardCheck, entry: CurrentEntry, where: string): IndexFault {
  const { file, record_hash } = entry;
  const held = rowHashes(index, file);
  if (held === null) return [where, 'listed, but there is no such file'];
  return held.has(record_hash) ? null : [where, `listed, but "${file}" carries another hash`];
}

function rowHashes(index: ShardCheck, file: string): ReadonlySet<string> | null {
  const { rows: files } = index;
  const known = files.get(file);
  if (known !== undefined) return known;
  const body = bodyOf(index, file);
  const held = body === null ? null : rowHashesOf(body);
  // What is asked for once needs no memory.
  if (held === null || held.size > 1) files.set(file, held);
  return held;
}

function rowHashesOf(body: JsonObject): ReadonlySet<string> {
  const hashes = [...objectNodes(body)]
    .filter(({ path }) => !path.startsWith('provenance'))
    .flatMap(({ value: { record_hash } }) =>
      typeof record_hash === 'string' ? [record_hash] : [],
    );
  return new Set(hashes);
}

/** Names files whose hash no shard lists; asked only when some are missing. */
export function unlistedFiles(index: IndexCheck, shards: readonly string[]): void {
  const listed = listedAsCurrent(index, shards);
  for (const { path } of listedFiles(index.disk, index.root)) {
    const body = path.endsWith('.json') ? bodyOf(index, path) : null;
    const owed =
      body === null
        ? []
        : [
            ...(RECORD.test(path) ? [['reading', 'record_hash'] as const] : []),
            ...(isHashedSubject(path, body) ? [['row', 'record_hash'] as const] : []),
            ...(body._citation === undefined
              ? []
              : [['citation', '_citation.record_hash'] as const]),
          ];
    for (const [kind, where] of owed.filter(([kind]) => !listed.has(`${kind} ${path}`))) {
      index.faults.add(path, where, `not listed as a ${kind}`);
    }
  }
}

/** Whether a body is a roster row of its own with a hash, which a look-up line must name. */
export function isHashedSubject(path: string, body: JsonValue): boolean {
  return SUBJECT.test(path) && isObject(body) && typeof body.record_hash === 'string';
}

function listedAsCurrent(index: IndexCheck, shards: readonly string[]): ReadonlySet<string> {
  const listed = new Set<string>();
  for (const path of shards) {
    eachLine(index, path, (line) => {
      const { kind, file } = parseVerifyEntry(line);
      listed.add(`${kind} ${file}`);
      return null;
    });
  }
  return listed;
}

function bodyOf({ disk, root, list }: IndexCheck, path: string): JsonObject | null {
  const entry = list.find(path);
  const place = entry === null ? null : placeOfFile(root, entry);
  if (place === null || disk.entry(place)?.kind !== 'file') return null;
  const body: JsonValue = parseJson(decodeUtf8(readAll(disk.chunks(place), BODY_BYTES_MAX)));
  return isObject(body) ? body : null;
}

/** Hands each line of a text file to `check`, and its faults on; returns how many lines there are. */
function eachLine(
  { disk, root, list, faults }: IndexCheck,
  path: string,
  check: (line: string, where: string) => IndexFault,
): number {
  let number = 0;
  const entry = list.find(path);
  try {
    if (entry === null) throw new RangeError(`Cannot read "${path}": not listed`);
    for (const bytes of lines(disk.chunks(placeOfFile(root, entry)), LINE_BYTES_MAX)) {
      number += 1;
      const fault = check(decodeUtf8(bytes), `line ${number}`);
      if (fault !== null) faults.add(path, ...fault);
    }
  } catch (error) {
    faults.add(path, `line ${number}`, messageOf(error));
  }
  return number;
}

export function shardsOf(list: FileList): string[] {
  return SHARD_STARTS.map(verifyShardPath).filter((path) => list.find(path) !== null);
}

/** Compares a share of the indexes with the files that they name: every n-th shard, every n-th line of the catalog. */
export function checkIndexes(
  context: { disk: Disk; root: string; list: FileList },
  part: WorkShare,
) {
  const faults = new Faults();
  const index: ShardCheck = { ...context, faults, rows: new Map() };
  const sums = { lines: 0, reading: 0, citation: 0, subject: 0 };
  for (const [at, path] of shardsOf(context.list).entries()) {
    if (at % part.of !== part.number) continue;
    const listed = checkShard(index, path);
    for (const name of Object.keys(sums) as (keyof typeof sums)[]) sums[name] += listed[name];
  }
  // Lines of the catalog are the same number in every share.
  const catalog = checkCatalog(index, part);
  if (part.number === 0) checkFilers(index);
  return { ...sums, catalog, faults: faults.kept, faultCount: faults.count };
}

export type IndexResult = ReturnType<typeof checkIndexes>;

function checkFilers(index: IndexCheck): void {
  if (index.list.find(FILERS_PATH) === null) return;
  const bodies = new StoredBodies(index.disk, index.root, index.list);
  const ciks: string[] = [];
  eachLine(index, FILERS_PATH, (line, where) => {
    ciks.push(parseFilerLine(line).cik);
    const fault = filerLineFault(line, bodies);
    return fault === null ? null : [where, fault];
  });
  const strays = strayFilings(ciks, bodies);
  if (strays !== null) index.faults.add(FILERS_PATH, '', strays);
}

/** The operation whose answer a file is, with the parameters that its path stands for. */
export interface FilePlace {
  readonly endpoint: Endpoint;
  readonly values: Values;
  /** Folder of another compiled form, like `thin`, or ''. */
  readonly form: string;
}

/** Where a published path belongs, or null for a file that answers no operation by itself. */
export function placeOf(path: string, { folders }: Pick<Catalog, 'folders'>): FilePlace | null {
  const { byFolder, variants } = folders;
  const [first = ''] = path.split('/', 1);
  const form = variants.has(first) ? first : '';
  const plain = form === '' ? path : path.slice(form.length + 1);
  const [folder = ''] = plain.split('/', 1);
  for (const endpoint of byFolder.get(folder) ?? []) {
    const values = parseFilePath(endpoint, plain);
    if (values !== null) return { endpoint, values, form };
  }
  return null;
}
