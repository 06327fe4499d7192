import { join } from 'node:path';
import { defined } from '../format/errors.ts';
import { grouped } from '../format/lists.ts';
import { findCollection } from '../products/collections.ts';
import { ForgottenError } from '../system/compile-error.ts';
import { readPlain, STORED_BYTES_MAX } from '../system/plain-file.ts';
import {
  type ClosedBatches,
  type ListedBatch,
  type SnapshotFile,
  snapshotName,
} from './list-snapshots.ts';
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
interface KnownBatch {
  readonly batch: string;
  /** Of the folder: it changes when a file comes or goes. */
  readonly stamp: string;
  /** Whether folder and files were left alone for some time when they were read. */
  readonly isSettled: boolean;
  readonly hasCollections: boolean;
}

/** Where the files of earlier batches are written down, for another thread. */
export interface KnownFiles {
  readonly root: string;
  /** Paths of the files of their days, oldest first. */
  readonly days: readonly string[];
}

/** Batches of one day stand in one file, so that an hour writes no other. */
function dayFile(batch: string): string {
  return `${FOLDER}${batch.slice(0, 10)}`;
}

/**
 * What was remembered of the batches. A file of a day has its folders in the first line, and the files of one folder in each
 * other line, which is read only where somebody asks for it.
 */
export class KnownBatches {
  readonly #memory: Memory | null;
  readonly #folders = new Map<string, KnownBatch>();
  readonly #files = new Map<string, readonly KnownFile[]>();

  /** Throws a ForgottenError where what is remembered is not what was written. */
  constructor(memory: Memory | null) {
    this.#memory = memory;
    for (const name of this.#days()) {
      const text = defined(memory, 'a memory with days').read(name);
      const end = text.indexOf('\n');
      // Another version of the program may have written it.
      if (end === -1) throw new ForgottenError(`Cannot use "${name}": not of this format`);
      const folders = JSON.parse(text.toString('utf8', 0, end)) as KnownBatch[];
      for (const folder of folders) this.#folders.set(folder.batch, folder);
    }
  }

  get names(): Iterable<string> {
    return this.#folders.keys();
  }

  /** The files of a batch; none of one that is not known. */
  files(batch: string): readonly KnownFile[] {
    const read = this.#files.get(batch);
    if (read !== undefined || !this.#folders.has(batch)) return read ?? [];
    const text = defined(this.#memory, 'the memory of a batch').read(dayFile(batch));
    const [folders, ...lines] = text.toString('utf8').split('\n');
    const known = JSON.parse(defined(folders, 'the folders of a day')) as KnownBatch[];
    for (const [at, { batch: folder }] of known.entries()) {
      const files = JSON.parse(defined(lines[at], 'the files of a batch')) as KnownFile[];
      this.#files.set(folder, files);
    }
    return this.#files.get(batch) ?? [];
  }

  /** The batches that nothing was done to since they were read, as far as their folders tell. */
  closed(root: string): ClosedBatches {
    return {
      has: (batch, stamp) => {
        const before = this.#folders.get(batch);
        return before?.stamp === stamp && before.isSettled;
      },
      collections: (batch) => {
        if (this.#folders.get(batch)?.hasCollections !== true) return [];
        const stored = this.files(batch).filter(({ id }) => findCollection(id) !== undefined);
        return stored.map((file) => snapshotFile(root, batch, file));
      },
    };
  }

  place(root: string): KnownFiles {
    const days = this.#days().sort();
    return { root, days: days.flatMap((name) => this.#memory?.pathOf(name) ?? []) };
  }

  #days(): string[] {
    return Object.keys(this.#memory?.state.files ?? {}).filter((name) => name.startsWith(FOLDER));
  }
}

/** A file as it was read, and where it stands. */
type StoredFile = SnapshotFile & Pick<KnownFile, 'sha256'>;

/** Files of a signal that earlier compiles read, oldest batch first. */
export function knownFilesOf(id: string, { root, days }: KnownFiles): StoredFile[] {
  return days.flatMap((path) => {
    const [folders = '[]', ...lines] = readPlain(path, STORED_BYTES_MAX)
      .toString('utf8')
      .split('\n');
    return (JSON.parse(folders) as KnownBatch[]).flatMap(({ batch }, at) => {
      const files = JSON.parse(lines[at] ?? '[]') as KnownFile[];
      return files.filter((file) => file.id === id).map((file) => snapshotFile(root, batch, file));
    });
  });
}

function snapshotFile(root: string, batch: string, file: KnownFile): StoredFile {
  const name = `${batch}/${snapshotName(file.id)}`;
  return { ...file, batch, path: join(root, name), name };
}

/** What a compile did with the batches. */
interface BatchesRead {
  readonly known: KnownBatches;
  /** sha256 of each file that was read, hex, by its name. */
  readonly digests: ReadonlyMap<string, string>;
  /** When it began to read, by the clock of the disk. */
  readonly since: number;
}

/** Writes down the batches; days of which every batch is closed stay as they are. */
export function noteBatches(
  notes: Notes,
  batches: readonly ListedBatch[],
  reading: BatchesRead,
): void {
  for (const [name, listed] of grouped(batches, ({ batch }) => dayFile(batch))) {
    if (listed.every(({ files }) => files === null)) continue;
    const known = listed.map((one) => knownBatch(one, reading));
    const folders = known.map(({ folder }) => folder);
    const lines = [folders, ...known.map(({ files }) => files)];
    notes.writeChanged(name, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  }
}

function knownBatch(listed: ListedBatch, { known, digests, since }: BatchesRead) {
  const { batch, stamp, changedMs } = listed;
  const before = known.files(batch);
  const files = listed.files?.map(({ id, name, bytes, stamp, changedMs }): KnownFile => {
    const was = before.find((file) => file.id === id)?.sha256;
    return { id, bytes, stamp, changedMs, sha256: digests.get(name) ?? was ?? '' };
  });
  const times = [changedMs, ...(files ?? []).map((file) => file.changedMs)];
  const isSettled = files === undefined || times.every((time) => time < since - FRESH_MS);
  const all = files ?? before;
  const hasCollections = all.some(({ id }) => findCollection(id) !== undefined);
  const folder: KnownBatch = { batch, stamp, isSettled, hasCollections };
  return { folder, files: all };
}

/** Whether a file surely is what it was when it was read by a compile that began at `since`. */
export function isUntouched(file: SnapshotFile, known: KnownFile, since: number): boolean {
  return known.stamp === file.stamp && file.changedMs < since - FRESH_MS;
}
