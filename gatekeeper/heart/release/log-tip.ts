/**
 * Where the log beside the releases holds the entry of the release that is served, proven against its newest checkpoint.
 * Witnesses may sign that checkpoint after the release was published, so it is read again now and then, when somebody asks. A
 * log that has grown since belongs to the next release, which may never be served, so its checkpoint is not taken over.
 */
import {
  formatNote,
  linesOf,
  logOrigin,
  NOTE_CHARS_MAX,
  noteKeyHash,
  openNote,
  type SignedNote,
} from '../../../compiler/format/checkpoint.ts';
import { parseDidKey } from '../../../compiler/format/did-key.ts';
import { messageOf } from '../../../compiler/format/errors.ts';
import { keyStanding } from '../../../compiler/format/key-history.ts';
import { leafHash } from '../../../compiler/format/merkle.ts';
import { parseReleaseEntry, type ReleaseEntry } from '../../../compiler/format/release-entry.ts';
import { decodeUtf8 } from '../../../compiler/format/strict-json.ts';
import { CHECKPOINT_PATH } from '../../../compiler/format/tiles.ts';
import {
  formatTlogProof,
  isLeafProven,
  parseTlogProof,
  type ReadTlogProof,
} from '../../../compiler/format/tlog-proof.ts';
import { entryOfSequence, LogTree } from './log-files.ts';
import { headHash, isSignedBy } from './open-release.ts';
import { DamagedFileError, sha256, UnreachableFileError } from './read-body.ts';
import type { ReleaseIndex } from './release-index.ts';
import { perRelease } from './release-index.ts';
import { faultOf } from './release-source.ts';

/** How long a checkpoint is taken to be the newest. */
const RENEW_MS = 60_000;
/** Longest checkpoint with all its witnesses, in characters: each body that is sold brings it. */
const WITNESSED_CHARS_MAX = 16_384;
/** How long it is remembered that there was none. */
const RETRY_MS = 3_000;

/** The newest tree of a release, and its entry there. */
export interface LogTip {
  /** Proves the entry, which is its `extra`. */
  readonly proof: ReadTlogProof;
  readonly entry: ReleaseEntry;
  readonly entryBytes: Uint8Array;
  readonly tree: LogTree;
  /** What stands before and after the `extra` of every proof of the release, as JSON. */
  readonly aroundExtra: readonly [string, string];
}

interface HeldTip {
  tip: Promise<LogTip>;
  readAt: number;
  isBroken: boolean;
}

/** Null until somebody asks. */
const heldBy = perRelease((): { tip: HeldTip | null } => ({ tip: null }));

/** The newest tree of a release. Rejects like ReleaseIndex.body where its entry cannot be had. */
export function logTip(release: ReleaseIndex): Promise<LogTip> {
  const { tip: known } = heldBy(release);
  if (known === null) return begin(release);
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
  const tip = readTip(release, async () => {
    const note = await checkpointOf(release);
    const tree = new LogTree(release.place, openedNote(note).checkpoint);
    const { index, bytes } = await entryOfSequence(release.head.sequence, tree);
    const hashes = await tree.proof(index);
    return Buffer.from(formatTlogProof({ index, hashes, checkpoint: note, extra: bytes }));
  });
  const fresh: HeldTip = { tip, readAt: nowOf(release), isBroken: false };
  heldBy(release).tip = fresh;
  tip.catch(() => {
    fresh.isBroken = true;
  });
  return tip;
}

/** Takes the place of the known checkpoint where it has every line of it: who holds the files can take no witness away. */
async function renew(known: HeldTip, release: ReleaseIndex): Promise<void> {
  try {
    const { proof } = await known.tip;
    const checkpoint = await checkpointOf(release);
    const lines = new Set(checkpoint.split('\n'));
    if (!proof.checkpoint.split('\n').every((line) => lines.has(line))) return;
    const text = formatTlogProof({ ...proof, checkpoint });
    known.tip = Promise.resolve(await readTip(release, async () => Buffer.from(text)));
  } catch {
    // The known one still holds.
  }
}

async function readTip(release: ReleaseIndex, make: () => Promise<Buffer>): Promise<LogTip> {
  const { place, head } = release;
  try {
    const isGood = (bytes: Buffer): boolean => faultOf(() => checkedProof(bytes, release)) === null;
    const { proof, ...own } = checkedProof(await place.lasting(make, isGood), release);
    const tree = new LogTree(place, proof.signed);
    return { proof, ...own, tree, aroundExtra: aroundExtra(proof) };
  } catch (cause) {
    const isKnown = cause instanceof DamagedFileError || cause instanceof UnreachableFileError;
    if (isKnown) throw cause;
    const why = `Cannot prove release ${head.sequence}: ${messageOf(cause)}`;
    throw new DamagedFileError(`${why}; restore the log from a copy`, { cause });
  }
}

function aroundExtra({ index, hashes, checkpoint }: ReadTlogProof): LogTip['aroundExtra'] {
  const text = formatTlogProof({ index, hashes, checkpoint });
  const cut = text.indexOf('\n') + 1;
  return [
    JSON.stringify(`${text.slice(0, cut)}extra `).slice(0, -1),
    JSON.stringify(`\n${text.slice(cut)}`).slice(1),
  ];
}

/** The newest checkpoint of the log, signed by the issuer: without its witnesses where somebody added lines without end. */
async function checkpointOf({ place, head, keys }: ReleaseIndex): Promise<string> {
  const fault = (bytes: Buffer): string | null =>
    faultOf(() => refuseUnsigned(openedNote(decodeUtf8(bytes)).note, { head, keys }));
  // A dash of a signature line has three bytes.
  const bytes = await place.log(CHECKPOINT_PATH, { max: 2 * NOTE_CHARS_MAX, fault });
  if (bytes === null) throw new RangeError('the log has no checkpoint');
  const text = decodeUtf8(bytes);
  if (text.length <= WITNESSED_CHARS_MAX) return text;
  const { note, checkpoint } = openedNote(text);
  const { origin } = checkpoint;
  const own = keys.keys.flatMap(({ did }) => linesOf(note, origin, keyHashOf(did, origin)));
  return formatNote({ ...note, signatures: own });
}

function openedNote(text: string) {
  const opened = openNote(text);
  if (opened === null) throw new RangeError('not the signed note of a checkpoint');
  return opened;
}

/** Throws for anything else than the proof of the entry of this head, under a checkpoint of its issuer. */
function checkedProof(bytes: Buffer, { head, keys }: ReleaseIndex) {
  const proof = parseTlogProof(decodeUtf8(bytes));
  refuseUnsigned(proof.note, { head, keys });
  const { extra: entryBytes = new Uint8Array(0) } = proof;
  const entry = parseReleaseEntry(entryBytes);
  const isOwn =
    entry?.sequence === head.sequence &&
    entry.as_of === head.as_of &&
    entry.head === headHash(head);
  if (!isOwn) throw new RangeError('the log has another entry for this release');
  if (!isLeafProven(proof, leafHash(entryBytes, sha256), sha256)) {
    throw new RangeError('the proof does not lead from the entry to the root of the log');
  }
  return { proof, entry, entryBytes };
}

/** In an overlap each valid key has a line: one is enough, and each that is there must hold. */
function refuseUnsigned(
  note: SignedNote,
  { head, keys }: Pick<ReleaseIndex, 'head' | 'keys'>,
): void {
  const origin = logOrigin(head.base_url);
  if (!note.text.startsWith(`${origin}\n`)) throw new RangeError('a checkpoint of another log');
  let isSigned = false;
  for (const { did } of keys.keys) {
    const [line, ...more] = linesOf(note, origin, keyHashOf(did, origin));
    if (line === undefined) continue;
    if (more.length > 0 || !isSignedBy(did, Buffer.from(note.text, 'utf8'), line.signature)) {
      throw new RangeError('a signature of its checkpoint does not hold');
    }
    isSigned ||= keyStanding(keys, did, head.as_of) === 'valid';
  }
  if (!isSigned) throw new RangeError('the issuer did not sign its checkpoint');
}

function keyHashOf(did: string, origin: string): Uint8Array {
  return noteKeyHash(origin, parseDidKey(did), sha256);
}
