import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  type Stats,
  writeFileSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { isCode } from '../format/errors.ts';

// The one place where this program opens files for reading. A pipe that nobody writes into would hold an ordinary
// open for ever, and a device never ends, so nothing is read before it is known to be a plain file.

/** Longest file that is read in one piece where nothing says how long it is. */
export const STORED_BYTES_MAX = 2 ** 31 - 1;

const CHUNK_BYTES = 262_144;
/** Longest that a pipe which a person named may be silent, and how often it is looked at. */
const SILENCE_MS_MAX = 30_000;
const LOOK_MS = 5;

type Links = 'follow' | 'refuse';

/** A path that stands for something else than a plain file, or for one that is too long. */
export class NotPlainError extends Error {
  override readonly name = 'NotPlainError';
  readonly code: 'EISDIR' | 'ENOTPLAIN' | 'ETOOLONG';

  constructor(
    { path, code, state }: { path: string; code: NotPlainError['code']; state: string },
    options?: ErrorOptions,
  ) {
    super(`Cannot read "${path}": ${state}`, options);
    this.code = code;
  }
}

/** Opens a plain file for reading, without waiting; throws a NotPlainError for anything else. */
export function openPlain(path: string, links: Links = 'follow'): number {
  const file = openAtOnce(path, links);
  const stats = fstatSync(file);
  if (stats.isFile()) return file;
  closeSync(file);
  throw notPlain(path, stats);
}

/** The bytes of a plain file; throws a NotPlainError beyond `max`, before anything is held. */
export function readPlain(path: string, max: number): Buffer {
  const file = openPlain(path);
  try {
    const { size } = fstatSync(file);
    const state = `longer than ${max} bytes`;
    if (size > max) throw new NotPlainError({ path, code: 'ETOOLONG', state });
    const bytes = Buffer.allocUnsafe(size);
    let have = 0;
    for (let read = -1; have < size && read !== 0; have += read) {
      read = readSync(file, bytes, have, size - have, have);
    }
    return bytes.subarray(0, have);
  } finally {
    closeSync(file);
  }
}

/** The bytes of a plain file, no link, in chunks; a chunk is valid until the next one is asked for. */
export function* plainChunks(path: string): Generator<Uint8Array> {
  const file = openPlain(path, 'refuse');
  try {
    yield* openChunks(file);
  } finally {
    closeSync(file);
  }
}

/**
 * The bytes of what a person named on the command line: a shell gives the output of another command the name of a pipe,
 * as in `verify <(curl …)`, so a pipe is read too, as long as it is not silent for too long.
 */
export function* namedChunks(path: string): Generator<Uint8Array> {
  const file = openAtOnce(path, 'follow');
  try {
    const stats = fstatSync(file);
    if (stats.isFIFO()) yield* pipeChunks(path, file);
    else if (stats.isFile()) yield* openChunks(file);
    else throw notPlain(path, stats);
  } finally {
    closeSync(file);
  }
}

/** The bytes of an open file or of standard input (0), in chunks. */
export function* openChunks(file: number): Generator<Uint8Array> {
  const buffer = new Uint8Array(CHUNK_BYTES);
  for (;;) {
    const read = readSync(file, buffer, 0, CHUNK_BYTES, null);
    if (read === 0) return;
    yield buffer.subarray(0, read);
  }
}

function* pipeChunks(path: string, file: number): Generator<Uint8Array> {
  const buffer = new Uint8Array(CHUNK_BYTES);
  for (let silentMs = 0; ; ) {
    const read = readReady(file, buffer);
    if (read === 0) return;
    if (read === null) {
      if (silentMs >= SILENCE_MS_MAX) {
        const state = `nothing came out of this pipe for ${SILENCE_MS_MAX / 1000} s`;
        throw new NotPlainError({ path, code: 'ENOTPLAIN', state });
      }
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_MS);
      silentMs += LOOK_MS;
      continue;
    }
    silentMs = 0;
    yield buffer.subarray(0, read);
  }
}

/** How many bytes a pipe gave; null while it has none and somebody may still write into it. */
function readReady(file: number, buffer: Uint8Array): number | null {
  try {
    return readSync(file, buffer, 0, buffer.length, null);
  } catch (error) {
    if (isCode(error, 'EAGAIN')) return null;
    throw error;
  }
}

function openAtOnce(path: string, links: Links): number {
  const { O_RDONLY, O_NONBLOCK, O_NOFOLLOW } = constants;
  try {
    return openSync(path, O_RDONLY | O_NONBLOCK | (links === 'refuse' ? O_NOFOLLOW : 0));
  } catch (cause) {
    const isLink = isCode(cause, 'ELOOP') && links === 'refuse';
    // ENXIO: a socket has no bytes of its own, and there may be no driver behind a device.
    if (!isLink && !isCode(cause, 'ENXIO')) throw cause;
    const state = `not a plain file: ${isLink ? 'a link' : 'a socket or device'}`;
    throw new NotPlainError({ path, code: 'ENOTPLAIN', state }, { cause });
  }
}

function notPlain(path: string, stats: Stats): NotPlainError {
  if (stats.isDirectory()) {
    return new NotPlainError({ path, code: 'EISDIR', state: 'it is a folder; name a file' });
  }
  const state = `not a plain file: ${stats.isFIFO() ? 'a pipe' : 'a device'}`;
  return new NotPlainError({ path, code: 'ENOTPLAIN', state });
}

/** Replaces a file in one step, which a power cut does not halve, by way of `fresh` on the same disk. */
export function replaceFile(
  path: string,
  content: string | Uint8Array,
  fresh = `${path}.new`,
): void {
  const file = openSync(fresh, 'w');
  try {
    writeFileSync(file, content);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(fresh, path);
  syncFolder(dirname(path));
}

/** The name of a file is durable only once its folder is. */
export function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** Makes a folder, and those above it, whose names a power cut does not take away. */
export function durableFolder(folder: string): void {
  const whole = resolve(folder);
  const first = mkdirSync(whole, { recursive: true });
  if (first === undefined) return;
  for (let made = whole; made.length >= first.length; made = dirname(made)) {
    syncFolder(dirname(made));
  }
}
