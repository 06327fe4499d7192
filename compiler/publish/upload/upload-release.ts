import { createHash, hash, randomBytes } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { atOnce } from '../../format/lists.ts';
import {
  FILE_LINE_BYTES_MAX,
  FILES_NAME,
  type FileEntry,
  formatFiles,
  HEAD_BYTES_MAX,
  RELEASE_NAME,
  RELEASES_FOLDER,
  type Release,
  releaseName,
  releaseSchema,
} from '../../format/release.ts';
import { BLOCKS_PATH } from '../../format/statement-tree.ts';
import { decodeUtf8, parseJson } from '../../format/strict-json.ts';
import { CHECKPOINT_PATH } from '../../format/tiles.ts';
import { storedPath } from '../../products/shapes/path.ts';
import {
  currentName,
  readRelease,
  releaseFiles,
  releaseNames,
} from '../../release/release-folders.ts';
import { onlyIn, readStored } from '../../release/release-list.ts';
import { lockData } from '../../system/data-lock.ts';
import { readPlain, STORED_BYTES_MAX } from '../../system/plain-file.ts';
import { type Destination, type LocalFile, POINTER_PATH, UploadError } from './destination.ts';
import { bytesThere, entriesThere, ownLog, staleTiles, writeLog } from './upload-log.ts';

/**
 * Publishes the current release of a data folder to another place, so that nobody who reads there ever sees half of it:
 *
 *  1. The head at the destination and its list tell what is there already. The destination is not believed further: what
 *     is newer there, or another release of the same number, ends the upload.
 *  2. Bodies that it does not list are read here, checked, and written there. Their names hold their hashes, so nothing
 *     that is being read changes. What was written is noted, so that a killed upload goes on where it was. Of the bodies
 *     that it lists a share is read back, all of them where the release is there already; damaged ones are written again.
 *  3. What the log has of more entries is written, then the list and the head into the folder of the release. These and some
 *     bodies are read back.
 *  4. The checkpoint of the log is written, never over one of more entries. The head is written where readers look, last, and read back.
 *  5. On request, files are removed that only releases list which are no longer kept here.
 */

/** File at the destination that holds the word of an upload. */
const MARKER_PATH = 'publishing.txt';
const MARKER_BYTES_MAX = 200;
/** Bodies that are read back before the switch. */
const READ_BACK_MAX = 16;
/** With each release one in so many of the bodies that were there before is looked at. */
const LOOKED_AT_SHARE = 24;
/** A cache in front of the destination may show the older head for a while. */
const SHOWN_ATTEMPTS = 5;
const SHOWN_PAUSE_MS = 1000;

interface UploadOptions {
  data: string;
  destination: Destination;
  notes: UploadNotes;
  /** Everything is written, whatever the destination says of itself. */
  all: boolean;
  prune: boolean;
  progress: (progress: UploadProgress) => void;
}

export interface UploadProgress {
  readonly done: number;
  readonly total: number;
}

export interface Uploaded {
  readonly release: Release;
  /** Bodies that were written, and their bytes. */
  readonly files: number;
  readonly bytes: number;
  /** Bodies that an earlier, unfinished run had written. */
  readonly resumed: number;
  /** Bodies among the written ones that were there before, but damaged or gone. */
  readonly repaired: number;
  readonly pruned: readonly string[];
  /** Readers still get an older head. */
  readonly isHidden: boolean;
}

type OwnRelease = ReturnType<typeof ownRelease>;

/** Publishes the current release; throws an UploadError that says what to do, and leaves what was served. */
export async function uploadRelease(options: UploadOptions): Promise<Uploaded> {
  const { destination, all, notes } = options;
  const own = ownRelease(options.data);
  const { log, release } = own;
  const head = await headThere(options, own);
  const logged = log === null ? 0 : await entriesThere(log, destination, all);
  const isThere = !all && head?.equals(own.head.bytes) === true;
  const listed = all || head === null ? null : await listThere(destination, head);
  const wanted = [...onlyIn(own.list.bytes, listed ?? Buffer.alloc(0))];
  const damaged = await damagedThere(options, own, { isThere, wanted });
  const isWhole = isThere && wanted.length + damaged.length === 0;
  const written = isWhole ? NOTHING : await writeBodies(options, wanted, damaged);
  // Writes what makes a release of the bodies, where it is not there, and reads some of the bodies back.
  const step = Math.max(1, Math.ceil(wanted.length / READ_BACK_MAX));
  const bodies = [...wanted.filter((_, at) => at % step === 0), ...damaged];
  const folder = `${RELEASES_FOLDER}/${own.name}`;
  const renew = async (path: string, file: LocalFile): Promise<void> => {
    const { bytes } = file;
    const there = await bytesThere(destination, path, bytes.length);
    if (there?.equals(bytes) === true) return;
    await destination.write(path, file);
    const sha256 = hash('sha256', bytes, 'hex');
    await readBack(destination, path, { sha256, size: bytes.length });
  };
  // Beyond the checkpoint that is there they mean nothing yet.
  if (log !== null) await writeLog(log, { there: logged, isThere, renew });
  await renew(`${folder}/${FILES_NAME}`, own.list);
  await renew(`${folder}/${RELEASE_NAME}`, own.head);
  for (const entry of bodies) {
    await readBack(destination, storedPath(entry.path, entry.sha256), entry);
  }
  // Witnesses may have signed since it was published.
  if (log !== null) await renew(CHECKPOINT_PATH, log.checkpoint);
  if (!isThere) {
    // Makes the release the current one.
    const now = await destination.read(POINTER_PATH, HEAD_BYTES_MAX);
    const isExpected = [head, own.head.bytes].some((one) =>
      one === null || now === null ? one === now : one.equals(now),
    );
    if (!isExpected) {
      throw new UploadError(
        `Cannot publish release ${release.sequence} to "${destination.name}": somebody else has published there meanwhile; run this again`,
      );
    }
    await destination.switchTo(own.name, own.head);
  }
  const isHidden = !(await isShown(destination, own));
  notes.finish(own.name, own.list.place);
  const pruned = options.prune && !isHidden ? await prune(options, own, logged) : [];
  return { release, ...written, repaired: damaged.length, pruned, isHidden };
}

function ownRelease(data: string) {
  const name = currentName(data);
  if (name === null) {
    throw new UploadError(`Cannot publish "${data}": no release there; run "signalpress compile"`);
  }
  const folder = join(data, RELEASES_FOLDER, name);
  const files = releaseFiles(data, name);
  if (files === null) {
    throw new UploadError(`Cannot publish "${folder}": its list is damaged; compile again`);
  }
  const [headPlace, listPlace] = [join(folder, RELEASE_NAME), join(folder, FILES_NAME)];
  const release = readRelease(data, name);
  // Readers find the list by the name that the head gives.
  if (releaseName(release) !== name) {
    throw new UploadError(`Cannot publish "${folder}": the folder was renamed; compile again`);
  }
  return {
    name,
    release,
    head: { place: headPlace, bytes: readPlain(headPlace, HEAD_BYTES_MAX) },
    list: { place: listPlace, bytes: files.bytes },
    log: ownLog(data, release, files.find(BLOCKS_PATH) === null),
  };
}

/** The head that is at the destination; null for none. Throws where this release may not take its place. */
async function headThere(
  { destination, all }: UploadOptions,
  { release, head }: OwnRelease,
): Promise<Buffer | null> {
  const there = await destination.read(POINTER_PATH, HEAD_BYTES_MAX);
  if (there === null || all || there.equals(head.bytes)) return there;
  const other = parsedHead(there);
  const refuse = (state: string): never => {
    throw new UploadError(
      `Cannot publish release ${release.sequence} to "${destination.name}": ${state}; name another place, or pass --all to replace it`,
    );
  };
  if (other === null) return refuse('something else than a release is there');
  if (other.base_url !== release.base_url) return refuse(`the shop of ${other.base_url} is there`);
  if (other.sequence > release.sequence) return refuse(`release ${other.sequence} is there`);
  if (other.sequence === release.sequence) return refuse('another release of this number is there');
  return there;
}

function parsedHead(bytes: Buffer): Release | null {
  try {
    return releaseSchema.parse(parseJson(decodeUtf8(bytes)));
  } catch {
    return null;
  }
}

type UploadedBodies = Pick<Uploaded, 'files' | 'bytes' | 'resumed'>;

const NOTHING: UploadedBodies = { files: 0, bytes: 0, resumed: 0 };

async function writeBodies(
  options: UploadOptions,
  wanted: readonly FileEntry[],
  damaged: readonly FileEntry[],
): Promise<UploadedBodies> {
  const { data, destination, notes, progress } = options;
  await resumeOrBegin(options);
  let [done, files, bytes, resumed] = [0, 0, 0, 0];
  const total = wanted.length + damaged.length;
  await atOnce([...wanted, ...damaged], destination.parallel, async (entry, at) => {
    const path = storedPath(entry.path, entry.sha256);
    const isResumed = at < wanted.length && notes.isSent(path);
    if (isResumed && destination.holds?.(path, entry) !== false) resumed += 1;
    else {
      await destination.write(path, { place: join(data, path), bytes: ownBytes(data, entry) });
      notes.sent(path);
      files += 1;
      bytes += entry.size;
    }
    done += 1;
    progress({ done, total });
  });
  return { files, bytes, resumed };
}

/** Listed bodies that are missing at the destination, or have other bytes there. */
async function damagedThere(
  { destination }: UploadOptions,
  { list, release }: OwnRelease,
  { isThere, wanted }: { isThere: boolean; wanted: readonly FileEntry[] },
): Promise<FileEntry[]> {
  const isWanted = new Set(wanted.map(({ path }) => path));
  const all = [...onlyIn(list.bytes, Buffer.alloc(0))].filter(({ path }) => !isWanted.has(path));
  const look = async (entries: readonly FileEntry[]): Promise<FileEntry[]> => {
    const damaged = new Set<FileEntry>();
    await atOnce(entries, destination.parallel, async (entry) => {
      const there = await bytesThere(destination, storedPath(entry.path, entry.sha256), entry.size);
      if (there === null || hash('sha256', there, 'hex') !== entry.sha256) damaged.add(entry);
    });
    return entries.filter((entry) => damaged.has(entry));
  };
  const turn = release.sequence % LOOKED_AT_SHARE;
  const found = await look(isThere ? all : all.filter((_, at) => at % LOOKED_AT_SHARE === turn));
  // Damage seldom comes alone.
  return found.length === 0 || isThere ? found : look(all);
}

/** The list that a head names, where it is whole; without it everything is written. */
async function listThere(destination: Destination, head: Buffer): Promise<Buffer | null> {
  const release = parsedHead(head);
  if (release === null) return null;
  const path = `${RELEASES_FOLDER}/${releaseName(release)}/${FILES_NAME}`;
  const max = release.files_count * FILE_LINE_BYTES_MAX;
  const bytes = await bytesThere(destination, path, max);
  const isWhole =
    bytes !== null && `sha256:${hash('sha256', bytes, 'hex')}` === release.files_sha256;
  return isWhole ? bytes : null;
}

/** Goes on with an unfinished run where the destination is the one that it wrote to. */
async function resumeOrBegin({ destination, notes, all }: UploadOptions): Promise<void> {
  const word = all ? null : notes.unfinished();
  const marker = await destination.read(MARKER_PATH, MARKER_BYTES_MAX);
  if (word !== null && marker?.toString('latin1').trim() === word) return;
  const place = notes.sentPlace;
  const bytes = Buffer.from(`${notes.begin()}\n`);
  await destination.write(MARKER_PATH, { place, bytes });
}

function ownBytes(data: string, entry: FileEntry): Buffer {
  try {
    return readStored(data, entry);
  } catch (cause) {
    throw new UploadError(
      `Cannot publish "${entry.path}": damaged or gone here; if a newer release was compiled meanwhile, run this again, else compile with --full`,
      { cause },
    );
  }
}

async function readBack(
  destination: Destination,
  path: string,
  { sha256, size }: Pick<FileEntry, 'sha256' | 'size'>,
): Promise<void> {
  const there = await destination.read(path, size);
  if (there !== null && hash('sha256', there, 'hex') === sha256) return;
  const state = there === null ? 'it is not there' : 'other bytes are there';
  throw new UploadError(
    `Cannot publish to "${destination.name}": "${path}" was written, but read back ${state}; nothing was switched; turn compression off there, wait for its cache, or pass --all`,
  );
}

async function isShown(destination: Destination, { head }: OwnRelease): Promise<boolean> {
  for (let attempt = 1; ; attempt += 1) {
    const there = await destination.read(POINTER_PATH, HEAD_BYTES_MAX);
    if (there?.equals(head.bytes) === true) return true;
    if (attempt === SHOWN_ATTEMPTS) return false;
    await sleep(SHOWN_PAUSE_MS);
  }
}

/** Removes what only releases list that are no longer kept here; their heads go first. */
async function prune(
  { data, destination, notes }: UploadOptions,
  own: OwnRelease,
  logged: number,
): Promise<string[]> {
  const { remove } = destination;
  if (remove === null) {
    throw new UploadError(
      `Cannot prune "${destination.name}": it removes nothing; pass --remove-command, or leave --prune out`,
    );
  }
  const local = new Set([...releaseNames(data), own.name]);
  const kept = notes.published().filter((name) => local.has(name));
  const doomed = notes.published().filter((name) => !local.has(name));
  for (const name of doomed) {
    const orphans = orphansOf(notes, name, kept);
    for (const file of [RELEASE_NAME, FILES_NAME]) {
      await remove(`${RELEASES_FOLDER}/${name}/${file}`);
    }
    for (const { path, sha256 } of orphans) await remove(storedPath(path, sha256));
    notes.forget(name);
  }
  if (own.log !== null) for (const path of staleTiles(own.log, logged)) await remove(path);
  return doomed;
}

function orphansOf(notes: UploadNotes, name: string, kept: readonly string[]): FileEntry[] {
  let orphans: Buffer = notes.list(name);
  let entries: FileEntry[] = [];
  for (const other of kept) {
    entries = [...onlyIn(orphans, notes.list(other))];
    orphans = Buffer.from(formatFiles(entries));
  }
  return entries;
}

/**
 * What this machine knows about a destination, in the data folder under `.publish/`:
 *
 *  - `sent.txt`: files of a release that is being uploaded, so that a killed upload goes on. Its first line is a word that
 *    the destination holds too. Where the destination does not hold it, it is not the place that was written to.
 *  - `lists/`: the lists of the releases that were published there, so that their files can be removed some day.
 */

const FOLDER = '.publish';
const SENT_NAME = 'sent.txt';
const LISTS_NAME = 'lists';
const ID_DIGITS = 16;

export class UploadNotes {
  /** File whose first line is the word. */
  readonly sentPlace: string;
  readonly #lists: string;
  readonly #unlock: () => void;
  #sent: Set<string> = new Set();

  /** One upload to a destination at a time; throws a LockedError during another one. */
  constructor(data: string, destination: string) {
    const id = createHash('sha256').update(destination).digest('hex').slice(0, ID_DIGITS);
    const folder = join(data, FOLDER, id);
    this.sentPlace = join(folder, SENT_NAME);
    this.#lists = join(folder, LISTS_NAME);
    this.#unlock = lockData(folder);
  }

  close(): void {
    this.#unlock();
  }

  /** The word of an upload that did not end; null for none. */
  unfinished(): string | null {
    if (!existsSync(this.sentPlace)) return null;
    const text = readPlain(this.sentPlace, STORED_BYTES_MAX).toString('utf8');
    // What follows the last end of a line was cut off.
    const [word, ...paths] = text.split('\n').slice(0, -1);
    this.#sent = new Set(paths);
    return word ?? null;
  }

  /** Begins again; the word that the destination is to hold. */
  begin(): string {
    const word = randomBytes(16).toString('hex');
    this.#sent = new Set();
    writeFileSync(this.sentPlace, `${word}\n`);
    return word;
  }

  isSent(path: string): boolean {
    return this.#sent.has(path);
  }

  sent(path: string): void {
    appendFileSync(this.sentPlace, `${path}\n`);
  }

  /** The release is whole at the destination; `list` is the file of its list. */
  finish(release: string, list: string): void {
    rmSync(this.sentPlace, { force: true });
    mkdirSync(this.#lists, { recursive: true });
    const kept = join(this.#lists, release);
    // A second name of the same file outlives the release here.
    if (!existsSync(kept)) linkSync(list, kept);
  }

  /** Names of the releases that are there as far as it is known, oldest first. */
  published(): string[] {
    return existsSync(this.#lists) ? readdirSync(this.#lists).sort() : [];
  }

  list(release: string): Buffer {
    return readPlain(join(this.#lists, release), STORED_BYTES_MAX);
  }

  forget(release: string): void {
    rmSync(join(this.#lists, release), { force: true });
  }
}
