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
import { HASH_BYTES } from '../../contract/merkle.ts';
import {
  CHECKPOINT_PATH,
  ENTRY_BYTES,
  LOG_FOLDER,
  logEntry,
  parseTilePath,
  TILE_WIDTH,
} from '../../contract/tiles.ts';
import { CompileError } from '../intake/compile-error.ts';
import { batchOrder } from '../intake/list-snapshots.ts';
import { DIGEST_LINE_BYTES } from '../publish/digest-lines.ts';
import { DigestSpill } from '../publish/digest-spill.ts';
import type { LeafStore } from '../publish/leaf-store.ts';
import type { Press } from '../publish/press.ts';
import type { Anchor } from './anchor-store.ts';
import { freshDigests, type HeldDigests } from './fresh-digests.ts';
import { gatheredDigests, logShards, storedDigests } from './held-digests.ts';
import { openCheckpoint, signCheckpoint } from './log-signer.ts';
import { hexOf, LogTree, sha256 } from './log-tree.ts';
import { type PreviousRelease, readSignedLog, replayLog, type SignedLog } from './previous-log.ts';
import { resumeLog } from './resume-log.ts';

export interface LogParts {
  readonly press: Press;
  readonly leaves: LeafStore;
  /** Folder for what only this compile needs. */
  readonly scratch: string;
  /** The release with the longest log so far; null before the first. */
  readonly previous: PreviousRelease | null;
  /** Signed note of the newest checkpoint that left this folder, where that is remembered. */
  readonly lastSigned: string | null;
  /** Whether the log may be resumed from its right edge; otherwise every entry is hashed again. */
  readonly mayResume: boolean;
  /** The timestamp of a root, or null while it is unstamped. */
  readonly anchorOf: (rootHex: string) => Anchor | null;
}

/** What was written. */
export interface WrittenLog {
  readonly size: number;
  /** Signed note of the newest checkpoint. */
  readonly checkpoint: string;
  /** Whether a log file of the previous release stays valid where this compile wrote none at that path. */
  readonly stands: (path: string) => boolean;
}

/** Continues the log of the previous release with the hashes that it does not hold yet, one signed checkpoint for each batch. */
export function writeLog(parts: LogParts): WrittenLog {
  const { press, previous } = parts;
  const old = previous === null ? null : readSignedLog(previous, [press.issuer.did]);
  refuseForgetting(parts, old?.batches ?? []);
  const { tree, held, stands } = openLog(parts, old);
  const added = DigestSpill.byFirstByte(join(parts.scratch, 'added'));
  const origin = logOrigin(press.issuer.baseUrl);
  const batches = [...(old?.batches ?? []), ...appendBatches(parts, { tree, held, added })];
  tree.finish();
  for (const [path, bytes] of logShards({ held, added, stands })) press.file(path, bytes);
  writeBatches(batches, press);
  writeAnchors(batches, parts);
  // Signatures of Ed25519 are deterministic: where nothing was added, this is the last batch's own.
  const checkpoint = signCheckpoint({ origin, size: tree.size, root: tree.root() }, press);
  press.file(CHECKPOINT_PATH, checkpoint);
  const key = verifierKey(origin, parseDidKey(press.issuer.did), sha256);
  press.file(LOG_KEY_PATH, `${key}\n`);
  return { size: tree.size, checkpoint, stands };
}

interface OpenLog extends Pick<WrittenLog, 'stands'> {
  readonly tree: LogTree;
  /** Digests of the log so far. */
  readonly held: HeldDigests;
}

/** The log so far: its right edge where that can be gone on from, else all of it. */
function openLog(
  { press, previous, mayResume, scratch }: LogParts,
  old: SignedLog | null,
): OpenLog {
  const isKnown = mayResume && previous !== null && old !== null;
  const resumed = isKnown ? resumeLog(previous, old, press.file) : null;
  if (isKnown && resumed !== null) {
    return { tree: resumed, held: storedDigests(previous), stands: isFullTileOrShard };
  }
  const tree = new LogTree(press.file);
  const digests = DigestSpill.byFirstByte(join(scratch, 'replayed'));
  if (previous !== null && old !== null) replayLog(previous, old, { tree, digests });
  return { tree, held: gatheredDigests(digests), stands: () => false };
}

function isFullTileOrShard(path: string): boolean {
  return parseTilePath(path)?.width === TILE_WIDTH || path.startsWith(`${LOG_FOLDER}/index/`);
}

function inOrder(batches: readonly string[]): string[] {
  // A batch of a day and the batch of its hour 00 have one order; the shorter name comes first.
  const order = (batch: string): string => `${batchOrder(batch)} ${batch.length}`;
  return [...batches].sort((a, b) => (order(a) < order(b) ? -1 : 1));
}

interface Append extends Omit<OpenLog, 'stands'> {
  /** The digests that are appended, with their positions. */
  readonly added: DigestSpill;
}

/** Appends what is new, batch by batch in the order of the digests; answers a row for each batch that adds something. */
function appendBatches(parts: LogParts, { tree, held, added }: Append): LogBatch[] {
  const { leaves, scratch } = parts;
  const batches = inOrder(leaves.batches());
  const fresh = freshDigests(leaves, held, { batches, folder: join(scratch, 'fresh') });
  return batches.flatMap((batch, rank) => {
    const size_before = tree.size;
    for (const lines of fresh.pieces(rank)) appendDigests(tree, lines, added);
    if (tree.size === size_before) return [];
    if (tree.size > LOG_SIZE_MAX) throw refused(batch, `more than ${LOG_SIZE_MAX} entries`);
    return [signedBatch({ batch, size_before }, tree, parts.press)];
  });
}

function appendDigests(tree: LogTree, lines: Buffer, added: DigestSpill): void {
  const entry = Buffer.from(logEntry(`sha256:${'0'.repeat(2 * HASH_BYTES)}`));
  for (let at = 0; at < lines.length; at += DIGEST_LINE_BYTES) {
    const digest = lines.subarray(at, at + HASH_BYTES);
    entry.write(digest.toString('hex'), ENTRY_BYTES - 2 * HASH_BYTES, 'latin1');
    added.add(digest, tree.size);
    tree.append(entry);
  }
}

/** The row of a batch that ends where the tree ends now. */
function signedBatch(
  { batch, size_before }: Pick<LogBatch, 'batch' | 'size_before'>,
  tree: LogTree,
  press: Press,
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
function refuseForgetting({ lastSigned, press, previous }: LogParts, batches: readonly LogBatch[]) {
  if (lastSigned === null) return;
  const issuers = [press.issuer.did, ...(previous === null ? [] : [previous.issuerDid])];
  const signed = openCheckpoint(lastSigned, issuers);
  if (signed === null) {
    throw refused('checkpoint', 'the newest checkpoint, kept beside the releases, is damaged');
  }
  if (signed.size === 0) return;
  const row = batches.find(({ size }) => size === signed.size);
  if (row?.root === hexOf(signed.root)) return;
  throw refused(
    'checkpoint',
    `a log of ${signed.size} entries was already signed, but the release to continue from holds ` +
      `${batches.at(-1)?.size ?? 0}`,
  );
}

function refused(file: string, state: string): CompileError {
  const message =
    `the log cannot be continued: ${state}; nothing was signed. Make the newest release the current one, or restore ` +
    'it from a copy: a log never shrinks or forks';
  return new CompileError([{ code: 'log_refused', file, message }]);
}

function writeBatches(batches: readonly LogBatch[], press: Press): void {
  for (let start = 0; start < batches.length; start += BATCHES_PER_FILE) {
    const rows = batches.slice(start, start + BATCHES_PER_FILE);
    press.file(logBatchesPath(start / BATCHES_PER_FILE), rows.map(formatLogBatch).join(''));
  }
}

function writeAnchors(batches: readonly LogBatch[], { press, anchorOf }: LogParts): void {
  for (const { root } of batches) {
    const anchor = anchorOf(root);
    if (anchor === null) continue;
    press.file(anchorStatePath(root), formatAnchorState(anchor.state));
    press.file(anchorProofPath(root), anchor.proof);
  }
}
