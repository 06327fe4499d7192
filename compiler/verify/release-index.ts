import { endpointAt } from '../contract/endpoints.ts';
import { filePath, verifyShardPath } from '../contract/path.ts';
import {
  CATALOG_PATH,
  type CatalogRow,
  formatCatalogRow,
  formatVerifyEntry,
  parseCatalogRow,
  parseVerifyEntry,
  type VerifyEntry,
} from '../contract/release.ts';
import { decodeUtf8, type JsonValue, parseJson } from '../contract/strict-json.ts';
import { reason } from './body-check.ts';
import { type Disk, lines, readAll } from './disk.ts';
import { isObject, type JsonObject } from './object-nodes.ts';
import type { Faults } from './release-fault.ts';
import { isReleasePath, releaseTree } from './release-tree.ts';

const LINE_BYTES_MAX = 65_536;
export const BODY_BYTES_MAX = 67_108_864;
/** Files whose record hash stands for a reading. */
export const RECORD = /^record\//;

export interface IndexCheck {
  readonly disk: Disk;
  readonly root: string;
  readonly faults: Faults;
}

/** Compares each line of the catalog with its record; returns how many lines there are. */
export function checkCatalog(index: IndexCheck): number {
  let last = '';
  return eachLine(index, CATALOG_PATH, (line, where) => {
    const row = parseCatalogRow(line);
    const order = `${row.signal_id}\n${row.entity}`;
    if (formatCatalogRow(row) !== `${line}\n`) return [where, 'not a catalog line'];
    if (order <= last) return [where, 'out of order, or listed twice'];
    last = order;
    const record = bodyOf(index, recordPath(row.signal_id, row.entity));
    return record === null ? [where, 'no such record'] : rowFault(row, record, where);
  });
}

type LineFault = readonly [where: string, detail: string] | null;

function rowFault(row: CatalogRow, record: JsonObject, where: string): LineFault {
  const { update_status, standard_ruler, current } = record;
  const official = isObject(standard_ruler) ? standard_ruler.band : undefined;
  const stored = isObject(current) && typeof current.band === 'string' ? current.band : null;
  const expected = {
    entity_name: record.entity_name,
    observed_at: record.observed_at,
    band: official ?? stored,
    record_hash: record.record_hash,
    update_state: isObject(update_status) ? update_status.state : undefined,
  } as const;
  for (const [name, value] of Object.entries(expected)) {
    if (row[name as keyof typeof expected] !== value) {
      return [`${where} ${name}`, 'differs from the record'];
    }
  }
  return null;
}

/** Files that look-up lines call current, by what their hash stands for. */
export interface Listed {
  readonly reading: number;
  readonly row: number;
  readonly citation: number;
}

/** Compares the current lines of one look-up shard with their files; returns how many there are. */
export function checkShard(index: IndexCheck, path: string): Listed {
  let last = '';
  let lastHash = '';
  const listed = { reading: 0, row: 0, citation: 0 };
  eachLine(index, path, (line, where) => {
    const entry = parseVerifyEntry(line);
    if (formatVerifyEntry(entry) !== `${line}\n`) return [where, 'not a look-up line'];
    if (verifyShardPath(entry.record_hash) !== path) return [where, 'belongs to another shard'];
    if (line <= last || entry.record_hash === lastHash) {
      return [where, 'out of order, or one hash listed twice'];
    }
    last = line;
    lastHash = entry.record_hash;
    if (entry.state === 'superseded') return supersededFault(entry, where);
    listed[entry.kind] += 1;
    return currentFault(index, entry, where);
  });
  return listed;
}

function supersededFault({ kind, file }: VerifyEntry, where: string): LineFault {
  return kind === 'reading' && file === null ? null : [where, 'superseded, but names a file'];
}

function currentFault(index: IndexCheck, entry: VerifyEntry, where: string): LineFault {
  const { kind, file, record_hash } = entry;
  const body = file === null ? null : bodyOf(index, file);
  if (body === null) return [where, 'listed as current, but there is no such file'];
  const carrier = kind === 'reading' ? body : body._citation;
  if (!isObject(carrier) || carrier.record_hash !== record_hash) {
    return [where, `listed as current, but "${file}" carries another hash`];
  }
  const known = kind === 'reading' ? entry : { observed_at: entry.observed_at };
  const named = { observed_at: body.observed_at, signal_id: body.signal_id, entity: body.entity };
  for (const [name, value] of Object.entries(named)) {
    const said = (known as Partial<VerifyEntry>)[name as keyof typeof named];
    if (value !== undefined && said !== undefined && said !== value) {
      return [`${where} ${name}`, `differs from "${file}"`];
    }
  }
  return null;
}

/** Names files whose hash no shard lists as current; asked only when some are missing. */
export function unlistedFiles(index: IndexCheck, shards: readonly string[]): void {
  const listed = listedAsCurrent(index, shards);
  for (const { path, listed: entry } of releaseTree(index.disk, index.root)) {
    const body = entry !== null && path.endsWith('.json') ? bodyOf(index, path) : null;
    const owed = body === null ? [] : owedHashes(path, body);
    for (const [kind, where] of owed.filter(([kind]) => !listed.has(`${kind} ${path}`))) {
      index.faults.add(path, where, `not listed as a current ${kind}`);
    }
  }
}

type Owed = readonly [kind: VerifyEntry['kind'], where: string];

/** Hashes of a file that must be found in a look-up shard. */
function owedHashes(path: string, body: JsonObject): Owed[] {
  return [
    ...(RECORD.test(path) ? [['reading', 'record_hash'] as const] : []),
    ...(body._citation === undefined ? [] : [['citation', '_citation.record_hash'] as const]),
  ];
}

function listedAsCurrent(index: IndexCheck, shards: readonly string[]): ReadonlySet<string> {
  const listed = new Set<string>();
  for (const path of shards) {
    eachLine(index, path, (line) => {
      const { kind, state, file } = parseVerifyEntry(line);
      if (state === 'current') listed.add(`${kind} ${file}`);
      return null;
    });
  }
  return listed;
}

function recordPath(signal_id: string, entity: string): string {
  return filePath(endpointAt('/gauge'), { signal_id, entity }) ?? 'record';
}

function bodyOf({ disk, root }: IndexCheck, path: string): JsonObject | null {
  const full = `${root}/${path}`;
  if (!isReleasePath(path) || disk.entry(full)?.kind !== 'file') return null;
  const body: JsonValue = parseJson(decodeUtf8(readAll(disk.chunks(full), BODY_BYTES_MAX)));
  return isObject(body) ? body : null;
}

/** Hands each line of a text file to `check`, and its faults on; returns how many lines there are. */
function eachLine(
  { disk, root, faults }: IndexCheck,
  path: string,
  check: (line: string, where: string) => LineFault,
): number {
  let number = 0;
  try {
    for (const bytes of lines(disk.chunks(`${root}/${path}`), LINE_BYTES_MAX)) {
      number += 1;
      const fault = check(decodeUtf8(bytes), `line ${number}`);
      if (fault !== null) faults.add(path, ...fault);
    }
  } catch (error) {
    faults.add(path, `line ${number}`, reason(error));
  }
  return number;
}
