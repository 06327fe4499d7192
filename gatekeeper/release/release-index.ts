import { readlink, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { KEYS_PATH, type KeyHistory } from '../../compiler/contract/key-history.ts';
import {
  FILE_LINE_BYTES_MAX,
  FILES_NAME,
  type FileEntry,
  HEAD_BYTES_MAX,
  RELEASE_NAME,
  type Release,
} from '../../compiler/contract/release.ts';
import { messageOf } from '../message-of.ts';
import { readPlainFile } from '../plain-file.ts';
import { StartError } from '../start-error.ts';
import { BodyCache, MEMORY_BYTES } from './body-cache.ts';
import { type ReadFile, readBody } from './read-body.ts';
import { checkFiles, checkHead, checkIssuer, keysOf, type ReleaseTerms } from './release-head.ts';
import {
  requestTimeMembers,
  type SplicePoint,
  spliceMembers,
  splicePoints,
} from './request-time.ts';

/** Name of the link that the compiler swaps. */
const CURRENT_NAME = 'current';

/** A stored body whose hash was checked when it was read. */
export interface Body {
  readonly bytes: Buffer;
  readonly sha256: string;
  readonly points: readonly SplicePoint[];
}

/** Where a release stands and how it is read. */
export interface OpenOptions extends ReleaseTerms {
  /** The folder that holds `current`. */
  readonly dataDir: string;
  readonly memoryBytes?: number;
  /** Replaces the disk in tests. */
  readonly read?: ReadFile;
}

/** One verified release: paths, sizes and hashes in memory, bodies on demand. */
export class ReleaseIndex {
  readonly head: Release;
  /** Every key of the issuer; the one of the head alone where the release lists none. */
  readonly keys: KeyHistory;
  /** The pinned directory, links resolved. */
  readonly root: string;
  /** The folder that holds the files of all releases. */
  readonly #data: string;
  readonly files: ReadonlyMap<string, FileEntry>;
  readonly #cache: BodyCache<Body>;
  readonly #loading = new Map<string, Promise<Body>>();
  readonly #read: ReadFile;
  #paths: readonly string[] | null = null;

  constructor(
    root: string,
    listed: { head: Release; keys: KeyHistory; files: ReadonlyMap<string, FileEntry> },
    options: Pick<OpenOptions, 'memoryBytes' | 'read'> = {},
  ) {
    this.root = root;
    this.#data = dirname(dirname(root));
    this.head = listed.head;
    this.keys = listed.keys;
    this.files = listed.files;
    this.#cache = new BodyCache(options.memoryBytes ?? MEMORY_BYTES);
    this.#read = options.read ?? readPlainFile;
  }

  has(path: string | null): path is string {
    return path !== null && this.files.has(path);
  }

  /** The body of a listed path; throws a DamagedFileError when the disk holds something else, a RangeError when not listed. */
  async body(path: string): Promise<Body> {
    const known = this.#cache.get(path) ?? this.#loading.get(path);
    if (known !== undefined) return known;
    const loading = this.#load(path).finally(() => this.#loading.delete(path));
    this.#loading.set(path, loading);
    return loading;
  }

  async #load(path: string): Promise<Body> {
    const entry = this.files.get(path);
    if (entry === undefined) throw new RangeError(`Cannot read "${path}": not in the release`);
    const bytes = await readBody(this.#data, entry, this.#read);
    const body = { bytes, sha256: entry.sha256, points: splicePoints(bytes) };
    this.#cache.set(path, body);
    return body;
  }

  /** Listed paths that start with a prefix, in order, at most `max`. */
  pathsUnder(prefix: string, max: number): readonly string[] {
    this.#paths ??= [...this.files.keys()];
    const start = firstAtLeast(this.#paths, prefix);
    let end = start;
    while (end - start < max && this.#paths[end]?.startsWith(prefix)) end += 1;
    return this.#paths.slice(start, end);
  }
}

function firstAtLeast(sorted: readonly string[], text: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? '') < text) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Bytes of answers whose request-time fields are filled in already: an age has one decimal of an hour. */
const SPLICED_BYTES_MAX = 8 * 1024 * 1024;

interface Spliced {
  readonly bytes: Buffer;
  readonly members: string;
}
/** By the hash of the stored body, which alone decides where the members go and what they are made from. */
const latest = new BodyCache<Spliced>(SPLICED_BYTES_MAX);

/** The bytes of a body at an instant, the same buffer until a member changes; those of the release when nothing in it depends on time. */
export function bytesAt({ bytes: stored, points, sha256 }: Body, now: number): Buffer {
  if (points.length === 0) return stored;
  const made = requestTimeMembers(points, now);
  const members = made.join('');
  const known = latest.get(sha256);
  if (known?.members === members) return known.bytes;
  const bytes = spliceMembers(stored, points, made);
  latest.set(sha256, { bytes, members });
  return bytes;
}

/** Resolves `current` once, reads and verifies the release there; throws a StartError that tells what to do. */
export async function openRelease(options: OpenOptions): Promise<ReleaseIndex> {
  const root = await releaseRoot(options.dataDir);
  const headBytes = await readOrRefuse(join(root, RELEASE_NAME), HEAD_BYTES_MAX);
  const head = checkHead(headBytes, options);
  // The signed count bounds what is worth reading.
  const listMax = head.files_count * FILE_LINE_BYTES_MAX;
  const files = checkFiles(await readOrRefuse(join(root, FILES_NAME), listMax), head);
  const entry = files.get(KEYS_PATH);
  const read = options.read ?? readPlainFile;
  const keys = keysOf(head, entry ? await readBody(dirname(dirname(root)), entry, read) : null);
  checkIssuer(head, keys, options.issuerDid);
  return new ReleaseIndex(root, { head, keys, files }, options);
}

async function releaseRoot(dataDir: string): Promise<string> {
  const link = join(dataDir, CURRENT_NAME);
  try {
    return await realpath(link);
  } catch (cause) {
    throw new StartError(
      `Cannot open release "${link}": nothing there; run "signalpress compile" first, or set SIGNALPRESS_DATA`,
      { cause },
    );
  }
}

async function readOrRefuse(path: string, max: number): Promise<Buffer> {
  try {
    return await readPlainFile(path, max);
  } catch (cause) {
    throw new StartError(`Cannot read "${path}": ${messageOf(cause)}; compile again`, { cause });
  }
}

/** What `current` points at, as the link says it; null when it cannot be read. */
export async function currentLink(dataDir: string): Promise<string | null> {
  return readlink(join(dataDir, CURRENT_NAME)).catch(() => null);
}
