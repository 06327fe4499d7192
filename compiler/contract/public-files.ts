// The public part of a release: the files that anybody may have for nothing, told by how their paths begin. What is sold, and
// what names it (look-up shards, index of the log, index of filings), is not among them, nor is a product that one catalogue
// gives away: that is free at its own address. The head signs the lines of the public part as a list of their own, so that a
// stranger can check all of it without the whole list.

import { FILES_NAME, type FileEntry, isReleasePath } from './release.ts';

/** How public paths begin, in order. Heads are signed under this rule: another one is another CONTRACT_VERSION. */
const PUBLIC_PREFIXES: readonly string[] = [
  'a2a/well-known/',
  'all/well-known/',
  'catalog.json',
  'free/',
  'log/anchor/',
  'log/batches/',
  'log/checkpoint',
  'log/tile/',
  'log/vkey',
  'mcp/well-known/',
  'site/',
  // Of releases that describe themselves twice.
  'tokenless/',
  'well-known/',
];

/** Behind every character of a path. */
const BEHIND_ALL = '\x7f';

export function isPublicPath(path: string): boolean {
  return PUBLIC_PREFIXES.some((prefix) => path.startsWith(prefix));
}

/** From where to where in a list, in its order. */
type Stretch = readonly [from: number, to: number];

/** Where the public lines of a list stand; `firstFrom` says where its first line begins whose path is not before a text. */
export function publicStretches(firstFrom: (text: string) => number): Stretch[] {
  return PUBLIC_PREFIXES.map(
    (prefix): Stretch => [firstFrom(prefix), firstFrom(prefix + BEHIND_ALL)],
  ).filter(([from, to]) => from < to);
}

const FOLDER_URL = '/release/';
/** Where the public lines of the list of the newest release are read. */
export const PUBLIC_LIST_URL = `${FOLDER_URL}${FILES_NAME}`;

/** A public file by its content, whichever release lists it. */
export type PublicFile = Pick<FileEntry, 'path' | 'sha256'>;

/** Where a public file is read: by its hash, so that a download goes on when a newer release comes. */
export function publicFileUrl({ path, sha256 }: PublicFile): string {
  return `${FOLDER_URL}${sha256}/${path}`;
}

const FILE_URL = /^\/release\/([0-9a-f]{64})\/([a-z0-9._~/-]+)$/;

/** The inverse of publicFileUrl; null for any other URL, and for a path that is not public. */
export function parsePublicFileUrl(url: string): PublicFile | null {
  const [, sha256, path] = FILE_URL.exec(url) ?? [];
  if (sha256 === undefined || path === undefined) return null;
  return isReleasePath(path) && isPublicPath(path) ? { path, sha256 } : null;
}
