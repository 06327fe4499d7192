import { join } from 'node:path';
import type { ClosedFiles, ListedBatch, SnapshotFile } from '../intake/list-snapshots.ts';
import { snapshotName } from '../intake/snapshot-name.ts';
import type { Memory, Notes } from './memory.ts';

/** A file that was changed so shortly before it was read may have been changed again without a trace. */
const FRESH_MS = 2000;
const FOLDER = 'batches/';

/** A snapshot file as a compile read it. */
export interface KnownFile extends Pick<SnapshotFile, 'id' | 'bytes' | 'stamp' | 'changedMs'> {
  /** Of its bytes, hex; empty for a file of a collection, which each compile reads. */
  readonly sha256: string;
}

/** A batch folder as a compile listed it. */
export interface KnownBatch {
  readonly batch: string;
  /** Of the folder: it changes when a file comes or goes. */
  readonly stamp: string;
  /** Whether folder and files were left alone for some time when they were read. */
  readonly isSettled: boolean;
  readonly files: readonly KnownFile[];
}

/** What was remembered of the batches, by their names. */
export type KnownBatches = ReadonlyMap<string, KnownBatch>;

/** Batches of one day stand in one file, so that an hour writes no other. */
function dayFile(batch: string): string {
  return `${FOLDER}${batch.slice(0, 10)}`;
}

export function recallBatches(memory: Memory): KnownBatches {
  const known = new Map<string, KnownBatch>();
  for (const name of Object.keys(memory.state.files)) {
    if (!name.startsWith(FOLDER)) continue;
    for (const batch of JSON.parse(memory.read(name).toString('utf8')) as KnownBatch[]) {
      known.set(batch.batch, batch);
    }
  }
  return known;
}

/** sha256 of every file that is remembered, hex, by its name. */
export function knownDigests(known: KnownBatches): Map<string, string> {
  const digests = new Map<string, string>();
  for (const { batch, files } of known.values()) {
    for (const { id, sha256 } of files) digests.set(`${batch}/${snapshotName(id)}`, sha256);
  }
  return digests;
}

/** The files of a batch that nothing was done to since they were read, as far as its folder tells. */
export function closedFiles(root: string, known: KnownBatches): ClosedFiles {
  return (batch, stamp) => {
    const before = known.get(batch);
    if (before?.stamp !== stamp || !before.isSettled) return null;
    return before.files.map(({ id, bytes, stamp, changedMs }) => {
      const name = `${batch}/${snapshotName(id)}`;
      return { id, batch, path: join(root, name), name, bytes, stamp, changedMs };
    });
  };
}

/** Writes down the batches; days of which every batch is closed stay as they are. */
export function noteBatches(
  notes: Notes,
  batches: readonly ListedBatch[],
  { digests, since }: { readonly digests: ReadonlyMap<string, string>; readonly since: number },
): void {
  const days = new Map<string, ListedBatch[]>();
  for (const listed of batches) {
    const name = dayFile(listed.batch);
    const day = days.get(name);
    if (day === undefined) days.set(name, [listed]);
    else day.push(listed);
  }
  for (const [name, listed] of days) {
    if (listed.every(({ isClosed }) => isClosed)) continue;
    const known = listed.map((one) => knownBatch(one, digests, since));
    notes.writeChanged(name, JSON.stringify(known));
  }
}

function knownBatch(
  { batch, stamp, changedMs, files }: ListedBatch,
  digests: ReadonlyMap<string, string>,
  since: number,
): KnownBatch {
  const times = [changedMs, ...files.map((file) => file.changedMs)];
  return {
    batch,
    stamp,
    isSettled: times.every((time) => time < since - FRESH_MS),
    files: files.map(({ id, name, bytes, stamp, changedMs }) => {
      return { id, bytes, stamp, changedMs, sha256: digests.get(name) ?? '' };
    }),
  };
}

/** Whether a file surely is what it was when it was read by a compile that began at `since`. */
export function isUntouched(file: SnapshotFile, known: KnownFile, since: number): boolean {
  return known.stamp === file.stamp && file.changedMs < since - FRESH_MS;
}
