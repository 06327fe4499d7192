/**
 * Derives a whole release again, from the folder alone.
 *
 *  1. The head and the keys: what they do not vouch for is not looked at.
 *  2. The neighbours and the memory of the reader: a rollback, a fork, a rewritten log or a freeze shows here.
 *  3. The bodies, in one pass and in several threads: size and hash of each file, then `verifyBody()`.
 *  4. The files that nobody lists. The indexes: what is said twice has to agree. The log: every tile and every root.
 *
 * The steps are those of contract/FORMAT.md, section 12. The order of the report does not depend on the threads. A damaged
 * file is named once; what refers to it is not judged.
 *
 * Known limits: a fork or a freeze shows only to a reader who remembers an earlier release, and two logs that one publisher
 * signed show only to readers who compare.
 */
import { WHOLE_CATALOG_PATH } from '../contract/catalog/whole-catalog.ts';
import { defined } from '../contract/defined.ts';
import { firstHistory, keysInWords, rootDid, type SeenKeys } from '../contract/key-history.ts';
import { CATALOG_PATH, FILES_NAME, RELEASE_NAME, type Release } from '../contract/release.ts';
import { CHECKPOINT_PATH } from '../contract/tiles.ts';
import { reason } from './body-check.ts';
import { bulkSignatureCheck } from './bulk-signature.ts';
import { pastRelease } from './checkpoint-age.ts';
import { type Disk, nodeDisk } from './disk.ts';
import { type FileList, openFileList } from './file-list.ts';
import { type IndexResult, shardsOf } from './index-check.ts';
import { type KeyTrust, type SoundVerdict, soundVerdict } from './key-trust.ts';
import { KnownHashes, readKnownHashes } from './known-hashes.ts';
import { logSource } from './log-source.ts';
import type { PolicyTrust, Witnessed } from './policy-check.ts';
import { checkPublicList, type HeldFiles, heldFiles } from './public-part.ts';
import { readReleaseCatalog } from './release-catalog.ts';
import { checkChain } from './release-chain.ts';
import { Faults, type ReleaseFault } from './release-fault.ts';
import { readHead } from './release-head.ts';
import { unlistedFiles } from './release-index.ts';
import { releaseKeys } from './release-keys.ts';
import { type SeenRelease, seenOf } from './release-memory.ts';
import { checkName, releaseRoot, unservedReleases } from './release-root.ts';
import { checkSeen, keysSeenIn } from './seen-check.ts';
import type { ShareContext } from './share-check.ts';
import { SharesInOrder } from './shares-in-order.ts';
import { strangersIn, strayFiles } from './stray-files.ts';
import { isStrictSignature } from './strict-signature.ts';
import { count, inOrder, type Tally } from './tally.ts';
import { checkLog } from './verify-log.ts';
import { inlinePool, type VerifyPool, workerPool } from './verify-pool.ts';

const STRAYS_SHOWN_MAX = 20;
/** Pieces of the list below which a worker costs more than it gives. */
const CHUNKS_PER_WORKER = 16;

interface VerifyReleaseOptions extends KeyTrust, PolicyTrust {
  readonly disk?: Disk;
  /** Worker threads; 0 for none. Small releases take fewer, the report is the same. */
  readonly workers?: number;
  /** Checks also signatures with code that shares nothing with the signer's; slower. */
  readonly independent?: boolean;
  readonly progress?: (step: VerifyProgress) => void;
  /** What was verified of an issuer before, by its DID. */
  readonly seen?: Readonly<Record<string, SeenRelease>>;
  /** What was found wrong where the release was fetched. */
  readonly found?: readonly ReleaseFault[];
}

/** How far a verification is, in files. */
export interface VerifyProgress {
  readonly done: number;
  readonly total: number;
  readonly label: string;
}

export interface ReleaseReport {
  readonly verdict: SoundVerdict | 'failed';
  /** The signed head, where it can be read. */
  readonly head: Release | null;
  /** The first key of the issuer, which stays the same through all rotations; null where the head does not hold. */
  readonly issuer: string | null;
  /** What the list of its keys says, in words; null where it says nothing but the one key. */
  readonly keys: string | null;
  /** False when the release was compiled from tables that this program cannot make again; they are not judged. */
  readonly ownTables: boolean;
  /** How much of the release was at hand; null where that was not looked at. */
  readonly part: HeldFiles | null;
  readonly files: number;
  readonly bytes: number;
  readonly bodies: number;
  readonly records: number;
  readonly signatures: number;
  /** What to remember of that list; null where the head does not hold. */
  readonly seenKeys: SeenKeys | null;
  /** How much of what was looked at. */
  readonly checked: Tally;
  /** The first faults, by file; `faultCount` is how many there are. */
  readonly faults: readonly ReleaseFault[];
  readonly faultCount: number;
  /** The first files that no release lists, and newer releases that are not served; a killed compile leaves such. */
  readonly strays: readonly string[];
  readonly strayCount: number;
  /** Signed note of the log, where there is one. */
  readonly checkpoint: string | null;
  /** Why whoever has a key that has ended may have made it; null where a key in use signed its log, or witnesses saw that in time. */
  readonly past: string | null;
  /** Witnesses of the policy of the reader that cosigned it. */
  readonly witnessed: readonly Witnessed[];
  /** Two signed notes that cannot both be of one append-only log. */
  readonly evidence: readonly string[];
}

/** Re-derives a release, all of it or its public part: a release folder, or a data folder, whose `current` is followed. */
export async function verifyRelease(
  folder: string,
  options: VerifyReleaseOptions,
): Promise<ReleaseReport> {
  const { disk = nodeDisk, trust } = options;
  const faults = new Faults();
  const root = releaseRoot(disk, folder, faults);
  const ofKeys = new Faults();
  const known = root === null ? {} : releaseKeys({ ...options, disk, root, faults: ofKeys });
  const head = root === null ? null : readHead({ ...options, ...known, disk, root, faults });
  // What the head does not vouch for is not worth a look.
  if (root === null || head === null || faults.count > 0) {
    faults.addUnnamed(ofKeys);
    return reportOf({ head, faults, trust });
  }
  checkName({ disk, root, head, faults });
  const history = known.keys ?? firstHistory(head.issuer_did);
  const issuer = rootDid(history);
  const seen = options.seen === undefined ? undefined : seenOf(options.seen, history);
  if (seen !== undefined) checkSeen({ ...known, now: options.now, disk, root, head, faults, seen });
  const run = new ReleaseRun({ ...options, ...known, disk, root, head, faults, issuer });
  run.strayCount = run.strays.push(...unservedReleases(disk, root, head));
  try {
    await run.all();
  } catch (error) {
    faults.add(FILES_NAME, '', reason(error));
  }
  for (const { file, where, detail } of options.found ?? []) faults.add(file, where, detail);
  // A list of keys that is damaged may be so among other files, and is named once.
  faults.addUnnamed(ofKeys);
  const past = pastRelease(head, run.checkpoint, { ...options, ...known });
  return { ...reportOf({ head, faults, trust, run }), past };
}

interface ReleaseResult {
  readonly head: Release | null;
  readonly faults: Faults;
  readonly trust: KeyTrust['trust'];
  readonly run?: ReleaseRun;
}

function reportOf({ head, faults, trust, run }: ReleaseResult): ReleaseReport {
  const shares = run?.shares;
  return {
    verdict: faults.count === 0 ? soundVerdict(trust) : 'failed',
    head,
    past: null,
    // A release whose head does not hold is not looked into.
    ownTables: run?.ownTables ?? true,
    files: shares?.tally.files ?? 0,
    bytes: shares?.sums.bytes ?? 0,
    bodies: shares?.sums.bodies ?? 0,
    records: shares?.sums.records ?? 0,
    signatures: shares?.sums.cited ?? 0,
    checked: inOrder(shares?.tally ?? {}),
    faults: [...faults.kept].sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : 0)),
    faultCount: faults.count,
    ...foundBy(run),
  };
}

type ReleaseFindings = Pick<
  ReleaseReport,
  | 'issuer'
  | 'keys'
  | 'seenKeys'
  | 'part'
  | 'strays'
  | 'strayCount'
  | 'checkpoint'
  | 'witnessed'
  | 'evidence'
>;

function foundBy(run: ReleaseRun | undefined): ReleaseFindings {
  if (run === undefined) {
    const nothing = { part: null, checkpoint: null, witnessed: [], evidence: [] };
    return { issuer: null, keys: null, seenKeys: null, strays: [], strayCount: 0, ...nothing };
  }
  const { issuer, keys, seenKeys, part, strays, strayCount, checkpoint, witnessed, evidence } = run;
  return { issuer, keys, seenKeys, part, strays, strayCount, checkpoint, witnessed, evidence };
}

interface RunOptions extends VerifyReleaseOptions {
  readonly disk: Disk;
  readonly root: string;
  readonly head: Release;
  readonly faults: Faults;
  readonly issuer: string;
}

/** One pass over the bodies, one over the indexes, one over the log; holds one record at a time. */
class ReleaseRun {
  readonly shares: SharesInOrder;
  readonly issuer: string;
  readonly keys: string | null;
  readonly seenKeys: SeenKeys;
  part: HeldFiles | null = null;
  readonly strays: string[] = [];
  strayCount = 0;
  /** Whether the release was compiled from a catalogue and words that this program knows. */
  ownTables = true;
  checkpoint: string | null = null;
  witnessed: readonly Witnessed[] = [];
  evidence: readonly string[] = [];
  readonly #options: RunOptions;

  constructor(options: RunOptions) {
    this.#options = options;
    const { keys, head, issuer } = options;
    this.issuer = issuer;
    this.keys = keys === undefined ? null : keysInWords(keys, head.as_of);
    this.seenKeys = keysSeenIn(keys ?? firstHistory(head.issuer_did));
    this.shares = new SharesInOrder(options.faults);
  }

  async all(): Promise<void> {
    const { disk, root, head, faults } = this.#options;
    const heads = checkChain(this.#options);
    count(this.shares.tally, 'releases', heads.length);
    const list = openFileList(disk, root);
    this.part = heldFiles(head, list);
    if (!list.isPublic) checkPublicList(head, list, faults);
    if (head.catalog_sha256 !== undefined && list.find(WHOLE_CATALOG_PATH) === null) {
      faults.add(WHOLE_CATALOG_PATH, '', 'signed by the head, but not listed');
    }
    const known = readKnownHashes(disk, root, list);
    const pool = this.#pool(list, known);
    try {
      await this.#bodies(pool, this.part.held);
      this.#strays(list);
      // A damaged file is named once, not again by everything that refers to it.
      if (this.shares.sums.damaged === 0) await this.#indexes(list, pool);
      if (this.shares.sums.damaged === 0) this.#log(list, heads);
    } finally {
      await pool.close();
    }
  }

  #pool(list: FileList, known: SharedArrayBuffer | null): VerifyPool {
    const { disk, root, head, workers = 0, independent = false } = this.#options;
    const context = this.#context(list);
    this.ownTables = context.ownTables;
    const useful = Math.min(workers, Math.floor(list.chunks / CHUNKS_PER_WORKER));
    if (useful > 0 && disk === nodeDisk) {
      return workerPool(useful, { root, head, list: list.shared, known, independent });
    }
    return inlinePool({
      ...context,
      known: known === null ? null : new KnownHashes(known),
      isSignature: independent ? isStrictSignature : bulkSignatureCheck(),
    });
  }

  #context(list: FileList): ShareContext {
    const { disk, root, head } = this.#options;
    const read = readReleaseCatalog({ disk, root, head, list });
    return { ...read, disk, root, head, list, known: null, isSignature: isStrictSignature };
  }

  async #bodies(pool: VerifyPool, total: number): Promise<void> {
    const { faults, progress = () => undefined } = this.#options;
    progress({ done: 0, total, label: 'files' });
    await pool.chunks((chunk, result) => {
      this.shares.take(chunk, result);
      progress({ done: this.shares.tally.files ?? 0, total, label: 'files' });
    });
    const { files = 0 } = this.shares.tally;
    if (files !== total) faults.add(RELEASE_NAME, 'files_count', `${FILES_NAME} lists ${files}`);
    progress({ done: total, total, label: 'indexes' });
  }

  #strays(list: FileList): void {
    const { disk, root, head, faults } = this.#options;
    for (const { path, kind } of strangersIn(disk, root, head)) {
      this.shares.sums.damaged += 1;
      faults.add(path, '', `not listed in ${FILES_NAME}: a stray ${kind}`);
    }
    for (const { path, kind } of strayFiles(disk, root, list)) {
      if (kind !== 'file') {
        this.shares.sums.damaged += 1;
        faults.add(path, '', `not a plain file: a ${kind}`);
        continue;
      }
      this.strayCount += 1;
      if (this.strays.length < STRAYS_SHOWN_MAX) this.strays.push(path);
    }
  }

  /** The catalog and the look-up shards against the records, by count and one by one. */
  async #indexes(list: FileList, pool: VerifyPool): Promise<void> {
    const { head, faults } = this.#options;
    const { records, cited, subjects, bundles } = this.shares.sums;
    const shards = shardsOf({ list });
    if (records === 0 && shards.length === 0) return;
    const results = await pool.indexes();
    for (const result of results) faults.addAll(result);
    const sum = (name: 'lines' | 'reading' | 'citation' | 'subject') =>
      results.reduce((total: number, result: IndexResult) => total + result[name], 0);
    const rows = defined(results[0], 'the first result').catalog;
    count(this.shares.tally, 'catalog_lines', rows);
    count(this.shares.tally, 'lookup_lines', sum('lines'));
    if (rows !== records) faults.add(CATALOG_PATH, '', `${rows} lines for ${records} records`);
    const complete = sum('reading') === records && sum('citation') === cited;
    if (!complete || sum('subject') !== subjects) {
      unlistedFiles({ ...this.#options, list }, shards);
    }
    for (const [name, found] of Object.entries({ records, bundles })) {
      if (head.counts[name as 'records' | 'bundles'] !== found) {
        faults.add(RELEASE_NAME, `counts.${name}`, `the release holds ${found}`);
      }
    }
  }

  /** The transparency log, where the release holds one; a log that was seen must still be there. */
  #log(list: FileList, kept: readonly Release[]): void {
    const { head, faults, seen, issuer, policy } = this.#options;
    const since = seen?.[issuer]?.checkpoint ?? null;
    if (list.find(CHECKPOINT_PATH) === null) {
      if (since !== null) faults.add(CHECKPOINT_PATH, '', 'missing, but a log was seen before');
      if (head.log_index !== undefined)
        faults.add(CHECKPOINT_PATH, '', 'missing, but the head states its place in a log');
      if (policy !== undefined) faults.add(CHECKPOINT_PATH, '', 'missing, so nobody witnessed it');
      return;
    }
    const found = checkLog(logSource(this.#options), {
      ...this.#options,
      kept,
      ...(since === null ? {} : { since }),
    });
    const { entries, checkpoints, records } = found;
    this.checkpoint = found.checkpoint;
    this.witnessed = found.witnessed;
    this.evidence = found.evidence;
    count(this.shares.tally, 'log_entries', entries);
    count(this.shares.tally, 'checkpoints', checkpoints);
    count(this.shares.tally, 'logged_hashes', records);
  }
}
