import { type Dirent, existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Catalog } from '../catalog/catalog.ts';
import { DAY_MS, HOUR_MS, isoTime } from '../format/iso-time.ts';
import { grouped } from '../format/lists.ts';
import { COLLECTIONS, type CollectionId } from '../products/collections.ts';
import { nearest } from '../products/shapes/nearest.ts';
import { CompileError, type InputFault } from '../system/compile-error.ts';
import { isAfter } from './reading.ts';

/** A batch folder: a day, or a day and hour, in UTC. */
const BATCH = /^\d{4}-\d{2}-\d{2}(T([01]\d|2[0-3])Z)?$/;

/** Below the snapshots: the publisher's own catalogue, in files of JSON. */
export const CATALOG_FOLDER = 'catalog';

/** The JSON Schema of its files, beside the batches; for editors, nothing here reads it. */
export const SCHEMA_NAME = 'catalog.schema.json';

/** Holds what agencies answered; no part of the format, so nothing of it is read here. */
export const ARCHIVE_FOLDER = 'archive';

const BESIDE = ['README.md', SCHEMA_NAME];

export interface SnapshotFile {
  /** Its signal or collection. */
  readonly id: string;
  readonly batch: string;
  readonly path: string;
  /** Path that faults name. */
  readonly name: string;
  readonly bytes: number;
  /** Which file it is and when it was changed last, as the disk says. */
  readonly stamp: string;
  readonly changedMs: number;
}

/** All snapshot files of one signal, oldest batch first. */
export interface SignalFiles {
  readonly signal_id: string;
  readonly files: readonly SnapshotFile[];
  readonly bytes: number;
}

/** What is stored, as far as it was looked at. */
export interface Snapshots {
  /** Without the files of closed batches. */
  readonly signals: readonly SignalFiles[];
  /** All of them, oldest batch first; empty for a collection that nothing is stored of. */
  readonly collections: Readonly<Record<CollectionId, readonly SnapshotFile[]>>;
  readonly batches: readonly ListedBatch[];
}

/** A batch folder as it is now. */
export interface ListedBatch {
  readonly batch: string;
  /** Of the folder: it changes when a file comes or goes. */
  readonly stamp: string;
  readonly changedMs: number;
  /** Null for a closed batch: its files are those that were remembered, and were not looked at again. */
  readonly files: readonly SnapshotFile[] | null;
}

/** Batches that an earlier compile read. */
export interface ClosedBatches {
  has(batch: string, stamp: string): boolean;
  /** Files of collections, which each compile reads. */
  collections(batch: string): readonly SnapshotFile[];
}
const NONE_CLOSED: ClosedBatches = { has: () => false, collections: () => [] };

/** Every file of the newest batches is looked at, because corrections come to these. */
const OPEN_BATCHES = 168;

/**
 * Lists what is stored, by signal, in table order and batch order, whatever order the disk has. Of batches before the newest
 * ones only the folder is looked at where they are closed.
 * Throws a CompileError that names every folder or file that is not part of the format.
 */
export function listSnapshots(
  root: string,
  catalog: Catalog,
  closed: ClosedBatches = NONE_CLOSED,
): Snapshots {
  const faults: InputFault[] = [];
  const ids = [...catalog.signals, ...COLLECTIONS].map(({ id }) => id);
  const batches = existsSync(root) ? listBatches(root, { faults, closed, ids }) : [];
  const files = batches.flatMap(({ batch, files }) => files ?? closed.collections(batch));
  if (faults.length > 0) throw new CompileError(faults);
  const isEmpty = batches.every((listed) => listed.files?.length === 0);
  if (isEmpty) throw new CompileError([nothingStored(root)]);
  const groups = groupById(files);
  const signals = catalog.signals.flatMap(({ id }) => {
    const own = groups.get(id);
    return own === undefined ? [] : [signalFiles(id, own)];
  });
  const collections = COLLECTIONS.map(({ id }) => [id, groups.get(id) ?? []] as const);
  return {
    signals,
    collections: Object.fromEntries(collections) as Snapshots['collections'],
    batches,
  };
}

/** Files of a signal, with what they weigh. */
export function signalFiles(signal_id: string, files: readonly SnapshotFile[]): SignalFiles {
  return { signal_id, files, bytes: files.reduce((sum, file) => sum + file.bytes, 0) };
}

/** The fault with a folder that holds nothing to compile, and what to do. */
export function nothingStored(root: string, found = 'no snapshots found'): InputFault {
  return {
    code: 'no_snapshots',
    file: root,
    message:
      `${found}; put readings into <batch>/<signal_id>.ndjson there, ` +
      'or import an official payload, for example: signalpress import usgs-earthquakes FILE',
  };
}

/** A batch without an hour stands for the start of its day, before the batch of hour 00. */
export function batchOrder(batch: string): string {
  return batch.includes('T') ? batch : `${batch}T00`;
}

function groupById(files: readonly SnapshotFile[]): ReadonlyMap<string, readonly SnapshotFile[]> {
  const groups = grouped(files, ({ id }) => id);
  for (const group of groups.values()) group.sort(byBatch);
  return groups;
}

export function byBatch(a: SnapshotFile, b: SnapshotFile): number {
  const [one, other] = [batchOrder(a.batch), batchOrder(b.batch)];
  return one < other ? -1 : one > other ? 1 : 0;
}

interface BatchListing {
  readonly ids: readonly string[];
  readonly faults: InputFault[];
  readonly closed: ClosedBatches;
}

function listBatches(root: string, listing: BatchListing): ListedBatch[] {
  const names: string[] = [];
  for (const entry of readdirSync(root, { withFileTypes: true })) {
    if (isBeside(entry)) continue;
    if (entry.isDirectory() && isBatch(entry.name)) {
      names.push(entry.name);
    } else {
      listing.faults.push({
        code: 'bad_name',
        file: entry.name,
        message: 'not a batch folder; name it after its day (2026-11-20) or hour (2026-11-20T06Z)',
      });
    }
  }
  const open = names.sort().length - OPEN_BATCHES;
  return names.map((batch, at) => listBatch(root, batch, { ...listing, mayBeClosed: at < open }));
}

/** Whether an entry may stand beside the batches: no readings are in it. */
function isBeside(entry: Dirent): boolean {
  if (entry.isDirectory()) return [ARCHIVE_FOLDER, CATALOG_FOLDER].includes(entry.name);
  const isHidden = entry.isFile() && entry.name.startsWith('.');
  return isLitter(entry) || isHidden || (entry.isFile() && BESIDE.includes(entry.name));
}

function isBatch(name: string): boolean {
  const day = name.slice(0, 10);
  const real = !Number.isNaN(Date.parse(`${day}T00:00:00Z`));
  return BATCH.test(name) && real && new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
}

function listBatch(
  root: string,
  batch: string,
  { mayBeClosed, ...listing }: BatchListing & { readonly mayBeClosed: boolean },
): ListedBatch {
  const folder = join(root, batch);
  const { stamp, changedMs } = stampOf(folder);
  const isClosed = mayBeClosed && listing.closed.has(batch, stamp);
  return { batch, stamp, changedMs, files: isClosed ? null : filesIn(root, batch, listing) };
}

function filesIn(root: string, batch: string, { faults, ids }: BatchListing): SnapshotFile[] {
  const files: SnapshotFile[] = [];
  for (const entry of readdirSync(join(root, batch), { withFileTypes: true })) {
    if (isLitter(entry)) continue;
    const id = storedId(entry.name, ids);
    const file = `${batch}/${entry.name}`;
    if (entry.isFile() && id !== null) files.push(snapshotFile(root, file, { id, batch }));
    else faults.push({ code: 'bad_name', file, message: nameFault(entry, ids) });
  }
  return files;
}

function snapshotFile(
  root: string,
  name: string,
  of: Pick<SnapshotFile, 'id' | 'batch'>,
): SnapshotFile {
  const path = join(root, name);
  return { ...of, path, name, ...stampOf(path) };
}

function stampOf(path: string): Pick<SnapshotFile, 'bytes' | 'stamp' | 'changedMs'> {
  const { ino, size, mtimeNs, ctimeNs, ctimeMs } = statSync(path, { bigint: true });
  const stamp = [ino, size, mtimeNs, ctimeNs].join(' ');
  return { bytes: Number(size), stamp, changedMs: Number(ctimeMs) };
}

/** Files that desktops and editors leave next to the user's files. */
const LITTER = [
  /^\.DS_Store$/,
  /^(Thumbs\.db|desktop\.ini)$/i,
  /^\._/,
  /~$/,
  /\.sw[a-p]$/,
  /^#.*#$/,
  /^\.#/,
];
const ENDING = '.ndjson';

/** Whether an entry was left by a desktop or an editor: nobody stored it, and nothing of it is read. */
export function isLitter(entry: Dirent): boolean {
  return !entry.isDirectory() && LITTER.some((pattern) => pattern.test(entry.name));
}

/** The signal or collection among `ids` that a file name stands for; null for any other name. */
function storedId(name: string, ids: readonly string[]): string | null {
  if (!name.endsWith(ENDING)) return null;
  const id = name.slice(0, -ENDING.length);
  return ids.includes(id) ? id : null;
}

export function snapshotName(id: string): string {
  return `${id}${ENDING}`;
}

/** Why an entry of a batch is not a snapshot file, and how to make it one. */
function nameFault(entry: Dirent, ids: readonly string[]): string {
  if (storedId(entry.name, ids) !== null) {
    return `not a plain file: ${kindOf(entry)}; store the file itself there`;
  }
  // A file of a known id with another ending is one of another format.
  const intended = ids.find((id) => entry.name.startsWith(`${id}.`));
  if (intended !== undefined) {
    return `not a snapshot file: its name does not end in ${ENDING}; write one JSON object per line and name it ${intended}${ENDING}`;
  }
  const near = nearest(entry.name.replace(/\.[a-z]+$/, ''), ids);
  const hint = near === null ? '' : `did you mean ${near}${ENDING}? `;
  return `not a snapshot file: no signal or collection of that name; ${hint}"signalpress lines" lists the names`;
}

function kindOf(entry: Dirent): string {
  if (entry.isSymbolicLink()) return 'a link';
  if (entry.isDirectory()) return 'a folder';
  return entry.isFIFO() ? 'a pipe' : 'a device or socket';
}

/** Clocks differ: a time may be this much later than the time of the compile. */
export const CLOCK_ALLOWANCE_MS = 300_000;
/** A batch is named when its fetch begins; the fetch may continue this long after the day or hour. */
const FETCH_MS_MAX = HOUR_MS;
/** What an hour says otherwise than its own batch waits for the next hour's, so that it is a revision there. */
const WAIT_MS_MAX = HOUR_MS;

export type JudgeTime = (collectedAt: string) => { message: string; stops: string | null } | null;

const TAKEN_LATER =
  'a line from the future is never left out, because a later compile would accept it';

/**
 * Judges times of collection in a batch, for a compile that speaks about an instant. A line from the future would be the
 * latest one for as long as its time has not come; one of another day would be revised by, or revise, the wrong batch.
 */
export function batchTimes(asOf: string, batch: string): JudgeTime {
  const { start, end, isHour } = spanOf(batch);
  const now = isoTime(Date.parse(asOf) + CLOCK_ALLOWANCE_MS);
  const first = isoTime(start - (isHour ? WAIT_MS_MAX : CLOCK_ALLOWANCE_MS));
  const last = isoTime(end + FETCH_MS_MAX);
  return (collectedAt) => {
    if (isAfter(collectedAt, now)) {
      const message = `"${collectedAt}" is later than this compile, as of ${asOf}; correct it, the clock or --as-of`;
      return { message, stops: TAKEN_LATER };
    }
    if (!isAfter(first, collectedAt) && !isAfter(collectedAt, last)) return null;
    const kind = isHour ? 'hour' : 'day';
    const message = `"${collectedAt}" is outside the ${kind} of its batch "${batch}"; correct it, or store the line in the batch of its ${kind}`;
    return { message, stops: null };
  };
}

/** A fault for each batch that is named after a time in the future of this compile. */
export function futureBatches({ batches }: Pick<Snapshots, 'batches'>, asOf: string): InputFault[] {
  const limit = Date.parse(asOf) + CLOCK_ALLOWANCE_MS;
  return batches
    .filter(({ batch, files }) => files?.length !== 0 && spanOf(batch).start > limit)
    .map(({ batch: file }) => ({
      code: 'bad_name',
      file,
      message: `the batch is in the future: this compile is as of ${asOf}; name the folder after the time of its fetch, or correct the clock or --as-of`,
    }));
}

function spanOf(batch: string) {
  const isHour = batch.includes('T');
  const start = Date.parse(isHour ? batch.replace(/Z$/, ':00:00Z') : `${batch}T00:00:00Z`);
  return { start, end: start + (isHour ? HOUR_MS : DAY_MS), isHour };
}
