import { join } from 'node:path';
import { logOrigin, verifierKey } from '../../contract/checkpoint.ts';
import { parseDidKey } from '../../contract/did-key.ts';
import {
  anchorProofPath,
  anchorStatePath,
  BATCHES_PER_FILE,
  formatAnchorState,
  formatLogBatch,
  LOG_KEY_PATH,
  LOG_SIZE_MAX,
  type LogBatch,
  logBatchesPath,
} from '../../contract/log-batch.ts';
import {
  factsText,
  isSameRun,
  isWithin,
  LEADS,
  type LogRun,
  runPath,
  runPaths,
  runsOf,
} from '../../contract/log-runs.ts';
import { CHECKPOINT_PATH, ENTRY_BYTES, logEntry } from '../../contract/tiles.ts';
import { CompileError } from '../intake/compile-error.ts';
import { batchOrder } from '../intake/list-snapshots.ts';
import { FIRST_BYTES, sortedLines } from '../publish/hash-lines.ts';
import type { LeafStore } from '../publish/leaf-store.ts';
import type { Press } from '../publish/press.ts';
import type { Staging } from '../publish/release-store.ts';
import { ReusedBytes } from '../publish/reused-bytes.ts';
import { type AnchorStore, anchorStore } from './anchor-store.ts';
import { currentRelease } from './current-release.ts';
import { type FreshLeaves, freshLeaves } from './fresh-leaves.ts';
import { readLastCheckpoint } from './last-checkpoint.ts';
import { hexOf, type LogTree, sha256 } from './log-tree.ts';
import { emptyLog, type OpenLog, replayedLog, resumedLog } from './open-log.ts';
import {
  type LogBatchFile,
  openCheckpoint,
  type PreviousRelease,
  readBatches,
  readSignedLog,
  type SignedLog,
  signCheckpoint,
} from './previous-log.ts';
import { filledTiles } from './resume-log.ts';
import { HEX_AT, HEX_DIGITS, linesBetween, type RunSource } from './run-lines.ts';
import { RunSpill } from './run-spill.ts';

/** What a log is written with. */
type LogPress = Pick<Press, 'issuer' | 'sealer' | 'file'>;

interface LogParts {
  readonly press: LogPress;
  readonly leaves: LeafStore;
  /** Folder for what only this compile needs. */
  readonly scratch: string;
  /** The release with the longest log so far; null before the first. */
  readonly previous: PreviousRelease | null;
  /** Signed note of the newest checkpoint that left this folder, where that is remembered. */
  readonly lastSigned: string | null;
  /**
   * When the compile of the previous release began, where its log may be resumed from its right edge. Null to hash every entry
   * again.
   */
  readonly resumeSince: number | null;
  readonly anchors: Pick<AnchorStore, 'read' | 'changedSince'>;
}

/** What was written. */
export interface WrittenLog {
  readonly size: number;
  /** Hashes of the complete subtrees of its tree, left to right. */
  readonly peaks: readonly Uint8Array[];
  /** Files of the log of the previous release that a resumed one no longer has; all others stand where none was written again. */
  readonly gone: readonly string[];
  /** Whether the log of the previous release was resumed: otherwise every file of this one was written. */
  readonly isResumed: boolean;
  /** Whether a log that was replayed holds entries that no snapshot gives any more. */
  readonly hasOrphans: boolean;
}

/**
 * Continues the log of the previous release with the hashes that it does not hold yet, one signed checkpoint for each batch.
 * A log that is resumed costs what is new: full tiles, closed runs and older batches stay as they are. Throws a
 * ForgottenError where it cannot be resumed.
 */
export function writeLog(parts: LogParts): WrittenLog {
  const { press, previous } = parts;
  const old = previous === null ? null : readSignedLog(previous, [press.issuer.did]);
  refuseForgetting(parts, old);
  const log = openLog(parts, old);
  const { tree } = log;
  const before = tree.size;
  const batches = appendBatches(parts, log, old?.leaf ?? null);
  tree.finish();
  writeBatches(batches, press);
  writeAnchors(anchoredRoots(parts, log, batches), parts);
  // Signatures of Ed25519 are deterministic: where nothing was added, this is the last batch's own.
  const origin = logOrigin(press.issuer.baseUrl);
  const checkpoint = signCheckpoint({ origin, size: tree.size, root: tree.root() }, press);
  press.file(CHECKPOINT_PATH, checkpoint);
  const key = verifierKey(origin, parseDidKey(press.issuer.did), sha256);
  press.file(LOG_KEY_PATH, `${key}\n`);
  return {
    size: tree.size,
    peaks: tree.peaks(),
    gone: goneFiles(parts, log, before),
    isResumed: log.isResumed,
    hasOrphans: log.hasOrphans(),
  };
}

/** The log so far: its right edge where that is to be gone on from, else all of it. */
function openLog(
  { press, previous, resumeSince, scratch }: LogParts,
  old: SignedLog | null,
): OpenLog {
  const put = press.file;
  if (previous === null || old === null) return emptyLog(put);
  if (resumeSince !== null) return resumedLog(previous, old, put);
  return replayedLog(previous, old, { put, folder: join(scratch, 'replayed') });
}

/** Runs that were merged into larger ones, and tiles that were partial. */
function goneFiles({ previous }: LogParts, { tree, runs, isResumed }: OpenLog, before: number) {
  if (previous === null || !isResumed) return [];
  const standing = runsOf(tree.size);
  const merged = runs.runs.filter((run) => !standing.some((other) => isSameRun(run, other)));
  return [...merged.flatMap(runPaths), ...filledTiles(previous, before, tree.size)];
}

function inOrder(batches: readonly string[]): string[] {
  // A batch of a day and the batch of its hour 00 have one order; the shorter name comes first.
  const order = (batch: string): string => `${batchOrder(batch)} ${batch.length}`;
  return [...batches].sort((a, b) => (order(a) < order(b) ? -1 : 1));
}

/** Appends what is new, batch by batch in the order of the digests; answers the list with a row for each batch that adds something. */
function appendBatches(
  { leaves, press, scratch }: LogParts,
  log: OpenLog,
  previous: SignedLog['leaf'],
): LogBatchFile {
  const { tree, withhold, runs: before, isResumed } = log;
  const batches = inOrder(leaves.batches());
  const fresh = freshLeaves(leaves, { batches, folder: join(scratch, 'fresh'), withhold });
  const size = tree.size + (previous === null ? 0 : 1) + fresh.count;
  if (size > LOG_SIZE_MAX) throw refused('log', `more than ${LOG_SIZE_MAX} entries`);
  const added = new RunSpill(join(scratch, 'added'), runsOf(size));
  const first = previous === null ? [] : [appendRelease({ tree, added }, previous)];
  const rows = batches.flatMap((batch, rank) => {
    const size_before = tree.size;
    appendBatch({ tree, added }, fresh, rank);
    return tree.size === size_before ? [] : [signedBatch({ batch, size_before }, tree, press)];
  });
  const stands = (run: LogRun): boolean =>
    isResumed && before.runs.some((other) => isSameRun(run, other));
  for (const [path, lines] of runFiles({ before, added, stands })) press.file(path, lines);
  return { ...log.batches, rows: [...log.batches.rows, ...first, ...rows] };
}

interface Appended {
  readonly tree: LogTree;
  readonly added: RunSpill;
}

/** The leaf of the previous release, whose checkpoint is signed and seen: it comes before whatever is new. */
function appendRelease(
  { tree, added }: Appended,
  { recordHash, facts, row }: NonNullable<SignedLog['leaf']>,
): LogBatch {
  added.add(recordHash.slice(-HEX_DIGITS), tree.size, factsText(facts));
  tree.append(logEntry(recordHash));
  tree.cut();
  return row;
}

function appendBatch({ tree, added }: Appended, fresh: FreshLeaves, rank: number): void {
  const entry = Buffer.from(logEntry(`sha256:${'0'.repeat(HEX_DIGITS)}`));
  for (const [hex, facts] of fresh.ofBatch(rank)) {
    added.add(hex, tree.size, facts);
    entry.write(hex, ENTRY_BYTES - HEX_DIGITS, 'latin1');
    tree.append(entry);
  }
}

/** The row of a batch that ends where the tree ends now. */
function signedBatch(
  { batch, size_before }: Pick<LogBatch, 'batch' | 'size_before'>,
  tree: LogTree,
  press: LogPress,
): LogBatch {
  tree.cut();
  const root = tree.root();
  const origin = logOrigin(press.issuer.baseUrl);
  const checkpoint = signCheckpoint({ origin, size: tree.size, root }, press);
  const day = batch.slice(0, 10);
  return { batch, day, size_before, size: tree.size, root: hexOf(root), checkpoint };
}

/**
 * A log that is shorter than a signed one, or differs from it, would be a fork: the wrong release is being continued.
 */
function refuseForgetting({ lastSigned, press, previous }: LogParts, old: SignedLog | null): void {
  if (lastSigned === null) return;
  const issuers = [press.issuer.did, ...(previous === null ? [] : [previous.issuerDid])];
  const signed = openCheckpoint(lastSigned, issuers);
  if (signed === null) {
    throw refused('checkpoint', 'the newest checkpoint, kept beside the releases, is damaged');
  }
  if (signed.size === 0) return;
  const isSigned = ({ size, root }: LogBatch): boolean =>
    size === signed.size && root === hexOf(signed.root);
  const leaf = old?.leaf?.row;
  if (leaf !== undefined && isSigned(leaf)) return;
  if (old?.newest.rows.some(isSigned)) return;
  if (previous !== null && readBatches(previous).some(isSigned)) return;
  throw refused(
    'checkpoint',
    `a log of ${signed.size} entries was already signed, but the release to continue from holds ` +
      `${old?.signed.size ?? 0}`,
  );
}

function refused(file: string, state: string): CompileError {
  const message =
    `the log cannot be continued: ${state}; nothing was signed. Make the newest release the current one, or restore ` +
    'it from a copy: a log never shrinks or forks';
  return new CompileError([{ code: 'log_refused', file, message }]);
}

/** Writes a list of batches from one of its files on. */
function writeBatches({ number, rows }: LogBatchFile, press: LogPress): void {
  for (let start = 0; start < rows.length; start += BATCHES_PER_FILE) {
    const held = rows.slice(start, start + BATCHES_PER_FILE);
    press.file(
      logBatchesPath(number + start / BATCHES_PER_FILE),
      held.map(formatLogBatch).join(''),
    );
  }
}

/** Roots that may have a timestamp which the release does not have yet. */
function anchoredRoots(
  { previous, resumeSince, anchors }: LogParts,
  log: OpenLog,
  { rows }: LogBatchFile,
): string[] {
  if (!log.isResumed || previous === null || resumeSince === null) return rows.map(rootOf);
  const fresh = rows.slice(log.batches.rows.length).map(rootOf);
  const changed = anchors.changedSince(resumeSince);
  if (changed.length === 0) return fresh;
  const known = new Set(readBatches(previous).map(rootOf));
  return [...fresh, ...changed.filter((root) => known.has(root))];
}

const rootOf = ({ root }: LogBatch): string => root;

function writeAnchors(roots: readonly string[], { press, anchors }: LogParts): void {
  for (const root of roots) {
    const anchor = anchors.read(root);
    if (anchor === null) continue;
    press.file(anchorStatePath(root), formatAnchorState(anchor.state));
    press.file(anchorProofPath(root), anchor.proof);
  }
}

/** Writes the log into a release: the data folder's log so far, plus the new leaves. */
export function continueLog(
  { data, previous, scratch }: Pick<Staging, 'data' | 'previous' | 'scratch'>,
  { press, leaves, resumeSince }: Pick<LogParts, 'press' | 'leaves' | 'resumeSince'>,
): WrittenLog {
  const release = currentRelease(data, previous);
  return writeLog({
    press,
    leaves,
    resumeSince,
    scratch: join(scratch, 'log'),
    previous: release,
    lastSigned: readLastCheckpoint(data),
    anchors: anchorStore(data, release),
  });
}

/** What the runs of a log are made of. */
interface RunParts {
  /** The log so far. A run of it is within one run of the new log. */
  readonly before: RunSource;
  /** What was appended, by the runs of the new log. */
  readonly added: RunSource;
  /** Whether a run is in the release already and stays as it is. */
  readonly stands: (run: LogRun) => boolean;
}

/** Path and lines of each file of each run that does not stand; the lines are valid until the next file is asked for. */
export function* runFiles({
  before,
  added,
  stands,
}: RunParts): Generator<readonly [string, Buffer]> {
  for (const run of added.runs) {
    if (stands(run)) continue;
    const sources = before.runs
      .filter((inner) => isWithin(inner, run))
      .map((inner) => (first: number) => before.lines(inner, first));
    yield* filesOf(run, [...sources, (first) => added.lines(run, first)]);
  }
}

type LinesOfByte = (first: number) => Buffer;

/** The files of one run, made byte by byte where it has more of them: so memory does not grow with the run. */
function* filesOf(
  run: LogRun,
  sources: readonly LinesOfByte[],
): Generator<readonly [string, Buffer]> {
  const memory = new ReusedBytes();
  const steps = Math.min(run.shards, FIRST_BYTES);
  const [bytes, shards] = [FIRST_BYTES / steps, run.shards / steps];
  const leads = LEADS / run.shards;
  for (let step = 0; step < steps; step += 1) {
    const lines = sortedLines(gathered(sources, step * bytes, bytes), HEX_AT, memory);
    for (let shard = step * shards; shard < (step + 1) * shards; shard += 1) {
      yield [runPath(run, shard), linesBetween(lines, shard * leads, (shard + 1) * leads)];
    }
  }
}

function gathered(sources: readonly LinesOfByte[], from: number, count: number): Buffer {
  const parts: Buffer[] = [];
  for (let first = from; first < from + count; first += 1) {
    for (const source of sources) parts.push(Buffer.from(source(first)));
  }
  return Buffer.concat(parts);
}
