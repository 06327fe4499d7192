import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import {
  CATALOG_PATH,
  FILES_NAME,
  type FileEntry,
  RELEASE_NAME,
  type Release,
} from '../contract/release.ts';
import { decodeUtf8, parseJson } from '../contract/strict-json.ts';
import { reason } from './body-check.ts';
import { type Disk, nodeDisk, readAll } from './disk.ts';
import { isObject } from './object-nodes.ts';
import { bodyFaults } from './release-body.ts';
import { Faults, type ReleaseFault } from './release-fault.ts';
import { hasOwnTables, readHead } from './release-head.ts';
import {
  BODY_BYTES_MAX,
  checkCatalog,
  checkShard,
  isHashedSubject,
  RECORD,
  unlistedFiles,
} from './release-index.ts';
import { placeOfFile, releaseTree, strayFiles, type TreeEntry } from './release-tree.ts';
import type { CitationTrust } from './verify-citation.ts';

/** Files between two calls of the progress callback. */
const PROGRESS_EVERY = 100;
const STRAYS_SHOWN_MAX = 20;
/** Folders of releases are named after their sequence and time. */
const SEQUENCE = /^(\d{6,})-/;
const BUNDLE = /^bundle\//;
/** Descriptions hold schemas and examples of records, not records. */
const DESCRIPTION = /^([a-z0-9]+\/)?well-known\//;
const SHARD = /^verify\/[0-9a-f]{2}\.txt$/;
const CURRENT_TARGET = /^releases\/[A-Za-z0-9-][A-Za-z0-9._-]*$/;

export interface VerifyReleaseOptions extends CitationTrust {
  readonly disk?: Disk;
  readonly progress?: (step: VerifyProgress) => void;
}

/** How far a verification is, in files. */
export interface VerifyProgress {
  readonly done: number;
  readonly total: number;
  readonly label: string;
}

export interface ReleaseReport {
  readonly verdict: 'verified' | 'failed';
  /** The signed head, where it can be read. */
  readonly head: Release | null;
  /** False when the tables of this program are not those of the release; its own are not judged. */
  readonly ownTables: boolean;
  readonly files: number;
  readonly bytes: number;
  readonly bodies: number;
  readonly records: number;
  readonly signatures: number;
  /** The first faults; `faultCount` is how many there are. */
  readonly faults: readonly ReleaseFault[];
  readonly faultCount: number;
  /** The first files that no release lists, as a killed compile leaves them; nothing reads them. */
  readonly strays: readonly string[];
  readonly strayCount: number;
}

/** Re-derives a whole release: a release folder, or a data folder, whose `current` is followed. */
export function verifyRelease(folder: string, options: VerifyReleaseOptions): ReleaseReport {
  const { disk = nodeDisk, trust } = options;
  const faults = new Faults();
  const root = releaseRoot(disk, folder, faults);
  const head = root === null ? null : readHead({ disk, root, trust, faults });
  // What the head does not vouch for is not worth a look.
  if (root === null || head === null || faults.count > 0) return report({ head, faults });
  checkName({ disk, root, head, faults });
  const run = new ReleaseRun({ disk, root, head, faults, places: new Map() });
  try {
    run.tree(options.progress ?? (() => undefined));
  } catch (error) {
    faults.add(FILES_NAME, '', reason(error));
    return report({ head, faults, run });
  }
  // A damaged file is named once, not again by everything that refers to it.
  if (run.damaged === 0) run.index();
  return report({ head, faults, run });
}

/** True for a folder that `verifyRelease` can judge. */
export function isReleaseFolder(disk: Disk, folder: string): boolean {
  return (
    disk.entry(`${folder}/${RELEASE_NAME}`) !== null || disk.entry(`${folder}/current`) !== null
  );
}

export function releaseRoot(disk: Disk, folder: string, faults: Faults): string | null {
  if (disk.entry(`${folder}/${RELEASE_NAME}`)?.kind === 'file') return folder;
  const current = `${folder}/current`;
  if (disk.entry(current)?.kind !== 'link') {
    faults.add(RELEASE_NAME, '', 'neither a release nor a data folder with a "current" link');
    return null;
  }
  const target = disk.link(current);
  if (!CURRENT_TARGET.test(target)) {
    faults.add('current', '', `points to "${target}", which is not below "releases"`);
    return null;
  }
  const root = `${folder}/${target}`;
  if (disk.entry(root)?.kind === 'folder') return root;
  faults.add('current', '', `points to "${target}", which is not a folder`);
  return null;
}

interface NamedRelease {
  readonly disk: Disk;
  readonly root: string;
  readonly head: Release;
  readonly faults: Faults;
}

/** An older release in the place of a newer one: its folder is named after another, or a newer one stands beside it. */
function checkName({ disk, root, head, faults }: NamedRelease): void {
  const name = folderName(disk, root);
  const own = SEQUENCE.exec(name)?.[1];
  if (own !== undefined && Number(own) !== head.sequence) {
    faults.add(RELEASE_NAME, 'sequence', `${head.sequence}, but its folder is named "${name}"`);
  }
  if (!isServed(disk, root, name)) return;
  for (const other of disk.list(`${root}/..`)) {
    const isNewer = Number(SEQUENCE.exec(other.name)?.[1] ?? 0) > head.sequence;
    if (isNewer && other.name !== name) {
      faults.add('current', '', `points to release ${head.sequence}, but "${other.name}" is newer`);
    }
  }
}

function folderName(disk: Disk, root: string): string {
  const path = disk.entry(root)?.kind === 'link' ? disk.link(root) : root;
  return path.replace(/\/+$/, '').split('/').at(-1) ?? '';
}

function isServed(disk: Disk, root: string, name: string): boolean {
  const current = `${root}/../../current`;
  return disk.entry(current)?.kind === 'link' && disk.link(current) === `releases/${name}`;
}

interface Outcome {
  readonly head: Release | null;
  readonly faults: Faults;
  readonly run?: ReleaseRun;
}

function report({ head, faults, run }: Outcome): ReleaseReport {
  return {
    verdict: faults.count === 0 ? 'verified' : 'failed',
    head,
    ownTables: head !== null && hasOwnTables(head),
    files: run?.files ?? 0,
    bytes: run?.bytes ?? 0,
    bodies: run?.bodies ?? 0,
    records: run?.records ?? 0,
    signatures: run?.cited ?? 0,
    faults: faults.kept,
    faultCount: faults.count,
    strays: run?.strays ?? [],
    strayCount: run?.strayCount ?? 0,
  };
}

interface RunOptions {
  readonly disk: Disk;
  readonly root: string;
  readonly head: Release;
  readonly faults: Faults;
  /** Where each listed file stands, filled as they pass. */
  readonly places: Map<string, string>;
}

/** One pass over the files, then one over the indexes; holds one file at a time. */
class ReleaseRun {
  files = 0;
  bytes = 0;
  bodies = 0;
  records = 0;
  /** Files that are not what the list says. */
  damaged = 0;
  readonly strays: string[] = [];
  strayCount = 0;
  /** Bodies with a citation of their own. */
  cited = 0;
  #bundles = 0;
  /** Roster rows with a file and a hash of their own. */
  #subjects = 0;
  #shards: string[] = [];
  readonly #options: RunOptions;

  constructor(options: RunOptions) {
    this.#options = options;
  }

  tree(progress: (step: VerifyProgress) => void): void {
    const { disk, root, head, faults } = this.#options;
    for (const entry of releaseTree(disk, root)) {
      if (this.files % PROGRESS_EVERY === 0) {
        progress({ done: this.files, total: head.files_count, label: entry.path });
      }
      this.#entry(entry);
    }
    this.#strays();
    progress({ done: this.files, total: head.files_count, label: 'indexes' });
    if (this.files !== head.files_count) {
      faults.add(RELEASE_NAME, 'files_count', `${FILES_NAME} lists ${this.files}`);
    }
  }

  #strays(): void {
    const { disk, root } = this.#options;
    for (const { path, kind } of strayFiles(disk, root)) {
      if (kind !== 'file') this.#damage(path, '', `not a plain file: a ${kind}`);
      else if (this.strays.push(path) > STRAYS_SHOWN_MAX) this.strays.pop();
      if (kind === 'file') this.strayCount += 1;
    }
  }

  #entry({ path, listed, found }: TreeEntry): void {
    const { root, places } = this.#options;
    if (listed !== null) {
      this.files += 1;
      places.set(path, placeOfFile(root, listed));
    }
    if (listed === null) this.#damage(path, '', `not listed in ${FILES_NAME}: a stray ${found}`);
    else if (found === null) this.#damage(path, '', `listed in ${FILES_NAME}, but missing`);
    else if (found !== 'file') this.#damage(path, '', `not a plain file: a ${found}`);
    else this.#file(path, listed);
  }

  #damage(path: string, where: string, detail: string): void {
    this.damaged += 1;
    this.#options.faults.add(path, where, detail);
  }

  #file(path: string, listed: NonNullable<TreeEntry['listed']>): void {
    const { disk, root } = this.#options;
    const size = disk.entry(placeOfFile(root, listed))?.size;
    if (size !== listed.size) {
      this.#damage(path, 'size', `${size} bytes, not the ${listed.size} of ${FILES_NAME}`);
      return;
    }
    this.bytes += size;
    this.#count(path);
    try {
      const isBody = path.endsWith('.json') && !DESCRIPTION.test(path);
      const sha256Hex = isBody ? this.#body(listed) : this.#hash(listed);
      if (sha256Hex !== listed.sha256) this.#damage(path, 'sha256', `not the one of ${FILES_NAME}`);
    } catch (error) {
      this.#damage(path, '', reason(error));
    }
  }

  #count(path: string): void {
    if (RECORD.test(path)) this.records += 1;
    if (BUNDLE.test(path)) this.#bundles += 1;
    if (SHARD.test(path)) this.#shards.push(path);
  }

  #hash(listed: FileEntry): string {
    const hash = sha256.create();
    const { disk, root } = this.#options;
    for (const chunk of disk.chunks(placeOfFile(root, listed))) hash.update(chunk);
    return bytesToHex(hash.digest());
  }

  /** Checks a body that is the listed one; returns the hash of its bytes. */
  #body(listed: FileEntry): string {
    const { disk, root, head, faults } = this.#options;
    const { path, sha256: expected } = listed;
    const bytes = readAll(disk.chunks(placeOfFile(root, listed)), BODY_BYTES_MAX);
    const found = bytesToHex(sha256(bytes));
    if (found !== expected) return found;
    const body = parseJson(decodeUtf8(bytes));
    this.bodies += 1;
    if (isObject(body) && body._citation !== undefined) this.cited += 1;
    if (isHashedSubject(path, body)) this.#subjects += 1;
    for (const [where, detail] of bodyFaults(path, body, head)) faults.add(path, where, detail);
    return found;
  }

  /** The catalog and the look-up shards against the records, by count and one by one. */
  index(): void {
    const { head, faults } = this.#options;
    if (this.records === 0 && this.#shards.length === 0) return;
    const rows = checkCatalog(this.#options);
    if (rows !== this.records) {
      faults.add(CATALOG_PATH, '', `${rows} lines for ${this.records} records`);
    }
    const listed = this.#shards.map((path) => checkShard(this.#options, path));
    const readings = listed.reduce((sum, shard) => sum + shard.reading, 0);
    const citations = listed.reduce((sum, shard) => sum + shard.citation, 0);
    const subjects = listed.reduce((sum, shard) => sum + shard.subject, 0);
    const complete = readings === this.records && citations === this.cited;
    if (!complete || subjects !== this.#subjects) {
      unlistedFiles(this.#options, this.#shards);
    }
    const counts = { records: this.records, bundles: this.#bundles };
    for (const [name, count] of Object.entries(counts)) {
      if (head.counts[name as keyof typeof counts] !== count) {
        faults.add(RELEASE_NAME, `counts.${name}`, `the release holds ${count}`);
      }
    }
  }
}
