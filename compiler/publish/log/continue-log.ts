import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  type Checkpoint,
  checkpointText,
  formatNote,
  logOrigin,
  NOTE_CHARS_MAX,
  noteKeyHash,
  verifierKey,
} from '../../format/checkpoint.ts';
import { decodeBase64Url, parseDidKey } from '../../format/did-key.ts';
import { defined } from '../../format/errors.ts';
import { HASH_COUNT_PATH, parseHashCount, runsOf } from '../../format/hash-index.ts';
import { HASH_BYTES } from '../../format/merkle.ts';
import { goesBack, type Release } from '../../format/release.ts';
import { type ReleaseEntry, releaseEntryBytes, takenLeaf } from '../../format/release-entry.ts';
import {
  CHECKPOINT_PATH,
  LOG_FOLDER,
  logEntry,
  takenPath,
  tilePath,
  tilesOf,
} from '../../format/tiles.ts';
import { FIRST_BYTES, hashSpill, textLines } from '../../release/hash-lines.ts';
import type { LeafStore } from '../../release/leaf-store.ts';
import {
  filesOfLog,
  noteStaged,
  type OpenLog,
  publishCheckpoint,
  readEdge,
  readOrRefuse,
  refused,
  trimTiles,
  writeLogFiles,
} from '../../release/log-folder.ts';
import { appendEntries, hexOf, rootOf, sha256, type TreeEdge } from '../../release/log-tree.ts';
import type { Press } from '../../release/press.ts';
import {
  type CurrentRelease,
  currentRelease,
  type LogSwitch,
  type Staging,
} from '../../release/release-store.ts';
import { ForgottenError } from '../../system/compile-error.ts';
import { canonicalDigest } from '../../system/jcs.ts';
import { durableFolder, readPlain, syncFolder } from '../../system/plain-file.ts';
import type { Issuer, Sealer } from '../../system/sealer.ts';
import { judgeNote } from '../../verify/log-notes.ts';
import { HEX_DIGITS, type RunSource, RunSpill, StoredRuns } from './hash-runs.ts';
import { GrowingTree, type TakenIn, takeIn } from './take-in.ts';

/** What the log is continued with. */
interface LogParts {
  readonly staging: Pick<Staging, 'data' | 'scratch' | 'log' | 'place' | 'previous'>;
  readonly press: Pick<Press, 'issuer' | 'sealer' | 'file'>;
}

/** A log that a release can be appended to. */
interface ContinuedLog {
  readonly parts: LogParts;
  readonly edge: TreeEdge;
  /** The release of the first format whose log it was. */
  readonly first: CurrentRelease | null;
}

/** The log of a data folder, whose checkpoint this issuer or the one before signed; throws a CompileError for any other. */
export function continuedLog(parts: LogParts): ContinuedLog {
  const { staging, press } = parts;
  const { data, log, previous } = staging;
  const issuers = [press.issuer.did, ...(previous === null ? [] : [previous.head.issuer_did])];
  if (log !== null) {
    if (judgeNote(log.note, issuers).fault !== null) {
      throw refused(CHECKPOINT_PATH, 'not a checkpoint that this issuer signed');
    }
    return { parts, edge: log.edge, first: null };
  }
  const first = currentRelease(data, previous);
  const edge =
    first === null || previous === null
      ? null
      : copyFirstLog({ data, head: previous.head, release: first, issuers });
  if (edge !== null) return { parts, edge, first };
  return { parts, edge: { size: 0, rows: [], bundle: [] }, first: null };
}

/**
 * Takes in what is new of some leaves, and writes the index. `isIncremental`: what does not change of the release before
 * stays.
 */
export function takeLeaves(
  { parts: { staging, press }, first }: ContinuedLog,
  leaves: LeafStore,
  isIncremental: boolean,
): TakenIn {
  const { data, scratch, log, previous, place } = staging;
  const sequence = (place?.sequence ?? 0) + 1;
  const release = currentRelease(data, previous);
  const parts = { press, leaves, into: takenFile(staging), sequence, isStanding: isIncremental };
  const from = (known: RunSource, name: string): TakenIn =>
    takeIn({ ...parts, known, scratch: join(scratch, name) });
  if (log === null) {
    if (first !== null && isIncremental) throw new ForgottenError('Cannot go on: another format');
    if (first !== null) takeFirstIndex(first, leaves);
    return from(new StoredRuns(0, () => Buffer.alloc(0)), 'taken');
  }
  const isWhole = release !== null && place?.sequence === previous?.head.sequence;
  try {
    if (!isWhole) throw new ForgottenError('Cannot go on: the newest release is lost');
    return from(storedIndex(release), 'taken');
  } catch (error) {
    if (isIncremental || !(error instanceof ForgottenError)) throw error;
    return from(rebuiltIndex(data, log, { leaves, folder: join(scratch, 'index') }), 'retaken');
  }
}

function storedIndex(release: CurrentRelease): RunSource {
  const read = (path: string): Buffer => {
    try {
      const bytes = release.read(path);
      if (bytes !== null) return bytes;
    } catch (cause) {
      throw new ForgottenError(`Cannot go on from "${path}"`, { cause });
    }
    throw new ForgottenError(`Cannot go on from "${path}": not listed`);
  };
  return new StoredRuns(parseHashCount(read(HASH_COUNT_PATH).toString('latin1')), read);
}

/** What a release takes in before it is published, 32 bytes a hash. */
export function stagedHashes(staging: Pick<Staging, 'scratch'>): Buffer {
  const path = takenFile(staging);
  return existsSync(path) ? readPlain(path, Number.MAX_SAFE_INTEGER) : Buffer.alloc(0);
}

/** Where the record hashes that a release takes in are written before it is appended. */
function takenFile({ scratch }: Pick<Staging, 'scratch'>): string {
  return join(scratch, 'taken-hashes');
}

/** Appends the entry of a release. Nothing is written before it is staged, and nothing signed before it is published. */
export function appendRelease(
  { parts, edge, first }: ContinuedLog,
  release: Release,
  { all, taken }: { readonly all: ReleaseEntry['all']; readonly taken: ReleaseEntry['new'] },
): LogSwitch {
  const { staging, press } = parts;
  const { data, place } = staging;
  const { as_of, sequence, valid_until = null } = release;
  if (place !== null && (sequence !== place.sequence + 1 || goesBack(place, release))) {
    throw refused(CHECKPOINT_PATH, `release ${sequence} as of ${as_of} is not the next one`);
  }
  const head = canonicalDigest(release);
  const entry = releaseEntryBytes({ all, as_of, head, new: taken, sequence, valid_until });
  const files = appendEntries(edge, [entry]);
  const origin = logOrigin(press.issuer.baseUrl);
  const next = { origin, size: edge.size, root: rootOf(edge) };
  return {
    next,
    stage() {
      writeLogFiles(data, files);
      const to = join(data, takenPath(sequence));
      rmSync(to, { force: true });
      // A release that takes in nothing has no file.
      if (taken.count > 0) {
        durableFolder(dirname(to));
        renameSync(takenFile(staging), to);
        syncFolder(dirname(to));
      }
      noteStaged(data, next);
    },
    publish: () => signLog(data, next, press),
    tidy() {
      trimTiles(data, edge.size);
      if (first !== null) removeFirstFiles(data);
    },
  };
}

/** Signs a log whose files are on the disk, and publishes its checkpoint. */
export function signLog(
  data: string,
  log: Checkpoint,
  {
    issuer,
    sealer,
  }: { readonly issuer: Pick<Issuer, 'did'>; readonly sealer: Pick<Sealer, 'logSigners'> },
): void {
  const key = `${verifierKey(log.origin, parseDidKey(issuer.did), sha256)}\n`;
  publishCheckpoint(data, { note: signCheckpoint(log, sealer), key });
}

/**
 * The index of a log of which the release is lost or damaged: what each release took in stands in the log, and what a hash
 * stands for is said by the snapshots. Throws a CompileError for a hash of which no snapshot is left.
 */
function rebuiltIndex(
  data: string,
  log: OpenLog,
  { leaves, folder }: { readonly leaves: LeafStore; readonly folder: string },
): RunSpill {
  const hashes = hashSpill(join(folder, 'taken'));
  const starts = new Map<number, number>();
  let total = 0;
  let from = log.last.sequence;
  while (log.entryOf(from - 1) !== null) from -= 1;
  for (let sequence = from; sequence <= log.last.sequence; sequence += 1) {
    starts.set(sequence, total);
    const { count, root } = defined(log.entryOf(sequence), 'an entry').new;
    const path = takenPath(sequence);
    // A release that took in nothing has no file.
    if (count === 0) continue;
    const bytes = readOrRefuse(path, () => readPlain(join(data, path), count * HASH_BYTES));
    const tree = new GrowingTree();
    for (let index = 0; index < count; index += 1) {
      const hex = bytes.toString('hex', index * HASH_BYTES, (index + 1) * HASH_BYTES);
      tree.append(takenLeaf(`sha256:${hex.padEnd(HEX_DIGITS, '0')}`, sha256));
      hashes.add(Buffer.from(`${hex} ${sequence} ${index}\n`));
    }
    if (tree.head().root !== root) throw refused(path, 'it does not give the root of its entry');
    total += count;
  }
  const startOf = (sequence: number): number => starts.get(sequence) ?? 0;
  const runs = new RunSpill(join(folder, 'rebuilt'), runsOf(total), startOf);
  for (let first = 0; first < FIRST_BYTES; first += 1) {
    const facts = new Map<string, string>();
    for (const line of textLines(leaves.startingWith(first))) {
      const [hex, own] = [line.slice(0, HEX_DIGITS), line.slice(HEX_DIGITS + 1)];
      if (own < (facts.get(hex) ?? '~')) facts.set(hex, own);
    }
    for (const line of textLines(hashes.take(first))) {
      const [hex = '', sequence, index] = line.split(' ');
      const own = facts.get(hex);
      if (own === undefined) {
        throw refused(hex, `what release ${sequence} took in is in no snapshot any more`);
      }
      runs.add(hex, { sequence: Number(sequence), index: Number(index) }, own);
    }
  }
  return runs;
}

// The log of the first format lies in the release, with an entry for each record hash. It goes on beside the releases: its
// tiles are copied, the hash of its own release follows, and what it holds of readings and rows is taken in once more.

/** Beside the releases: the newest checkpoint that one of them carried, and timestamps. */
const LAST_CHECKPOINT = 'log-checkpoint';
const ANCHORS_FOLDER = 'anchors';
/** A line of the index: the hash, its position, and what it stands for. */
const LINE = /^\["sha256:([0-9a-f]{64})",\d+,("(?:reading|row)",.*)\]$/;

interface FirstLog {
  readonly data: string;
  readonly head: Release;
  readonly release: CurrentRelease;
  /** Who may have signed it. */
  readonly issuers: readonly string[];
}

/** Copies the log of a release of the first format, with the entry of its head; null where it has none. */
function copyFirstLog({ data, head, release, issuers }: FirstLog): TreeEdge | null {
  const note = release.read(CHECKPOINT_PATH)?.toString('utf8');
  if (note === undefined) return null;
  const { checkpoint: signed } = judgeNote(note, issuers);
  if (signed === null) throw refused(CHECKPOINT_PATH, 'not a checkpoint that this issuer signed');
  const put = (path: string, bytes: Uint8Array | null): void => {
    if (bytes === null) throw refused(path, 'it is not there');
    mkdirSync(dirname(join(data, path)), { recursive: true });
    writeFileSync(join(data, path), bytes);
  };
  for (const path of tilesOf(signed.size).map(tilePath)) put(path, release.read(path));
  for (const path of release.under(`${LOG_FOLDER}/anchor/`)) put(path, release.read(path));
  const anchors = join(data, ANCHORS_FOLDER);
  for (const name of existsSync(anchors) ? readdirSync(anchors) : []) {
    put(`${LOG_FOLDER}/anchor/${name}`, readPlain(join(anchors, name), NOTE_CHARS_MAX));
  }
  const edge = readEdge(data, signed);
  if (head.log_index !== undefined) {
    writeLogFiles(data, appendEntries(edge, [logEntry(canonicalDigest(head))]));
  }
  // The newest checkpoint that left this folder has to be one of this log: anything else would be a fork. A kill behind the
  // switch left that of the release before.
  const path = join(data, LAST_CHECKPOINT);
  if (!existsSync(path)) return edge;
  const text = readPlain(path, NOTE_CHARS_MAX).toString('utf8');
  const { checkpoint: last } = judgeNote(text, issuers);
  if (last === null) throw refused(LAST_CHECKPOINT, 'it is damaged');
  const { size, root } = last;
  const { hashOf } = filesOfLog(data, { size: edge.size, root: rootOf(edge) });
  const rootThen = (): Uint8Array =>
    readOrRefuse(LOG_FOLDER, () => hashOf({ start: 0, end: size }));
  if (size <= edge.size && hexOf(rootThen()) === hexOf(root)) return edge;
  throw refused(
    LAST_CHECKPOINT,
    `another log of ${size} entries was already signed than that of the current release, which has ${edge.size}`,
  );
}

/** Gives the record hashes of readings and rows that the log holds to what is taken in. */
function takeFirstIndex({ under, read }: CurrentRelease, leaves: LeafStore): void {
  for (const path of under(`${LOG_FOLDER}/index/`)) {
    const bytes = read(path);
    if (bytes === null) throw refused(path, 'it is not there');
    const lines = bytes.toString('utf8').split('\n');
    for (const line of lines) {
      const [, hex, facts] = LINE.exec(line) ?? [];
      if (hex !== undefined) leaves.addLines(Buffer.from(`${hex} ${facts}\n`));
    }
  }
}

/** Removes what a log of the first format left beside the releases, once it went on. */
function removeFirstFiles(data: string): void {
  rmSync(join(data, LAST_CHECKPOINT), { force: true });
  rmSync(join(data, ANCHORS_FOLDER), { recursive: true, force: true });
}

/** The signed note of a checkpoint, by the keys of the issuer under the name of the log: two in an overlap. */
export function signCheckpoint(
  checkpoint: Checkpoint,
  { logSigners }: Pick<Sealer, 'logSigners'>,
): string {
  const text = checkpointText(checkpoint);
  const name = checkpoint.origin;
  const signatures = logSigners.map(({ did, signText }) => {
    const keyHash = noteKeyHash(name, parseDidKey(did), sha256);
    return { name, keyHash, signature: decodeBase64Url(signText(text)) };
  });
  return formatNote({ text, signatures });
}
