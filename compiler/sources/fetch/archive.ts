/**
 * What agencies answered, byte for byte, with a note of each fetch. The layout, below the folder of the archive:
 *
 *     <source>/<day>/<sha256>.gz                               the payload, gzip, named after its own bytes
 *     <source>/<day>/<sha256>.<HHMMSSZ>.<address>.note.json    one fetch that is imported: when, from where
 *     <source>/looks.json                                      the last look at each address, also without news
 *
 * Days are UTC. `<address>` is the beginning of the sha256 of the address, so that two addresses may answer alike. Bytes
 * that came before are stored once: a later note names the day that holds them. A file appears under its name only when all
 * of it is written.
 */

import { createHash, hash } from 'node:crypto';
import {
  createWriteStream,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip, gunzipSync } from 'node:zlib';
import { z } from 'zod';
import { messageOf } from '../../format/errors.ts';
import { decodeUtf8, parseJson } from '../../format/strict-json.ts';
import { ARCHIVE_FOLDER } from '../../readings/list-snapshots.ts';
import { readPlain, replaceFile, syncFolder } from '../../system/plain-file.ts';
import { type FetchNote, PAYLOAD_BYTES_MAX, type Payload, withoutKeys } from '../kit/payload.ts';

const NOTE_BYTES_MAX = 65_536;
const LOOKS_BYTES_MAX = 64 * 1024 * 1024;
/** Gzip of bytes that do not compress is a little longer than they are. */
const STORED_OVERHEAD = 1.01;
const INCOMING = '.incoming-';
const SOURCE = /^[a-z0-9][a-z0-9-]{0,63}$/;
const DAY = /^\d{4}-\d{2}-\d{2}$/;
const NOTE_NAME = /^([0-9a-f]{64})\.\d{6}Z\.[0-9a-f]{12}\.note\.json$/;

const NOTE_PATH =
  /^[a-z0-9][a-z0-9-]{0,63}\/\d{4}-\d{2}-\d{2}\/[0-9a-f]{64}\.\d{6}Z\.[0-9a-f]{12}\.note\.json$/;

const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/);
const daySchema = z.string().regex(DAY);

const archivedSchema = z.strictObject({
  source: z.string().regex(SOURCE),
  /** Of the payload, as hex. */
  sha256: sha256Schema,
  bytes: z.int().min(0),
  payload_day: daySchema,
  /** Address without keys. */
  url: z.url().transform(withoutKeys),
  fetched_at: z.iso.datetime(),
  /** 304 for a look that found what was fetched before. */
  http_status: z.union([z.literal(200), z.literal(304)]),
  http_date: z.string().optional(),
  last_modified: z.string().optional(),
  etag: z.string().optional(),
  /** Path of the note of the fetch before this one at the same address; absent for the first. */
  after: z.string().regex(NOTE_PATH).optional(),
  /** Why nothing of it is imported: kept, but other parts of the same whole are missing. */
  held: z.string().optional(),
});

export type Archived = Readonly<z.infer<typeof archivedSchema>>;

const lookSchema = archivedSchema
  .pick({ sha256: true, bytes: true, payload_day: true, last_modified: true, etag: true })
  .extend({
    /** Path of the newest note that says so. */
    note: z.string().regex(NOTE_PATH),
    noted_at: z.iso.datetime(),
    looked_at: z.iso.datetime(),
    /** No importer could read it: it is asked for whole again. */
    refused: z.literal(true).optional(),
  });

/** The last look at an address: what it answered, when that was noted last, and when it was seen last. */
export type Look = Readonly<z.infer<typeof lookSchema>>;

const looksSchema = z.record(z.string(), lookSchema);

/** Bytes that were received and are not kept yet. */
export interface Incoming {
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
}

export class ArchiveError extends Error {
  override readonly name = 'ArchiveError';
}

/**
 * Folder of batches that agencies feed, where no other is named. It is not `snapshots`: a clone of this repository holds
 * generated samples there, and what is published is signed in the operator's name.
 */
export const READINGS_FOLDER = 'readings';

export function archiveFolder(snapshots: string): string {
  return join(snapshots, ARCHIVE_FOLDER);
}

/** The archive in a folder, which is made when something is first written. */
export class Archive {
  readonly folder: string;
  #received = 0;

  constructor(folder: string) {
    this.folder = folder;
  }

  #place(source: string, ...rest: readonly string[]): string {
    if (!SOURCE.test(source)) throw new RangeError(`Cannot archive "${source}": no source name`);
    return join(this.folder, source, ...rest);
  }

  #sources(): string[] {
    return namesIn(this.folder).filter((name) => SOURCE.test(name));
  }

  /** Writes bytes to the disk as they come, compressed; whatever `chunks` throws leaves nothing behind. */
  async receive(source: string, chunks: AsyncIterable<Uint8Array>): Promise<Incoming> {
    mkdirSync(this.#place(source), { recursive: true });
    this.#received += 1;
    const path = this.#place(source, `${INCOMING}${process.pid}-${this.#received}`);
    const digest = createHash('sha256');
    let bytes = 0;
    const counted = async function* () {
      for await (const chunk of chunks) {
        digest.update(chunk);
        bytes += chunk.length;
        yield chunk;
      }
    };
    // Opened before anything can break, or the file could appear after it was removed.
    const fd = openSync(path, 'wx');
    try {
      await pipeline(counted, createGzip(), createWriteStream(path, { fd, flush: true }));
    } catch (cause) {
      rmSync(path, { force: true });
      throw cause;
    }
    return { path, sha256: digest.digest('hex'), bytes };
  }

  drop({ path }: Incoming): void {
    rmSync(path, { force: true });
  }

  /** Gives received bytes their name, in the folder of a day. */
  keep(source: string, { path, sha256 }: Incoming, day: string): void {
    mkdirSync(this.#place(source, day), { recursive: true });
    renameSync(path, this.#place(source, day, `${sha256}.gz`));
    syncFolder(this.#place(source, day));
    syncFolder(this.#place(source));
  }

  /**
   * Writes the note of a fetch, without keys in its address, and returns it; the payload must be there. Throws an
   * ArchiveError for a note that would be too long to be read again: one such note would stop every later step.
   */
  note(given: Archived): Archived {
    const archived = archivedSchema.parse(given);
    const { source, fetched_at, url } = archived;
    const day = this.#place(source, fetched_at.slice(0, 10));
    mkdirSync(day, { recursive: true });
    const text = `${JSON.stringify(archived)}\n`;
    if (Buffer.byteLength(text) > NOTE_BYTES_MAX) {
      throw new ArchiveError(
        `Cannot note the fetch of "${url.slice(0, 200)}": its note would have more than ${NOTE_BYTES_MAX} bytes`,
      );
    }
    replaceFile(join(day, noteName(archived)), text);
    return archived;
  }

  /** Every fetch in order of its time, of one source or all, since an ISO-8601 time or from the beginning. */
  fetches({ source, since = '' }: { source?: string; since?: string } = {}): Archived[] {
    return (source === undefined ? this.#sources() : [source])
      .flatMap((one) => notesOf(this.folder, one, { since, names: NOTE_NAME }))
      .sort(byFetch);
  }

  at(path: string): Archived {
    const [source = ''] = path.split('/');
    if (NOTE_PATH.test(path)) return readNote(join(this.folder, path), source);
    throw new ArchiveError(`Cannot use archived note "${path}": that is no path of a note`);
  }

  /** The fetches of a payload, oldest first. */
  find(sha256: string): Archived[] {
    if (!sha256Schema.safeParse(sha256).success) return [];
    const names = new RegExp(`^(${sha256})\\.`);
    return this.#sources()
      .flatMap((source) => notesOf(this.folder, source, { since: '', names }))
      .sort(byFetch);
  }

  /** The bytes of a payload; throws an ArchiveError when they are missing or not what the note says. */
  payload(archived: Pick<Archived, 'source' | 'payload_day' | 'sha256'>): Uint8Array {
    const { source, payload_day, sha256 } = archived;
    return payloadAt(this.#place(source, payload_day, `${sha256}.gz`), sha256);
  }

  /** The bytes that were received, for who must look into them before they are kept. */
  peek({ path, sha256 }: Incoming): Uint8Array {
    return payloadAt(path, sha256);
  }

  looks(source: string): ReadonlyMap<string, Look> {
    const path = this.#place(source, 'looks.json');
    if (!existsSync(path)) return new Map();
    const looks = parsed(path, { max: LOOKS_BYTES_MAX, schema: looksSchema });
    return new Map(Object.entries(looks));
  }

  saveLooks(source: string, looks: ReadonlyMap<string, Look>): void {
    mkdirSync(this.#place(source), { recursive: true });
    const sorted = [...looks].sort(([a], [b]) => (a < b ? -1 : 1));
    const text = JSON.stringify(Object.fromEntries(sorted), null, 1);
    replaceFile(this.#place(source, 'looks.json'), `${text}\n`);
  }

  /** Removes what a process that was cut short left behind. Only for a process that alone writes here. */
  tidy(): void {
    for (const source of this.#sources()) {
      const left = namesIn(this.#place(source)).filter((name) => name.startsWith(INCOMING));
      for (const name of left) rmSync(this.#place(source, name), { force: true });
    }
  }
}

/** The note that an importer reads; a look that found the same bytes stands for a whole answer. */
export function fetchNoteOf(archived: Archived): FetchNote {
  const { url, fetched_at, bytes, http_date, last_modified } = archived;
  return { url, fetched_at, http_status: 200, bytes, http_date, last_modified };
}

/** Path of a note below the archive; messages and lists name a fetch by it. */
export function notePath(archived: Archived): string {
  return `${archived.source}/${archived.fetched_at.slice(0, 10)}/${noteName(archived)}`;
}

function noteName({ sha256, fetched_at, url }: Archived): string {
  const time = fetched_at.slice(11, 19).replaceAll(':', '');
  return `${sha256}.${time}Z.${hash('sha256', url).slice(0, 12)}.note.json`;
}

export function byFetch(a: Archived, b: Archived): number {
  const [first, second] = [orderOf(a), orderOf(b)];
  return first === second ? 0 : first < second ? -1 : 1;
}

function orderOf({ fetched_at, source, url, sha256 }: Archived): string {
  return [new Date(fetched_at).toISOString(), source, url, sha256].join('\n');
}

function notesOf(
  folder: string,
  source: string,
  { since, names }: { since: string; names: RegExp },
): Archived[] {
  const days = namesIn(join(folder, source)).filter(
    (day) => DAY.test(day) && day >= since.slice(0, 10),
  );
  return days
    .flatMap((day) =>
      namesIn(join(folder, source, day))
        .filter((name) => NOTE_NAME.test(name) && names.test(name))
        .map((name) => readNote(join(folder, source, day, name), source)),
    )
    .filter(({ fetched_at }) => since === '' || Date.parse(fetched_at) >= Date.parse(since));
}

function readNote(path: string, source: string): Archived {
  const archived = parsed(path, { max: NOTE_BYTES_MAX, schema: archivedSchema });
  const isItsPlace = path.endsWith(noteName(archived)) && archived.source === source;
  if (isItsPlace) return archived;
  throw new ArchiveError(
    `Cannot use archived note "${path}": it is of another fetch than its name`,
  );
}

function parsed<T>(path: string, { max, schema }: { max: number; schema: z.ZodType<T> }): T {
  try {
    return schema.parse(parseJson(decodeUtf8(readPlain(path, max))));
  } catch (cause) {
    const why = cause instanceof z.ZodError ? cause.issues[0]?.message : String(cause);
    throw new ArchiveError(`Cannot use archived file "${path}": ${why}`, { cause });
  }
}

function payloadAt(path: string, sha256: string): Uint8Array {
  let bytes: Uint8Array;
  try {
    const stored = readPlain(path, PAYLOAD_BYTES_MAX * STORED_OVERHEAD);
    bytes = gunzipSync(stored, { maxOutputLength: PAYLOAD_BYTES_MAX });
  } catch (cause) {
    throw new ArchiveError(`Cannot use archived payload "${path}": ${messageOf(cause)}`, { cause });
  }
  if (hash('sha256', bytes) === sha256) return bytes;
  throw new ArchiveError(
    `Cannot use archived payload "${path}": its bytes are not those of its name`,
  );
}

function namesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).sort() : [];
}

/** Archives a payload that somebody fetched by hand, with its note; bytes that are there already are stored once. */
export async function keepPayload(
  archive: Archive,
  source: string,
  { bytes, note }: Pick<Payload, 'bytes' | 'note'>,
): Promise<Archived> {
  const incoming = await archive.receive(source, chunksOf(bytes));
  const { sha256 } = incoming;
  const known = archive.find(sha256).find((one) => one.source === source);
  const payload_day = known?.payload_day ?? note.fetched_at.slice(0, 10);
  if (known === undefined) archive.keep(source, incoming, payload_day);
  else archive.drop(incoming);
  const { url, fetched_at, http_date, last_modified } = note;
  const stored = { source, sha256, bytes: incoming.bytes, payload_day };
  return archive.note({ ...stored, url, fetched_at, http_status: 200, http_date, last_modified });
}

async function* chunksOf(bytes: Uint8Array) {
  yield bytes;
}
