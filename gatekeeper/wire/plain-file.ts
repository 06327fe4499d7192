import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { StartError } from './start-error.ts';

// The one place where this program opens files for reading. A pipe that nobody writes into would hold an ordinary
// open, and with it a thread that the process waits for when it stops; a device never ends.

const READ = constants.O_RDONLY | constants.O_NONBLOCK;
const NO_LINK = constants.O_NOFOLLOW;

/**
 * The bytes of a plain file of at most `max` bytes, and no link; throws for anything else. With `start` those from there on,
 * of a file of any length.
 */
export async function readPlainFile(path: string, max: number, start?: number): Promise<Buffer> {
  const handle = await open(path, READ | NO_LINK);
  try {
    const from = start ?? 0;
    const whole = plainSize(await handle.stat(), start === undefined ? max : Infinity);
    const size = Math.max(0, Math.min(max, whole - from));
    // Not a piece of a shared block: what is kept of many files would hold the whole block for each.
    const bytes = Buffer.allocUnsafeSlow(size);
    for (let have = 0; have < size; ) {
      const { bytesRead } = await handle.read(bytes, have, size - have, from + have);
      if (bytesRead === 0) throw new Error(`cut off after ${have} bytes`);
      have += bytesRead;
    }
    return bytes;
  } finally {
    await handle.close();
  }
}

/** What says that no file is at a path. */
const ABSENT: readonly unknown[] = ['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG'];

/** Whether the disk, or the limit of open files, kept somebody from looking: what is there, nobody knows. */
export function isOfDisk(error: unknown): boolean {
  return (
    error instanceof Error && 'syscall' in error && 'code' in error && !ABSENT.includes(error.code)
  );
}

/** The same at once with its mode, for a small file of the operator that is read while the gatekeeper starts; links are followed. */
export function readOwnFile(path: string, max: number): { bytes: Buffer; mode: number } {
  const file = openSync(path, READ);
  try {
    const stats = fstatSync(file);
    const bytes = Buffer.allocUnsafe(plainSize(stats, max));
    for (let have = 0; have < bytes.length; ) {
      const read = readSync(file, bytes, have, bytes.length - have, have);
      if (read === 0) throw new Error(`cut off after ${have} bytes`);
      have += read;
    }
    return { bytes, mode: stats.mode };
  } finally {
    closeSync(file);
  }
}

/** Refuses a path that would block another library when it opens it; a missing file is fine. */
export function refuseUnlessPlain(path: string): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats !== undefined && !stats.isFile()) throw new Error('not a plain file');
}

/** A plain file of the operator of any size, open for reading; links are followed, and the caller closes it. */
export function openOwnFile(path: string): number {
  const file = openSync(path, READ);
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  throw new Error('not a plain file');
}

function plainSize(stats: Stats, max: number): number {
  if (!stats.isFile()) throw new Error('not a plain file');
  if (stats.size > max) throw new Error(`${stats.size} bytes, more than ${max}`);
  return stats.size;
}

/** Replaces a file that its owner alone may read; after a power cut it is the old one or the new one, whole. */
export function replaceFile(path: string, text: string): void {
  // Several processes may replace it at the same time.
  const fresh = `${path}.${process.pid}.new`;
  synced(openSync(fresh, 'w', 0o600), (file) => writeFileSync(file, text));
  renameSync(fresh, path);
  // The name of a file is durable only once its folder is.
  synced(openSync(dirname(path), 'r'), () => undefined);
}

function synced(handle: number, write: (handle: number) => void): void {
  try {
    write(handle);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

const KEY = /^(0x)?[0-9a-fA-F]{64}$/;
/** Others than the owner may do nothing with the file. */
const OTHERS = 0o077;
/** A key file holds 64 digits and perhaps some white space. */
const KEY_BYTES_MAX = 4096;

/** The 64 hex digits of a private key, lower case, from a setting that holds them or names a file; its text appears in no error. */
export function secretKey(setting: string, variable: string): string {
  const text = KEY.test(setting) ? setting : keyFile(setting, variable);
  return text.replace(/^0x/, '').toLowerCase();
}

function keyFile(path: string, variable: string): string {
  const file = readOrNull(path);
  if (file === null) {
    // The setting may be a mistyped key, so neither it nor the system's error is shown.
    throw new StartError(
      `Cannot read ${variable}: neither an existing file nor 64 hex digits; give a key file of mode 600`,
    );
  }
  if ((file.mode & OTHERS) !== 0) {
    throw new StartError(
      `Cannot use the file of ${variable}: others may read it; set its mode to 600`,
    );
  }
  const text = file.bytes.toString('utf8').trim();
  if (KEY.test(text)) return text;
  throw new StartError(
    `Cannot use the file of ${variable}: not 64 hex digits; write the private key into it`,
  );
}

function readOrNull(path: string): ReturnType<typeof readOwnFile> | null {
  try {
    return readOwnFile(path, KEY_BYTES_MAX);
  } catch {
    return null;
  }
}
