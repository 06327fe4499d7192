import { encodeBase64 } from '../contract/base64.ts';
import { formatNote, linesOf, type NoteSignature, parseNote } from '../contract/checkpoint.ts';
import { cosignaturesOf, cosignedBytes } from '../contract/cosignature.ts';
import { defined } from '../contract/defined.ts';
import { HOUR_MS, isoTime } from '../contract/iso-time.ts';
import type { PolicyWitness } from '../contract/log-policy.ts';
import { keyHashOf } from '../contract/verifier-key.ts';
import { isStrictSignature } from '../verify/strict-signature.ts';
import type { AskedLog } from './asked-log.ts';
import { sha256 } from './witness-key.ts';

/** Longest answer that is read: some signature lines. */
const ANSWER_BYTES_MAX = 65_536;
/** All requests to one witness together. */
const WITNESS_MS_MAX = 10_000;
/** Somebody else may ask the same witness at the same time. */
const ATTEMPTS_MAX = 3;
/** How far the clock of a witness may be off. */
const TIME_OFF_MS_MAX = HOUR_MS;

/** What came of one witness. */
export type WitnessReply =
  | { readonly line: NoteSignature; readonly at: string; readonly failure: null }
  | { readonly line: null; readonly at: null; readonly failure: string };

export interface AskBy {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
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
  const signal = AbortSignal.timeout(by.timeoutMs ?? WITNESS_MS_MAX);
  const url = `${defined(witness.url, 'the address of a witness').replace(/\/+$/, '')}/add-checkpoint`;
  let seen = 0;
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const body = requestFrom(seen, log);
    const response = await by.fetch(url, { method: 'POST', body, signal, redirect: 'error' });
    const text = await boundedText(response);
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
function replyIn(text: string, { witness: { key }, log, now }: Asked): WitnessReply {
  const answered = parseNote(`${log.note.text}\n${text}`);
  if (answered === null) return failed(`no signature lines: ${shown(text)}`);
  const [line] = linesOf(answered, key.name, keyHashOf(key, sha256));
  const [stated] = cosignaturesOf(answered, key, sha256);
  if (line === undefined || stated === undefined || stated === null) {
    return failed('no cosignature by the key of the policy');
  }
  const bytes = cosignedBytes(log.note.text, stated.seconds);
  if (!isStrictSignature(stated.signature, bytes, key.publicKey)) {
    return failed('its cosignature does not hold');
  }
  const at = stated.seconds * 1000;
  if (Math.abs(at - now) > TIME_OFF_MS_MAX) return failed(`its clock says ${isoTime(at)}`);
  return { line, at: isoTime(at), failure: null };
}

async function boundedText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    if (size > ANSWER_BYTES_MAX) {
      throw new RangeError(`its answer is longer than ${ANSWER_BYTES_MAX} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
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

function wordsOf({ name, message, cause }: Error): string {
  if (name === 'TimeoutError') return 'no answer in time';
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}
