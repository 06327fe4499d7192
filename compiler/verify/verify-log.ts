import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { anchorProofPath, formatAnchorState, parseAnchorState } from '../format/anchor-state.ts';
import { type Checkpoint, logOrigin, verifierKey } from '../format/checkpoint.ts';
import { parseDidKey } from '../format/did-key.ts';
import { messageOf } from '../format/errors.ts';
import type { KeyHistory } from '../format/key-history.ts';
import { HASH_BYTES } from '../format/merkle.ts';
import { attestationsOf, parseProof } from '../format/ots-proof.ts';
import { RECORD_HASH } from '../format/record-hash.ts';
import { isNewestKey, type Release } from '../format/release.ts';
import { parseReleaseEntry, type ReleaseEntry, takenLeaf } from '../format/release-entry.ts';
import { decodeUtf8 } from '../format/strict-json.ts';
import { CHECKPOINT_PATH, LOG_FOLDER, LOG_KEY_PATH, takenPath } from '../format/tiles.ts';
import { type Disk, nodeDisk } from '../system/disk.ts';
import { canonicalHash } from './body-check.ts';
import { believedDids, type SoundVerdict, soundVerdict, WHOEVER_HAS_IT } from './key-trust.ts';
import { checkHashIndex, readTaken } from './known-hashes.ts';
import { judgeNote } from './log-notes.ts';
import { type LogSource, LogTilesCheck, logSource, RecomputedTree } from './log-tiles-check.ts';
import { judgeByPolicy, type PolicyTrust, pastSigner, type Witnessed } from './policy-check.ts';
import { checkChain } from './release-chain.ts';
import { Faults, type ReleaseFault } from './release-fault.ts';
import { isServed, readHead, releaseKeys, releaseRoot } from './release-head.ts';
import { checkBlocks } from './statements-check.ts';
import type { CitationTrust } from './verify-citation.ts';

/** Where a fault is that the checkpoint seen before shows. */
const SEEN = 'checkpoint seen before';
const STATE = /^log\/anchor\/([0-9a-f]{64})\.json$/;
const TAKEN = /^log\/new\/([1-9][0-9]*)$/;

interface VerifyLogOptions extends CitationTrust, PolicyTrust {
  readonly disk?: Disk;
  /** Signed note of a checkpoint that was seen before: the log must have grown from it. */
  readonly since?: string | undefined;
}

export interface LogReport {
  readonly verdict: SoundVerdict | 'failed';
  readonly head: Release | null;
  readonly entries: number;
  /** Record hashes of the release that were found in the log. */
  readonly records: number;
  readonly anchors: AnchorCounts;
  readonly faults: readonly ReleaseFault[];
  readonly faultCount: number;
  /** Signed note of the newest checkpoint. */
  readonly checkpoint: string | null;
  /** Witnesses of the policy of the reader that cosigned it. */
  readonly witnessed: readonly Witnessed[];
  /** Two signed notes that cannot both be of one append-only log. */
  readonly evidence: readonly string[];
  /**
   * What lies in the folder of the log and does not count yet, and a release in it that is not served yet; a killed compile
   * leaves such.
   */
  readonly strays: readonly string[];
}

interface LogFindings extends Omit<LogReport, 'verdict' | 'head' | 'faults' | 'faultCount'> {
  /** The entry of the release; null where the log has none. */
  readonly entry: ReleaseEntry | null;
}

const NOTHING: LogFindings = {
  entry: null,
  entries: 0,
  records: 0,
  anchors: { pending: 0, confirmed: 0 },
  checkpoint: null,
  witnessed: [],
  evidence: [],
  strays: [],
};

/**
 * Judges the log beside a release from its first entry: tiles, root, checkpoint, entries and what they took in, and the
 * index and blocks of the release.
 */
export function verifyLog(folder: string, options: VerifyLogOptions): LogReport {
  const { disk = nodeDisk, trust } = options;
  const faults = new Faults();
  const root = releaseRoot(disk, folder, faults);
  const known = root === null ? {} : releaseKeys({ ...options, disk, root, faults });
  const head = root === null ? null : readHead({ ...options, ...known, disk, root, faults });
  let { entry, ...found } = NOTHING;
  if (root !== null && head !== null && faults.count === 0) {
    try {
      const open = { disk, root, head, faults };
      const source = logSource(open);
      const kept = checkChain({ ...open, ...known });
      ({ entry, ...found } = checkLog(source, { ...options, ...known, kept }));
      if (entry !== null && source.listed.size > 0) {
        checkBlocks(source, entry.all);
        found = { ...found, records: checkHashIndex(source, readTaken(open)) };
      }
    } catch (error) {
      faults.add(LOG_FOLDER, '', messageOf(error));
    }
  }
  const verdict = faults.count === 0 ? soundVerdict(trust) : 'failed';
  return { verdict, head, ...found, faults: faults.kept, faultCount: faults.count };
}

/** Judges the log alone; `kept` are the heads of this release and of others that are kept beside it. */
export function checkLog(
  source: LogSource,
  options: VerifyLogOptions & { readonly kept: readonly Release[] },
): LogFindings {
  const { head, faults, logFiles } = source;
  // The head is judged by now; keys of before it signed what the log was.
  const past = (options.keys?.keys ?? []).map((key) => key.did);
  const issuers = [...new Set([...believedDids(options, head.issuer_did), ...past])];
  const bytes = source.read(CHECKPOINT_PATH);
  const note = bytes === null ? '' : textOf(bytes);
  const newest = bytes === null ? null : newestCheckpoint(source, note, issuers);
  if (newest === null) return NOTHING;
  const { since } = options;
  const seen = since === undefined ? null : judgeNote(since, issuers);
  if (seen !== null && seen.fault !== null) faults.add(SEEN, '', seen.fault);
  const { size } = newest;
  const tiles = new LogTilesCheck(source, size);
  const entries = new EntriesCheck(source, options);
  // Roots with a timestamp, which does not say of what size; those that the log had go.
  const stamped = new Set([...logFiles].flatMap((path) => STATE.exec(path)?.[1] ?? []));
  const take = (position: number, entry: Uint8Array): void => {
    entries.take(position, entry);
    if (stamped.size > 0) stamped.delete(tiles.rootHex());
  };
  const rootAt = (at: number): string => (tiles.growTo(at, take) ? tiles.rootHex() : '');
  const isOf = (path: string, signed: Checkpoint, root: string): boolean => {
    if (root === bytesToHex(signed.root)) return true;
    faults.add(path, 'root', `the ${signed.size} entries of this log give another root`);
    return false;
  };
  const rootSeen = rootAt(Math.min(seen?.checkpoint?.size ?? 0, size));
  const root = rootAt(size);
  if (root !== '') {
    tiles.finish();
    entries.finish();
  }
  isOf(CHECKPOINT_PATH, newest, root);
  const { fault, witnessed } = judgeByPolicy(note, options, entries.last?.as_of);
  if (fault !== null) faults.add(CHECKPOINT_PATH, '', fault);
  // Two notes prove a fork or a shrinking, where the log did not grow from the one that was seen.
  const evidence: string[] = [];
  if (since !== undefined && seen !== null && seen.checkpoint !== null) {
    const isShorter = seen.checkpoint.size > size;
    if (isShorter) {
      faults.add(SEEN, 'size', `${seen.checkpoint.size} entries, but the log has ${size}`);
    }
    if (isShorter || !isOf(SEEN, seen.checkpoint, rootSeen)) evidence.push(since, note);
    for (const each of evidence.flatMap((one) => pastSigner(one, options) ?? []))
      faults.add(SEEN, '', `${each}: ${WHOEVER_HAS_IT}`);
  }
  return {
    entry: entries.own,
    entries: tiles.size,
    records: 0,
    checkpoint: note,
    witnessed,
    evidence,
    anchors: checkAnchors(source, root === '' ? new Set() : stamped),
    strays: [...tiles.strays, ...entries.strays],
  };
}

/**
 * The entries of a log, one after the other: each follows from the one before, states what its release took in, and names
 * the head of one that is kept.
 */
class EntriesCheck {
  /** The entry of the release that is judged. */
  own: ReleaseEntry | null = null;
  last: ReleaseEntry | null = null;
  readonly strays: string[] = [];
  readonly #source: LogSource;
  readonly #kept: ReadonlyMap<number, Release>;
  /** Heads of the first format by their place in the log. */
  readonly #first: ReadonlyMap<number | undefined, Release>;
  readonly #taken = new Set<string>();
  readonly #keys: KeyHistory | undefined;

  constructor(
    source: LogSource,
    { kept, keys }: Pick<VerifyLogOptions, 'keys'> & { readonly kept: readonly Release[] },
  ) {
    this.#source = source;
    this.#keys = keys;
    this.#kept = new Map(kept.map((head) => [head.sequence, head]));
    this.#first = new Map(kept.map((head) => [head.log_index, head]));
  }

  take(position: number, bytes: Uint8Array): void {
    const entry = parseReleaseEntry(bytes);
    if (entry !== null) {
      this.#takeEntry(position, entry);
      return;
    }
    const text = Buffer.from(bytes).toString('latin1');
    if (this.last !== null || !RECORD_HASH.test(text)) {
      this.#fault(position, 'not the entry of a release');
      return;
    }
    const head = this.#first.get(position);
    if (head !== undefined && canonicalHash(head) !== text)
      this.#fault(position, `not the head of release ${head.sequence}, which states to be there`);
  }

  /** Whether the log ends with the release, or one release behind it. */
  finish(): void {
    const { head, disk, root, faults, logFiles } = this.#source;
    const last = this.last?.sequence ?? 0;
    if (this.own === null) {
      faults.add(
        CHECKPOINT_PATH,
        '',
        `release ${head.sequence} is not in the log; restore the log`,
      );
    } else if (last === head.sequence + 1 && isServed(disk, root)) {
      this.strays.push(`release ${last}, which is in the log and not served yet; compile again`);
    } else if (last > head.sequence && isServed(disk, root)) {
      const detail = `ends with release ${last}, but release ${head.sequence} is served; restore the newest`;
      faults.add(CHECKPOINT_PATH, '', detail);
    }
    for (const path of logFiles) {
      if (!path.startsWith(`${LOG_FOLDER}/new/`) || this.#taken.has(path)) continue;
      const sequence = Number(TAKEN.exec(path)?.[1]);
      if (sequence > last) this.strays.push(path);
      else faults.add(path, '', 'of no release that took anything in; remove it');
    }
  }

  #takeEntry(position: number, entry: ReleaseEntry): void {
    const { last } = this;
    const { sequence } = entry;
    if (last !== null && sequence !== last.sequence + 1) {
      this.#fault(position, `release ${sequence} behind release ${last.sequence}`);
    }
    if (last !== null && this.#goesBack(last, entry)) {
      this.#fault(position, `as of ${entry.as_of}, which is before release ${last.sequence}`);
    }
    const kept = this.#kept.get(sequence);
    if (kept !== undefined) {
      const { as_of, valid_until = null } = kept;
      if (entry.head !== canonicalHash(kept))
        this.#fault(position, `names another head of release ${sequence}`);
      else if (entry.as_of !== as_of || entry.valid_until !== valid_until)
        this.#fault(position, `states other times than the head of release ${sequence}`);
    }
    if (sequence === this.#source.head.sequence) this.own = entry;
    this.#checkTaken(entry);
    this.last = entry;
  }

  /** A head says which releases a wrong clock dated ahead, and later heads repeat it. */
  #goesBack(last: ReleaseEntry, { sequence, as_of }: ReleaseEntry): boolean {
    const { head } = this.#source;
    if (Date.parse(as_of) >= Date.parse(last.as_of) || sequence > head.sequence) return false;
    const { clock_corrected: corrected } = head;
    return (
      corrected === undefined ||
      !isNewestKey(head.issuer_did, this.#keys) ||
      sequence > corrected.sequence ||
      Date.parse(last.as_of) > Date.parse(corrected.latest)
    );
  }

  /** The hashes that a release took in, sorted, each once, give count and root of its entry. */
  #checkTaken({ sequence, new: stated }: ReleaseEntry): void {
    const path = takenPath(sequence);
    if (stated.count > 0 || this.#source.logFiles.has(path)) this.#taken.add(path);
    const bytes = this.#taken.has(path) ? this.#source.read(path) : new Uint8Array(0);
    if (bytes === null) return;
    const { faults } = this.#source;
    const digests = Buffer.from(bytes);
    const tree = new RecomputedTree();
    let last = '';
    for (let at = 0; at < digests.length; at += HASH_BYTES) {
      const hex = digests.toString('hex', at, at + HASH_BYTES);
      if (hex.length < 2 * HASH_BYTES || hex <= last) {
        faults.add(path, '', 'not sorted hashes of 32 bytes, each once; restore it');
        return;
      }
      tree.add(takenLeaf(`sha256:${hex}`, sha256));
      last = hex;
    }
    const { count, root } = tree.head;
    if (count !== stated.count || root !== stated.root)
      faults.add(path, '', 'not the hashes that the entry of its release states');
  }

  #fault(position: number, detail: string): void {
    this.#source.faults.add(LOG_FOLDER, `entry ${position}`, detail);
  }
}

function newestCheckpoint(
  source: LogSource,
  note: string,
  issuers: readonly string[],
): Checkpoint | null {
  const { head, faults } = source;
  const { checkpoint, fault, signers } = judgeNote(note, issuers);
  if (checkpoint === null) {
    faults.add(CHECKPOINT_PATH, '', fault);
    return null;
  }
  const origin = logOrigin(head.base_url);
  if (checkpoint.origin !== origin) faults.add(CHECKPOINT_PATH, 'origin', `not "${origin}"`);
  // A release of before is judged by a log that a later key signs.
  const keys = signers.map((did) => `${verifierKey(origin, parseDidKey(did), sha256)}\n`);
  const given = source.read(LOG_KEY_PATH);
  if (given !== null && !keys.includes(textOf(given)))
    faults.add(LOG_KEY_PATH, '', 'not a key that signed the checkpoint');
  return checkpoint;
}

/** Nothing for bytes that are no text. */
function textOf(bytes: Uint8Array): string {
  try {
    return decodeUtf8(bytes);
  } catch {
    return '';
  }
}

/** Roots with a timestamp, by what their proof shows. */
interface AnchorCounts {
  readonly pending: number;
  readonly confirmed: number;
}

/** Compares every timestamp state with its proof; headers of blocks are not at hand, so no block is vouched for. */
function checkAnchors(source: LogSource, strange: ReadonlySet<string>): AnchorCounts {
  const counts = { pending: 0, confirmed: 0 };
  for (const path of source.logFiles) {
    if (!path.startsWith('log/anchor/')) continue;
    const root = STATE.exec(path)?.[1];
    if (root === undefined) {
      // A proof is written before its state.
      if (!STATE.test(path.replace(/\.ots$/, '.json')))
        source.faults.add(path, '', 'no timestamp of a root; remove it');
      continue;
    }
    try {
      counts[stateOf(path, root, source)] += 1;
      if (strange.has(root)) throw new RangeError('the log never had this root');
    } catch (error) {
      source.faults.add(path, '', messageOf(error));
    }
  }
  return counts;
}

function stateOf(path: string, root: string, source: LogSource): 'pending' | 'confirmed' {
  const text = decodeUtf8(source.read(path) ?? new Uint8Array(0));
  const state = parseAnchorState(text);
  if (formatAnchorState(state) !== text || state.root !== root) {
    throw new RangeError('not the state of this root as compile writes it');
  }
  const proof = source.read(anchorProofPath(root)) ?? new Uint8Array(0);
  const heights = new Set<number>();
  for (const { message, attestation } of attestationsOf(parseProof(proof, hexToBytes(root)))) {
    const isRoot = bytesToHex(message).length === 64;
    if (attestation.kind === 'bitcoin' && isRoot) heights.add(attestation.height);
  }
  if (state.ots_state === 'pending' && state.bitcoin_height === null) return 'pending';
  if (state.bitcoin_height === null || !heights.has(state.bitcoin_height)) {
    throw new RangeError('its proof does not lead to the block that it names');
  }
  return 'confirmed';
}
