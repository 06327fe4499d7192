import { type Dirent, existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { COLLECTIONS, type CollectionId } from '../../contract/collections.ts';
import { SIGNALS } from '../../contract/lines.ts';
import { CompileError, type Problem } from './compile-error.ts';
import { isLitter, nameFault, storedId } from './snapshot-name.ts';

/** A batch folder: a day, or a day and hour, in UTC. */
const BATCH = /^\d{4}-\d{2}-\d{2}(T([01]\d|2[0-3])Z)?$/;

/** One snapshot file of a signal. */
export interface SnapshotFile {
  readonly batch: string;
  readonly path: string;
  /** Path that problems name. */
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

/** Everything that is stored. */
export interface Snapshots {
  readonly signals: readonly SignalFiles[];
  /** Oldest batch first; empty for a collection that nothing is stored of. */
  readonly collections: Readonly<Record<CollectionId, readonly SnapshotFile[]>>;
}

/**
 * Lists what is stored, by signal, in table order and batch order, whatever order the disk has.
 * Throws a CompileError that names every folder or file that is not part of the format.
 */
export function listSnapshots(root: string): Snapshots {
  const problems: Problem[] = [];
  const files = existsSync(root) ? listBatches(root, problems) : [];
  if (problems.length > 0) throw new CompileError(problems);
  if (files.length === 0) throw new CompileError([nothingStored(root)]);
  const groups = groupById(files);
  const signals = SIGNALS.flatMap(({ id }) => {
    const own = groups.get(id);
    return own === undefined ? [] : [signalFiles(id, own)];
  });
  const collections = COLLECTIONS.map(({ id }) => [id, groups.get(id) ?? []] as const);
  return { signals, collections: Object.fromEntries(collections) as Snapshots['collections'] };
}

function signalFiles(signal_id: string, files: readonly SnapshotFile[]): SignalFiles {
  return { signal_id, files, bytes: files.reduce((sum, file) => sum + file.bytes, 0) };
}

/** The problem with a folder that holds nothing to compile, and what to do. */
export function nothingStored(root: string, found = 'no snapshots found'): Problem {
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

/** Files by signal or collection, oldest batch first. */
function groupById(files: readonly Listed[]): ReadonlyMap<string, readonly SnapshotFile[]> {
  const groups = new Map<string, SnapshotFile[]>();
  for (const { id, ...file } of files) {
    const group = groups.get(id);
    if (group === undefined) groups.set(id, [file]);
    else group.push(file);
  }
  for (const group of groups.values()) {
    group.sort((a, b) => (batchOrder(a.batch) < batchOrder(b.batch) ? -1 : 1));
  }
  return groups;
}

type Listed = SnapshotFile & { readonly id: string };

function listBatches(root: string, problems: Problem[]): Listed[] {
  const files: Listed[] = [];
  for (const entry of readdirSync(root, { withFileTypes: true })) {
    if (isLitter(entry)) continue;
    if (entry.isFile() && (entry.name === 'README.md' || entry.name.startsWith('.'))) continue;
    if (entry.isDirectory() && isBatch(entry.name)) {
      files.push(...listBatch(root, entry.name, problems));
    } else {
      problems.push({
        code: 'bad_name',
        file: entry.name,
        message: 'not a batch folder; name it after its day (2026-11-20) or hour (2026-11-20T06Z)',
      });
    }
  }
  return files;
}

function isBatch(name: string): boolean {
  const day = name.slice(0, 10);
  const real = !Number.isNaN(Date.parse(`${day}T00:00:00Z`));
  return BATCH.test(name) && real && new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
}

function listBatch(root: string, batch: string, problems: Problem[]): Listed[] {
  const files: Listed[] = [];
  for (const entry of readdirSync(join(root, batch), { withFileTypes: true })) {
    if (isLitter(entry)) continue;
    const found = snapshotFile(root, batch, entry);
    const file = `${batch}/${entry.name}`;
    if (found !== null) files.push(found);
    else problems.push({ code: 'bad_name', file, message: nameFault(entry) });
  }
  return files;
}

function snapshotFile(root: string, batch: string, entry: Dirent): Listed | null {
  const id = storedId(entry.name);
  if (!entry.isFile() || id === null) return null;
  const path = join(root, batch, entry.name);
  const { ino, size, mtimeNs, ctimeNs, ctimeMs } = statSync(path, { bigint: true });
  const stamp = [ino, size, mtimeNs, ctimeNs].join(' ');
  const name = `${batch}/${entry.name}`;
  return { id, batch, path, name, bytes: Number(size), stamp, changedMs: Number(ctimeMs) };
}
