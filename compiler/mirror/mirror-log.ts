import { statSync } from 'node:fs';
import { join } from 'node:path';
import { type Checkpoint, NOTE_CHARS_MAX, openNote } from '../contract/checkpoint.ts';
import { messageOf } from '../contract/errors.ts';
import { HASH_BYTES } from '../contract/merkle.ts';
import { parseReleaseEntry, type ReleaseEntry, takenLeaf } from '../contract/release-entry.ts';
import { LOG_URL } from '../contract/static-files.ts';
import {
  bundleEntries,
  CHECKPOINT_PATH,
  LOG_KEY_PATH,
  TILE_WIDTH,
  takenPath,
  tilePath,
} from '../contract/tiles.ts';
import type { LogClient } from '../monitor/log-client.ts';
import {
  changeCheckpoint,
  readEdge,
  readNote,
  trimTiles,
  writeLogFiles,
} from '../stages/anchor/log-folder.ts';
import {
  appendEntries,
  edgeTiles,
  hexOf,
  rootOf,
  sha256,
  type TreeEdge,
} from '../stages/anchor/log-tree.ts';
import { GrowingTree } from '../stages/anchor/take-in.ts';
import { CompileError } from '../stages/intake/compile-error.ts';
import { judgeNote } from '../verify/log-notes.ts';
import type { ReleaseFault } from '../verify/release-fault.ts';

/** Longest bundle: 256 entries, each of at most 65,535 bytes after its length. */
const BUNDLE_BYTES_MAX = TILE_WIDTH * (2 + 65_535);
/** More entries than any log has beside those of the first format. */
const ENTRIES_MAX = 4_000_000;
/** More hashes than any release takes in. */
const TAKEN_BYTES_MAX = 2 ** 30;
const KEY_BYTES_MAX = 4096;
/** Lists of hashes that are asked for at once. */
const PARALLEL = 8;

export interface MirroredLog {
  /** Files that came, and their bytes. */
  readonly files: number;
  readonly bytes: number;
  readonly faults: readonly ReleaseFault[];
}

interface LogSource {
  readonly client: LogClient;
  /** Folder of the mirror. */
  readonly data: string;
  /** DIDs that are believed. */
  readonly issuers: readonly string[];
}

/** Something of the log is not as it has to be. */
class LogFault extends Error {
  override readonly name = 'LogFault';
  readonly file: string;

  constructor(detail: string, { file, ...options }: ErrorOptions & { readonly file: string }) {
    super(detail, options);
    this.file = file;
  }
}

/**
 * Fetches what a log has beyond the entries that the mirror holds. Nothing is written before the entries lead to the signed
 * root, and go on from the log that is held; the checkpoint comes last. Throws an UnreachableError.
 */
export async function mirrorLog(source: LogSource): Promise<MirroredLog> {
  const come = { files: 0, bytes: 0 };
  const { client, data } = source;
  const get = async (path: string, max: number): Promise<Uint8Array | null> => {
    const bytes = await client.get(`/${path}`, max);
    if (bytes !== null) come.files += 1;
    come.bytes += bytes?.length ?? 0;
    return bytes;
  };
  try {
    const { note, signed } = await signedNote(source, get);
    if (note === readNote(data)) return { files: 0, bytes: 0, faults: [] };
    const log = await grownLog(data, signed, get);
    for (const [path, bytes] of log.files) {
      const there = path.includes('/entries/') ? bytes : await get(path, TILE_WIDTH * HASH_BYTES);
      if (there === null || Buffer.compare(there, bytes) !== 0) {
        throw new LogFault('it is not the tile of the entries', { file: path });
      }
    }
    writeLogFiles(data, log.files);
    await fetchTaken(data, log.entries, get);
    const key = await get(LOG_KEY_PATH, KEY_BYTES_MAX);
    if (key !== null) writeLogFiles(data, new Map([[LOG_KEY_PATH, key]]));
    changeCheckpoint(data, () => note);
    trimTiles(data, signed.size);
    return { ...come, faults: [] };
  } catch (error) {
    if (!(error instanceof LogFault)) throw error;
    return { ...come, faults: [{ file: error.file, where: '', detail: error.message }] };
  }
}

type Get = (path: string, max: number) => Promise<Uint8Array | null>;

/** The newest checkpoint, which a key that is believed signed, and which is not of fewer entries than the mirror holds. */
async function signedNote(
  { issuers, data }: LogSource,
  get: Get,
): Promise<{ readonly note: string; readonly signed: Checkpoint }> {
  const bytes = await get(CHECKPOINT_PATH, 2 * NOTE_CHARS_MAX);
  if (bytes === null)
    throw new LogFault(`nothing is given at ${LOG_URL}`, { file: CHECKPOINT_PATH });
  const note = Buffer.from(bytes).toString('utf8');
  const { checkpoint: signed, fault } = judgeNote(note, issuers);
  if (signed === null) throw new LogFault(fault, { file: CHECKPOINT_PATH });
  const held = heldCheckpoint(data);
  if (held === null || (held.origin === signed.origin && held.size <= signed.size)) {
    return { note, signed };
  }
  throw new LogFault(
    `rollback: ${signed.size} entries of "${signed.origin}", and ${held.size} of "${held.origin}" were mirrored before`,
    { file: CHECKPOINT_PATH },
  );
}

function heldCheckpoint(data: string): Checkpoint | null {
  const note = readNote(data);
  return note === null ? null : (openNote(note)?.checkpoint ?? null);
}

/** The tiles and bundles of the entries that are not held, and the releases of those entries. */
async function grownLog(data: string, signed: Checkpoint, get: Get) {
  const held = heldCheckpoint(data);
  const log: GrownLog = { edge: heldEdge(data, held), files: new Map(), entries: [] };
  for (const { size, root } of [...(held === null ? [] : [held]), signed]) {
    await growTo(log, { size, all: signed.size }, get);
    if (hexOf(rootOf(log.edge)) === hexOf(root)) continue;
    throw new LogFault(
      size === signed.size
        ? 'its entries do not lead to the root that was signed, or not from the log that was mirrored before'
        : `fork: its first ${size} entries are not those that were mirrored before`,
      { file: CHECKPOINT_PATH },
    );
  }
  const partial = new Set(edgeTiles(signed.size).map(tilePath));
  const files = [...log.files].filter(([path]) => !path.includes('.p/') || partial.has(path));
  return { files: new Map(files), entries: log.entries };
}

interface GrownLog {
  readonly edge: TreeEdge;
  readonly files: Map<string, Uint8Array>;
  readonly entries: (ReleaseEntry | null)[];
}

/** Of a log that is damaged here all is fetched again. */
function heldEdge(data: string, held: Checkpoint | null): TreeEdge {
  try {
    if (held !== null) return readEdge(data, held);
  } catch (error) {
    if (!(error instanceof CompileError)) throw error;
  }
  return { size: 0, rows: [], bundle: [] };
}

/** Appends entries up to a size, from the bundles of a log of `all` entries. */
async function growTo(
  { edge, files, entries }: GrownLog,
  { size, all }: { readonly size: number; readonly all: number },
  get: Get,
): Promise<void> {
  while (edge.size < size) {
    const index = Math.floor(edge.size / TILE_WIDTH);
    const first = index * TILE_WIDTH;
    const full = { level: 'entries', index, width: TILE_WIDTH } as const;
    const partial = { ...full, width: Math.min(TILE_WIDTH, all - first) };
    const bytes =
      (await get(tilePath(partial), BUNDLE_BYTES_MAX)) ??
      (await get(tilePath(full), BUNDLE_BYTES_MAX));
    if (bytes === null) throw new LogFault('it is not there', { file: tilePath(partial) });
    const bundle = entriesIn(tilePath(partial), bytes);
    const some = bundle.slice(edge.size - first, Math.min(size - first, partial.width));
    if (bundle.length < partial.width) {
      throw new LogFault(`it has ${bundle.length} entries`, { file: tilePath(partial) });
    }
    for (const [path, made] of appendEntries(edge, some)) files.set(path, made);
    entries.push(...some.map(parseReleaseEntry));
    if (entries.length > ENTRIES_MAX) {
      throw new LogFault(`more than ${ENTRIES_MAX} entries are new`, { file: CHECKPOINT_PATH });
    }
  }
}

function entriesIn(path: string, bytes: Uint8Array): Uint8Array[] {
  try {
    return bundleEntries(bytes);
  } catch (cause) {
    throw new LogFault(messageOf(cause), { file: path, cause });
  }
}

/** The hashes that each release took in, as its entry states them. */
async function fetchTaken(
  data: string,
  entries: readonly (ReleaseEntry | null)[],
  get: Get,
): Promise<void> {
  const left = entries.values();
  const work = async (): Promise<void> => {
    for (const entry of left) {
      if (entry === null || entry.new.count === 0) continue;
      const path = takenPath(entry.sequence);
      const size = entry.new.count * HASH_BYTES;
      if (statSync(join(data, path), { throwIfNoEntry: false })?.size === size) continue;
      if (size > TAKEN_BYTES_MAX)
        throw new LogFault(`it has ${entry.new.count} hashes`, { file: path });
      const bytes = await get(path, size);
      if (bytes === null || takenRoot(bytes) !== entry.new.root) {
        throw new LogFault('it is not what the entry states', { file: path });
      }
      writeLogFiles(data, new Map([[path, bytes]]));
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
}

function takenRoot(bytes: Uint8Array): string {
  const tree = new GrowingTree();
  for (let at = 0; at < bytes.length; at += HASH_BYTES) {
    const hash = Buffer.from(bytes.subarray(at, at + HASH_BYTES)).toString('hex');
    if (hash.length === 2 * HASH_BYTES) tree.append(takenLeaf(`sha256:${hash}`, sha256));
  }
  return tree.head().root;
}
