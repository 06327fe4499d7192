import { posix } from 'node:path';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { messageOf } from '../format/errors.ts';
import {
  isContinued,
  KEYS_BYTES_MAX,
  KEYS_PATH,
  type KeyHistory,
  readKeyHistory,
} from '../format/key-history.ts';
import {
  CONTRACT_VERSION,
  FILE_LINE_BYTES_MAX,
  FILES_NAME,
  type FileEntry,
  HEAD_BYTES_MAX,
  RELEASE_NAME,
  type Release,
} from '../format/release.ts';
import { decodeUtf8, parseJson } from '../format/strict-json.ts';
import { type Disk, readAll } from '../system/disk.ts';
import { listedFiles, placeOfFile } from './file-list.ts';
import { type KeyTrust, listFault, type Trusted } from './key-trust.ts';
import type { Faults } from './release-fault.ts';
import { type ReportHeadFault, signedHead } from './signed-head.ts';
import { isSignedBy } from './verify-citation.ts';

/** A release whose head was read, and where its faults go. */
export interface OpenRelease {
  readonly disk: Disk;
  readonly root: string;
  readonly head: Release;
  readonly faults: Faults;
}

interface OpenHead extends KeyTrust {
  readonly disk: Disk;
  readonly root: string;
  readonly faults: Faults;
}

/**
 * Reads and checks `release.json`, its version and the hash of the list, which may be the public one; null when it cannot be
 * read as one.
 */
export function readHead(open: OpenHead): Release | null {
  const head = readHeadAlone(open);
  if (head === null) return null;
  if (head.contract_version !== CONTRACT_VERSION) {
    const detail = `this program reads version ${CONTRACT_VERSION}; use its own`;
    open.faults.add(RELEASE_NAME, 'contract_version', detail);
  }
  const files = filesHash(open.disk, open.root, head.files_count);
  if (files !== head.files_sha256 && files !== head.public_files?.sha256) {
    open.faults.add(RELEASE_NAME, 'files_sha256', `${FILES_NAME} hashes to ${files}`);
  }
  return head;
}

/** Reads and checks `release.json` by itself, of whatever version: its format says how it is signed. */
export function readHeadAlone({ disk, root, faults, ...trusted }: OpenHead): Release | null {
  const fault: ReportHeadFault = (where, detail) => faults.add(RELEASE_NAME, where, detail);
  try {
    return signedHead(
      readAll(disk.chunks(`${root}/${RELEASE_NAME}`), HEAD_BYTES_MAX),
      trusted,
      fault,
    );
  } catch (error) {
    fault('', messageOf(error));
    return null;
  }
}

function filesHash(disk: Disk, root: string, count: number): string {
  const path = `${root}/${FILES_NAME}`;
  const found = disk.entry(path);
  const kind = found?.kind ?? 'missing file';
  if (kind !== 'file') return `nothing: it is a ${kind}`;
  // The signed count bounds what is worth reading.
  if ((found?.size ?? 0) > count * FILE_LINE_BYTES_MAX)
    return 'nothing: too long for its count of files';
  const hash = sha256.create();
  try {
    for (const chunk of disk.chunks(path)) hash.update(chunk);
  } catch (error) {
    return `nothing: ${messageOf(error)}`;
  }
  return `sha256:${bytesToHex(hash.digest())}`;
}

/** Folders of releases are named after their sequence and time. */
const SEQUENCE = /^(\d{6,})-/;
const CURRENT_TARGET = /^releases\/[A-Za-z0-9-][A-Za-z0-9._-]*$/;

/** True for a folder that can be judged as a release: one, or a data folder with a `current` link. */
export function isReleaseFolder(disk: Disk, folder: string): boolean {
  return (
    disk.entry(`${folder}/${RELEASE_NAME}`) !== null || disk.entry(`${folder}/current`) !== null
  );
}

/** The release folder that a folder means; null, and a fault, where there is none. */
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

/** An older release in the folder of a newer one: a folder is named after its sequence. */
export function checkName({ disk, root, head, faults }: OpenRelease): void {
  const name = folderName(disk, root);
  const own = sequenceOf(name);
  if (own !== null && own !== head.sequence) {
    faults.add(RELEASE_NAME, 'sequence', `${head.sequence}, but its folder is named "${name}"`);
  }
}

/**
 * Releases beside the one that is served that are newer than it. A compile that was killed right before the switch leaves
 * one; so does whoever turns `current` back, which only a reader who remembers what was served can tell.
 */
export function unservedReleases(disk: Disk, root: string, head: Release): string[] {
  if (!isServed(disk, root)) return [];
  const name = folderName(disk, root);
  return disk
    .list(`${root}/..`)
    .filter((other) => other.name !== name && (sequenceOf(other.name) ?? 0) > head.sequence)
    .map((other) => `releases/${other.name}`);
}

/** Whether the link beside the releases names this one. */
export function isServed(disk: Disk, root: string): boolean {
  const current = `${root}/../../current`;
  return (
    disk.entry(current)?.kind === 'link' &&
    disk.link(current) === `releases/${folderName(disk, root)}`
  );
}

/** The sequence in the name of a release folder, or null for any other name. */
export function sequenceOf(name: string): number | null {
  const digits = SEQUENCE.exec(name)?.[1];
  return digits === undefined ? null : Number(digits);
}

/** The name of a release folder, however a caller wrote it: `current/` and `.` mean the folder behind them. */
export function folderName(disk: Disk, root: string): string {
  return posix.basename(disk.real(root));
}

interface ReleaseKeys extends Trusted {
  readonly disk: Disk;
  readonly root: string;
  readonly faults: Faults;
  /** A list from elsewhere; it may know of a revocation that the release does not. */
  readonly keys?: KeyHistory | undefined;
}

/**
 * What to pass on as `keys`: the newer of the lists that a release and a reader have; none where neither has one. A list
 * that does not hold, or that the reader's root keys do not vouch for, is a fault.
 */
export function releaseKeys(release: ReleaseKeys): { keys?: KeyHistory } {
  const { faults, roots = [] } = release;
  const keys = newestList(release);
  const lack = roots.length > 0 ? 'missing, and root keys vouch for a list of keys alone' : null;
  const fault = keys === undefined ? lack : listFault(keys, release);
  if (fault !== null) faults.add(KEYS_PATH, '', fault);
  return keys === undefined ? {} : { keys };
}

function newestList({ disk, root, faults, keys }: ReleaseKeys): KeyHistory | undefined {
  const own = ownKeys({ disk, root, faults });
  if (own === null || keys === undefined) return own ?? keys;
  if (isContinued(keys, own)) return own;
  if (!isContinued(own, keys)) {
    faults.add(KEYS_PATH, '', 'fork: not the keys that were given, nor a later list of them');
  }
  return keys;
}

/** The list of keys in a release that may not be signed by a known key yet; null without one. */
function ownKeys({ disk, root, faults }: Omit<ReleaseKeys, keyof Trusted>): KeyHistory | null {
  const entry = listedKeys(disk, root);
  try {
    return entry === null ? null : keysIn(disk.chunks(placeOfFile(root, entry)));
  } catch (error) {
    faults.add(KEYS_PATH, '', messageOf(error));
    return null;
  }
}

/** Where a release lists its keys; null also for a list of files that cannot be read, which is a fault of the head. */
function listedKeys(disk: Disk, root: string): FileEntry | null {
  try {
    for (const entry of listedFiles(disk, root)) if (entry.path === KEYS_PATH) return entry;
    return null;
  } catch {
    return null;
  }
}

/** Reads a list of keys; throws a RangeError or TypeError for one that does not hold. */
export function keysIn(chunks: Iterable<Uint8Array>): KeyHistory {
  const text = decodeUtf8(readAll(chunks, KEYS_BYTES_MAX));
  return readKeyHistory(parseJson(text), isSignedBy);
}
