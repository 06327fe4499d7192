import { answerBytes } from '../client/answer-bytes.ts';
import { encodeBase64 } from '../contract/base64.ts';
import {
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
import { networkFault } from '../contract/network-fault.ts';
import { keyHashOf } from '../contract/verifier-key.ts';
import type { Clock } from '../fetch/clock.ts';
import { sha256 } from '../stages/anchor/log-tree.ts';
import { isStrictSignature } from '../verify/strict-signature.ts';
import type { AskedLog } from './asked-log.ts';

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

interface Asked {
  readonly witness: PolicyWitness;
  readonly log: AskedLog;
  readonly now: number;
}

/** The one line of the witness among what it answered; lines of keys that nobody here knows are left aside. */
function replyIn(text: string, { witness, log, now }: Asked): WitnessReply {
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
