import { hash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readPlain, STORED_BYTES_MAX } from '../../verify/plain-file.ts';

/** Signatures of earlier compiles by the sha256 of what was signed; Ed25519 gives the same again. */
export interface SignatureStore {
  get(digest: string): string | undefined;
  put(digest: string, signature: string): void;
}

/** Remembers nothing: everything is signed again. */
export const NO_SIGNATURES: SignatureStore = { get: () => undefined, put: () => undefined };

/** What `put` was called with since the store was opened, ready for the next compile. */
interface StoredSignatures extends SignatureStore {
  save(): void;
}

/** Where signatures are read and where they are written. */
interface SignaturePlace {
  readonly kept: string;
  readonly made: string;
}

/** The place of a name under a key: signatures of one key are nothing to another. */
export function signaturePlace(
  folders: SignaturePlace,
  issuerDid: string,
  name: string,
): SignaturePlace {
  const key = issuerDid.slice(issuerDid.lastIndexOf(':') + 1);
  return { kept: join(folders.kept, key, name), made: join(folders.made, key, name) };
}

/**
 * Opens a store. The first line of its file is the sha256 of the rest: a file that does not match it,
 * or that is missing, is an empty store, never an error.
 */
export function openSignatureStore({ kept, made }: SignaturePlace): StoredSignatures {
  const before = readStore(kept);
  const fresh = new Map<string, string>();
  return {
    get: (digest) => before.get(digest),
    put: (digest, signature) => fresh.set(digest, signature),
    save: () => writeStore(made, fresh),
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
    return readPlain(path, STORED_BYTES_MAX).toString('utf8');
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
  writeFileSync(path, `${hash('sha256', rest, 'hex')}\n${rest}`);
}
