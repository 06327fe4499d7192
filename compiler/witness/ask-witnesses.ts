import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { errorText } from '../commands/error-text.ts';
import { formatNote, linesOf, type NoteSignature, parseNote } from '../contract/checkpoint.ts';
import { defined } from '../contract/defined.ts';
import { isoTime } from '../contract/iso-time.ts';
import {
  isChecked,
  type LogPolicy,
  POLICY_BYTES_MAX,
  type PolicyWitness,
} from '../contract/log-policy.ts';
import { RELEASES_FOLDER } from '../contract/release.ts';
import { RELEASE_PROOF_NAME } from '../contract/release-leaf.ts';
import { formatTlogProof, parseTlogProof, TLOG_PROOF_BYTES_MAX } from '../contract/tlog-proof.ts';
import { formatVerifierKey, keyHashOf } from '../contract/verifier-key.ts';
import { currentRelease } from '../stages/anchor/current-release.ts';
import { sha256 } from '../stages/anchor/log-tree.ts';
import { LockedError, lockData } from '../stages/publish/data-lock.ts';
import { currentName } from '../stages/publish/release-folders.ts';
import { replaceFile } from '../stages/publish/replace-file.ts';
import { readNamed } from '../verify/disk.ts';
import { readPlain } from '../verify/plain-file.ts';
import { judgeByPolicy, readPolicy } from '../verify/policy-check.ts';
import {
  type AskBy,
  type AskedLog,
  askedLog,
  askWitness,
  newestCosignature,
} from './witness-client.ts';

/** What came of asking. */
export interface AskReport {
  readonly origin: string;
  /** Entries of the log. */
  readonly size: number;
  /** By name: when each witness cosigned, or why it did not. */
  readonly witnesses: readonly {
    readonly name: string;
    readonly at: string | null;
    readonly failure: string | null;
  }[];
  /** Cosignatures that came just now. */
  readonly added: number;
  /** What the published checkpoint lacks by the policy; null where it has its quorum, or, where none is demanded, all witnesses. */
  readonly lack: string | null;
}

/**
 * Asks the witnesses of a policy, all at once, for the newest checkpoint of the current release, and publishes the lines of
 * those that answer. One that has cosigned already is not asked again. Throws a RangeError where nobody can be asked at all.
 */
export async function askWitnesses(data: string, policy: LogPolicy, by: AskBy): Promise<AskReport> {
  const [name, release] = [currentName(data), currentRelease(data)];
  if (name === null || release === null) {
    throw new RangeError(
      `Cannot ask witnesses: no release in "${data}"; run "signalpress compile" first`,
    );
  }
  if (policy.witnesses.length === 0) {
    throw new RangeError(
      'Cannot ask witnesses: the policy names none; add one with "signalpress witness add"',
    );
  }
  const log = askedLog(release);
  const { origin, size } = log.signed;
  const replies = await Promise.all(
    policy.witnesses.map(async (witness) => {
      const at = cosignedAt(witness, log);
      if (at !== null) return { name: witness.name, line: null, at, failure: null };
      const refusal = unaskable(witness);
      const reply = refusal === null ? await askWitness(witness, log, by) : null;
      return { name: witness.name, ...(reply ?? { line: null, at: null, failure: refusal }) };
    }),
  );
  const lines = replies.flatMap(({ line }) => (line === null ? [] : [line]));
  const path = join(data, RELEASES_FOLDER, name, RELEASE_PROOF_NAME);
  const { witnesses } = policy;
  const added = { text: log.note.text, lines, witnesses, draft: join(data, DRAFT_NAME) };
  const unlock = await lockProof(data, by);
  try {
    const note = addLines(path, added);
    const names = replies.map(({ line: _, ...rest }) => rest);
    const { fault } = judgeByPolicy(note, { policy, now: by.now() });
    const lack = fault ?? (policy.quorum === null ? absence(names) : null);
    return { origin, size, witnesses: names, added: lines.length, lack };
  } finally {
    unlock();
  }
}

/** What is missing where a policy demands nobody: whoever names a witness wants to hear of one that is down. */
function absence(witnesses: AskReport['witnesses']): string | null {
  const absent = witnesses.flatMap(({ name, failure }) => (failure === null ? [] : [name]));
  if (absent.length === 0) return null;
  return `its quorum is none, and there is no cosignature of ${absent.join(', ')}; name in the quorum whom you demand`;
}

/** Beside the releases: in the folder of one, a file that a kill leaves would be a stranger. */
const DRAFT_NAME = `${RELEASE_PROOF_NAME}.new`;
/** Lock of whoever adds lines: that of a compile may be held for minutes. */
const LOCK_NAME = '.cosigning';
const LOCK_ATTEMPTS_MAX = 50;
const LOCK_RETRY_MS = 100;

/** When a witness cosigned what is published already; null for never. What others wrote under its name says nothing. */
function cosignedAt(witness: PolicyWitness, { note }: AskedLog): string | null {
  const newest = isChecked(witness) ? newestCosignature(note, witness) : null;
  return newest === null ? null : isoTime(newest.at);
}

function unaskable(witness: PolicyWitness): string | null {
  if (!isChecked(witness)) return 'this program cannot check its key of ML-DSA-44';
  if (witness.url === null) return 'the policy does not say where it is asked';
  const url = URL.canParse(witness.url) ? new URL(witness.url) : null;
  const isHttp = url?.protocol === 'https:' || url?.protocol === 'http:';
  const isPlain = url?.username === '' && url.search === '' && url.hash === '';
  return isHttp && isPlain ? null : `"${witness.url}" is not an http address`;
}

/** Waits for others that add lines to the same proof; they do so in no time. */
async function lockProof(data: string, { sleep }: AskBy): Promise<() => void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return lockData(data, LOCK_NAME);
    } catch (error) {
      if (!(error instanceof LockedError) || attempt === LOCK_ATTEMPTS_MAX) throw error;
      await sleep(LOCK_RETRY_MS);
    }
  }
}

/**
 * Adds signature lines to the checkpoint of a proof, and changes nothing else; returns its note. It is read again right before,
 * so that lines which another process added meanwhile stay. Of a witness only the newest line stays that holds.
 */
function addLines(
  path: string,
  {
    text,
    lines,
    witnesses,
    draft,
  }: {
    text: string;
    lines: readonly NoteSignature[];
    witnesses: readonly PolicyWitness[];
    draft: string;
  },
): string {
  const { index, hashes, checkpoint, extra } = parseTlogProof(
    readPlain(path, TLOG_PROOF_BYTES_MAX).toString('utf8'),
  );
  const note = defined(parseNote(checkpoint) ?? undefined, 'the note of a proof');
  if (note.text !== text) {
    throw new RangeError(
      `Cannot publish cosignatures in "${path}": it was replaced meanwhile; run this again`,
    );
  }
  const all = { text, signatures: [...note.signatures, ...lines] };
  const checked = witnesses.filter(isChecked);
  const theirs = new Set(
    checked.flatMap(({ key }) => linesOf(all, key.name, keyHashOf(key, sha256))),
  );
  const others = all.signatures.filter((line) => !theirs.has(line));
  const newest = checked.flatMap((witness) => newestCosignature(all, witness)?.line ?? []);
  const cosigned = formatNote({ text, signatures: [...others, ...newest] });
  if (cosigned === checkpoint) return checkpoint;
  const proof = { index, hashes, checkpoint: cosigned, ...(extra === undefined ? {} : { extra }) };
  replaceFile(path, formatTlogProof(proof), draft);
  return cosigned;
}

/** What came of asking, for a person: one line a witness, then the quorum. */
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

/** What a policy without a witness says. */
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

/** The text of a policy with one witness more, above the lines that may name it. */
function withWitness(policy: string, vkeyAndUrl: string): string {
  const [name = ''] = vkeyAndUrl.split('+');
  const at = policy.search(/^[ \t]*(group|quorum)\b/m);
  const cut = at < 0 ? policy.length : at;
  return demanded(
    `${policy.slice(0, cut)}witness ${name} ${vkeyAndUrl}\n${policy.slice(cut)}`,
    name,
  );
}

/** The same with a quorum that asks for the witness too; groups that somebody else wrote stay as they are. */
function demanded(policy: string, name: string): string {
  const own = new RegExp(`^([ \\t]*group[ \\t]+${GROUP}[ \\t].*?)[ \\t]*$`, 'm');
  if (own.test(policy)) return policy.replace(own, (line) => `${line.trimEnd()} ${name}`);
  if (/^[ \t]*group\b/m.test(policy)) return policy;
  const names = [...policy.matchAll(/^[ \t]*witness[ \t]+(\S+)/gm)].map(([, each]) => each);
  const quorum = `group ${GROUP} all ${names.join(' ')}\nquorum ${GROUP}`;
  return policy.replace(/^[ \t]*quorum[ \t]+none[ \t]*$/m, quorum);
}

function policyOf(text: string, file: string): LogPolicy {
  try {
    return readPolicy(Buffer.from(text));
  } catch (cause) {
    throw new RangeError(`Cannot add the witness to "${file}": ${errorText(cause)}`, { cause });
  }
}
