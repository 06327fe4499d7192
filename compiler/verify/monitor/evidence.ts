// What a third person can check alone: the signed texts that contradict each other, and nothing that the monitor says.

import { sha256 } from '@noble/hashes/sha2.js';
import { hexToBytes } from '@noble/hashes/utils.js';
import { z } from 'zod';
import { type Checkpoint, logOrigin } from '../../format/checkpoint.ts';
import { citationSchema, citedBase } from '../../format/citation.ts';
import { messageOf } from '../../format/errors.ts';
import {
  adoptedKeys,
  beforeRoots,
  isContinued,
  type KeyHistory,
  readKeyHistory,
  rootDid,
  rootKeysOf,
  vouchedDids,
} from '../../format/key-history.ts';
import { isEqual, leafHash, stretchRoot, verifyConsistency } from '../../format/merkle.ts';
import { RECORD_HASH } from '../../format/record-hash.ts';
import { goesBack, type Release, releaseName } from '../../format/release.ts';
import { parseReleaseEntry, type ReleaseEntry } from '../../format/release-entry.ts';
import { rootBytes } from '../../format/root-statement.ts';
import { isObject, parseJson } from '../../format/strict-json.ts';
import { canonicalHash } from '../body-check.ts';
import { endOf, type KeyTrust, unrevoked } from '../key-trust.ts';
import { judgeNote } from '../log-notes.ts';
import { isWitnessed, type PolicyTrust } from '../policy-check.ts';
import { signedHead } from '../signed-head.ts';
import { verifyBody } from '../verify-body.ts';
import { isSignedBy } from '../verify-citation.ts';

/**
 * Longest file of evidence that is read, in bytes: three lists of keys, each at its longest, in JSON that takes two bytes
 * for each of theirs.
 */
export const EVIDENCE_BYTES_MAX = 8_388_608;
/** Longest name of a reading that is remembered; names of entities that are sold have at most some hundred bytes. */
const SUBJECT_CHARS_MAX = 500;
/** More hashes than a proof of growth between any two trees has. */
const PROOF_HASHES_MAX = 128;

const hex32 = z.string().regex(/^[0-9a-f]{64}$/);
const pair = z.tuple([z.string(), z.string()]);

/** Entries of a log in hex from a position on, with the hashes beside them that lead to the root of a signed checkpoint. */
const logged = {
  note: z.string(),
  index: z.int().min(0),
  entries: z
    .array(z.string().regex(/^([0-9a-f]{2})*$/))
    .min(1)
    .max(2),
  beside: z.array(hex32).max(PROOF_HASHES_MAX),
};

const common = {
  format: z.literal('signalpress-evidence/1'),
  /** When and where it was found: words of the monitor, which prove nothing. */
  found_at: z.iso.datetime(),
  address: z.string(),
  issuers: z.array(z.string().max(80)).min(1).max(64),
  /** The list of issuer keys that was known, which vouches for later keys; null for none. */
  keys: z.string().nullable(),
};

const evidenceSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    ...common,
    kind: z.literal('fork'),
    /** Signed checkpoints, the smaller tree first. */
    notes: pair,
    /**
     * Where the sizes differ: the root of so many first entries of the larger tree as the smaller one has, and the proof of
     * RFC 6962 §2.1.2 from it to the larger one. Only one root has such a proof.
     */
    grown: z.strictObject({ root: hex32, proof: z.array(hex32).max(PROOF_HASHES_MAX) }).nullable(),
  }),
  z.strictObject({ ...common, kind: z.literal('heads'), heads: pair }),
  /** Two entries side by side that cannot be. */
  z.strictObject({ ...common, kind: z.literal('entries'), ...logged }),
  /** A head, and the entry of its sequence. */
  z.strictObject({ ...common, kind: z.literal('leaf'), head: z.string(), ...logged }),
  z.strictObject({ ...common, kind: z.literal('keys'), lists: pair }),
  z.strictObject({ ...common, kind: z.literal('readings'), bodies: pair }),
]);

export type Evidence = z.infer<typeof evidenceSchema>;
/** What contradicts itself, without when and where it was found. */
export type Contradiction = Evidence extends infer E
  ? E extends Evidence
    ? Omit<E, keyof typeof common>
    : never
  : never;

/** Reads a file of evidence; throws a RangeError for anything else. */
export function parseEvidence(text: string): Evidence {
  try {
    return evidenceSchema.parse(parseJson(text));
  } catch (cause) {
    throw new RangeError(
      'Cannot read the evidence: not a file that "signalpress monitor" wrote; pass one of its folder "evidence"',
      { cause },
    );
  }
}

export function formatEvidence(evidence: Evidence): string {
  return `${JSON.stringify(evidence, null, 2)}\n`;
}

/**
 * Judges evidence from its signed texts alone; under `any` whoever the monitor believed counts. `proven`: the issuer signed both.
 * `nothing`: the texts contradict nothing, nobody who counts signed them, or a key that has ended signed one, which whoever has it
 * by now may have done.
 */
export function checkEvidence(
  evidence: Evidence,
  given: KeyTrust & PolicyTrust,
): { verdict: 'proven' | 'nothing'; says: string; signers: readonly string[] } {
  try {
    const { trust, roots } = given;
    const lists = listsOf(evidence, given.keys);
    const named = trust === 'any' ? evidence.issuers : trust;
    const reached = { issuers: named, ...(roots === undefined ? {} : { roots }) };
    const all = new Set([...named, ...lists.flatMap((list) => vouchedDids(list, reached))]);
    for (const did of lists.flatMap((list) => [...rootKeysOf(list)])) all.delete(did);
    const by = { known: unrevoked([...all], lists), lists };
    const find = FOUND[evidence.kind] as (evidence: Evidence, by: Signers) => Found;
    const { says, sides, more = [] } = find(evidence, by);
    for (const side of sides) refuseEnded(says, side, { lists: [...lists, ...more], given });
    const signed = new Set(sides.flatMap(({ signers }) => signers));
    return { verdict: 'proven', says, signers: by.known.filter((did) => signed.has(did)) };
  } catch (error) {
    return { verdict: 'nothing', says: messageOf(error), signers: [] };
  }
}

interface Signers {
  /** DIDs, without any that was revoked: a thief could have signed. */
  readonly known: readonly string[];
  /** Lists of keys: a head that a key signed outside of its time counts for nothing. */
  readonly lists: readonly KeyHistory[];
}

/** One of the statements that contradict each other. */
interface Side {
  readonly signers: readonly string[];
  /** The note that is signed, which witnesses may have seen in time. */
  readonly note?: string;
  /** Whether root keys signed, whose time does not end. */
  readonly isByRoot?: boolean;
}

/** The list that the evidence brings counts beside that of the reader only if one of them goes on from the other. */
function listsOf({ keys: text }: Evidence, given: KeyHistory | undefined): KeyHistory[] {
  const own = text === null ? undefined : keysOfText(text);
  const lists = [own, given].filter((list) => list !== undefined);
  const [first, second] = lists;
  if (!first || !second) return lists;
  return isContinued(first, second) || isContinued(second, first) ? lists : [second];
}

interface Found {
  readonly says: string;
  readonly sides: readonly Side[];
  /** Lists that say more of the end of a key. */
  readonly more?: readonly KeyHistory[];
}

type Of<K extends Evidence['kind']> = Extract<Evidence, { kind: K }>;

/** What evidence shows, and who signed it; throws a RangeError that says why it shows nothing. */
const FOUND: { readonly [K in Evidence['kind']]: (evidence: Of<K>, by: Signers) => Found } = {
  fork({ notes, grown }, by) {
    const [first, second] = notes;
    const [old, next] = [signedTree(first, by), signedTree(second, by)];
    if (!isFork(old, next, grown)) throw nothing('both checkpoints can be of one log');
    const sizes =
      old.size === next.size
        ? `two trees of ${old.size} entries`
        : `the tree of ${next.size} entries does not begin with the one of ${old.size}`;
    return { says: `the log ${old.origin} has two histories: ${sizes}`, sides: [old, next] };
  },
  heads({ heads }, by) {
    const [first, second] = heads;
    const [one, other] = [headOf(first, by), headOf(second, by)];
    const says = headsContradiction(one, other);
    if (says === null) throw nothing('both releases can be of one service');
    return { says, sides: [{ signers: [one.issuer_did] }, { signers: [other.issuer_did] }] };
  },
  entries(evidence, by) {
    const log = loggedEntries(evidence, by);
    const [before, entry] = log.entries;
    const says = before && entry ? orderContradiction(before, entry) : null;
    if (says === null) throw nothing('the entries can stand side by side');
    return { says: `the log ${log.origin}: ${says}`, sides: [log] };
  },
  leaf(evidence, by) {
    const head = headOf(evidence.head, by);
    const log = loggedEntries(evidence, by);
    // One issuer may have several services, each with a log.
    if (log.origin !== logOrigin(head.base_url)) throw nothing('it is of another log');
    const [bytes] = log.entries;
    const entry = bytes === undefined ? null : parseReleaseEntry(bytes);
    const says = entry === null ? null : entryContradiction(entry, head);
    if (says !== null) return { says, sides: [{ signers: [head.issuer_did] }, log] };
    throw nothing('the head is the one of the entry, or the entry of another');
  },
  keys({ lists }, by) {
    const [first, second] = lists;
    const [one, other] = [keysOfText(first), keysOfText(second)];
    const found = keysContradiction(one, other);
    if (found === null) throw nothing('both lists can be of one issuer');
    const { says, signers, isByRoot } = found;
    const strange = signers.find((did) => !by.known.includes(did));
    if (strange !== undefined) throw nothing(`${strange} does not count, which signed`);
    const sides = signers.map((did) => ({ signers: [did], isByRoot }));
    return { says, sides, more: [one, other] };
  },
  readings({ bodies }, by) {
    const [first, second] = bodies;
    const [one, other] = [readingIn(first, by.known), readingIn(second, by.known)];
    if (!one || !other) throw nothing('a body is no reading that a key which counts has signed');
    if (one.subject !== other.subject) throw nothing('the bodies are about two readings');
    if (one.hash === other.hash) throw nothing('both bodies are of one reading');
    const says = `${one.subject} was said twice: ${one.hash} and ${other.hash}. A source that corrected itself is one honest reason`;
    return { says, sides: [{ signers: [one.issuer] }, { signers: [other.issuer] }] };
  },
};

function nothing(why: string): RangeError {
  return new RangeError(why);
}

function signedTree(note: string, { known }: Signers): Checkpoint & Side {
  const { checkpoint, fault, signers } = judgeNote(note, known);
  if (checkpoint === null) throw nothing(`a checkpoint: ${fault}`);
  return { ...checkpoint, signers, note };
}

function isFork(old: Checkpoint, next: Checkpoint, grown: Of<'fork'>['grown']): boolean {
  if (old.origin !== next.origin) return false;
  if (old.size === next.size) return !isEqual(old.root, next.root);
  if (grown === null || old.size === 0) return false;
  const root1 = hexToBytes(grown.root);
  const claim = { size1: old.size, size2: next.size, root1, root2: next.root };
  const proof = grown.proof.map(hexToBytes);
  return !isEqual(root1, old.root) && verifyConsistency({ ...claim, proof }, sha256);
}

function headOf(text: string, { known, lists }: Signers): Release {
  const bytes = new TextEncoder().encode(text);
  const fault = (): never => {
    throw nothing('a head is not signed by a key that counts');
  };
  const head = signedHead(bytes, { trust: known }, fault) ?? fault();
  // Lists that do not name the key know nothing of its time.
  const about = lists.filter(({ keys }) => keys.some(({ did }) => did === head.issuer_did));
  for (const keys of about) signedHead(bytes, { trust: known, keys }, fault);
  return head;
}

/** Entries that are proven to stand in a signed log, and who signed it. */
function loggedEntries({ note, index, entries, beside }: Of<'leaf' | 'entries'>, by: Signers) {
  const tree = signedTree(note, by);
  const bytes = entries.map(hexToBytes);
  const leaves = bytes.map((entry) => leafHash(entry, sha256));
  const hashes = beside.map(hexToBytes);
  const root = stretchRoot({ size: tree.size, start: index, leaves, beside: hashes }, sha256);
  if (root !== null && isEqual(root, tree.root)) return { ...tree, entries: bytes };
  throw nothing('the entries do not lead to its root');
}

/**
 * Throws where whoever has a key that has ended may have made a statement by now: no key in use signed it, and no witnesses
 * saw it in time.
 */
function refuseEnded(
  says: string,
  { signers, note, isByRoot }: Side,
  { lists, given }: { readonly lists: readonly KeyHistory[]; readonly given: PolicyTrust },
): void {
  const ends = signers.map((did) => ({ did, until: endOf(did, lists, given.now) }));
  const isInTime = ends.some(
    ({ until }) => until === null || (note !== undefined && isWitnessed(note, given, until)),
  );
  const [first] = ends;
  if (isByRoot === true || first === undefined || isInTime) return;
  throw nothing(
    `${first.did}, which signed one side, was in use until ${first.until}: whoever has that key now may have signed it since. It would show: ${says}`,
  );
}

/** The reading of a signed body; null where anything in it does not hold. */
export function readingIn(text: string, known: readonly string[]) {
  const body = parseJson(text);
  if (!isObject(body)) return null;
  const report = verifyBody(body, { trust: known });
  // A free sample is a record in a wrapper.
  const record = isObject(body.sample) ? body.sample : body;
  const { signal_id, entity, observed_at, record_hash } = record;
  const said = [signal_id, entity, observed_at, record_hash];
  const cited = citationSchema.safeParse(record._citation);
  const isSound = report.verdict === 'verified' && cited.success;
  if (!isSound || report.issuer === null || !said.every((each) => typeof each === 'string')) {
    return null;
  }
  const subject = `${signal_id} of ${entity} at ${observed_at}, by ${citedBase(cited.data)},`;
  if (subject.length > SUBJECT_CHARS_MAX) return null;
  return { subject, hash: String(record_hash), issuer: report.issuer };
}

/**
 * Why two signed heads cannot both be of one honest service; null where they can. Needs nothing but the two heads, so that
 * a third person comes to the same answer. What a clock was set right by counts whoever signed it: this never says
 * too much.
 */
export function headsContradiction(one: Release, other: Release): string | null {
  const [old, later] = one.sequence <= other.sequence ? [one, other] : [other, one];
  if (old.base_url !== later.base_url) return null;
  const [before, after] = [releaseName(old), releaseName(later)];
  if (old.sequence === later.sequence) {
    const isSame = canonicalHash(old) === canonicalHash(later);
    return isSame ? null : `two releases have the number ${old.sequence}: ${before} and ${after}`;
  }
  const isNext = later.sequence === old.sequence + 1;
  if (isNext && later.previous !== null && later.previous !== canonicalHash(old)) {
    return `the release ${after} names another one before it than ${before}`;
  }
  return goesBack(old, later) ? `${after} is dated before ${before}` : null;
}

/** Why an entry of a log cannot follow another one; null where it can. */
export function orderContradiction(before: Uint8Array, entry: Uint8Array): string | null {
  const [one, next] = [parseReleaseEntry(before), parseReleaseEntry(entry)];
  if (next !== null) {
    if (one === null || next.sequence === one.sequence + 1) return null;
    return `release ${next.sequence} follows release ${one.sequence}`;
  }
  // A log of the first format begins with texts of hashes.
  const isFirst = one === null && RECORD_HASH.test(Buffer.from(entry).toString('latin1'));
  return isFirst ? null : 'an entry is not of a release';
}

/** Why a head cannot be the one of the entry that has its sequence; null where it can. */
export function entryContradiction(entry: ReleaseEntry, head: Release): string | null {
  if (entry.sequence !== head.sequence) return null;
  const isSame =
    entry.head === canonicalHash(head) &&
    entry.as_of === head.as_of &&
    entry.valid_until === (head.valid_until ?? null);
  return isSame ? null : `the log says another release ${head.sequence} than ${releaseName(head)}`;
}

/**
 * Why two lists that hold cannot both be of one honest issuer, the keys of it that signed both sides, and whether these are
 * root keys, whose time does not end; null where they can, one of them being older.
 */
export function keysContradiction(one: KeyHistory, other: KeyHistory) {
  const { roots = [] } = one;
  const also = other.roots ?? [];
  const at = roots.findIndex((root, index) => {
    const second = also[index];
    return second !== undefined && !isEqual(rootBytes(root), rootBytes(second));
  });
  if (at >= 0) {
    const says = `version ${at + 1} of the root is stated in two ways`;
    // The first version is signed by an issuer key, later ones by the root keys of the version before, which both lists have.
    const isByRoot = at > 0;
    const adopters = [one, other].flatMap((list) => adoptedKeys(beforeRoots(list)).adopter ?? []);
    return { says, signers: isByRoot ? [rootDid(one)] : adopters, isByRoot };
  }
  // What a root puts in place of a key is announced by no key.
  const announced = ({ keys }: KeyHistory) => keys.flatMap((key) => key.statement ?? []);
  for (const [index, { old_did, new_did }] of announced(one).entries()) {
    const next = announced(other)[index];
    if (next?.old_did !== old_did) return null;
    if (next.new_did === new_did) continue;
    const says = `${old_did} announced two successors: ${new_did} and ${next.new_did}`;
    return { says, signers: [old_did], isByRoot: false };
  }
  return null;
}

/** Reads the text of a list of keys; throws for one that does not hold. */
export function keysOfText(text: string): KeyHistory {
  return readKeyHistory(parseJson(text), isSignedBy);
}
