import { answerBytes } from '../client/answer-bytes.ts';
import { encodeBase64 } from '../contract/base64.ts';
import {
  type Checkpoint,
  formatNote,
  linesOf,
  type NoteSignature,
  parseNote,
  type SignedNote,
} from '../contract/checkpoint.ts';
import { cosignaturesOf, cosignedBytes } from '../contract/cosignature.ts';
import { defined } from '../contract/defined.ts';
import { HOUR_MS, isoTime } from '../contract/iso-time.ts';
import type { PolicyWitness } from '../contract/log-policy.ts';
import {
  completeLevels,
  consistencyRanges,
  HASH_BYTES,
  hashOfSubtrees,
  leafHash,
  type Range,
  type Subtree,
  subtreesOf,
} from '../contract/merkle.ts';
import { networkFault } from '../contract/network-fault.ts';
import { logEntry, tileOfSubtree, tilePath } from '../contract/tiles.ts';
import { parseTlogProof } from '../contract/tlog-proof.ts';
import { keyHashOf } from '../contract/verifier-key.ts';
import type { Clock } from '../fetch/clock.ts';
import { sha256 } from '../stages/anchor/log-tree.ts';
import type { PreviousRelease } from '../stages/anchor/previous-log.ts';
import { canonicalDigest } from '../stages/seal/jcs.ts';
import { judgeNote } from '../verify/log-notes.ts';
import { isStrictSignature } from '../verify/strict-signature.ts';

/** Longest answer that is read: some signature lines. */
const ANSWER_BYTES_MAX = 65_536;
/** All requests to one witness together. */
const WITNESS_MS_MAX = 10_000;
/** Somebody else may ask the same witness at the same time, and it may be busy. */
const ATTEMPTS_MAX = 3;
/** Wait before a busy witness is asked again that does not say when. */
const RETRY_MS = 1000;
/** How far the clock of a witness may be off. */
const TIME_OFF_MS_MAX = HOUR_MS;

/** What came of one witness. */
type WitnessReply =
  | { readonly line: NoteSignature; readonly at: string; readonly failure: null }
  | { readonly line: null; readonly at: null; readonly failure: string };

export interface AskBy extends Pick<Clock, 'now' | 'sleep' | 'steady'> {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly timeoutMs?: number;
}

/** Asks one witness for its cosignature; whatever it answers, or does not, is a reply and no exception. */
export async function askWitness(
  witness: PolicyWitness,
  log: AskedLog,
  by: AskBy,
): Promise<WitnessReply> {
  try {
    return await asked(witness, log, by);
  } catch (error) {
    return failed(error instanceof Error ? wordsOf(error) : String(error));
  }
}

/** Without the size that a witness has seen it is asked from 0, and says the size in its refusal. */
async function asked(witness: PolicyWitness, log: AskedLog, by: AskBy): Promise<WitnessReply> {
  const timeoutMs = by.timeoutMs ?? WITNESS_MS_MAX;
  const [signal, end] = [AbortSignal.timeout(timeoutMs), by.steady() + timeoutMs];
  const url = `${defined(witness.url, 'the address of a witness').replace(/\/+$/, '')}/add-checkpoint`;
  let seen = 0;
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const body = requestFrom(seen, log);
    const ask = () => by.fetch(url, { method: 'POST', body, signal, redirect: 'error' });
    const response = await patiently(ask, end, by);
    const text = Buffer.from(await answerBytes(response, ANSWER_BYTES_MAX)).toString('utf8');
    if (response.status === 200) return replyIn(text, { witness, log, now: by.now() });
    if (response.status !== 409) return failed(`status ${response.status}: ${shown(text)}`);
    const size = /^(0|[1-9][0-9]{0,15})\n$/.exec(text)?.[1];
    if (size === undefined) return failed(`a conflict without a size: ${shown(text)}`);
    seen = Number(size);
    if (seen > log.signed.size) {
      return failed(
        `it has cosigned ${seen} entries of this log, which has ${log.signed.size} here: an older copy was restored here, or somebody else signs with this key`,
      );
    }
  }
  return failed(`${ATTEMPTS_MAX} conflicts, one after the other`);
}

/** The answer of a witness, which is asked again while it is busy and there is time left. */
async function patiently(
  ask: () => Promise<Response>,
  end: number,
  clock: Pick<AskBy, 'sleep' | 'steady'>,
): Promise<Response> {
  for (let attempt = 1; ; attempt += 1) {
    const response = await ask();
    const wait = waitOf(response);
    const isOver = attempt === ATTEMPTS_MAX || clock.steady() + (wait ?? 0) > end;
    if (wait === null || isOver) return response;
    await response.body?.cancel();
    await clock.sleep(wait);
  }
}

/** How long a busy witness asks to wait, in milliseconds; null for any other answer. */
function waitOf({ status, headers }: Response): number | null {
  if (status !== 429 && status !== 503) return null;
  const text = headers.get('retry-after')?.trim() ?? '';
  return /^\d{1,8}$/.test(text) ? Number(text) * 1000 : RETRY_MS;
}

function requestFrom(size: number, { note, signed, proofFrom }: AskedLog): string {
  const proof = size === 0 || size === signed.size ? [] : proofFrom(size);
  const lines = proof.map((hash) => `${encodeBase64(hash)}\n`);
  return `old ${size}\n${lines.join('')}\n${formatNote(note)}`;
}

/** The one line of the witness among what it answered; lines of keys that nobody here knows are left aside. */
function replyIn(
  text: string,
  { witness, log, now }: { witness: PolicyWitness; log: AskedLog; now: number },
): WitnessReply {
  const { key } = witness;
  const answered = parseNote(`${log.note.text}\n${text}`);
  if (answered === null) return failed(`no signature lines: ${shown(text)}`);
  if (linesOf(answered, key.name, keyHashOf(key, sha256)).length === 0) {
    return failed('no cosignature by the key of the policy');
  }
  const newest = newestCosignature(answered, witness);
  if (newest === null) return failed('its cosignature does not hold');
  const { line, at } = newest;
  if (Math.abs(at - now) > TIME_OFF_MS_MAX) return failed(`its clock says ${isoTime(at)}`);
  return { line, at: isoTime(at), failure: null };
}

/** The newest cosignature of a witness below a checkpoint that holds, and when it says so, epoch milliseconds; null for none. */
export function newestCosignature(
  note: SignedNote,
  { key }: PolicyWitness,
): { readonly line: NoteSignature; readonly at: number } | null {
  const stated = cosignaturesOf(note, key, sha256);
  const valid = linesOf(note, key.name, keyHashOf(key, sha256)).flatMap((line, at) => {
    const { seconds, signature } = stated[at] ?? { seconds: 0, signature: null };
    if (signature === null) return [];
    const holds = isStrictSignature(signature, cosignedBytes(note.text, seconds), key.publicKey);
    return holds ? [{ line, at: seconds * 1000 }] : [];
  });
  return valid.sort((one, other) => other.at - one.at)[0] ?? null;
}

function failed(failure: string): WitnessReply {
  return { line: null, at: null, failure };
}

/** What strangers say, without what could steer a terminal. */
function shown(text: string): string {
  return text
    .replace(/[^\x20-\x7e]+/g, ' ')
    .trim()
    .slice(0, 160);
}

function wordsOf(error: Error): string {
  const { message, cause } = error;
  const fault = networkFault(error);
  if (fault !== null) return fault.words;
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}

/** The newest checkpoint of a release, which ends in its head, as witnesses are asked to cosign it. */
export interface AskedLog {
  readonly note: SignedNote;
  readonly signed: Checkpoint;
  /** That it goes on from so many entries, at least 1: a proof of RFC 6962 §2.1.2. */
  proofFrom(size: number): Uint8Array[];
}

/** Opens the log of the current release; throws a RangeError for one without a leaf, or whose proof its issuer did not sign. */
export function askedLog(release: PreviousRelease): AskedLog {
  const { leaf } = release;
  if (leaf === null) {
    throw new RangeError(
      'Cannot ask witnesses: the current release has no place in a log; run "signalpress compile" with this version first',
    );
  }
  const { note, signed, checkpoint, index } = parseTlogProof(leaf.proof);
  const { fault } = judgeNote(checkpoint, [leaf.head.issuer_did]);
  if (fault !== null) {
    throw new RangeError(`Cannot ask witnesses about the log of the current release: ${fault}`);
  }
  const own = leafHash(logEntry(canonicalDigest(leaf.head)), sha256);
  const tree = { size: index, own, read: (path: string) => release.read(path) };
  return {
    note,
    signed,
    proofFrom: (size) => consistencyRanges(size, signed.size).map((range) => hashOf(range, tree)),
  };
}

interface Tree {
  /** Entries in the tiles; one more stands behind them. */
  readonly size: number;
  /** Leaf hash of that one. */
  readonly own: Uint8Array;
  readonly read: (path: string) => Uint8Array | null;
}

function hashOf(range: Range, tree: Tree): Uint8Array {
  const { start, end } = range;
  if (start === tree.size) return tree.own;
  const inTiles = subtreesOf({ start, end: Math.min(end, tree.size) }).map((subtree) =>
    tiledHash(subtree, tree),
  );
  if (end <= tree.size) return hashOfSubtrees(inTiles, sha256);
  // Complete subtrees of the same height join, as they do where an entry is appended.
  return hashOfSubtrees([...inTiles, tree.own], sha256);
}

/** The hash of a complete subtree, from the tile that holds it. */
function tiledHash(subtree: Subtree, { size, read }: Tree): Uint8Array {
  const { tile, height, offset } = tileOfSubtree(subtree, size);
  const path = tilePath(tile);
  const bytes = read(path);
  if (bytes === null) throw new RangeError(`Cannot ask witnesses: "${path}" is missing here`);
  const hashes = Array.from({ length: 2 ** height }, (_, at) =>
    bytes.slice((offset + at) * HASH_BYTES, (offset + at + 1) * HASH_BYTES),
  );
  const [root] = defined(completeLevels(hashes, sha256).at(-1), 'the top of a subtree');
  return defined(root, 'the hash of a subtree');
}
