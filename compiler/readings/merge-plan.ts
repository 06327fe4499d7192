import { hash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Catalog } from '../catalog/catalog.ts';
import { fileDigest } from '../release/release-list.ts';
import { ForgottenError } from '../system/compile-error.ts';
import { jcs } from '../system/jcs.ts';
import { PROGRAM_FOLDER } from '../system/package-folder.ts';
import { readPlain, STORED_BYTES_MAX } from '../system/plain-file.ts';
import type { Issuer } from '../system/sealer.ts';
import { isUntouched, KnownBatches, type KnownFile } from './known-batches.ts';
import type { Shelves } from './known-entities.ts';
import {
  listSnapshots,
  type SignalFiles,
  type SnapshotFile,
  type Snapshots,
} from './list-snapshots.ts';
import { type Memory, recall, stateOf } from './memory.ts';

/** What is stored, and what the previous compile remembers of it. */
export interface Listed {
  readonly stored: Snapshots;
  /** Null where nothing is remembered. */
  readonly memory: Memory | null;
  readonly known: KnownBatches;
}

/** What a compile goes on from. */
export interface Plan extends Omit<Listed, 'memory'> {
  readonly memory: Memory;
  /** Files that no earlier compile read, by signal; signals without such files are not here. */
  readonly added: ReadonlyMap<string, readonly SnapshotFile[]>;
}

/** What is to be listed: the batches of a folder, for a compile into a data folder. */
interface ListOptions {
  readonly data: string;
  readonly snapshots: string;
  readonly catalog: Catalog;
  readonly isFull: boolean;
}

/** Lists what is stored; of closed batches only what is remembered, unless `isFull`. */
export function listStored({ data, snapshots: root, catalog, isFull }: ListOptions): Listed {
  const memory = recall(data);
  try {
    const known = new KnownBatches(memory);
    const closed = isFull ? undefined : known.closed(root);
    return { memory, known, stored: listSnapshots(root, catalog, closed) };
  } catch (error) {
    if (!(error instanceof ForgottenError)) throw error;
    return { memory: null, known: new KnownBatches(null), stored: listSnapshots(root, catalog) };
  }
}

/**
 * Finds out whether the previous release can be gone on from: null when nothing is remembered of it with these settings, or
 * when a file that was read is gone or holds something else now.
 */
export function planMerge(
  data: string,
  key: string,
  { memory, known, stored }: Listed,
): Plan | null {
  // Another compile may have ended since its memory was read.
  const isCurrent = memory !== null && stateOf(data)?.release === memory.state.release;
  if (!isCurrent || memory.state.key !== key) return null;
  const added = addedFiles(stored, known, memory.state.since);
  return added === null ? null : { memory, known, stored, added };
}

/** Null where a file that was read is gone or changed. */
function addedFiles(
  { batches, signals }: Snapshots,
  known: KnownBatches,
  since: number,
): ReadonlyMap<string, readonly SnapshotFile[]> | null {
  const listed = new Set(batches.map(({ batch }) => batch));
  if ([...known.names].some((batch) => !listed.has(batch))) return null;
  const added = new Set<SnapshotFile>();
  for (const { batch, files } of batches) {
    const fresh = files === null ? [] : addedTo(known.files(batch), files, since);
    if (fresh === null) return null;
    for (const file of fresh) added.add(file);
  }
  const bySignal = signals.map(({ signal_id, files }) => {
    return [signal_id, files.filter((file) => added.has(file))] as const;
  });
  return new Map(bySignal.filter(([, files]) => files.length > 0));
}

/** Files that came to a batch; null where one that was read is gone or changed. */
function addedTo(
  before: readonly KnownFile[],
  files: readonly SnapshotFile[],
  since: number,
): readonly SnapshotFile[] | null {
  const now = new Map(files.map((file) => [file.id, file]));
  // A collection is read whole by each compile, so nothing of it is remembered.
  const read = before.filter(({ sha256 }) => sha256 !== '');
  const stays = (was: KnownFile): boolean => {
    const file = now.get(was.id);
    return file !== undefined && isSame(file, was, since);
  };
  if (!read.every(stays)) return null;
  const known = new Set(read.map(({ id }) => id));
  return files.filter(({ id }) => !known.has(id));
}

function isSame(file: SnapshotFile, was: KnownFile, since: number): boolean {
  return isUntouched(file, was, since) || fileDigest(file.path) === was.sha256;
}

/** Where the entities of a signal are remembered; null for a signal that is new. */
export function shelvesOf({ state, pathOf }: Memory, signalId: string): Shelves | null {
  const count = state.signals[signalId]?.shelves;
  if (count === undefined) return null;
  const files = Array.from({ length: count }, (_, shelf) => {
    const name = shelfName(signalId, shelf);
    const sha256 = state.files[name];
    return sha256 === undefined ? null : { path: pathOf(name), sha256 };
  });
  return { files };
}

/** Name of the file of a shelf among what is remembered. */
export function shelfName(signalId: string, shelf: number): string {
  return `entities/${signalId}/${shelf}`;
}

/** Files that a whole compile read otherwise than the one before it remembers, though no stamp told. */
export function changedSince(
  known: KnownBatches,
  digests: ReadonlyMap<string, string>,
  { signals }: { readonly signals: readonly SignalFiles[] },
): string[] {
  return signals.flatMap(({ signal_id, files }) =>
    files.flatMap(({ batch, name }) => {
      const was = known.files(batch).find(({ id }) => id === signal_id);
      return was !== undefined && was.sha256 !== digests.get(name) ? [name] : [];
    }),
  );
}

/** Digest of the program that runs. Files that are put in its place meanwhile are those of another one. */
let program: string | null = null;

/** What a publisher decides about every signal. */
interface Choices {
  readonly rejectsPpm: number;
  readonly seriesDays: number;
}

/** Everything but the snapshots that a release follows from: issuer, address, tables, choices, the program itself. */
export function stateKey(issuer: Issuer, tableDigest: string, choices: Choices): string {
  const { name, did, baseUrl } = issuer;
  program ??= programDigest();
  const own = { name, did, baseUrl, tableDigest, ...choices, program };
  return hash('sha256', jcs(own), 'hex');
}

/** Another program may write other bodies, whatever its version says. */
function programDigest(): string {
  const names = readdirSync(PROGRAM_FOLDER, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.[jt]s$/.test(name))
    .sort();
  const digests = names.map((name) => [
    name,
    hash('sha256', readPlain(join(PROGRAM_FOLDER, name), STORED_BYTES_MAX), 'hex'),
  ]);
  return hash('sha256', jcs(digests), 'hex');
}
