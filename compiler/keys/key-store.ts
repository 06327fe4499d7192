import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  formatKeyHistory,
  isContinued,
  KEYS_BYTES_MAX,
  KEYS_PATH,
  type KeyHistory,
  readKeyHistory,
} from '../contract/key-history.ts';
import { decodeUtf8, parseJson } from '../contract/strict-json.ts';
import { currentRelease } from '../stages/anchor/current-release.ts';
import type { PreviousRelease } from '../stages/anchor/previous-log.ts';
import { lockData } from '../stages/publish/data-lock.ts';
import { replaceFile } from '../stages/publish/replace-file.ts';
import { readPlain } from '../verify/plain-file.ts';
import { isSignedBy } from '../verify/verify-citation.ts';
import { KeyError } from './issuer-key.ts';

/** The operator's list of issuer keys, beside the releases. */
const KEYS_NAME = 'keys.json';

/**
 * The keys of a data folder: the operator's list, which must include everything that the last release published, or
 * else that release's list; null before both. Throws a KeyError for a list that is invalid or that drops something.
 */
export function readKeys(data: string, last = currentRelease(data)): KeyHistory | null {
  const published = publishedKeys(last);
  const path = join(data, KEYS_NAME);
  if (!existsSync(path)) return published;
  const kept = parsed(path, () => readPlain(path, KEYS_BYTES_MAX));
  if (published !== null && !isContinued(published, kept)) {
    throw damaged(path, 'it lacks a key or a revocation that the last release published');
  }
  return kept;
}

function publishedKeys(last: PreviousRelease | null): KeyHistory | null {
  const bytes = last?.read(KEYS_PATH) ?? null;
  return bytes === null ? null : parsed(KEYS_PATH, () => bytes);
}

function parsed(path: string, bytes: () => Uint8Array): KeyHistory {
  try {
    return readKeyHistory(parseJson(decodeUtf8(bytes())), isSignedBy);
  } catch (cause) {
    throw damaged(path, cause instanceof Error ? cause.message : 'unreadable', cause);
  }
}

function damaged(path: string, state: string, cause?: unknown): KeyError {
  return new KeyError(
    `Cannot use the list of keys "${path}": ${state}; restore it from a copy, or remove it to continue with the list of ` +
      'the last release',
    { cause },
  );
}

/** Replaces the operator's list in one step. */
function writeKeys(data: string, history: KeyHistory): void {
  mkdirSync(data, { recursive: true });
  replaceFile(join(data, KEYS_NAME), formatKeyHistory(history));
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
    const why = cause instanceof Error ? cause.message : 'unreadable';
    throw new KeyError(
      `Cannot change the keys of "${data}": no reader would accept them (${why}); nothing was written. A key cannot be ` +
        'revoked from before it announced the one that follows it',
      { cause },
    );
  }
  writeKeys(data, checked);
  return checked;
}
