import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { codeOf, messageOf } from '../../format/errors.ts';
import {
  formatKeyHistory,
  isContinued,
  KEYS_BYTES_MAX,
  KEYS_PATH,
  type KeyHistory,
  readKeyHistory,
} from '../../format/key-history.ts';
import { decodeUtf8, parseJson } from '../../format/strict-json.ts';
import { currentRelease } from '../../release/release-store.ts';
import { lockData } from '../../system/data-lock.ts';
import { readNamed } from '../../system/disk.ts';
import { readPlain, replaceFile } from '../../system/plain-file.ts';
import { issuerDid, signingKey } from '../../system/sealer.ts';
import { isSignedBy } from '../../verify/verify-citation.ts';

const KEYS_NAME = 'keys.json';

/**
 * The keys of a data folder: the operator's list, which must include everything that the last release published, or
 * else that release's list; null before both. Throws a KeyError for a list that is invalid or that drops something.
 */
export function readKeys(data: string, last = currentRelease(data)): KeyHistory | null {
  const bytes = last?.read(KEYS_PATH) ?? null;
  const published = bytes === null ? null : parsed(KEYS_PATH, () => bytes);
  const path = join(data, KEYS_NAME);
  if (!existsSync(path)) return published;
  const kept = parsed(path, () => readPlain(path, KEYS_BYTES_MAX));
  if (published !== null && !isContinued(published, kept)) {
    throw damaged(path, 'it lacks a key or a revocation that the last release published');
  }
  return kept;
}

function parsed(path: string, bytes: () => Uint8Array): KeyHistory {
  try {
    return readKeyHistory(parseJson(decodeUtf8(bytes())), isSignedBy);
  } catch (cause) {
    throw damaged(path, messageOf(cause), cause);
  }
}

function damaged(path: string, state: string, cause?: unknown): KeyError {
  return new KeyError(
    `Cannot use the list of keys "${path}": ${state}; restore it from a copy, or remove it to continue with the list of ` +
      'the last release',
    { cause },
  );
}

/**
 * Changes the keys of a folder while no compile runs: that reads the list and publishes it later, and what changed in between
 * would be lost, or mixed. Throws a KeyError for a folder that is not there, a LockedError beside a compile.
 */
export function changeKeys<T>(data: string, change: () => T): T {
  if (!existsSync(data)) {
    throw new KeyError(`Cannot change the keys of "${data}": no such folder; correct --data`);
  }
  const unlock = lockData(data);
  try {
    return change();
  } finally {
    unlock();
  }
}

/** Writes a history only if readers would accept it, of this length too. */
export function keepKeys(data: string, history: KeyHistory): KeyHistory {
  let checked: KeyHistory;
  try {
    checked = readKeyHistory(history, isSignedBy);
    const { length } = Buffer.from(formatKeyHistory(checked));
    if (length > KEYS_BYTES_MAX) throw new RangeError(`${length} bytes, at most ${KEYS_BYTES_MAX}`);
  } catch (cause) {
    throw new KeyError(
      `Cannot change the keys of "${data}": no reader would accept them (${messageOf(cause)}); nothing was written. A key cannot be ` +
        'revoked from before it announced the one that follows it',
      { cause },
    );
  }
  // Replaces the operator's list in one step.
  mkdirSync(data, { recursive: true });
  replaceFile(join(data, KEYS_NAME), formatKeyHistory(checked));
  return checked;
}

const KEY_OPTION = '--key or SIGNALPRESS_ISSUER_KEY';
/** A key file holds 64 digits and perhaps some white space. */
const KEY_BYTES_MAX = 4096;
const SEED_HEX = /^[0-9a-f]{64}$/;

/** A fault with the issuer key; the message says what to do. */
export class KeyError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'KeyError';
  }
}

/**
 * Reads the issuer key: a path to a key file, or the 64 hex digits of the seed themselves. The
 * error names the option, and never repeats its value, since that may be the secret.
 */
export function readIssuerKey(setting: string | undefined, option = KEY_OPTION): Uint8Array {
  if (setting === undefined || setting === '') {
    throw new KeyError(
      'Cannot sign: no issuer key; make one with "signalpress keygen issuer.key" and pass it ' +
        'with --key issuer.key or SIGNALPRESS_ISSUER_KEY=issuer.key',
    );
  }
  const text = SEED_HEX.test(setting) ? setting : readKeyFile(setting, option);
  if (!SEED_HEX.test(text)) {
    throw new KeyError(
      `Cannot sign: the issuer key of ${option} is not 64 hex digits; make one with "signalpress keygen FILE"`,
    );
  }
  return new Uint8Array(Buffer.from(text, 'hex'));
}

function readKeyFile(path: string, option: string): string {
  const read = tryToRead(path);
  if (read.text !== null) return read.text.trim();
  throw new KeyError(
    `Cannot read the issuer key file of ${option}: ${read.state}; correct the path, or make one with "signalpress keygen FILE"`,
  );
}

const STATES: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'no permission',
  ENOTPLAIN: 'it is not a file, or it is a pipe without data',
};

/** What the code of a system error means: its message repeats the setting, which may be the secret. */
function tryToRead(path: string): { text: string } | { text: null; state: string } {
  try {
    return { text: Buffer.from(readNamed(path, KEY_BYTES_MAX)).toString('utf8') };
  } catch (error) {
    const code = codeOf(error) ?? 'unreadable';
    return { text: null, state: STATES[code] ?? code };
  }
}

/** Writes a new key file, readable by its owner only; never replaces one. Returns the DID. */
export function writeIssuerKey(path: string): string {
  if (existsSync(path)) {
    throw new KeyError(
      `Cannot write key "${path}": the file exists and keys are never overwritten; name another file`,
    );
  }
  const seed = new Uint8Array(randomBytes(32));
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${Buffer.from(seed).toString('hex')}\n`, { flag: 'wx', mode: 0o600 });
  chmodSync(path, 0o600);
  return issuerDid(signingKey(seed));
}
