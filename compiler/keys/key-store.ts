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
export function writeKeys(data: string, history: KeyHistory): void {
  mkdirSync(data, { recursive: true });
  replaceFile(join(data, KEYS_NAME), formatKeyHistory(history));
}
