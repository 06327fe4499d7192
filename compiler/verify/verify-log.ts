import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { type Checkpoint, logOrigin, verifierKey } from '../contract/checkpoint.ts';
import { parseDidKey } from '../contract/did-key.ts';
import { messageOf } from '../contract/errors.ts';
import {
  anchorProofPath,
  BATCHES_PER_FILE,
  formatAnchorState,
  LOG_KEY_PATH,
  type LogBatch,
  logBatchesPath,
  parseAnchorState,
  parseLogBatches,
} from '../contract/log-batch.ts';
import { HASH_BYTES } from '../contract/merkle.ts';
import { attestationsOf, parseProof } from '../contract/ots-proof.ts';
import type { Release } from '../contract/release.ts';
import { RELEASE_PROOF_NAME, releaseProofFault } from '../contract/release-leaf.ts';
import { decodeUtf8 } from '../contract/strict-json.ts';
import { CHECKPOINT_PATH } from '../contract/tiles.ts';
import { parseTlogProof } from '../contract/tlog-proof.ts';
import { canonicalHash } from './body-check.ts';
import { type Disk, nodeDisk } from './disk.ts';
import { believedDids, type SoundVerdict, soundVerdict, WHOEVER_HAS_IT } from './key-trust.ts';
import { checkLogIndex } from './known-hashes.ts';
import { judgeNote } from './log-notes.ts';
import { type LogSource, LogTilesCheck, logSource } from './log-tiles-check.ts';
import { judgeByPolicy, type PolicyTrust, pastSigner, type Witnessed } from './policy-check.ts';
import { Faults, type ReleaseFault } from './release-fault.ts';
import { readHead, releaseKeys, releaseRoot } from './release-head.ts';
import type { CitationTrust } from './verify-citation.ts';

const STATE = /^log\/anchor\/([0-9a-f]{64})\.json$/;

interface VerifyLogOptions extends CitationTrust, PolicyTrust {
  readonly disk?: Disk;
  /** Signed note of a checkpoint that was seen before: the log must have grown from it. */
  readonly since?: string | undefined;
  readonly kept?: readonly Release[];
}

export interface LogReport {
  readonly verdict: SoundVerdict | 'failed';
  readonly head: Release | null;
  readonly entries: number;
  readonly checkpoints: number;
  /** Record hashes of the release that were found in the log. */
  readonly records: number;
  readonly anchors: AnchorCounts;
  readonly faults: readonly ReleaseFault[];
  readonly faultCount: number;
  /** Signed note of the newest checkpoint, with the head of the release in it where it has a leaf. */
  readonly checkpoint: string | null;
  /** Witnesses of the policy of the reader that cosigned it. */
  readonly witnessed: readonly Witnessed[];
  /** Two signed notes that cannot both be of one append-only log. */
  readonly evidence: readonly string[];
}

type LogFindings = Omit<LogReport, 'verdict' | 'head' | 'faults' | 'faultCount'>;

const NOTHING: LogFindings = {
  entries: 0,
  checkpoints: 0,
  records: 0,
  anchors: { pending: 0, confirmed: 0 },
  checkpoint: null,
  witnessed: [],
  evidence: [],
};

/** Re-derives the log of a release from its first entry: tiles, roots, checkpoints, index, and that every published record is in it. */
export function verifyLog(folder: string, options: VerifyLogOptions): LogReport {
  const { disk = nodeDisk, trust } = options;
  const faults = new Faults();
  const root = releaseRoot(disk, folder, faults);
  const known = root === null ? {} : releaseKeys({ ...options, disk, root, faults });
  const head = root === null ? null : readHead({ ...options, ...known, disk, root, faults });
  let found = NOTHING;
  if (root !== null && head !== null && faults.count === 0) {
    try {
      const source = logSource({ disk, root, head, faults });
      found = { ...NOTHING, ...checkLog(source, { ...options, ...known }) };
    } catch (error) {
      faults.add('log', '', messageOf(error));
    }
  }
  const verdict = faults.count === 0 ? soundVerdict(trust) : 'failed';
  return { verdict, head, ...found, faults: faults.kept, faultCount: faults.count };
}

export function checkLog(source: LogSource, options: VerifyLogOptions): LogFindings {
  // The head is judged by now; keys of before it signed what the log was.
  const past = (options.keys?.keys ?? []).map((key) => key.did);
  const issuers = [...new Set([...believedDids(options, source.head.issuer_did), ...past])];
  const batches = readBatches(source);
  const newest = newestCheckpoint(source, issuers);
  const seen = seenCheckpoint(source, options.since, issuers);
  const size = newest?.checkpoint.size ?? 0;
  const tiles = new LogTilesCheck(source, size);
  const grown = growThrough(tiles, batches, seen?.checkpoint ?? null);
  // The tree with the head of the release in it is proven to go on from the listed one.
  const last = newest && (provenHead(source, newest.checkpoint, issuers) ?? newest);
  const rootAt = new Map(grown);
  if (last !== null && last !== newest) {
    rootAt.set(last.checkpoint.size, bytesToHex(last.checkpoint.root));
  }
  checkBatches({ source, batches, issuers, rootAt });
  if ((batches.at(-1)?.size ?? 0) !== size) {
    source.faults.add(CHECKPOINT_PATH, 'size', `${size}, but the last batch is of another`);
  }
  if (newest !== null) checkRoot(CHECKPOINT_PATH, newest.checkpoint, { source, rootAt });
  if (tiles.size === size) checkHeadsLogged(source, options.kept ?? [], tiles.digests);
  return {
    entries: tiles.size,
    checkpoints: batches.length,
    checkpoint: last?.note ?? null,
    witnessed: checkWitnessed(last, source, options),
    evidence: seen === null ? [] : forkEvidence({ seen, newest: last, rootAt, source, options }),
    records: tiles.size === size ? checkLogIndex(source, tiles.digests) : 0,
    anchors: checkAnchors(source, new Set(batches.map(({ root }) => root))),
  };
}

/** Who witnessed the newest checkpoint; one without the quorum that the reader demands is a fault. */
function checkWitnessed(
  last: Signed | null,
  { head, faults }: LogSource,
  policy: PolicyTrust,
): readonly Witnessed[] {
  if (last === null) return [];
  const { fault, witnessed } = judgeByPolicy(last.note, policy);
  const isListed = head.log_index === undefined || last.checkpoint.size === head.log_index;
  if (fault !== null) faults.add(isListed ? CHECKPOINT_PATH : RELEASE_PROOF_NAME, '', fault);
  return witnessed;
}

function seenCheckpoint(
  { faults }: LogSource,
  note: string | undefined,
  issuers: readonly string[],
): Signed | null {
  if (note === undefined) return null;
  const { checkpoint, fault } = judgeNote(note, issuers);
  if (checkpoint !== null) return { checkpoint, note };
  faults.add('--since', '', fault);
  return null;
}

function readBatches(source: LogSource): LogBatch[] {
  const batches: LogBatch[] = [];
  for (let number = 0; source.paths.has(logBatchesPath(number)); number += 1) {
    const path = logBatchesPath(number);
    try {
      batches.push(...parseLogBatches(decodeUtf8(source.read(path) ?? new Uint8Array(0))));
    } catch (error) {
      source.faults.add(path, '', messageOf(error));
    }
  }
  return batches;
}

function newestCheckpoint(source: LogSource, issuers: readonly string[]): Signed | null {
  const { head, faults } = source;
  const note = decodeUtf8(source.read(CHECKPOINT_PATH) ?? new Uint8Array(0));
  const { checkpoint, fault } = judgeNote(note, issuers);
  if (checkpoint === null) {
    faults.add(CHECKPOINT_PATH, '', fault);
    return null;
  }
  const origin = logOrigin(head.base_url);
  if (checkpoint.origin !== origin) faults.add(CHECKPOINT_PATH, 'origin', `not "${origin}"`);
  const key = `${verifierKey(origin, parseDidKey(head.issuer_did), sha256)}\n`;
  const given = source.read(LOG_KEY_PATH);
  if (given !== null && decodeUtf8(given) !== key)
    faults.add(LOG_KEY_PATH, '', 'not the key of the issuer');
  return { checkpoint, note };
}

/** Roots in hex by the size that somebody signed. */
type Roots = ReadonlyMap<number, string>;

function growThrough(
  tiles: LogTilesCheck,
  batches: readonly LogBatch[],
  seen: Checkpoint | null,
): Roots {
  const roots = new Map([[0, tiles.rootHex()]]);
  const signed = new Set(batches.map(({ size }) => size));
  const sizes = new Set([...signed, ...(seen === null ? [] : [seen.size])]);
  for (const size of [...sizes].sort((a, b) => a - b)) {
    if (size < tiles.size || size > tiles.total || !tiles.growTo(size)) break;
    roots.set(size, tiles.rootHex());
    if (signed.has(size)) tiles.cut();
  }
  tiles.finish();
  return roots;
}

/** Each row follows the one before, and its checkpoint signs the root that the entries give. */
function checkBatches({
  source,
  batches,
  issuers,
  rootAt,
}: {
  source: LogSource;
  batches: readonly LogBatch[];
  issuers: readonly string[];
  rootAt: Roots;
}): void {
  let before = 0;
  for (const [number, row] of batches.entries()) {
    const path = logBatchesPath(Math.floor(number / BATCHES_PER_FILE));
    const follows =
      row.size_before === before && row.size > before && row.batch.startsWith(row.day);
    const faults = [
      follows ? null : 'does not follow the row before, or is not of its day',
      checkpointFault(row, issuers),
      rootAt.get(row.size) === row.root ? null : 'the entries give another root',
    ];
    for (const fault of faults) {
      if (fault !== null) source.faults.add(path, `row ${number + 1} (${row.batch})`, fault);
    }
    before = row.size;
  }
}

function checkpointFault(row: LogBatch, issuers: readonly string[]): string | null {
  const { checkpoint, fault } = judgeNote(row.checkpoint, issuers);
  if (checkpoint === null) return fault;
  const isSame = checkpoint.size === row.size && bytesToHex(checkpoint.root) === row.root;
  return isSame ? null : 'its checkpoint states another tree';
}

interface RootCheck {
  readonly source: LogSource;
  readonly rootAt: Roots;
}

function checkRoot(
  path: string,
  { size, root }: Checkpoint,
  { source, rootAt }: RootCheck,
): boolean {
  if (rootAt.get(size) === bytesToHex(root)) return true;
  source.faults.add(path, 'root', `the ${size} entries of this log give another root`);
  return false;
}

/** The two notes that prove a fork or a shrinking, where the log did not grow from the one that was seen. */
function forkEvidence({
  seen,
  newest,
  rootAt,
  source,
  options,
}: RootCheck & { seen: Signed; newest: Signed | null; options: VerifyLogOptions }): string[] {
  const { size } = seen.checkpoint;
  const now = newest?.checkpoint.size ?? 0;
  if (size > now) source.faults.add('--since', 'size', `${size} entries, but the log has ${now}`);
  else if (checkRoot('--since', seen.checkpoint, { source, rootAt })) return [];
  const notes = [seen, ...(newest === null ? [] : [newest])].map(({ note }) => note);
  const past = notes.flatMap((note) => pastSigner(note, options) ?? []);
  for (const each of past) source.faults.add('--since', '', `${each}: ${WHOEVER_HAS_IT}`);
  return notes;
}

/** Roots with a timestamp, by what their proof shows. */
interface AnchorCounts {
  readonly pending: number;
  readonly confirmed: number;
}

/** Compares every timestamp state with its proof; headers of blocks are not at hand, so no block is vouched for. */
function checkAnchors(source: LogSource, roots: ReadonlySet<string>): AnchorCounts {
  const counts = { pending: 0, confirmed: 0 };
  for (const path of source.paths) {
    if (!path.startsWith('log/anchor/')) continue;
    const root = STATE.exec(path)?.[1];
    if (root === undefined) {
      checkOwned(path, source);
      continue;
    }
    try {
      counts[stateOf(path, root, source)] += 1;
      if (!roots.has(root)) throw new RangeError('no batch has this root');
    } catch (error) {
      source.faults.add(path, '', messageOf(error));
    }
  }
  return counts;
}

function checkOwned(path: string, { paths, faults }: LogSource): void {
  const state = path.replace(/\.ots$/, '.json');
  if (!STATE.test(state) || !paths.has(state))
    faults.add(path, '', 'belongs to no timestamp state');
}

function stateOf(path: string, root: string, source: LogSource): 'pending' | 'confirmed' {
  const text = decodeUtf8(source.read(path) ?? new Uint8Array(0));
  const state = parseAnchorState(text);
  if (formatAnchorState(state) !== text || state.root !== root) {
    throw new RangeError('not the state of this root as compile writes it');
  }
  const proof = source.read(anchorProofPath(root)) ?? new Uint8Array(0);
  const heights = new Set<number>();
  for (const { message, attestation } of attestationsOf(parseProof(proof, hexToBytes(root)))) {
    const isRoot = bytesToHex(message).length === 64;
    if (attestation.kind === 'bitcoin' && isRoot) heights.add(attestation.height);
  }
  if (state.ots_state === 'pending' && state.bitcoin_height === null) return 'pending';
  if (state.bitcoin_height === null || !heights.has(state.bitcoin_height)) {
    throw new RangeError('its proof does not lead to the block that it names');
  }
  return 'confirmed';
}

interface Signed {
  readonly checkpoint: Checkpoint;
  readonly note: string;
}

/**
 * The checkpoint of the log with the head of the release in it: it must extend the listed one by the hash of the head alone.
 * Null for a release from before there were any, and, with a fault, where the proof beside the head does not hold.
 */
function provenHead(source: LogSource, log: Checkpoint, issuers: readonly string[]): Signed | null {
  const { log_index: logIndex } = source.head;
  const bytes = logIndex === undefined ? null : source.proof();
  if (logIndex === undefined || bytes === null) return null;
  try {
    const proof = parseTlogProof(decodeUtf8(bytes));
    const leaf = { recordHash: canonicalHash(source.head), logIndex, log };
    const fault =
      releaseProofFault(proof, leaf, sha256) ?? judgeNote(proof.checkpoint, issuers).fault;
    if (fault === null) return { checkpoint: proof.signed, note: proof.checkpoint };
    source.faults.add(RELEASE_PROOF_NAME, '', fault);
  } catch (error) {
    source.faults.add(RELEASE_PROOF_NAME, '', messageOf(error));
  }
  return null;
}

/** Every older release that is kept beside this one and states its place in the log stands there. */
function checkHeadsLogged(
  { head, faults }: LogSource,
  kept: readonly Release[],
  digests: Buffer,
): void {
  for (const { sequence, log_index: at, ...rest } of kept) {
    if (at === undefined || sequence >= head.sequence) continue;
    const hash = canonicalHash({ sequence, log_index: at, ...rest });
    const entry = digests.toString('hex', at * HASH_BYTES, (at + 1) * HASH_BYTES);
    if (hash === `sha256:${entry}`) continue;
    faults.add(
      'log',
      `entry ${at}`,
      `not the head of release ${sequence}, which states to be there`,
    );
  }
}
