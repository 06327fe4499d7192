/**
 * The log as strangers see it: the listed one, and behind it the hash of the head of the release, which stands in no list.
 * The proof beside the head shows that tree, and the few tiles that differ are made here, in memory. Witnesses may sign its
 * checkpoint after the release was published, so the proof is read again now and then, when somebody asks.
 */
import { createPublicKey, verify } from 'node:crypto';
import { canonicalJson } from '../../compiler/contract/canonical.ts';
import {
  formatNote,
  noteKeyHash,
  openNote,
  signatureIn,
} from '../../compiler/contract/checkpoint.ts';
import { encodeBase64Url, parseDidKey } from '../../compiler/contract/did-key.ts';
import { messageOf } from '../../compiler/contract/errors.ts';
import type { LogBatch } from '../../compiler/contract/log-batch.ts';
import type { LogLine } from '../../compiler/contract/log-runs.ts';
import { HASH_BYTES, leafHash, nodeHash } from '../../compiler/contract/merkle.ts';
import type { Release } from '../../compiler/contract/release.ts';
import {
  RELEASE_PROOF_NAME,
  releaseBatch,
  releaseFacts,
  releaseProofFault,
} from '../../compiler/contract/release-leaf.ts';
import { decodeUtf8 } from '../../compiler/contract/strict-json.ts';
import {
  CHECKPOINT_PATH,
  encodeBundle,
  logEntry,
  TILE_HEIGHT,
  TILE_WIDTH,
  type Tile,
  tilePath,
} from '../../compiler/contract/tiles.ts';
import {
  formatTlogProof,
  parseTlogProof,
  type ReadTlogProof,
} from '../../compiler/contract/tlog-proof.ts';
import { FOR_EVERYBODY } from '../http/cost.ts';
import { oncePerRelease } from './per-release.ts';
import { DamagedFileError, sha256 } from './read-body.ts';
import type { ReleaseIndex } from './release-index.ts';

/** How long a proof is taken to be the newest. */
const RENEW_MS = 60_000;
/** Longest checkpoint with all its witnesses, in characters: each body that is sold brings it. */
const WITNESSED_CHARS_MAX = 16_384;
/** How long it is remembered that there was none. */
const RETRY_MS = 3_000;

/** A file of the log that no list names. */
export interface TipFile {
  readonly bytes: Buffer;
  /** In hex. */
  readonly sha256: string;
}

/** The newest tree of a release. */
interface LogTip {
  proof: ReadTlogProof;
  /** What the next release will say of it in its list of batches. */
  row: LogBatch;
  /** The proof, its checkpoint, and the tiles that differ from the listed ones, by path. */
  files: ReadonlyMap<string, TipFile>;
}

/** The leaf of a release, as the index of the log of the next one will have it; null for a release from before there were any. */
export const releaseLeaf = oncePerRelease(({ head }): { line: LogLine | null } => {
  const { log_index: position } = head;
  if (position === undefined) return { line: null };
  return { line: { record_hash: headHash(head), position, facts: releaseFacts(head) } };
});

/** Whether a path is that of a file which `logTip` gives. */
export function isOfTip(path: string, release: ReleaseIndex): boolean {
  return tipPaths(release).has(path);
}

const tipPaths = oncePerRelease(({ head }): ReadonlySet<string> => {
  const { log_index: size } = head;
  if (size === undefined) return new Set();
  return new Set([RELEASE_PROOF_NAME, CHECKPOINT_PATH, ...grownTiles(size).map(tilePath)]);
});

interface HeldTip {
  tip: Promise<LogTip>;
  readAt: number;
  isBroken: boolean;
}

const held = new WeakMap<ReleaseIndex, HeldTip>();

/** The newest tree of a release; null for one from before. Rejects like ReleaseIndex.body where its proof cannot be had. */
export async function logTip(release: ReleaseIndex): Promise<LogTip | null> {
  if (release.head.log_index === undefined) return null;
  const known = held.get(release);
  if (known === undefined) return begin(release);
  const age = nowOf(release) - known.readAt;
  if (known.isBroken && age > RETRY_MS) return begin(release);
  if (!known.isBroken && age > RENEW_MS) {
    known.readAt = nowOf(release);
    void renew(known, release);
  }
  return known.tip;
}

/** Takes up what witnesses have added meanwhile, so that nobody has to ask first; at most once in RENEW_MS. */
export function renewTip(release: ReleaseIndex): void {
  // Whoever asks for it gets the error.
  logTip(release).catch(() => undefined);
}

function nowOf({ options }: ReleaseIndex): number {
  return options.now?.() ?? performance.now();
}

function begin(release: ReleaseIndex): Promise<LogTip> {
  const tip = readTip(release);
  const fresh: HeldTip = { tip, readAt: nowOf(release), isBroken: false };
  held.set(release, fresh);
  tip.catch(() => {
    fresh.isBroken = true;
  });
  return tip;
}

/** Takes the place of the known proof where it has every line of it: who serves the files can take no witness away. */
async function renew(known: HeldTip, release: ReleaseIndex): Promise<void> {
  try {
    const [before, next] = await Promise.all([known.tip, readTip(release)]);
    const lines = new Set(next.proof.checkpoint.split('\n'));
    if (before.proof.checkpoint.split('\n').every((line) => lines.has(line))) {
      known.tip = Promise.resolve(next);
    }
  } catch {
    // The known one still holds.
  }
}

async function readTip(release: ReleaseIndex): Promise<LogTip> {
  const listed = await release.body(CHECKPOINT_PATH, FOR_EVERYBODY);
  const check = (bytes: Buffer): ReadTlogProof => checkedProof(bytes, listed.bytes, release);
  const bytes = await release.place.proof(release.head, (given) => isGood(() => check(given)));
  const proof = shortened(check(bytes));
  const files = new Map([
    [RELEASE_PROOF_NAME, tipFile(Buffer.from(formatTlogProof(proof)))],
    [CHECKPOINT_PATH, tipFile(Buffer.from(proof.checkpoint))],
    ...(await tileFiles(release)),
  ]);
  return { proof, row: rowOf(proof, release.head), files };
}

/** Whoever holds the files could add lines without end: of too many only those of the log itself are taken. */
function shortened(proof: ReadTlogProof): ReadTlogProof {
  const { checkpoint, note, signed } = proof;
  if (checkpoint.length <= WITNESSED_CHARS_MAX) return proof;
  const own = { ...note, signatures: note.signatures.filter(({ name }) => name === signed.origin) };
  return { ...proof, note: own, checkpoint: formatNote(own) };
}

function isGood(check: () => unknown): boolean {
  try {
    check();
    return true;
  } catch {
    return false;
  }
}

/** Throws a DamagedFileError for anything else than the proof of this head, signed by its issuer. */
function checkedProof(bytes: Buffer, listed: Buffer, { head }: ReleaseIndex): ReadTlogProof {
  const { log_index: logIndex = -1 } = head;
  let fault: string | null;
  try {
    const opened = openNote(decodeUtf8(listed));
    if (opened === null) throw new RangeError(`"${CHECKPOINT_PATH}" is no checkpoint`);
    const proof = parseTlogProof(decodeUtf8(bytes));
    fault = releaseProofFault(
      proof,
      { recordHash: headHash(head), logIndex, log: opened.checkpoint },
      sha256,
    );
    fault ??= isSigned(proof, head.issuer_did) ? null : 'the issuer did not sign its checkpoint';
    if (fault === null) return proof;
  } catch (cause) {
    fault = messageOf(cause);
  }
  throw new DamagedFileError(`Cannot serve "${RELEASE_PROOF_NAME}": ${fault}; restore it`);
}

function isSigned({ note, signed }: ReadTlogProof, did: string): boolean {
  const publicKey = parseDidKey(did);
  const signature = signatureIn(note, signed.origin, noteKeyHash(signed.origin, publicKey, sha256));
  if (signature === null) return false;
  const x = encodeBase64Url(publicKey);
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  return verify(null, Buffer.from(note.text, 'utf8'), key, signature);
}

/** The hash of a head, as the next one names it and as the log holds it. */
export function headHash(head: Release): string {
  return `sha256:${hexOf(sha256(Buffer.from(canonicalJson(head), 'utf8')))}`;
}

function rowOf({ signed, checkpoint }: ReadTlogProof, head: Release): LogBatch {
  const batch = releaseBatch(head);
  const { size, root } = signed;
  const day = batch.slice(0, 'YYYY-MM-DD'.length);
  return { batch, day, size_before: size - 1, size, root: hexOf(root), checkpoint };
}

/** The tiles that differ once a log of `size` entries has one more, each of the level below first. */
function grownTiles(size: number): Tile[] {
  const tiles = [tileAt('entries', size), tileAt(0, size)];
  for (let level = 1; (size + 1) % TILE_WIDTH ** level === 0; level += 1) {
    tiles.push(tileAt(level, (size + 1) / TILE_WIDTH ** level - 1));
  }
  return tiles;
}

/** The tile that ends in the part at a position of its level. */
function tileAt(level: Tile['level'], position: number): Tile {
  const index = Math.floor(position / TILE_WIDTH);
  return { level, index, width: (position % TILE_WIDTH) + 1 };
}

async function tileFiles(release: ReleaseIndex): Promise<[string, TipFile][]> {
  const { head } = release;
  const entry = logEntry(headHash(head));
  const files: [string, TipFile][] = [];
  let part = leafHash(entry, sha256);
  for (const tile of grownTiles(head.log_index ?? 0)) {
    const isBundle = tile.level === 'entries';
    const added = isBundle ? encodeBundle([entry]) : part;
    const bytes = Buffer.concat([await beforeIn(tile, release), added]);
    files.push([tilePath(tile), tipFile(bytes)]);
    if (!isBundle && tile.width === TILE_WIDTH) part = completeHash(bytes, TILE_HEIGHT);
  }
  return files;
}

/** What a tile held before its last part. */
async function beforeIn({ width, ...tile }: Tile, release: ReleaseIndex): Promise<Buffer> {
  if (width === 1) return Buffer.alloc(0);
  return (await release.body(tilePath({ ...tile, width: width - 1 }), FOR_EVERYBODY)).bytes;
}

/** The hash of the `2^height` hashes that some bytes begin with. */
function completeHash(bytes: Buffer, height: number): Uint8Array {
  if (height === 0) return bytes.subarray(0, HASH_BYTES);
  const left = completeHash(bytes, height - 1);
  const right = completeHash(bytes.subarray(2 ** (height - 1) * HASH_BYTES), height - 1);
  return nodeHash(left, right, sha256);
}

function tipFile(bytes: Buffer): TipFile {
  return { bytes, sha256: hexOf(sha256(bytes)) };
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
