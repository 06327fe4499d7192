import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { BUILTIN } from '../catalog/builtin.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { hostsOf } from '../catalog/register.ts';
import { isoTime } from '../format/iso-time.ts';
import type { CollectionId } from '../products/collections.ts';
import { FILING_COLLECTION } from '../products/shapes/filing.ts';
import type { Evidence } from '../products/shapes/record.ts';
import { ROW_SCHEMAS } from '../readings/collection-rows.ts';
import { wordFaults } from '../readings/field-rules.ts';
import { parseReading, type Reading } from '../readings/reading.ts';
import { readNamed } from '../system/disk.ts';
import { readPlain, STORED_BYTES_MAX } from '../system/plain-file.ts';
import {
  fetchAgain,
  ImportError,
  type Imported,
  PAYLOAD_BYTES_MAX,
  type Payload,
  parseFetchNote,
  SkipCount,
  withoutKeys,
} from './kit/payload.ts';
import type { Source } from './kit/source.ts';
import { type BatchDisk, batchName, mergeBatch } from './merge-batch.ts';
import { sourceOf } from './sources.ts';

export interface ImportOptions {
  /** Name of the source, or the source itself where it is no official one. */
  readonly source: string | Source;
  /** Path of the payload, exactly as the agency answered. */
  readonly file: string;
  readonly note?: string | undefined;
  /** ISO-8601 UTC time of the fetch, in place of a note. */
  readonly fetchedAt?: string | undefined;
  readonly out: string;
  /** That of the snapshots, by which readings are judged; the built-in one by default. */
  readonly catalog?: Catalog;
}

/** Turns one payload into a snapshot batch; throws an ImportError, and then wrote nothing. */
export function runImport(options: ImportOptions, disk: typeof importDisk) {
  const source = givenSource(options);
  const { from, ...payload } = givenPayload(options, disk);
  const { note } = payload;
  const imported = readPayload(source, payload, options.catalog);
  refusePart(imported, options.file);
  const files = mergeBatch(imported, note.fetched_at, disk.snapshots(options.out));
  const rows = [...(imported.rows?.values() ?? [])].flat();
  const readings = [...imported.readings.values()].flat();
  return {
    source: source.id,
    batch: batchName(note.fetched_at),
    fetchedAt: note.fetched_at,
    noteFrom: from,
    entities: new Set(readings.map((reading) => reading.entity)).size,
    readings: readings.length,
    rows: rows.length,
    skipped: imported.skipped,
    remarks: imported.remarks,
    files,
  };
}

export function givenPayload(
  options: ImportOptions,
  disk: typeof importDisk,
): Payload & { readonly from: string } {
  const bytes = disk.readFile(options.file);
  const found = findNote({ ...options, source: givenSource(options) }, bytes, disk);
  return { bytes, subject: options.file, ...found };
}

function givenSource({ source }: Pick<ImportOptions, 'source'>): Source {
  return typeof source === 'string' ? sourceOf(source) : source;
}

/**
 * What an importer makes of a payload, each reading with the payload as its evidence. It is held to the rules that the
 * compiler has for it: what a compile would refuse is refused here, while the payload is at hand. Throws an ImportError
 * that names the reading or row. The official importers know the signals of the built-in catalogue, which is the default.
 */
export function readPayload(
  source: Source,
  payload: Payload,
  catalog: Catalog = BUILTIN,
): Imported {
  const { bytes, note, subject } = payload;
  if (note.bytes !== undefined && note.bytes !== bytes.length) {
    throw fetchAgain(payload, `it has ${bytes.length} bytes and its note says ${note.bytes}`);
  }
  // Names a payload and who reads it, so that a reading can be led back to the bytes that the agency answered.
  const read = withEvidence(source.read(payload), {
    sha256: createHash('sha256').update(bytes).digest('hex'),
    url: withoutKeys(note.url),
    fetched_at: note.fetched_at,
    importer: source.id,
    importer_version: source.version,
    ...attributionOf(source),
  });
  const imported = withoutFaultyWords(read);
  const fault = firstFault(imported, catalog);
  if (fault !== null) throw new ImportError({ subject, state: fault });
  return imported;
}

/** The words that the terms of an agency ask for, and what they ask to say of figures that are not final. */
function attributionOf({ row }: Source): Pick<Evidence, 'attribution'> {
  const { attribution, preliminary } = row?.terms ?? {};
  const words = [attribution, preliminary].filter((text) => text !== undefined);
  return words.length === 0 ? {} : { attribution: words.join('; ') };
}

/**
 * What a source says of one entity in words that are not stored touches that entity alone: a name is left out, and a
 * reading that says more of it. Where no reading is left, all stay, to be refused by name. A row of a list is never left
 * out, because what a list does not hold counts as gone.
 */
function withoutFaultyWords(imported: Imported): Imported {
  const skips = new SkipCount();
  const readings = new Map(
    [...imported.readings].map(([signal, list]) => [
      signal,
      list.flatMap((reading) => readingInWords(reading, skips) ?? []),
    ]),
  );
  const left = [...readings.values()].flat().length + (imported.rows?.size ?? 0);
  if (left === 0) return imported;
  return { ...imported, readings, skipped: [...imported.skipped, ...skips.list()] };
}

function readingInWords(reading: Reading, skips: SkipCount): Reading | null {
  const faults = wordFaults(reading);
  const [fault] = faults;
  if (fault === undefined) return reading;
  const isName = faults.every(({ path }) => path[0] === 'entity_name');
  const field = fault.path.join('.');
  skips.add(reading.entity, `${field} left out: ${fault.message}`);
  if (!isName) return null;
  const { entity_name: _name, ...unnamed } = reading;
  return unnamed;
}

/** The first reading or row that a compile would refuse, in words; null where there is none. */
function firstFault(
  { readings, rows = new Map() }: Imported,
  { entryById }: Catalog,
): string | null {
  for (const [signal, list] of readings) {
    const entry = entryById.get(signal);
    if (entry === undefined)
      return `${signal}: not in the catalogue of the snapshots; add it there`;
    for (const reading of list) {
      const outcome = parseReading(reading, {}, entry);
      if ('ok' in outcome) continue;
      const [fault] = outcome.faults;
      return `${signal} of ${reading.entity}: ${fault?.field}: ${fault?.message}`;
    }
  }
  for (const [collection, list] of rows) {
    const fault = firstRowFault(collection, list);
    if (fault !== null) return fault;
  }
  return null;
}

function firstRowFault(collection: CollectionId, rows: readonly object[]): string | null {
  for (const row of rows) {
    const [fault] = ROW_SCHEMAS[collection].safeParse(row).error?.issues ?? wordFaults(row);
    if (fault !== undefined) return `${collection}: ${fault.path.join('.')}: ${fault.message}`;
  }
  return null;
}

/** What a part leaves out would count as gone, so by itself it is no capture. */
function refusePart({ isPart }: Imported, subject: string): void {
  if (isPart !== true) return;
  const state =
    'it is one page of a list, and what stands on other pages would count as gone; fetch the whole list';
  throw new ImportError({ subject, state });
}

function findNote(
  options: ImportOptions & { readonly source: Source },
  bytes: Uint8Array,
  disk: typeof importDisk,
) {
  const { source, file, note, fetchedAt } = options;
  if (note !== undefined && fetchedAt !== undefined) {
    const state = '--note and --fetched-at are both given; keep one';
    throw new ImportError({ subject: file, state });
  }
  if (note !== undefined) {
    return { note: parseFetchNote(disk.readFile(note), note), from: `note "${note}"` };
  }
  const { ownNote } = source;
  if (fetchedAt !== undefined) {
    const fetched_at = givenTime(fetchedAt, file);
    const url = ownNote?.(bytes, file).url ?? homeOf(source);
    return { note: { url, fetched_at, http_status: 200 }, from: '--fetched-at' };
  }
  if (ownNote !== undefined)
    return { note: ownNote(bytes, file), from: 'metadata.generated of the payload' };
  const state =
    'this payload does not say when it was fetched; give --note FILE or --fetched-at TIME';
  throw new ImportError({ subject: file, state });
}

/** Stands for the address of a payload that came without a note. */
function homeOf({ id, home, row }: Source): string {
  if (home !== undefined) return home;
  const [host] = row === null ? [] : hostsOf(row);
  if (host !== undefined) return `https://${host}/`;
  const state = 'it can only be imported with --note, which says where it comes from';
  throw new ImportError({ subject: id, state });
}

function givenTime(text: string, file: string): string {
  if (z.iso.datetime().safeParse(text).success) return isoTime(Date.parse(text));
  const state = `--fetched-at "${text}" is not a time such as 2026-11-20T11:00:12Z; correct it`;
  throw new ImportError({ subject: file, state });
}

export function importSummaryText(summary: ReturnType<typeof runImport>): string {
  const { source, batch, fetchedAt, noteFrom, entities, readings, rows } = summary;
  const listed = rows === 0 ? '' : ` and ${rows} rows`;
  return [
    `Imported ${source} into batch ${batch}: ${readings} readings of ${entities} entities${listed}`,
    `  fetched   ${fetchedAt} (from ${noteFrom})`,
    ...summary.files.map(({ path, written }) => `  ${written ? 'wrote    ' : 'unchanged'} ${path}`),
    ...summary.skipped.map((item) => `  skipped   ${item.count} × ${item.subject}: ${item.reason}`),
    ...summary.remarks.map((remark) => `  note      ${remark}`),
  ].join('\n');
}

/**
 * Every reading and row with its evidence, except filings: what is sold of one has no lineage that could carry it, and a
 * list repeats each filing every time, so that each repeat would be another row.
 */
function withEvidence(imported: Imported, evidence: Evidence): Imported {
  const readings = [...imported.readings].map(
    ([signal, list]) => [signal, list.map((reading) => ({ ...reading, evidence }))] as const,
  );
  const rows = [...(imported.rows ?? [])].map(
    ([id, list]) =>
      [id, id === FILING_COLLECTION ? list : list.map((row) => ({ ...row, evidence }))] as const,
  );
  const all = { ...imported, readings: new Map(readings) };
  return imported.rows === undefined ? all : { ...all, rows: new Map(rows) };
}

/** The real disk; a file appears under its name only when all of it is written. */
export const importDisk = {
  readFile: readBounded,
  snapshots: (folder: string): BatchDisk => ({
    read: (path) => {
      const file = join(folder, path);
      return existsSync(file) ? readPlain(file, STORED_BYTES_MAX).toString('utf8') : null;
    },
    write: (path, text) => {
      const file = join(folder, path);
      // a name with a dot in front is no part of the snapshots if the write is cut short
      const unfinished = join(folder, `.${basename(dirname(path))}-${basename(path)}`);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(unfinished, text);
      renameSync(unfinished, file);
    },
  }),
};

/** The bytes of a payload or note; throws an ImportError when there are too many, else the disk's own error. */
function readBounded(path: string): Uint8Array {
  try {
    return readNamed(path, PAYLOAD_BYTES_MAX);
  } catch (cause) {
    // What the disk itself says is told by the command, with what to do.
    if (!(cause instanceof RangeError)) throw cause;
    const state = `more than ${PAYLOAD_BYTES_MAX} bytes; ask the source for less`;
    throw new ImportError({ subject: path, state }, { cause });
  }
}
