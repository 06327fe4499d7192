import { existsSync } from 'node:fs';
import { plainAddress } from '../../format/addresses.ts';
import { answerBytes } from '../../format/answer-bytes.ts';
import { encodeBase64 } from '../../format/base64.ts';
import {
  type Checkpoint,
  cosignaturesOf,
  cosignedBytes,
  formatNote,
  formatVerifierKey,
  keyHashOf,
  linesOf,
  type NoteSignature,
  noteKeyHash,
  openNote,
  parseNote,
  type SignedNote,
} from '../../format/checkpoint.ts';
import { defined } from '../../format/errors.ts';
import { HOUR_MS, isoTime } from '../../format/iso-time.ts';
import {
  isChecked,
  type LogPolicy,
  POLICY_BYTES_MAX,
  type PolicyWitness,
} from '../../format/log-policy.ts';
import { consistencyRanges } from '../../format/merkle.ts';
import { networkFault } from '../../format/network-fault.ts';
import { CHECKPOINT_PATH } from '../../format/tiles.ts';
import { changeCheckpoint, openLog } from '../../release/log-folder.ts';
import { sha256 } from '../../release/log-tree.ts';
import { currentName, readRelease } from '../../release/release-folders.ts';
import type { Clock } from '../../system/clock.ts';
import { readNamed } from '../../system/disk.ts';
import { errorText } from '../../system/error-text.ts';
import { replaceFile } from '../../system/plain-file.ts';
import { judgeNote } from '../../verify/log-notes.ts';
import { judgeByPolicy, readPolicy } from '../../verify/policy-check.ts';
import { CLOCK_SKEW_MS } from '../../verify/request-time.ts';
import { isStrictSignature } from '../../verify/strict-signature.ts';

export interface AskReport {
  readonly origin: string;
  readonly size: number;
  /** By name: when each witness cosigned, or why it did not. */
  readonly witnesses: readonly {
    readonly name: string;
    readonly at: string | null;
    readonly failure: string | null;
  }[];
  /** Cosignatures that came just now. */
  readonly added: number;
  /**
   * What the published checkpoint lacks by the policy; null where it has its quorum, or, where none is demanded, all
   * witnesses.
   */
  readonly lack: string | null;
}

/**
 * Asks the witnesses of a policy, all at once, for the newest checkpoint of the log, and publishes the lines of those that
 * answer. One that has cosigned already is not asked again. Throws a RangeError where nobody can be asked at all.
 */
export async function askWitnesses(data: string, policy: LogPolicy, by: AskBy): Promise<AskReport> {
  const log = askedLog(data);
  if (policy.witnesses.length === 0) {
    throw new RangeError(
      'Cannot ask witnesses: the list names none. That of this package is empty, since no public witness is known that takes every log: agree with one, then "signalpress witness add"',
    );
  }
  const { origin, size } = log.signed;
  const replies = await Promise.all(
    policy.witnesses.map(async (witness) => {
      const { name } = witness;
      const failure = strangeKey(witness, log);
      // When it cosigned what is published already; what others wrote under its name says nothing.
      const newest = failure === null ? newestCosignature(log.note, witness) : null;
      if (newest !== null && isOfRelease(newest.at, log)) {
        return { name, line: null, at: isoTime(newest.at), failure: null };
      }
      const refusal = failure ?? unaskable(witness);
      if (refusal !== null) return { name, line: null, at: null, failure: refusal };
      return { name, ...(await askWitness(witness, log, by)) };
    }),
  );
  const lines = replies.flatMap(({ line }) => (line === null ? [] : [line]));
  const note = changeCheckpoint(data, (now) => cosigned(now, log, lines, policy.witnesses));
  const names = replies.map(({ line: _, ...rest }) => rest);
  const { fault } = judgeByPolicy(note, { policy, now: by.now() });
  // Whoever names a witness, and demands nobody, wants to hear of one that is down.
  const absent = names.flatMap(({ name, failure }) => (failure === null ? [] : [name]));
  const absence =
    policy.quorum !== null || absent.length === 0
      ? null
      : `its quorum is none, and there is no cosignature of ${absent.join(', ')}; name in the quorum whom you demand`;
  return { origin, size, witnesses: names, added: lines.length, lack: fault ?? absence };
}

/** Why nothing counts that a key signs as a witness; null where it may. */
function strangeKey(witness: PolicyWitness, { note, signed }: AskedLog): string | null {
  if (!isChecked(witness)) return 'this program cannot check its key of ML-DSA-44';
  // Whoever signs the log says nothing more as its witness.
  const keyHash = noteKeyHash(signed.origin, witness.key.publicKey, sha256);
  return linesOf(note, signed.origin, keyHash).length > 0 ? 'its key is that of the log' : null;
}

function unaskable({ url }: PolicyWitness): string | null {
  if (url === null) return 'the policy does not say where it is asked';
  return plainAddress(url) === null ? `"${url}" is not an http address` : null;
}

/**
 * The published note with more signature lines, and nothing else changed: lines which another process added meanwhile stay. Of
 * a witness only the newest line stays that holds.
 */
function cosigned(
  published: string | null,
  log: AskedLog,
  lines: readonly NoteSignature[],
  witnesses: readonly PolicyWitness[],
): string {
  const note = published === null ? null : parseNote(published);
  const { text } = log.note;
  if (note?.text !== text) {
    throw new RangeError(
      `Cannot publish cosignatures in "${CHECKPOINT_PATH}": it was replaced meanwhile; run this again`,
    );
  }
  const all = { text, signatures: [...note.signatures, ...lines] };
  const checked = witnesses.filter((witness) => strangeKey(witness, log) === null);
  const theirs = new Set(
    checked.flatMap(({ key }) => linesOf(all, key.name, keyHashOf(key, sha256))),
  );
  const others = all.signatures.filter((line) => !theirs.has(line));
  const newest = checked.flatMap((witness) => newestCosignature(all, witness)?.line ?? []);
  return formatNote({ text, signatures: [...others, ...newest] });
}

export function askText({ origin, size, witnesses, lack }: AskReport): string {
  return [
    `${origin} at size ${size}`,
    ...witnesses.map(({ name, at, failure }) =>
      failure === null
        ? `  cosigned by ${name} at ${at}`
        : `  no cosignature of ${name}: ${failure}`,
    ),
    lack === null ? 'The policy is met' : `The policy is not met: ${lack}`,
  ].join('\n');
}

const EMPTY_POLICY = 'quorum none\n';
/** The group of all witnesses that were added: the quorum, until its owner edits it. */
const GROUP = 'witnesses';

/**
 * Asks one witness for its cosignature, publishes it, and names the witness in a policy from then on, whose quorum asks for all
 * of them: of one that is down, its publisher has to hear. The policy stays as it is where no cosignature came. Throws a
 * RangeError for what no policy can hold.
 */
export async function addWitness(
  { data, file, url, vkey }: { data: string; file: string; url: string; vkey: string },
  by: AskBy,
): Promise<AskReport> {
  const before = existsSync(file) ? readNamed(file, POLICY_BYTES_MAX) : Buffer.from(EMPTY_POLICY);
  const next = withWitness(Buffer.from(before).toString('utf8'), `${vkey} ${url}`);
  const witness = defined(
    policyOf(next, file).witnesses.find(({ key }) => formatVerifierKey(key, sha256) === vkey),
    'the witness of a line',
  );
  const report = await askWitnesses(data, { logs: [], witnesses: [witness], quorum: witness }, by);
  if (report.lack === null) replaceFile(file, next);
  return report;
}

/** The policy with one more witness, and a quorum that asks for it too; groups that somebody else wrote stay as they are. */
function withWitness(policy: string, vkeyAndUrl: string): string {
  const [name = ''] = vkeyAndUrl.split('+');
  const at = policy.search(/^[ \t]*(group|quorum)\b/m);
  const cut = at < 0 ? policy.length : at;
  const line = `witness ${name} ${vkeyAndUrl}\n`;
  const next = `${policy.slice(0, cut)}${line}${policy.slice(cut)}`;
  const own = new RegExp(`^([ \\t]*group[ \\t]+${GROUP}[ \\t].*?)[ \\t]*$`, 'm');
  if (own.test(next)) return next.replace(own, (group) => `${group.trimEnd()} ${name}`);
  if (/^[ \t]*group\b/m.test(next)) return next;
  const names = [...next.matchAll(/^[ \t]*witness[ \t]+(\S+)/gm)].map(([, each]) => each);
  const quorum = `group ${GROUP} all ${names.join(' ')}\nquorum ${GROUP}`;
  return next.replace(/^[ \t]*quorum[ \t]+none[ \t]*$/m, quorum);
}

function policyOf(text: string, file: string): LogPolicy {
  try {
    return readPolicy(Buffer.from(text));
  } catch (cause) {
    throw new RangeError(`Cannot add the witness to "${file}": ${errorText(cause)}`, { cause });
  }
}

/** Longest answer that is read: some signature lines. */
const ANSWER_BYTES_MAX = 65_536;
/** All requests to one witness together. */
const WITNESS_MS_MAX = 10_000;
/** Somebody else may ask the same witness at the same time, and it may be busy. */
const ATTEMPTS_MAX = 3;
/** Wait before a busy witness is asked again that does not say when. */
const RETRY_MS = 1000;
const TIME_OFF_MS_MAX = HOUR_MS;

interface WitnessReply {
  readonly line: NoteSignature | null;
  /** When it cosigned; null where it did not. */
  readonly at: string | null;
  readonly failure: string | null;
}

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
    const { line, at } = await asked(witness, log, by);
    return { line, at: isoTime(at), failure: null };
  } catch (error) {
    const { message, cause } = error instanceof Error ? error : new Error(String(error));
    const words = cause instanceof Error ? `${message}: ${cause.message}` : message;
    return { line: null, at: null, failure: networkFault(error)?.words ?? words };
  }
}

/**
 * Without the size that a witness has seen it is asked from 0, and says the size in its refusal. Throws an Error that says
 * what is wrong.
 */
async function asked(witness: PolicyWitness, log: AskedLog, by: AskBy) {
  const timeoutMs = by.timeoutMs ?? WITNESS_MS_MAX;
  const [signal, end] = [AbortSignal.timeout(timeoutMs), by.steady() + timeoutMs];
  const url = `${defined(witness.url, 'the address of a witness').replace(/\/+$/, '')}/add-checkpoint`;
  const { size } = log.signed;
  let seen = 0;
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const proof = seen === 0 || seen === size ? [] : log.proofFrom(seen);
    const lines = proof.map((hash) => `${encodeBase64(hash)}\n`);
    const body = `old ${seen}\n${lines.join('')}\n${formatNote(log.note)}`;
    const ask = () => by.fetch(url, { method: 'POST', body, signal, redirect: 'error' });
    const response = await patiently(ask, end, by);
    const text = Buffer.from(await answerBytes(response, ANSWER_BYTES_MAX)).toString('utf8');
    if (response.status === 200) return cosignatureIn(text, { witness, log, now: by.now() });
    if (response.status !== 409) throw new Error(`status ${response.status}: ${shown(text)}`);
    const digits = /^(0|[1-9][0-9]{0,15})\n$/.exec(text)?.[1];
    if (digits === undefined) throw new Error(`a conflict without a size: ${shown(text)}`);
    seen = Number(digits);
    if (seen <= size) continue;
    throw new Error(
      `it has cosigned ${seen} entries of this log, which has ${size} here: an older copy was restored here, or somebody else signs with this key`,
    );
  }
  throw new Error(`${ATTEMPTS_MAX} conflicts, one after the other`);
}

/** The answer of a witness, which is asked again while it is busy and there is time left. */
async function patiently(
  ask: () => Promise<Response>,
  end: number,
  clock: Pick<AskBy, 'sleep' | 'steady'>,
): Promise<Response> {
  for (let attempt = 1; ; attempt += 1) {
    const response = await ask();
    const { status, headers } = response;
    const text = headers.get('retry-after')?.trim() ?? '';
    const wait = /^\d{1,8}$/.test(text) ? Number(text) * 1000 : RETRY_MS;
    const isBusy = status === 429 || status === 503;
    if (!isBusy || attempt === ATTEMPTS_MAX || clock.steady() + wait > end) return response;
    await response.body?.cancel();
    await clock.sleep(wait);
  }
}

/** The one line of the witness among what it answered; lines of keys that nobody here knows are left aside. */
function cosignatureIn(
  text: string,
  { witness, log, now }: { witness: PolicyWitness; log: AskedLog; now: number },
) {
  const { key } = witness;
  const answered = parseNote(`${log.note.text}\n${text}`);
  if (answered === null) throw new Error(`no signature lines: ${shown(text)}`);
  if (linesOf(answered, key.name, keyHashOf(key, sha256)).length === 0) {
    throw new Error('no cosignature by the key of the policy');
  }
  const newest = newestCosignature(answered, witness);
  if (newest === null) throw new Error('its cosignature does not hold');
  const { at } = newest;
  const isOff = Math.abs(at - now) > TIME_OFF_MS_MAX || !isOfRelease(at, log);
  if (isOff) throw new Error(`its clock says ${isoTime(at)}`);
  return newest;
}

/** No reader counts a cosignature that is older than the release. */
function isOfRelease(at: number, { asOf }: AskedLog): boolean {
  return at >= asOf - CLOCK_SKEW_MS;
}

/** The newest cosignature of a witness below a checkpoint that holds, and when it says so, epoch milliseconds; null for none. */
function newestCosignature(note: SignedNote, { key }: PolicyWitness) {
  const stated = cosignaturesOf(note, key, sha256);
  const valid = linesOf(note, key.name, keyHashOf(key, sha256)).flatMap((line, at) => {
    const { seconds, signature } = stated[at] ?? { seconds: 0, signature: null };
    if (signature === null) return [];
    const holds = isStrictSignature(signature, cosignedBytes(note.text, seconds), key.publicKey);
    return holds ? [{ line, at: seconds * 1000 }] : [];
  });
  return valid.sort((one, other) => other.at - one.at)[0] ?? null;
}

/** What strangers say, without what could steer a terminal. */
function shown(text: string): string {
  return text
    .replace(/[^\x20-\x7e]+/g, ' ')
    .trim()
    .slice(0, 160);
}

interface AskedLog {
  readonly note: SignedNote;
  readonly signed: Checkpoint;
  /** The time of its newest release, milliseconds since 1970. */
  readonly asOf: number;
  /** That it goes on from so many entries, at least 1: a proof of RFC 6962 §2.1.2. */
  proofFrom(size: number): Uint8Array[];
}

/** The log of a data folder; throws a RangeError for none, and for one that the issuer of the current release did not sign. */
export function askedLog(data: string): AskedLog {
  const name = currentName(data);
  const log = name === null ? null : openLog(data);
  const opened = log === null ? null : openNote(log.note);
  if (name === null || log === null || opened === null) {
    throw new RangeError(
      `Cannot ask witnesses: no release in the log of "${data}"; run "signalpress compile" first`,
    );
  }
  const { fault } = judgeNote(log.note, [readRelease(data, name).issuer_did]);
  if (fault !== null) {
    throw new RangeError(`Cannot ask witnesses about "${CHECKPOINT_PATH}": ${fault}`);
  }
  const { note, checkpoint: signed } = opened;
  return {
    note,
    signed,
    asOf: Date.parse(log.last.as_of),
    proofFrom: (from) => consistencyRanges(from, signed.size).map(log.hashOf),
  };
}
