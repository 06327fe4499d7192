import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { LOG_URL } from '../../catalog/static-files.ts';
import { type Checkpoint, logOrigin, NOTE_CHARS_MAX, openNote } from '../../format/checkpoint.ts';
import { defined, messageOf } from '../../format/errors.ts';
import { isoTime } from '../../format/iso-time.ts';
import {
  besideRanges,
  consistencyRanges,
  HASH_BYTES,
  leafHash,
  type Range,
  stretchRoot,
  subtreesOf,
  verifyConsistency,
} from '../../format/merkle.ts';
import { parseReleaseEntry } from '../../format/release-entry.ts';
import { decodeUtf8 } from '../../format/strict-json.ts';
import {
  bundleEntries,
  hashInTiles,
  TILE_WIDTH,
  type Tile,
  tileHashes,
  tileOfSubtree,
  tilePath,
} from '../../format/tiles.ts';
import { canonicalHash } from '../body-check.ts';
import { judgeNote } from '../log-notes.ts';
import { judgeByPolicy } from '../policy-check.ts';
import { entryContradiction, orderContradiction } from './evidence.ts';
import { type LogClient, tileAt } from './log-client.ts';
import type { Finding } from './monitor-state.ts';
import { endedFault, type Round, type ShownHead, signersOf } from './round.ts';

/** A dash of a signature line has three bytes. */
const NOTE_BYTES_MAX = 2 * NOTE_CHARS_MAX;
/** Entries that are read in one look: a log has one a release. */
const ENTRIES_MAX = 16_384;

/** A checkpoint and the note that says it. */
interface Signed {
  readonly checkpoint: Checkpoint;
  readonly note: string;
}

/** A tile is not there, not of its length, or leads to no signed root. */
class TileError extends Error {
  override readonly name = 'TileError';
}

/**
 * The tree of a checkpoint as the tiles of an address have it. What it says is worth nothing until it leads to the signed
 * root.
 */
class TiledTree {
  readonly signed: Signed;
  readonly #client: LogClient;
  /** Hashes of tiles by their paths; a proof takes some dozens. */
  readonly #tiles = new Map<string, readonly Uint8Array[]>();

  constructor(client: LogClient, signed: Signed) {
    this.#client = client;
    this.signed = signed;
  }

  /** The hash of each range; throws a TileError or an UnreachableError. */
  async hashes(ranges: readonly Range[]): Promise<Uint8Array[]> {
    const { size } = this.signed.checkpoint;
    for (const subtree of ranges.flatMap(subtreesOf)) {
      const { tile } = tileOfSubtree(subtree, size);
      const path = tilePath(tile);
      if (this.#tiles.has(path)) continue;
      const hashesIn = (bytes: Uint8Array): Uint8Array[] =>
        tileHashes(bytes.length === TILE_WIDTH * HASH_BYTES ? { width: TILE_WIDTH } : tile, bytes);
      this.#tiles.set(path, await this.#read(tile, hashesIn));
    }
    const hashesOf = (tile: Tile) => defined(this.#tiles.get(tilePath(tile)), 'a tile');
    return ranges.map((range) => hashInTiles(range, size, hashesOf, sha256));
  }

  /** Neighbouring entries, proven to stand there in the tree that was signed, and what proves it; throws as `hashes`. */
  async entries(range: Range) {
    const { note, checkpoint } = this.signed;
    const { size, root } = checkpoint;
    const { start, end } = range;
    const entries: Uint8Array[] = [];
    for (let index = Math.floor(start / TILE_WIDTH); index * TILE_WIDTH < end; index += 1) {
      const from = index * TILE_WIDTH;
      const width = Math.min(TILE_WIDTH, size - from);
      const bundle = await this.#read({ level: 'entries', index, width }, bundleEntries);
      entries.push(...bundle.slice(Math.max(0, start - from), Math.min(width, end - from)));
    }
    const leaves = entries.map((entry) => leafHash(entry, sha256));
    const beside = await this.hashes(besideRanges(range, size));
    const own = stretchRoot({ size, start, leaves, beside }, sha256);
    if (own === null || Buffer.compare(own, root) !== 0) {
      throw new TileError('its entries do not lead to the root that it signed');
    }
    const hex = { entries: entries.map(bytesToHex), beside: beside.map(bytesToHex) };
    return { entries, proof: { note, index: start, ...hex } };
  }

  async entryAt(index: number) {
    const { entries, proof } = await this.entries({ start: index, end: index + 1 });
    return { entry: parseReleaseEntry(defined(entries[0], 'an entry')), proof };
  }

  async #read<T>(tile: Tile, use: (bytes: Uint8Array) => T): Promise<T> {
    const bytes = await tileAt(this.#client, tile);
    try {
      if (bytes === null) throw new RangeError('it is not there');
      return use(bytes);
    } catch (cause) {
      const detail = `its tiles are not whole: "${tilePath(tile)}": ${messageOf(cause)}`;
      throw new TileError(detail, { cause });
    }
  }
}

/** Reads the newest checkpoint, proves that it goes on from all that were seen, and reads what is new in it. */
export async function followLog(round: Round, shown: ShownHead | null): Promise<void> {
  const { client, findings, policy, now } = round;
  const bytes = await client.get(LOG_URL, NOTE_BYTES_MAX);
  const next = bytes === null ? null : signedNote(bytes);
  if (next === null) {
    const what = bytes === null ? 'no checkpoint' : 'something else than a signed checkpoint';
    findings.push({ kind: 'unreadable', about: LOG_URL, detail: `it shows ${what}` });
    return;
  }
  const found = noteFault(round, next, shown) ?? (await historyFault(round, next));
  if (found !== null) {
    findings.push(found);
    return;
  }
  noteSize(round, next);
  // Witnesses sign once a release is published, so a look right after that may come too early.
  const { fault } = judgeByPolicy(next.note, { policy, now });
  if (fault !== null) findings.push({ kind: 'unwitnessed', detail: `its checkpoint: ${fault}` });
  if (next.checkpoint.size === 0) return;
  const tree = new TiledTree(client, next);
  try {
    await readNew(round, shown, tree);
    if (shown !== null) await findHead(round, shown, tree);
  } catch (error) {
    if (!(error instanceof TileError)) throw error;
    findings.push({ kind: 'unproven', about: 'entries', detail: error.message });
  }
}

function signedNote(bytes: Uint8Array | string): Signed | null {
  try {
    const note = typeof bytes === 'string' ? bytes : decodeUtf8(bytes);
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
  const stated = () => (shown === null ? checkpoint.origin : logOrigin(shown.head.base_url));
  const origin = state.origin ?? stated();
  if (checkpoint.origin !== origin) {
    const detail = `its checkpoint is of the log "${checkpoint.origin}", not "${origin}"`;
    return { kind: 'other_log', detail };
  }
  const { fault, signers } = judgeNote(note, signersOf(round));
  const detail = fault ?? (isSeen(round, checkpoint) ? null : endedFault(round, signers));
  if (detail === null) return null;
  return { kind: 'unknown_key', about: LOG_URL, detail: `its checkpoint: ${detail}` };
}

function isSeen({ seen }: Round, { size, root }: Checkpoint): boolean {
  return seen.rootAt(size) === bytesToHex(root);
}

function newestOf({ state }: Round): Signed | null {
  return state.newest === null ? null : signedNote(state.newest);
}

/** Why a checkpoint does not go on from those that were seen, or they from it; null where it does. */
async function historyFault(round: Round, next: Signed): Promise<Finding | null> {
  const { seen, client, others } = round;
  if (isSeen(round, next.checkpoint)) return null;
  const { size } = next.checkpoint;
  const newest = newestOf(round);
  const isKept = newest?.checkpoint.size !== size && seen.rootAt(size) !== undefined;
  const kept = isKept ? seen.noteAt(size) : null;
  const other = kept === null ? newest : signedNote(kept);
  const isOlder = other === null || other.checkpoint.size <= size;
  const [old, later] = isOlder ? [other, next] : [next, other];
  if (old?.checkpoint.size === later.checkpoint.size) return forkFinding(old, later, null);
  let why = '';
  // Who hides a fork does not give its proof, so the other addresses are asked too. The first tree has to be at this one.
  for (const asked of [client, ...(old === null ? [] : others)]) {
    try {
      const grown = await growth(old?.checkpoint, new TiledTree(asked, later));
      return grown === null || old === null ? null : forkFinding(old, later, grown);
    } catch (error) {
      if (asked === client && !(error instanceof TileError)) throw error;
      why ||= messageOf(error);
    }
  }
  const sizes = old === null ? '' : `: ${sizesOf(old, later)}`;
  return { kind: 'unproven', detail: `${why}${sizes}`, note: next.note };
}

type Grown = { readonly root: string; readonly proof: string[] };

/**
 * Null where a signed tree begins with another one, of fewer entries; what proves that it does not. Anybody may have given the
 * tiles, so only those that lead to the root of the larger tree say anything. Throws a TileError or an UnreachableError.
 */
async function growth(old: Checkpoint | undefined, tree: TiledTree): Promise<Grown | null> {
  const { size, root } = tree.signed.checkpoint;
  const [ranges, before] =
    old === undefined || old.size === 0
      ? [[], { start: 0, end: size }]
      : [consistencyRanges(old.size, size), { start: 0, end: old.size }];
  const proof = await tree.hashes(ranges);
  const claim = { size1: before.end, size2: size, root2: root, proof };
  if (old !== undefined && verifyConsistency({ ...claim, root1: old.root }, sha256)) return null;
  const [hash] = await tree.hashes([before]);
  const start = defined(hash, 'the hash of a tree');
  if (before.end === size && Buffer.compare(start, root) === 0) return null;
  if (before.end < size && verifyConsistency({ ...claim, root1: start }, sha256)) {
    return { root: bytesToHex(start), proof: proof.map(bytesToHex) };
  }
  throw new TileError('its tiles do not lead to the root that it signed');
}

function sizesOf(old: Signed, later: Signed): string {
  return `${old.checkpoint.size} and ${later.checkpoint.size} entries`;
}

function forkFinding(old: Signed, later: Signed, grown: Grown | null): Finding {
  const detail = `two histories of one log are signed: ${sizesOf(old, later)}`;
  return { kind: 'fork', detail, proof: { kind: 'fork', notes: [old.note, later.note], grown } };
}

function noteSize(round: Round, { checkpoint, note }: Signed): void {
  const { state, own, seen, address, now, news, findings } = round;
  const { size, origin } = checkpoint;
  const newest = newestOf(round)?.checkpoint.size ?? -1;
  seen.add({ seen_at: isoTime(now), address, note });
  state.origin = origin;
  if (newest < 0) news.push(`log ${origin} of ${size} entries`);
  else if (size > newest) news.push(`log grew from ${newest} to ${size} entries`);
  // The same tree may have more signatures of witnesses by now; a key that has ended replaces no other.
  const { signers } = judgeNote(note, signersOf(round));
  if (size >= newest && endedFault(round, signers) === null) state.newest = note;
  if (size < own.size) {
    const detail = `it shows a log of ${size} entries, and showed ${own.size} before`;
    findings.push({ kind: 'rollback', about: LOG_URL, detail });
  }
  own.size = Math.max(own.size, size);
}

/** Each new entry has to follow the one before it. At the first look those are read that stand in one bundle with the newest. */
async function readNew(round: Round, shown: ShownHead | null, tree: TiledTree): Promise<void> {
  const { state, findings } = round;
  const end = tree.signed.checkpoint.size;
  const newest = Math.floor((end - 1) / TILE_WIDTH) * TILE_WIDTH;
  const start = state.entries_read === 0 ? newest : state.entries_read - 1;
  if (end <= start + 1 && state.entries_read > 0) return;
  if (end - start > ENTRIES_MAX) {
    const detail = `its log grew by ${end - start} entries, more than ${ENTRIES_MAX} in one look`;
    findings.push({ kind: 'log_order', about: 'entries', detail });
    return;
  }
  const { entries } = await tree.entries({ start, end });
  for (const [at, entry] of entries.entries()) {
    const before = entries[at - 1];
    const index = start + at;
    const about = `entry ${index}`;
    const broken = before === undefined ? null : orderContradiction(before, entry);
    if (broken !== null) {
      const { proof } = await tree.entries({ start: index - 1, end: index + 1 });
      const detail = `${about} of its log: ${broken}`;
      findings.push({ kind: 'log_order', about, detail, proof: { kind: 'entries', ...proof } });
    }
    const fall = before === undefined ? null : timeFault(before, entry, shown);
    if (fall !== null) {
      // Looked at again, when the head that says why may be there.
      findings.push({ kind: 'log_order', about: `time of ${about}`, detail: fall });
      return;
    }
    state.entries_read = index + 1;
  }
}

/** The time of a release may fall only where a head says that a clock was set right; later heads repeat that. */
function timeFault(before: Uint8Array, entry: Uint8Array, shown: ShownHead | null): string | null {
  const [one, next] = [parseReleaseEntry(before), parseReleaseEntry(entry)];
  if (one === null || next === null || Date.parse(next.as_of) >= Date.parse(one.as_of)) return null;
  const { sequence = 0, latest = '' } = shown?.head.clock_corrected ?? {};
  if (one.sequence < sequence && Date.parse(one.as_of) <= Date.parse(latest)) return null;
  return `its log dates release ${next.sequence} ${next.as_of}, before release ${one.sequence} of ${one.as_of}`;
}

/** The release that is shown has to be the one of its entry; the log may be one ahead, for the moment of a switch. */
async function findHead(round: Round, { head, text }: ShownHead, tree: TiledTree): Promise<void> {
  const { state, findings } = round;
  const { sequence } = head;
  const missing = (detail: string): void => {
    findings.push({ kind: 'leaf_missing', detail });
  };
  const { size } = tree.signed.checkpoint;
  const { entry: last } = await tree.entryAt(size - 1);
  if (last === null) {
    // A log of the first format, whose heads say where they stand.
    if (head.log_index === undefined) missing('the newest entry of its log is not of a release');
    return;
  }
  if (last.sequence > sequence) {
    const detail = `its log has the release ${last.sequence}, and it shows ${sequence}`;
    findings.push({ kind: 'frozen', about: 'log', detail });
  }
  const hash = canonicalHash(head);
  if (state.logged_head === hash) return;
  const index = size - 1 - (last.sequence - sequence);
  if (index < 0 || index >= size) {
    missing(`release ${sequence} is not in its log of ${size} entries`);
    return;
  }
  const { entry, proof } = await tree.entryAt(index);
  const detail = entry === null ? null : entryContradiction(entry, head);
  if (entry?.sequence !== sequence) {
    missing(`entry ${index} of its log is not that of release ${sequence}`);
  } else if (detail === null) {
    state.logged_head = hash;
  } else {
    findings.push({ kind: 'leaf_missing', detail, proof: { kind: 'leaf', head: text, ...proof } });
  }
}
