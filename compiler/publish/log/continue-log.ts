import { existsSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Checkpoint, logOrigin, verifierKey } from '../../format/checkpoint.ts';
import { parseDidKey } from '../../format/did-key.ts';
import { HASH_COUNT_PATH, parseHashCount } from '../../format/hash-index.ts';
import { goesBack, type Release } from '../../format/release.ts';
import { type ReleaseEntry, releaseEntryBytes } from '../../format/release-entry.ts';
import { CHECKPOINT_PATH, takenPath } from '../../format/tiles.ts';
import { type CurrentRelease, currentRelease } from '../../release/current-release.ts';
import { ForgottenError } from '../../release/forgotten-error.ts';
import type { LeafStore } from '../../release/leaf-store.ts';
import {
  noteStaged,
  publishCheckpoint,
  refused,
  trimTiles,
  writeLogFiles,
} from '../../release/log-folder.ts';
import { appendEntries, rootOf, sha256, type TreeEdge } from '../../release/log-tree.ts';
import type { Press } from '../../release/press.ts';
import type { LogSwitch, Staging } from '../../release/release-store.ts';
import { canonicalDigest } from '../../system/jcs.ts';
import { readPlain } from '../../system/plain-file.ts';
import { durableFolder, syncFolder } from '../../system/replace-file.ts';
import type { Issuer, Sealer } from '../../system/sealer.ts';
import { judgeNote } from '../../verify/log-notes.ts';
import { signCheckpoint } from './checkpoint-note.ts';
import { copyFirstLog, removeFirstFiles, takeFirstIndex } from './first-format.ts';
import { type RunSource, StoredRuns } from './hash-runs.ts';
import { rebuiltIndex } from './rebuilt-index.ts';
import { type TakenIn, takeIn } from './take-in.ts';

/** What the log is continued with. */
interface LogParts {
  readonly staging: Pick<Staging, 'data' | 'scratch' | 'log' | 'place' | 'previous'>;
  readonly press: Pick<Press, 'issuer' | 'sealer' | 'file'>;
}

/** A log that a release can be appended to. */
export interface ContinuedLog {
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
