import { statSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '@noble/hashes/sha2.js';
import { LOG_URL } from '../../catalog/static-files.ts';
import { type Checkpoint, NOTE_CHARS_MAX, openNote } from '../../format/checkpoint.ts';
import { messageOf } from '../../format/errors.ts';
import { atOnce } from '../../format/lists.ts';
import { HASH_BYTES } from '../../format/merkle.ts';
import { parseReleaseEntry, takenLeaf } from '../../format/release-entry.ts';
import {
  bundleEntries,
  CHECKPOINT_PATH,
  LOG_KEY_PATH,
  TILE_WIDTH,
  takenPath,
  tilePath,
} from '../../format/tiles.ts';
import {
  changeCheckpoint,
  readEdge,
  readNote,
  trimTiles,
  writeLogFiles,
} from '../../release/log-folder.ts';
import { appendEntries, edgeTiles, hexOf, rootOf, type TreeEdge } from '../../release/log-tree.ts';
import { CompileError } from '../../system/compile-error.ts';
import { judgeNote } from '../../verify/log-notes.ts';
import { RecomputedTree } from '../../verify/log-tiles-check.ts';
import { type LogClient, tileAt } from '../../verify/monitor/log-client.ts';
import type { ReleaseFault } from '../../verify/release-fault.ts';

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

/** A file of the log is not as it has to be. */
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
export async function mirrorLog({ client, data, issuers }: LogSource): Promise<MirroredLog> {
  const come = { files: 0, bytes: 0 };
  const counted: LogClient = {
    async get(path, max) {
      const bytes = await client.get(path, max);
      if (bytes !== null) come.files += 1;
      come.bytes += bytes?.length ?? 0;
      return bytes;
    },
  };
  try {
    const bytes = await counted.get(`/${CHECKPOINT_PATH}`, 2 * NOTE_CHARS_MAX);
    if (bytes === null)
      throw new LogFault(`nothing is given at ${LOG_URL}`, { file: CHECKPOINT_PATH });
    const note = Buffer.from(bytes).toString('utf8');
    const { checkpoint: signed, fault } = judgeNote(note, issuers);
    if (signed === null) throw new LogFault(fault, { file: CHECKPOINT_PATH });
    const heldNote = readNote(data);
    if (note === heldNote) return { files: 0, bytes: 0, faults: [] };
    const held = heldNote === null ? null : (openNote(heldNote)?.checkpoint ?? null);
    if (held !== null && (held.origin !== signed.origin || held.size > signed.size)) {
      throw new LogFault(
        `rollback: ${signed.size} entries of "${signed.origin}", and ${held.size} of "${held.origin}" were mirrored before`,
        { file: CHECKPOINT_PATH },
      );
    }
    const log = await grownLog({ data, held, signed }, counted);
    for (const [path, made] of log.files) {
      if (path.includes('/entries/')) continue;
      const there = await counted.get(`/${path}`, TILE_WIDTH * HASH_BYTES);
      if (there === null || Buffer.compare(there, made) !== 0) {
        throw new LogFault('it is not the tile of the entries', { file: path });
      }
    }
    writeLogFiles(data, log.files);
    await fetchTaken(data, log.entries, counted);
    const key = await counted.get(`/${LOG_KEY_PATH}`, KEY_BYTES_MAX);
    if (key !== null) writeLogFiles(data, new Map([[LOG_KEY_PATH, key]]));
    changeCheckpoint(data, () => note);
    trimTiles(data, signed.size);
    return { ...come, faults: [] };
  } catch (error) {
    if (!(error instanceof LogFault)) throw error;
    return { ...come, faults: [{ file: error.file, where: '', detail: error.message }] };
  }
}

interface Growth {
  readonly data: string;
  readonly held: Checkpoint | null;
  readonly signed: Checkpoint;
}

/** The tiles and bundles of the entries that are not held, and those entries. */
async function grownLog({ data, held, signed }: Growth, client: LogClient) {
  const edge = heldEdge(data, held);
  const files = new Map<string, Uint8Array>();
  const entries: Uint8Array[] = [];
  for (const { size, root } of held === null ? [signed] : [held, signed]) {
    while (edge.size < size) {
      const first = edge.size - (edge.size % TILE_WIDTH);
      const width = Math.min(TILE_WIDTH, signed.size - first);
      const tile = { level: 'entries', index: first / TILE_WIDTH, width } as const;
      const bytes = await tileAt(client, tile);
      const bundle = bundleOf(tilePath(tile), bytes, width);
      const some = bundle.slice(edge.size - first, size - first);
      for (const [path, made] of appendEntries(edge, some)) files.set(path, made);
      entries.push(...some);
      if (entries.length > ENTRIES_MAX) {
        throw new LogFault(`more than ${ENTRIES_MAX} entries are new`, { file: CHECKPOINT_PATH });
      }
    }
    if (hexOf(rootOf(edge)) === hexOf(root)) continue;
    throw new LogFault(
      size === signed.size
        ? 'its entries do not lead to the root that was signed, or not from the log that was mirrored before'
        : `fork: its first ${size} entries are not those that were mirrored before`,
      { file: CHECKPOINT_PATH },
    );
  }
  const partial = new Set(edgeTiles(signed.size).map(tilePath));
  const kept = [...files].filter(([path]) => !path.includes('.p/') || partial.has(path));
  return { files: new Map(kept), entries };
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

/** The first entries of a bundle, as many as it has to have. */
function bundleOf(path: string, bytes: Uint8Array | null, width: number): Uint8Array[] {
  if (bytes === null) throw new LogFault('it is not there', { file: path });
  try {
    const entries = bundleEntries(bytes);
    if (entries.length >= width) return entries.slice(0, width);
    throw new RangeError(`it has ${entries.length} entries`);
  } catch (cause) {
    throw new LogFault(messageOf(cause), { file: path, cause });
  }
}

/** The hashes that each release took in, as its entry states them. */
async function fetchTaken(
  data: string,
  entries: readonly Uint8Array[],
  client: LogClient,
): Promise<void> {
  await atOnce(entries, PARALLEL, async (bytes) => {
    const entry = parseReleaseEntry(bytes);
    if (entry === null || entry.new.count === 0) return;
    const path = takenPath(entry.sequence);
    const size = entry.new.count * HASH_BYTES;
    if (statSync(join(data, path), { throwIfNoEntry: false })?.size === size) return;
    if (size > TAKEN_BYTES_MAX)
      throw new LogFault(`it has ${entry.new.count} hashes`, { file: path });
    const taken = await client.get(`/${path}`, size);
    const tree = new RecomputedTree();
    for (let at = 0; taken !== null && at + HASH_BYTES <= taken.length; at += HASH_BYTES) {
      const hex = Buffer.from(taken.subarray(at, at + HASH_BYTES)).toString('hex');
      tree.add(takenLeaf(`sha256:${hex}`, sha256));
    }
    if (taken === null || tree.head.root !== entry.new.root) {
      throw new LogFault('it is not what the entry states', { file: path });
    }
    writeLogFiles(data, new Map([[path, taken]]));
  });
}
