import { z } from 'zod';
import type { KeyHistory } from './key-history.ts';
import { RECORD_HASH } from './record-hash.ts';

/** Version of everything in this folder; a gatekeeper serves only its own. */
export const CONTRACT_VERSION = 5;

/** Longest head that is read: a head is some hundred bytes. */
export const HEAD_BYTES_MAX = 65_536;
/** Longest line of the list of files. */
export const FILE_LINE_BYTES_MAX = 4096;

/** Names of the two files that describe a release; neither is listed in FILES_NAME. */
export const RELEASE_NAME = 'release.json';
export const FILES_NAME = 'files.txt';

/** Below the data folder: one folder for each release, and the link to the one that is served. */
export const RELEASES_FOLDER = 'releases';
export const CURRENT_LINK = 'current';

const hash = z.string().regex(RECORD_HASH);

/** The signed head of a release; the signature covers the canonical JSON without `signature`. */
export const releaseSchema = z.strictObject({
  format: z.literal('signalpress-release/1'),
  contract_version: z.int(),
  sequence: z.int().min(1),
  as_of: z.iso.datetime(),
  /** When to look for a newer release; absent if the issuer promised none. */
  valid_until: z.iso.datetime().exactOptional(),
  /**
   * That a clock which ran ahead was set right: the release of this sequence came after releases of as late a time as
   * `latest`, and may be of an earlier one. Absent where that never happened.
   */
  clock_corrected: z
    .strictObject({ sequence: z.int().min(1), latest: z.iso.datetime() })
    .exactOptional(),
  base_url: z.url(),
  issuer_name: z.string().min(1),
  issuer_did: z.string().startsWith('did:key:z6Mk'),
  key_id: z.string().min(1),
  table_digest: hash,
  /** Hash of `catalog.json`, so that the head alone proves it; absent in releases from before. */
  catalog_sha256: hash.exactOptional(),
  files_sha256: hash,
  files_count: z.int().min(0),
  /** The lines of the list that anybody may have; absent in releases from before. */
  public_files: z.strictObject({ sha256: hash, count: z.int().min(0) }).exactOptional(),
  previous: hash.nullable(),
  /** Position of the hash of this head in a log of the first format; absent in every other release. */
  log_index: z.int().min(0).exactOptional(),
  counts: z.strictObject({
    readings: z.int(),
    entities: z.int(),
    records: z.int(),
    bundles: z.int(),
    revisions: z.int(),
    repeats: z.int(),
    /** How many bad snapshot lines were left out; absent if there were none. */
    rejects: z.int().min(1).exactOptional(),
  }),
  signature: z.string(),
});
export type Release = z.infer<typeof releaseSchema>;

/** Whether the issuer said that readers should look for a newer release by now, epoch milliseconds. */
export function isStale({ valid_until }: Release, now: number): boolean {
  return valid_until !== undefined && Date.parse(valid_until) < now;
}

/** Name of the folder of a release: it sorts like the sequence and tells the day, `000012-20261120T120000Z`. */
export function releaseName({ sequence, as_of }: Pick<Release, 'sequence' | 'as_of'>): string {
  const time = as_of.replace(/[-:]/g, '').replace(/\.\d+/, '');
  return `${String(sequence).padStart(6, '0')}-${time}`;
}

/** One published file: path inside the release, size in bytes, sha256 in hex. */
export interface FileEntry {
  readonly path: string;
  readonly size: number;
  readonly sha256: string;
}

/** Lines of FILES_NAME in the order given, which must be that of their paths: `<sha256> <size> <path>`. */
export function formatFiles(entries: readonly FileEntry[]): string {
  const lines = entries.map((entry) => `${entry.sha256} ${entry.size} ${entry.path}\n`);
  return lines.join('');
}

/** Reads FILES_NAME; throws a RangeError that names the line for anything malformed or unsorted. */
export function parseFiles(text: string): FileEntry[] {
  const entries: FileEntry[] = [];
  let last = '';
  for (const [index, line] of text.split('\n').slice(0, -1).entries()) {
    const [, sha256, size, path] = FILE_LINE.exec(line) ?? [];
    if (sha256 === undefined || path === undefined || path <= last || !isReleasePath(path)) {
      throw new RangeError(`Cannot read ${FILES_NAME}: line ${index + 1} is malformed or unsorted`);
    }
    last = path;
    entries.push({ path, size: Number(size), sha256 });
  }
  if (text !== '' && !text.endsWith('\n')) {
    throw new RangeError(`Cannot read ${FILES_NAME}: cut off in its last line`);
  }
  return entries;
}

const FILE_LINE = /^([0-9a-f]{64}) (0|[1-9][0-9]{0,14}) ([a-z0-9._~/-]+)$/;

/** Relative, without empty segments and without any that begin with a dot. */
function isReleasePath(path: string): boolean {
  return !/(^|\/)(\.|\/|$)/.test(path);
}

/** What a record hash stands for. */
export interface VerifyEntry {
  readonly record_hash: string;
  /** Hash core of a reading, hash core of a roster row, or signed statement of any body. */
  readonly kind: 'reading' | 'row' | 'citation';
  readonly state: 'current' | 'superseded';
  /** File of the release that carries the hash; null for a superseded one. */
  readonly file: string | null;
  /** Null when a citation signs a body that joins signals. */
  readonly signal_id: string | null;
  readonly entity: string;
  readonly observed_at: string;
}

/** One line of a verify shard: the release carries the hash now. */
export interface CurrentEntry extends VerifyEntry {
  readonly state: 'current';
  readonly file: string;
}

/** A shard line holds the members but the state as a JSON array, so that any entity text survives. */
export function formatVerifyEntry(entry: CurrentEntry): string {
  const { record_hash, kind, file, signal_id, entity, observed_at } = entry;
  const cells = [record_hash, kind, file, signal_id, entity, observed_at];
  return `${JSON.stringify(cells)}\n`;
}

const verifyLine = z.tuple([
  hash,
  z.enum(['reading', 'row', 'citation']),
  z.string(),
  z.string().nullable(),
  z.string(),
  z.string(),
]);

/** The inverse of formatVerifyEntry, of one line without its line end. */
export function parseVerifyEntry(line: string): CurrentEntry {
  const row = verifyLine.parse(JSON.parse(line));
  const [record_hash, kind, file, signal_id, entity, observed_at] = row;
  return { record_hash, kind, state: 'current', file, signal_id, entity, observed_at };
}

/** One latest reading in a compiled list, for coverage, catalog and previews. */
export interface CatalogRow {
  readonly signal_id: string;
  readonly entity: string;
  readonly entity_name: string | null;
  readonly observed_at: string;
  readonly band: string | null;
  readonly record_hash: string;
  /** When the source was last looked at, also without anything new. */
  readonly last_looked_at: string;
}

/** Internal list of every latest reading, one JSON array of seven a line, sorted by signal and entity. */
export const CATALOG_PATH = 'index/catalog.txt';

/** Text of one catalog line, with its line end. */
export function formatCatalogRow(row: CatalogRow): string {
  const { signal_id, entity, entity_name, observed_at, band, record_hash, last_looked_at } = row;
  const cells = [signal_id, entity, entity_name, observed_at, band, record_hash, last_looked_at];
  return `${JSON.stringify(cells)}\n`;
}

/** The inverse of formatCatalogRow, of one line without its line end. */
export function parseCatalogRow(line: string): CatalogRow {
  const [signal_id, entity, entity_name, observed_at, band, record_hash, last_looked_at] =
    JSON.parse(line) as [string, string, string | null, string, string | null, string, string];
  return { signal_id, entity, entity_name, observed_at, band, record_hash, last_looked_at };
}

/**
 * Content codings under which a release holds long free files, besides as they are (RFC 9110, section 8.4.1); the shorter
 * one first. A file has all of them or none. Zstandard is not among them: older versions of Node cannot make it, and the
 * bytes of a release must not depend on the version.
 */
export const CODINGS = ['br', 'gzip'] as const;
export type Coding = (typeof CODINGS)[number];

const ENDS: Readonly<Record<Coding, string>> = { br: '.br', gzip: '.gz' };

/** Less is not worth two more files. */
const PACKED_BYTES_MIN = 4096;

/** Whether a free file of these bytes is held under each coding too. */
export function isPacked(bytes: Uint8Array): boolean {
  return bytes.length >= PACKED_BYTES_MIN;
}

/** Where the bytes of a file stand under a coding. */
export function packedPath(path: string, coding: Coding): string {
  return path + ENDS[coding];
}

/** The inverse: the file that stands there under a coding; null for a path without such an ending. */
export function unpackedPath(path: string): { path: string; coding: Coding } | null {
  const coding = CODINGS.find((each) => path.endsWith(ENDS[each]));
  return coding === undefined ? null : { path: path.slice(0, -ENDS[coding].length), coding };
}

// The time of a release never goes back, with one exception that only the issuer can make: a wrong clock once published
// releases of the future, and the release that came after it was set right says so in its signed head.

type PlacedRelease = Pick<Release, 'sequence' | 'as_of'>;

/** Whether a release with a higher sequence claims an earlier time than the one before it, without a valid correction. */
export function goesBack(
  before: PlacedRelease,
  later: Pick<Release, 'sequence' | 'as_of' | 'issuer_did' | 'clock_corrected'>,
  keys?: KeyHistory,
): boolean {
  if (Date.parse(later.as_of) >= Date.parse(before.as_of)) return false;
  const { clock_corrected: corrected } = later;
  if (corrected === undefined || !isNewestKey(later.issuer_did, keys)) return true;
  const isCovered =
    before.sequence < corrected.sequence &&
    corrected.sequence <= later.sequence &&
    Date.parse(before.as_of) <= Date.parse(corrected.latest);
  return !isCovered;
}

/**
 * Whether a key may set the clock right: the newest one that is not revoked, and any where no list is known. Whoever stole
 * an older one could otherwise date a release back to when that key was valid.
 */
export function isNewestKey(did: string, keys: KeyHistory | undefined): boolean {
  if (keys === undefined) return true;
  return keys.keys.findLast(({ revoked_from }) => revoked_from === null)?.did === did;
}

/** What a head says about clocks that were set right, behind another release: what that one said, or, where time goes back, that it does. */
export function clockCorrected(
  before: (PlacedRelease & Pick<Release, 'clock_corrected'>) | null,
  { sequence, as_of }: PlacedRelease,
): Pick<Release, 'clock_corrected'> {
  const known = before?.clock_corrected;
  if (before === null || Date.parse(as_of) >= Date.parse(before.as_of)) {
    return known === undefined ? {} : { clock_corrected: known };
  }
  const times = [before.as_of, ...(known === undefined ? [] : [known.latest])];
  const latest = times.reduce((a, b) => (Date.parse(a) >= Date.parse(b) ? a : b));
  return { clock_corrected: { sequence, latest } };
}

// The public part of a release: the files that anybody may have for nothing, told by how their paths begin. What is sold, and
// what names it (look-up shards, index of the log, index of filings), is not among them, nor is a product that one catalogue
// gives away: that is free at its own address. The head signs the lines of the public part as a list of their own, so that a
// stranger can check all of it without the whole list.

/** How public paths begin, in order. Heads are signed under this rule: another one is another CONTRACT_VERSION. */
const PUBLIC_PREFIXES: readonly string[] = [
  'a2a/well-known/',
  'all/well-known/',
  'catalog.json',
  'free/',
  'mcp/well-known/',
  'site/',
  'tokenless/',
  'well-known/',
];

/** Behind every character of a path. */
const BEHIND_ALL = '\x7f';

export function isPublicPath(path: string): boolean {
  return PUBLIC_PREFIXES.some((prefix) => path.startsWith(prefix));
}

/** Where the public lines of a list stand; `firstFrom` says where its first line begins whose path is not before a text. */
export function publicStretches(firstFrom: (text: string) => number) {
  return PUBLIC_PREFIXES.map(
    (prefix) => [firstFrom(prefix), firstFrom(prefix + BEHIND_ALL)] as const,
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
