import { hash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Signatures of earlier compiles by the sha256 of what was signed; Ed25519 gives the same again. */
export interface SignatureStore {
  get(digest: string): string | undefined;
  put(digest: string, signature: string): void;
}

/** A store for one compile that remembers nothing before it. */
export function emptySignatureStore(): SignatureStore {
  return { get: () => undefined, put: () => undefined };
}

/** What `put` was called with since the store was opened, ready for the next compile. */
export interface StoredSignatures extends SignatureStore {
  save(): void;
}

/**
 * Opens the store of one signal and one key. The first line is the sha256 of the rest: a file that
 * does not match it, or that is missing, is an empty store, never an error.
 */
export function openSignatureStore(path: string): StoredSignatures {
  const before = readStore(path);
  const now = new Map<string, string>();
  return {
    get: (digest) => before.get(digest),
    put: (digest, signature) => now.set(digest, signature),
    save: () => writeStore(path, now),
  };
}

function readStore(path: string): Map<string, string> {
  const store = new Map<string, string>();
  const [head = '', rest = ''] = splitFirstLine(readIfThere(path));
  if (head !== hash('sha256', rest, 'hex')) return store;
  for (const line of rest.split('\n')) store.set(line.slice(0, 64), line.slice(65));
  return store;
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function splitFirstLine(text: string): [string, string] {
  const end = text.indexOf('\n');
  return end < 0 ? ['', ''] : [text.slice(0, end), text.slice(end + 1)];
}

function writeStore(path: string, signatures: ReadonlyMap<string, string>): void {
  const rest = [...signatures].map(([digest, signature]) => `${digest} ${signature}`).join('\n');
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.new`, `${hash('sha256', rest, 'hex')}\n${rest}`);
  renameSync(`${path}.new`, path);
}
