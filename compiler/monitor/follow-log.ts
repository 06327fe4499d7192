import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { type Checkpoint, logOrigin, NOTE_CHARS_MAX, openNote } from '../contract/checkpoint.ts';
import { messageOf } from '../contract/errors.ts';
import { isoTime } from '../contract/iso-time.ts';
import { consistencyRanges, verifyConsistency } from '../contract/merkle.ts';
import { LOG_URL } from '../contract/static-files.ts';
import { decodeUtf8 } from '../contract/strict-json.ts';
import { judgeNote } from '../verify/log-notes.ts';
import { judgeByPolicy } from '../verify/policy-check.ts';
import type { LogClient } from './log-client.ts';
import type { Finding } from './monitor-state.ts';
import { endedFault, type Round, type ShownHead, signersOf } from './round.ts';
import { TiledTree, TileError } from './tiled-tree.ts';

/** A dash of a signature line has three bytes. */
const NOTE_BYTES_MAX = 2 * NOTE_CHARS_MAX;

/** A checkpoint and the note that says it. */
export interface Signed {
  readonly checkpoint: Checkpoint;
  readonly note: string;
}

/** Reads the newest checkpoint, and proves that it goes on from all that were seen; null where it does not. */
export async function followLog(round: Round, shown: ShownHead | null): Promise<Signed | null> {
  const { findings } = round;
  const bytes = await round.client.get(LOG_URL, NOTE_BYTES_MAX);
  const next = bytes === null ? null : signedNote(bytes);
  if (next === null) {
    const detail =
      bytes === null
        ? 'it shows no checkpoint'
        : 'it shows something else than a signed checkpoint';
    findings.push({ kind: 'unreadable', about: LOG_URL, detail });
    return null;
  }
  const fault = noteFault(round, next, shown) ?? (await historyFault(round, next));
  if (fault !== null) {
    findings.push(fault);
    return null;
  }
  noteSize(round, next);
  demandWitnesses(round, next);
  return next;
}

function signedNote(bytes: Uint8Array): Signed | null {
  try {
    const note = decodeUtf8(bytes);
    const opened = openNote(note);
    return opened === null ? null : { checkpoint: opened.checkpoint, note };
  } catch {
    return null;
  }
}

function noteFault(
  round: Round,
  { checkpoint, note }: Signed,
  shown: ShownHead | null,
): Finding | null {
  const { state } = round;
  const origin =
    state.origin ?? (shown === null ? checkpoint.origin : logOrigin(shown.head.base_url));
  if (checkpoint.origin !== origin) {
    return {
      kind: 'other_log',
      detail: `its checkpoint is of the log "${checkpoint.origin}", not "${origin}"`,
    };
  }
  const { fault, signers } = judgeNote(note, signersOf(state));
  const detail = fault ?? (isSeen(round, checkpoint) ? null : endedFault(round, signers));
  return detail === null
    ? null
    : { kind: 'unknown_key', about: LOG_URL, detail: `its checkpoint: ${detail}` };
}

function isSeen({ seen }: Round, { size, root }: Checkpoint): boolean {
  return seen.rootAt(size) === bytesToHex(root);
}

/** Witnesses sign once a release is published, so a look right after that may come too early. */
function demandWitnesses({ policy, now, findings }: Round, { note }: Signed): void {
  if (policy === undefined) return;
  const { fault } = judgeByPolicy(note, { policy, now });
  if (fault !== null) findings.push({ kind: 'unwitnessed', detail: `its checkpoint: ${fault}` });
}

async function historyFault(round: Round, next: Signed): Promise<Finding | null> {
  if (isSeen(round, next.checkpoint)) return null;
  const { size } = next.checkpoint;
  const known = round.seen.rootAt(size);
  const other = known === undefined ? newestOf(round) : await signedAt(round, size);
  if (other === null) return takeFirst(round, next);
  const [old, later] = other.checkpoint.size <= size ? [other, next] : [next, other];
  if (old.checkpoint.size === later.checkpoint.size) return forkFinding(old, later, null);
  const found = await grownBy(round, old.checkpoint, later.checkpoint);
  if (found.kind === 'unproven') {
    const detail = `${found.why}: ${sizesOf(old, later)}`;
    return { kind: 'unproven', detail, note: next.note };
  }
  return found.kind === 'fork' ? forkFinding(old, later, found) : null;
}

function newestOf({ state }: Round): Signed | null {
  return state.newest === null ? null : signedNote(Buffer.from(state.newest));
}

function signedAt(round: Round, size: number): Signed | null {
  const newest = newestOf(round);
  if (newest?.checkpoint.size === size) return newest;
  const note = round.seen.noteAt(size);
  return note === null ? newest : signedNote(Buffer.from(note));
}

/** The first tree is believed, but its tiles have to be there. */
async function takeFirst(round: Round, { checkpoint }: Signed): Promise<Finding | null> {
  const { size, root } = checkpoint;
  const detail = 'its tiles do not lead to the root that it signed';
  try {
    const own = await new TiledTree(round.client, size).hash({ start: 0, end: size });
    return Buffer.compare(own, root) === 0 ? null : { kind: 'unproven', detail };
  } catch (error) {
    if (!(error instanceof TileError)) throw error;
    return { kind: 'unproven', detail: `its tiles are not whole: ${error.message}` };
  }
}

/** Asks this address for the tiles of the larger tree, then the others: who hides a fork does not give its proof. */
async function grownBy(round: Round, old: Checkpoint, later: Checkpoint): Promise<Growth> {
  let found = await growth(old, later, new TiledTree(round.client, later.size));
  for (const client of round.others) {
    if (found.kind !== 'unproven') return found;
    const next = await growthAt(client, old, later);
    if (next.kind !== 'unproven') found = next;
  }
  return found;
}

async function growthAt(client: LogClient, old: Checkpoint, later: Checkpoint): Promise<Growth> {
  try {
    return await growth(old, later, new TiledTree(client, later.size));
  } catch (error) {
    return { kind: 'unproven', why: messageOf(error) };
  }
}

function sizesOf(old: Signed, later: Signed): string {
  return `${old.checkpoint.size} and ${later.checkpoint.size} entries`;
}

function forkFinding(
  old: Signed,
  later: Signed,
  grown: Extract<Growth, { kind: 'fork' }> | null,
): Finding {
  const detail = `two histories of one log are signed: ${sizesOf(old, later)}`;
  const shown =
    grown === null ? null : { root: bytesToHex(grown.root), proof: grown.proof.map(bytesToHex) };
  return {
    kind: 'fork',
    detail,
    proof: { kind: 'fork', notes: [old.note, later.note], grown: shown },
  };
}

function noteSize(round: Round, { checkpoint, note }: Signed): void {
  const { state, own, seen, address, now, news, findings } = round;
  const { size, origin } = checkpoint;
  const newest = newestOf(round)?.checkpoint.size ?? -1;
  seen.add({ seen_at: isoTime(now), address, note });
  state.origin = origin;
  if (size > newest) {
    news.push(
      newest < 0
        ? `log ${origin} of ${size} entries`
        : `log grew from ${newest} to ${size} entries`,
    );
  }
  // The same tree may have more signatures of witnesses by now; a key that has ended replaces no other.
  const { signers } = judgeNote(note, signersOf(state));
  if (size >= newest && endedFault(round, signers) === null) state.newest = note;
  if (size < own.size) {
    const detail = `it shows a log of ${size} entries, and showed ${own.size} before`;
    findings.push({ kind: 'rollback', about: LOG_URL, detail });
  }
  own.size = Math.max(own.size, size);
}

/** How a tree follows an older one. A fork comes with what proves it. */
type Growth =
  | { readonly kind: 'grown' }
  | { readonly kind: 'fork'; readonly root: Uint8Array; readonly proof: readonly Uint8Array[] }
  | { readonly kind: 'unproven'; readonly why: string };

/**
 * Whether a signed tree begins with another one, of fewer entries, by tiles that anybody may have given: only tiles that lead to
 * the root of the larger one say anything. Throws an UnreachableError.
 */
async function growth(old: Checkpoint, next: Checkpoint, tree: TiledTree): Promise<Growth> {
  if (old.size === 0) return { kind: 'grown' };
  try {
    const proof = await tree.hashes(consistencyRanges(old.size, next.size));
    const claim = { size1: old.size, size2: next.size, root2: next.root, proof };
    if (verifyConsistency({ ...claim, root1: old.root }, sha256)) return { kind: 'grown' };
    const root = await tree.hash({ start: 0, end: old.size });
    if (verifyConsistency({ ...claim, root1: root }, sha256)) return { kind: 'fork', root, proof };
    return { kind: 'unproven', why: 'its tiles do not lead to the root that it signed' };
  } catch (error) {
    if (!(error instanceof TileError)) throw error;
    return { kind: 'unproven', why: `its tiles are not whole: ${error.message}` };
  }
}
