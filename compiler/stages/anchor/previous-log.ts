import { createPublicKey, verify } from 'node:crypto';
import {
  type Checkpoint,
  checkpointText,
  formatNote,
  noteKeyHash,
  openNote,
  signatureIn,
} from '../../contract/checkpoint.ts';
import { defined } from '../../contract/defined.ts';
import { decodeBase64Url, parseDidKey } from '../../contract/did-key.ts';
import { messageOf } from '../../contract/errors.ts';
import {
  BATCHES_FOLDER,
  LOG_SIZE_MAX,
  type LogBatch,
  logBatchesPath,
  parseLogBatches,
} from '../../contract/log-batch.ts';
import type { LeafFacts } from '../../contract/log-runs.ts';
import type { Release } from '../../contract/release.ts';
import {
  RELEASE_PROOF_NAME,
  releaseBatch,
  releaseFacts,
  releaseProofFault,
} from '../../contract/release-leaf.ts';
import {
  CHECKPOINT_PATH,
  decodeBundle,
  logEntry,
  TILE_WIDTH,
  tilePath,
} from '../../contract/tiles.ts';
import { parseTlogProof, type ReadTlogProof } from '../../contract/tlog-proof.ts';
import { CompileError } from '../intake/compile-error.ts';
import type { Press } from '../publish/press.ts';
import { canonicalDigest } from '../seal/jcs.ts';
import { hexOf, type LogTree, sha256 } from './log-tree.ts';

/** The release whose log is continued; `read` is null for a file that the release does not have. */
export interface PreviousRelease {
  /** Who signed it. */
  readonly issuerDid: string;
  /** Its own leaf, which its log does not hold yet; null for a release from before there were any. */
  readonly leaf: PreviousLeaf | null;
  read(path: string): Buffer | null;
  /** Its paths that begin with a prefix, in order. */
  under(prefix: string): Iterable<string>;
}

/** The leaf of a release as its head and the proof beside it state it. */
interface PreviousLeaf {
  readonly head: Release;
  /** Text of RELEASE_PROOF_NAME. */
  readonly proof: string;
}

/** The leaf of a release, proven, with the row that the next list of batches has for it. */
interface SignedLeaf {
  readonly recordHash: string;
  readonly facts: LeafFacts;
  readonly row: LogBatch;
}

/** Rows of one file of the list of batches. */
export interface LogBatchFile {
  readonly number: number;
  readonly rows: readonly LogBatch[];
}

/** What the log of a previous release says of itself. */
export interface SignedLog {
  /** The last file of its list of batches. */
  readonly newest: LogBatchFile;
  /** What the signed note of its newest listed checkpoint states. */
  readonly signed: Checkpoint;
  /** What comes right behind it. */
  readonly leaf: SignedLeaf | null;
}

/**
 * Reads what the log of the previous release says of itself. Null when that release has no log; throws a CompileError when no
 * key of the issuer signed its checkpoint, or when its list of batches does not lead there.
 */
export function readSignedLog(
  previous: PreviousRelease,
  issuers: readonly string[],
): SignedLog | null {
  const checkpoint = previous.read(CHECKPOINT_PATH)?.toString('utf8');
  if (checkpoint === undefined) return null;
  const signed = openCheckpoint(checkpoint, [...issuers, previous.issuerDid]);
  if (signed === null) {
    throw broken(CHECKPOINT_PATH, 'not a checkpoint that this issuer signed');
  }
  const newest = newestFile(previous);
  const last = newest.rows.at(-1);
  if (
    (last?.size ?? 0) !== signed.size ||
    (last?.root ?? hexOf(signed.root)) !== hexOf(signed.root)
  ) {
    throw broken(logBatchesPath(newest.number), 'its last batch is not the one of the checkpoint');
  }
  return { newest, signed, leaf: signedLeaf(previous, signed, issuers) };
}

/** The leaf of a release whose log has this checkpoint; throws a CompileError where its proof does not hold. */
function signedLeaf(
  { leaf, issuerDid }: PreviousRelease,
  log: Checkpoint,
  issuers: readonly string[],
): SignedLeaf | null {
  if (leaf === null) return null;
  const { head } = leaf;
  const proof = readProof(leaf);
  const recordHash = canonicalDigest(head);
  const logIndex = defined(head.log_index, 'the position of the head in the log');
  const fault = releaseProofFault(proof, { recordHash, logIndex, log }, sha256);
  if (fault !== null) throw broken(RELEASE_PROOF_NAME, fault);
  const origin = proof.note.signatures.filter(({ name }) => name === log.origin);
  const checkpoint = formatNote({ ...proof.note, signatures: origin });
  if (openCheckpoint(checkpoint, [...issuers, issuerDid]) === null) {
    throw broken(RELEASE_PROOF_NAME, 'this issuer did not sign its checkpoint');
  }
  const batch = releaseBatch(head);
  const { size, root } = proof.signed;
  const day = batch.slice(0, 'YYYY-MM-DD'.length);
  const row = { batch, day, size_before: log.size, size, root: hexOf(root), checkpoint };
  return { recordHash, facts: releaseFacts(head), row };
}

function readProof({ proof }: PreviousLeaf): ReadTlogProof {
  try {
    return parseTlogProof(proof);
  } catch (cause) {
    throw broken(RELEASE_PROOF_NAME, messageOf(cause));
  }
}

function newestFile(previous: PreviousRelease): LogBatchFile {
  const number = Math.max(0, [...previous.under(BATCHES_FOLDER)].length - 1);
  return { number, rows: readRows(previous, number, null) };
}

/** Takes an entry of a log and its position. */
type TakeEntry = (recordHash: string, position: number) => void;

/**
 * Replays the log of the previous release into an empty tree: every entry is hashed again, and every checkpoint that was
 * signed must come out of it. Answers the list of batches; throws a CompileError when it is not what was signed.
 */
export function replayLog(
  previous: PreviousRelease,
  { signed }: SignedLog,
  into: { readonly tree: LogTree; readonly take: TakeEntry },
): LogBatch[] {
  const entries = entriesOf(previous, signed.size);
  const batches = readBatches(previous);
  for (const row of batches) {
    growTo(row.size, entries, into);
    const isSame = into.tree.size === row.size && hexOf(into.tree.root()) === row.root;
    if (!isSame) throw broken(`batch "${row.batch}"`, `${row.size} entries do not give its root`);
    into.tree.cut();
  }
  return batches;
}

/** The rows of the list of batches of a release; empty when it has no log. */
export function readBatches(previous: PreviousRelease): LogBatch[] {
  const batches: LogBatch[] = [];
  for (let number = 0; ; number += 1) {
    const rows = readRows(previous, number, batches.at(-1)?.size ?? 0);
    if (rows.length === 0) return batches;
    batches.push(...rows);
  }
}

/** Every root that is signed, in hex, oldest first: those of the batches, and that of the tree with the head of the release in it. */
export function signedRoots(release: PreviousRelease): string[] {
  const leaf = readSignedLog(release, [])?.leaf ?? null;
  const roots = readBatches(release).map(({ root }) => root);
  return leaf === null ? roots : [...roots, leaf.row.root];
}

/** Rows of a file of the list, the first of which begins at a size, where that is known; none where there is no file. */
function readRows(previous: PreviousRelease, number: number, from: number | null): LogBatch[] {
  const path = logBatchesPath(number);
  const text = previous.read(path)?.toString('utf8');
  const rows = text === undefined ? [] : parsedBatches(path, text);
  let size = from ?? rows[0]?.size_before;
  for (const row of rows) {
    if (row.size_before !== size || row.size <= row.size_before) {
      throw broken(path, `batch "${row.batch}" does not follow the one before`);
    }
    size = row.size;
  }
  return rows;
}

function parsedBatches(path: string, text: string): LogBatch[] {
  try {
    return parseLogBatches(text);
  } catch (cause) {
    throw broken(path, messageOf(cause));
  }
}

/** Record hashes of a log in their order, one bundle in memory at a time. */
function* entriesOf(previous: PreviousRelease, size: number): Generator<string> {
  if (size > LOG_SIZE_MAX) throw broken(CHECKPOINT_PATH, `more than ${LOG_SIZE_MAX} entries`);
  for (let index = 0; index * TILE_WIDTH < size; index += 1) {
    const width = Math.min(TILE_WIDTH, size - index * TILE_WIDTH);
    const path = tilePath({ level: 'entries', index, width });
    const bytes = previous.read(path);
    const hashes = bytes === null ? [] : decoded(path, bytes);
    if (hashes.length !== width) throw broken(path, `${hashes.length} entries instead of ${width}`);
    yield* hashes;
  }
}

function decoded(path: string, bytes: Buffer): string[] {
  try {
    return decodeBundle(bytes);
  } catch (cause) {
    throw broken(path, messageOf(cause));
  }
}

function growTo(
  size: number,
  entries: Generator<string>,
  { tree, take }: { readonly tree: LogTree; readonly take: TakeEntry },
): void {
  while (tree.size < size) {
    const step = entries.next();
    if (step.done === true) return;
    take(step.value, tree.size);
    tree.append(logEntry(step.value));
  }
}

/** That the log of the previous release is not what was signed. */
export function broken(file: string, state: string): CompileError {
  const message =
    `the log of the previous release cannot be continued: ${state}; nothing was signed. Restore that release from ` +
    'a copy: a log never shrinks or forks';
  return new CompileError([{ code: 'log_refused', file, message }]);
}

/** The signed note of a checkpoint, by the keys of the issuer under the name of the log: two in an overlap. */
export function signCheckpoint(checkpoint: Checkpoint, { sealer }: Pick<Press, 'sealer'>): string {
  const text = checkpointText(checkpoint);
  const name = checkpoint.origin;
  const signatures = sealer.logSigners.map(({ did, signText }) => {
    const keyHash = noteKeyHash(name, parseDidKey(did), sha256);
    return { name, keyHash, signature: decodeBase64Url(signText(text)) };
  });
  return formatNote({ text, signatures });
}

/** What a note states when one of these issuers signed it under the name of its log; null otherwise. */
export function openCheckpoint(note: string, issuers: readonly string[]): Checkpoint | null {
  const opened = openNote(note);
  if (opened === null) return null;
  const { note: parsed, checkpoint } = opened;
  const { origin } = checkpoint;
  const isSigned = issuers.map(parseDidKey).some((key) => {
    const signature = signatureIn(parsed, origin, noteKeyHash(origin, key, sha256));
    return signature !== null && isSignature(signature, parsed.text, key);
  });
  return isSigned ? checkpoint : null;
}

function isSignature(signature: Uint8Array, text: string, publicKey: Uint8Array): boolean {
  const x = Buffer.from(publicKey).toString('base64url');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  return verify(null, Buffer.from(text, 'utf8'), key, signature);
}
