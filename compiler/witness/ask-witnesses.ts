import { join } from 'node:path';
import {
  formatNote,
  type NoteSignature,
  parseNote,
  signatureLine,
} from '../contract/checkpoint.ts';
import { defined } from '../contract/defined.ts';
import { isChecked, type LogPolicy, type PolicyWitness } from '../contract/log-policy.ts';
import { RELEASES_FOLDER } from '../contract/release.ts';
import { RELEASE_PROOF_NAME } from '../contract/release-leaf.ts';
import { formatTlogProof, parseTlogProof, TLOG_PROOF_BYTES_MAX } from '../contract/tlog-proof.ts';
import { currentRelease } from '../stages/anchor/current-release.ts';
import { currentName } from '../stages/publish/release-folders.ts';
import { replaceFile } from '../stages/publish/replace-file.ts';
import { readPlain } from '../verify/plain-file.ts';
import { judgeByPolicy } from '../verify/policy-check.ts';
import { askedLog } from './asked-log.ts';
import { type AskBy, askWitness } from './witness-client.ts';

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
  /** What the published checkpoint lacks by the policy; null where it has its quorum. */
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
  const log = askedLog(release);
  const { signed } = log;
  const done = judgeByPolicy(formatNote(log.note), { policy: asksAll(policy), now: by.now() });
  const known = new Map(done.witnessed.map((each) => [each.name, each.at]));
  const replies = await Promise.all(
    policy.witnesses.map(async (witness) => {
      const at = known.get(witness.name);
      if (at !== undefined) return { name: witness.name, line: null, at, failure: null };
      const refusal = unaskable(witness);
      const reply = refusal === null ? await askWitness(witness, log, by) : null;
      return { name: witness.name, ...(reply ?? { line: null, at: null, failure: refusal }) };
    }),
  );
  const lines = replies.flatMap(({ line }) => (line === null ? [] : [line]));
  const path = join(data, RELEASES_FOLDER, name, RELEASE_PROOF_NAME);
  const note = addLines(path, { text: log.note.text, lines, draft: join(data, DRAFT_NAME) });
  return {
    origin: signed.origin,
    size: signed.size,
    witnesses: replies.map(({ line: _, ...rest }) => rest),
    lack: judgeByPolicy(note, { policy, now: by.now() }).fault,
  };
}

/** Beside the releases: in the folder of one, a file that a kill leaves would be a stranger. */
const DRAFT_NAME = `${RELEASE_PROOF_NAME}.new`;

/** The same witnesses, of whom none has to have cosigned. */
function asksAll({ witnesses }: LogPolicy): LogPolicy {
  return { logs: [], witnesses, quorum: null };
}

function unaskable(witness: PolicyWitness): string | null {
  if (!isChecked(witness)) return 'this program cannot check its key of ML-DSA-44';
  if (witness.url === null) return 'the policy does not say where it is asked';
  const url = URL.canParse(witness.url) ? new URL(witness.url) : null;
  const isHttp = url?.protocol === 'https:' || url?.protocol === 'http:';
  const isPlain = url?.username === '' && url.search === '' && url.hash === '';
  return isHttp && isPlain ? null : `"${witness.url}" is not an http address`;
}

interface AddedLines {
  /** Text of the checkpoint that was cosigned. */
  readonly text: string;
  readonly lines: readonly NoteSignature[];
  /** File that takes the place of the proof once it is whole. */
  readonly draft: string;
}

/**
 * Adds signature lines to the checkpoint of a proof, and nothing else; returns its note. It is read again right before, in the
 * same synchronous step, so that lines which another process added meanwhile stay.
 */
function addLines(path: string, { text, lines, draft }: AddedLines): string {
  const { index, hashes, checkpoint, extra } = parseTlogProof(
    readPlain(path, TLOG_PROOF_BYTES_MAX).toString('utf8'),
  );
  const note = defined(parseNote(checkpoint) ?? undefined, 'the note of a proof');
  if (note.text !== text) {
    throw new RangeError(
      `Cannot publish cosignatures in "${path}": it was replaced meanwhile; run this again`,
    );
  }
  const known = new Set(note.signatures.map(signatureLine));
  const added = lines.filter((line) => !known.has(signatureLine(line)));
  if (added.length === 0) return checkpoint;
  const cosigned = formatNote({ text, signatures: [...note.signatures, ...added] });
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
