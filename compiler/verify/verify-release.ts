/**
 * Derives a whole release again, from the folder alone.
 *
 *  1. The head and the keys: what they do not vouch for is not looked at.
 *  2. The neighbours and the memory of the reader: a rollback, a fork, a rewritten log or a freeze shows here.
 *  3. The log: every entry, every tile, and the hashes that each release took in.
 *  4. The bodies, in one pass and in several threads: size and hash of each file, then `verifyBody()`.
 *  5. The files that nobody lists. The indexes and the tree of the statements: what is said twice has to agree.
 *
 * The steps are those of AUDIT.md, section 8. The order of the report does not depend on the threads. A damaged
 * file is named once; what refers to it is not judged.
 *
 * Known limits: a fork or a freeze shows only to a reader who remembers an earlier release, and two logs that one publisher
 * signed show only to readers who compare.
 */

import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { WHOLE_CATALOG_PATH } from '../catalog/whole-catalog.ts';
import { defined, messageOf } from '../format/errors.ts';
import { firstHistory, keysInWords, rootDid, type SeenKeys } from '../format/key-history.ts';
import { CATALOG_PATH, FILES_NAME, RELEASE_NAME, type Release } from '../format/release.ts';
import type { ReleaseEntry } from '../format/release-entry.ts';
import { FILES_FOLDER, storedPath } from '../products/shapes/path.ts';
import { type Disk, nodeDisk } from '../system/disk.ts';
import { bulkSignatureCheck } from './bulk-signature.ts';
import { readReleaseCatalog } from './description-checks.ts';
import { dataFolder, type FileList, foundFiles, openFileList } from './file-list.ts';
import { type KeyTrust, type SoundVerdict, soundVerdict } from './key-trust.ts';
import {
  checkHashIndex,
  KnownHashes,
  readTaken,
  sharedDigests,
  type TakenHashes,
} from './known-hashes.ts';
import { type LogSource, logSource } from './log-tiles-check.ts';
import { type PolicyTrust, pastRelease, type Witnessed } from './policy-check.ts';
import { checkChain, checkSeen, keysSeenIn, seenOf } from './release-chain.ts';
import {
  type Counted,
  count,
  Faults,
  inOrder,
  type ReleaseFault,
  type Tally,
} from './release-fault.ts';
import { checkName, readHead, releaseKeys, releaseRoot, unservedReleases } from './release-head.ts';
import { type IndexResult, shardsOf, unlistedFiles } from './release-index.ts';
import type { ShareResult } from './share-check.ts';
import { checkStatements } from './statements-check.ts';
import { StoredBodies } from './stored-bodies.ts';
import { isStrictSignature } from './strict-signature.ts';
import type { SeenRelease } from './trust-file.ts';
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
  readonly seen?: Readonly<Record<string, SeenRelease>> | undefined;
  /** What a release takes in that is about to be published, 32 bytes a hash: the log has no entry of it yet, and is not judged. */
  readonly staged?: Buffer;
  /** What was found wrong where the release was fetched. */
  readonly found?: readonly ReleaseFault[];
}

export interface VerifyProgress {
  readonly done: number;
  readonly total: number;
  readonly label: string;
}

export interface ReleaseReport {
  readonly verdict: SoundVerdict | 'failed';
  readonly head: Release | null;
  /** The first key of the issuer, which stays the same through all rotations; null where the head does not hold. */
  readonly issuer: string | null;
  /** What the list of its keys says, in words; null where it says nothing but the one key. */
  readonly keys: string | null;
  /** False when the release was compiled from tables that this program cannot make again; they are not judged. */
  readonly ownTables: boolean;
  /** How many files were at hand, of how many, and whether they are the public part; null where that was not looked at. */
  readonly part: { isPublic: boolean; held: number; of: number } | null;
  readonly files: number;
  readonly bytes: number;
  readonly bodies: number;
  readonly records: number;
  readonly signatures: number;
  /** What to remember of that list; null where the head does not hold. */
  readonly seenKeys: SeenKeys | null;
  readonly checked: Tally;
  /** The first faults, by file; `faultCount` is how many there are. */
  readonly faults: readonly ReleaseFault[];
  readonly faultCount: number;
  /** The first files that no release lists, and newer releases that are not served; a killed compile leaves such. */
  readonly strays: readonly string[];
  readonly strayCount: number;
  readonly checkpoint: string | null;
  /** Why the holder of an ended key may have forged it; null if a key in use signed its log, or witnesses saw the log in time. */
  readonly past: string | null;
  /** Witnesses of the policy of the reader that cosigned it. */
  readonly witnessed: readonly Witnessed[];
  /** Two signed notes that cannot both be of one append-only log. */
  readonly evidence: readonly string[];
}

/** What is said of a release whose head does not hold: it is not looked into. */
const UNSEEN = {
  past: null,
  ownTables: true,
  issuer: null,
  keys: null,
  seenKeys: null,
  part: null,
  strays: [],
  strayCount: 0,
  checkpoint: null,
  witnessed: [],
  evidence: [],
};

/** A release on its way through the steps, and what was found by then. */
interface ReleaseRun extends Omit<VerifyReleaseOptions, 'found'> {
  readonly disk: Disk;
  readonly root: string;
  readonly head: Release;
  readonly faults: Faults;
  readonly issuer: string;
  readonly shares: SharesInOrder;
  readonly found: { -readonly [K in keyof typeof UNSEEN]: ReleaseReport[K] } & {
    strays: string[];
  };
}

/** Re-derives a release, all of it or its public part: a release folder, or a data folder, whose `current` is followed. */
export async function verifyRelease(
  folder: string,
  options: VerifyReleaseOptions,
): Promise<ReleaseReport> {
  const { disk = nodeDisk, trust, now } = options;
  const { found: foundBefore = [], ...rest } = options;
  const faults = new Faults();
  const shares = new SharesInOrder(faults);
  const found: ReleaseRun['found'] = { ...UNSEEN, strays: [] };
  const root = releaseRoot(disk, folder, faults);
  const ofKeys = new Faults();
  const known = root === null ? {} : releaseKeys({ ...options, disk, root, faults: ofKeys });
  const head = root === null ? null : readHead({ ...options, ...known, disk, root, faults });
  // What the head does not vouch for is not worth a look.
  if (root !== null && head !== null && faults.count === 0) {
    checkName({ disk, root, head, faults });
    const history = known.keys ?? firstHistory(head.issuer_did);
    const issuer = rootDid(history);
    found.issuer = issuer;
    found.keys = known.keys === undefined ? null : keysInWords(known.keys, head.as_of);
    found.seenKeys = keysSeenIn(history);
    const seen = options.seen === undefined ? undefined : seenOf(options.seen, history);
    if (seen !== undefined) checkSeen({ ...known, now, disk, root, head, faults, seen });
    found.strayCount = found.strays.push(...unservedReleases(disk, root, head));
    try {
      await lookInto({ ...rest, ...known, disk, root, head, faults, issuer, shares, found });
    } catch (error) {
      faults.add(FILES_NAME, '', messageOf(error));
    }
    for (const { file, where, detail } of foundBefore) faults.add(file, where, detail);
    found.past = pastRelease(head, found.checkpoint, { ...options, ...known });
  }
  // A list of keys that is damaged may be so among other files, and is named once.
  faults.addUnnamed(ofKeys);
  const { bytes, bodies, records, cited: signatures } = shares.sums;
  const { past, ownTables, ...others } = found;
  return {
    verdict: faults.count === 0 ? soundVerdict(trust) : 'failed',
    head,
    past,
    ownTables,
    files: shares.tally.files ?? 0,
    bytes,
    bodies,
    records,
    signatures,
    checked: inOrder(shares.tally),
    faults: [...faults.kept].sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : 0)),
    faultCount: faults.count,
    ...others,
  };
}

/** One pass over the log, one over the bodies, one over the indexes; holds one record at a time. */
async function lookInto(run: ReleaseRun): Promise<void> {
  const { disk, root, head, faults, shares, found, workers = 0, independent = false } = run;
  const heads = checkChain(run);
  count(shares.tally, 'releases', heads.length);
  const list = openFileList(disk, root);
  const { isPublic } = list;
  const of = head.files_count;
  const held = isPublic ? (head.public_files?.count ?? of) : of;
  found.part = { isPublic, held, of };
  if (!isPublic) checkPublicList(head, list, faults);
  if (head.catalog_sha256 !== undefined && list.find(WHOLE_CATALOG_PATH) === null) {
    faults.add(WHOLE_CATALOG_PATH, '', 'signed by the head, but not listed');
  }
  const log = logBeside(run, heads);
  const known = log.taken === null ? null : sharedDigests(log.taken.values());
  const read = readReleaseCatalog(new StoredBodies(disk, root, list), head);
  found.ownTables = read.ownTables;
  const useful = Math.min(workers, Math.floor(list.chunks / CHUNKS_PER_WORKER));
  const pool =
    useful > 0 && disk === nodeDisk
      ? workerPool(useful, { root, head, list: list.shared, known, independent })
      : inlinePool({
          ...read,
          disk,
          root,
          head,
          list,
          known: known === null ? null : new KnownHashes(known),
          isSignature: independent ? isStrictSignature : bulkSignatureCheck(),
        });
  try {
    await checkBodies(run, pool, held);
    checkStrays(run, list);
    // A damaged file is named once, not again by everything that refers to it.
    if (shares.sums.damaged > 0) return;
    await compareIndexes(run, list, pool);
    if (!isPublic) compareLog(run, log);
  } finally {
    await pool.close();
  }
}

async function checkBodies(run: ReleaseRun, pool: VerifyPool, total: number): Promise<void> {
  const { faults, shares, progress = () => undefined } = run;
  progress({ done: 0, total, label: 'files' });
  await pool.chunks((chunk, result) => {
    shares.take(chunk, result);
    progress({ done: shares.tally.files ?? 0, total, label: 'files' });
  });
  const { files = 0 } = shares.tally;
  if (files !== total) faults.add(RELEASE_NAME, 'files_count', `${FILES_NAME} lists ${files}`);
  progress({ done: total, total, label: 'indexes' });
}

async function compareIndexes(run: ReleaseRun, list: FileList, pool: VerifyPool): Promise<void> {
  const { head, faults, shares } = run;
  const { records, cited, subjects, bundles } = shares.sums;
  const shards = shardsOf(list);
  if (records === 0 && shards.length === 0) return;
  const results = await pool.indexes();
  for (const result of results) faults.addAll(result);
  const sum = (name: 'lines' | 'reading' | 'citation' | 'subject') =>
    results.reduce((total: number, result: IndexResult) => total + result[name], 0);
  const rows = defined(results[0], 'the first result').catalog;
  count(shares.tally, 'catalog_lines', rows);
  count(shares.tally, 'lookup_lines', sum('lines'));
  if (rows !== records) faults.add(CATALOG_PATH, '', `${rows} lines for ${records} records`);
  const complete = sum('reading') === records && sum('citation') === cited;
  if (!complete || sum('subject') !== subjects) unlistedFiles({ ...run, list }, shards);
  for (const [name, own] of Object.entries({ records, bundles })) {
    if (head.counts[name as 'records' | 'bundles'] !== own) {
      faults.add(RELEASE_NAME, `counts.${name}`, `the release holds ${own}`);
    }
  }
}

interface LogBeside {
  readonly source: LogSource;
  /** What the log states of all statements; null for a release that it has no entry of. */
  readonly all: ReleaseEntry['all'] | null;
  /** Null where the log is damaged, which is named once. */
  readonly taken: TakenHashes | null;
}

/** The log beside the releases. */
function logBeside(run: ReleaseRun, kept: readonly Release[]): LogBeside {
  const { seen, issuer, shares, found, faults, staged } = run;
  const source = logSource(run);
  if (staged !== undefined) {
    const own = staged.length === 0 ? [] : [[run.head.sequence, staged] as const];
    return { source, all: null, taken: new Map([...readTaken(run), ...own]) };
  }
  const before = faults.count;
  const since = seen?.[issuer]?.checkpoint ?? undefined;
  const log = checkLog(source, { ...run, kept, since });
  found.checkpoint = log.checkpoint;
  found.witnessed = log.witnessed;
  found.evidence = log.evidence;
  found.strayCount += log.strays.length;
  found.strays.push(...log.strays.slice(0, STRAYS_SHOWN_MAX));
  count(shares.tally, 'log_entries', log.entries);
  const isSound = faults.count === before && log.entry !== null;
  return { source, all: log.entry?.all ?? null, taken: isSound ? readTaken(run) : null };
}

/** What a release lists of the log. */
function compareLog({ shares }: ReleaseRun, { source, all, taken }: LogBeside): void {
  // A log that does not hold is named once.
  if (taken === null) return;
  count(shares.tally, 'statements', checkStatements(source, shares.statements, all));
  count(shares.tally, 'logged_hashes', checkHashIndex(source, taken));
}

/** A stored path: `files/`, the path up to its extension, 20 digits of the hash, the extension. */
const STORED = /^files\/(.+)\.[0-9a-f]{20}(\.[a-z][a-z0-9]{0,9})?$/;

/**
 * Names what lies beside the head and the list of the release, and what does not belong among the files of all
 * releases: anything that is no plain file is damage; files that no release here lists, as a killed compile leaves them, are
 * worth a note.
 */
function checkStrays({ disk, root, faults, shares, found }: ReleaseRun, own: FileList): void {
  const damage = (path: string, detail: string): void => {
    shares.sums.damaged += 1;
    faults.add(path, '', detail);
  };
  const known = new Set([RELEASE_NAME, FILES_NAME]);
  for (const { path, kind } of foundFiles(disk, root, '')) {
    const isOwn = known.has(path) && kind === 'file';
    if (!isOwn) damage(path, `not listed in ${FILES_NAME}: a stray ${kind}`);
  }
  const data = dataFolder(root);
  const folder = disk.entry(`${data}/${FILES_FOLDER}`)?.kind;
  if (folder === undefined) return;
  if (folder !== 'folder') {
    damage(FILES_FOLDER, `not a plain file: a ${folder}`);
    return;
  }
  // The list of another release may be damaged; what it names is then nobody's.
  const lists = [
    own,
    ...disk.list(`${root}/..`).flatMap(({ name, kind }) => {
      const folder = `${root}/../${name}`;
      if (kind !== 'folder' || disk.entry(`${folder}/${FILES_NAME}`)?.kind !== 'file') return [];
      try {
        return [openFileList(disk, folder)];
      } catch (error) {
        if (error instanceof RangeError) return [];
        throw error;
      }
    }),
  ];
  for (const { path, kind } of foundFiles(disk, data, FILES_FOLDER)) {
    if (kind !== 'file') damage(path, `not a plain file: a ${kind}`);
    else if (!lists.some((list) => isIn(list, path))) {
      found.strayCount += 1;
      if (found.strays.length < STRAYS_SHOWN_MAX) found.strays.push(path);
    }
  }
}

function isIn(list: FileList, stored: string): boolean {
  const [, stem = '', extension = ''] = STORED.exec(stored) ?? [];
  const entry = list.find(stem + extension);
  return entry !== null && storedPath(entry.path, entry.sha256) === stored;
}

/** The public list that a head signs is the public lines of the whole list, and no others. */
function checkPublicList(head: Release, list: FileList, faults: Faults): void {
  const { public_files: stated } = head;
  if (stated === undefined) return;
  const hash = sha256.create();
  let count = 0;
  for (const lines of list.publicLines()) {
    hash.update(lines);
    count += lines.reduce((sum, byte) => sum + (byte === 0x0a ? 1 : 0), 0);
  }
  const found = `sha256:${bytesToHex(hash.digest())}`;
  if (found !== stated.sha256) {
    faults.add(
      RELEASE_NAME,
      'public_files.sha256',
      `the public lines of ${FILES_NAME} hash to ${found}`,
    );
  }
  if (count !== stated.count) {
    faults.add(RELEASE_NAME, 'public_files.count', `${FILES_NAME} lists ${count} public files`);
  }
}

/** Sums up the shares of a release in the order of its list, whatever order they come in. */
class SharesInOrder {
  readonly tally: Tally = {};
  /** See `statementLine`. */
  readonly statements: string[] = [];
  readonly sums = {
    bytes: 0,
    bodies: 0,
    records: 0,
    bundles: 0,
    cited: 0,
    subjects: 0,
    damaged: 0,
  };
  readonly #faults: Faults;
  readonly #early = new Map<number, ShareResult>();
  #next = 0;

  constructor(faults: Faults) {
    this.#faults = faults;
  }

  take(chunk: number, result: ShareResult): void {
    this.#early.set(chunk, result);
    for (let ready = this.#early.get(this.#next); ready; ready = this.#early.get(this.#next)) {
      this.#early.delete(this.#next);
      this.#next += 1;
      for (const [name, more] of Object.entries(ready.tally)) {
        count(this.tally, name as Counted, more);
      }
      for (const name of Object.keys(this.sums) as (keyof typeof this.sums)[]) {
        this.sums[name] += ready[name];
      }
      for (const line of ready.statements) this.statements.push(line);
      this.#faults.addAll(ready);
    }
  }
}
