import { defined } from '../../format/errors.ts';
import type { TableRow } from './product.ts';

/** Longest encoded path segment in bytes; file systems stop at 255. */
const SEGMENT_BYTES_MAX = 200;

const PLAIN = /^[a-z0-9_-][a-z0-9._-]*$/;
const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Turns any text into one reversible, case-insensitive-safe path segment: `[a-z0-9._-]` stays,
 * every other byte (and a leading dot) becomes `~` and two hex digits. Throws a RangeError for
 * empty text, a lone surrogate and anything longer than SEGMENT_BYTES_MAX.
 */
export function encodeSegment(text: string): string {
  if (text === '') throw new RangeError('Cannot encode path segment "": empty');
  if (!text.isWellFormed()) throw new RangeError('Cannot encode path segment: lone surrogate');
  const bytes = PLAIN.test(text) ? [] : encoder.encode(text);
  const escaped = Array.from(bytes, (byte) => ESCAPED[byte]).join('');
  const segment = PLAIN.test(text) ? text : escaped.replace(/^\./, '~2e');
  if (segment.length > SEGMENT_BYTES_MAX) {
    throw new RangeError(
      `Cannot encode path segment "${text.slice(0, 40)}…": longer than ${SEGMENT_BYTES_MAX} bytes`,
    );
  }
  return segment;
}

/** Whether a text can be a path segment. */
export function fitsSegment(text: string): boolean {
  try {
    return encodeSegment(text) !== '';
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

const ESCAPED = Array.from({ length: 256 }, (_, byte) => {
  const char = String.fromCharCode(byte);
  return /[a-z0-9._-]/.test(char) ? char : `~${byte.toString(16).padStart(2, '0')}`;
});

/** The inverse of encodeSegment; throws a RangeError for a segment that it never makes. */
export function decodeSegment(segment: string): string {
  const bytes: number[] = [];
  for (let at = 0; at < segment.length; at++) {
    const escaped = segment[at] === '~';
    bytes.push(
      escaped ? Number.parseInt(segment.slice(at + 1, at + 3), 16) : segment.charCodeAt(at),
    );
    if (escaped) at += 2;
  }
  let text: string;
  try {
    text = decoder.decode(Uint8Array.from(bytes));
  } catch (cause) {
    throw new RangeError(`Cannot decode path segment "${segment}": not UTF-8`, { cause });
  }
  if (encodeSegment(text) !== segment) {
    throw new RangeError(`Cannot decode path segment "${segment}": not canonical`);
  }
  return text;
}

/** Stands for an absent optional parameter in a path; no value encodes to it. */
export const ABSENT_SEGMENT = '~';

/** As much of an operation as the path of its file follows from. */
export type FileRow = Pick<TableRow, 'path' | 'file' | 'params'>;

/** Parameter values by name; absent optional parameters are missing. */
export type Values = Readonly<Record<string, string>>;

/** The path of an operation's file inside a release, or null when the row has no file. */
export function filePath(endpoint: FileRow, values: Values): string | null {
  if (endpoint.file === undefined) return null;
  const path = endpoint.file.replace(/\{([a-z_]+)\}/g, (_, name: string) => {
    const value = values[name];
    return value === undefined ? ABSENT_SEGMENT : encodeSegment(value);
  });
  // The folder of the compiled form that the variant parameters choose; none for the usual one.
  const folders = Object.entries(endpoint.params).flatMap(([name, { variant }]) => {
    return variant?.[values[name] ?? ''] ?? [];
  });
  return [...folders, path].join('/');
}

/** The path of the file of an operation that has one; throws a RangeError for a row without. */
export function knownFilePath(endpoint: FileRow, values: Values): string {
  const path = filePath(endpoint, values);
  if (path === null) throw new RangeError(`Cannot find file of "${endpoint.path}": it has none`);
  return path;
}

/** The canonical form of a request: its path, and its parameters sorted by name, each encoded. */
export function canonicalTarget(path: string, values: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1));
  if (pairs.length === 0) return path;
  return `${path}?${pairs.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')}`;
}

/** The reading that a target is about; null where it is about something else. */
export function pairOf(target: string): { signal_id: string; entity: string } | null {
  const query = new URL(target, 'http://localhost').searchParams;
  const [signal_id, entity] = [query.get('signal_id'), query.get('entity')];
  return signal_id === null || entity === null ? null : { signal_id, entity };
}

/** The value that an example names: that of the table where it is stored, else the first in the order of paths; null for none. */
export function preferredValue(
  examples: readonly string[],
  stored: readonly string[],
): string | null {
  const [first] = examples;
  if (first !== undefined && stored.includes(first)) return first;
  let best: { readonly value: string; readonly segment: string } | null = null;
  for (const value of stored) {
    const segment = encodeSegment(value);
    if (best === null || segment < best.segment) best = { value, segment };
  }
  return best?.value ?? null;
}

/**
 * The inverse of filePath for the usual variant: parameter values, or null for the file of another row.
 * Throws a RangeError for a segment that encodeSegment never makes.
 */
export function parseFilePath(endpoint: FileRow, path: string): Values | null {
  if (endpoint.file === undefined) return null;
  const want = endpoint.file.split('/');
  const have = path.split('/');
  if (want.length !== have.length) return null;
  const values: Record<string, string> = {};
  for (const [index, part] of want.entries()) {
    const found = matchPart(part, defined(have[index], 'the segment'));
    if (found === null) return null;
    if (found.name !== null && found.value !== ABSENT_SEGMENT) {
      values[found.name] = decodeSegment(found.value);
    }
  }
  return values;
}

function matchPart(part: string, have: string): { name: string | null; value: string } | null {
  const slot = /^\{([a-z_]+)\}(.*)$/.exec(part);
  if (slot === null) return part === have ? { name: null, value: '' } : null;
  const suffix = slot[2] ?? '';
  if (!have.endsWith(suffix) || have.length === suffix.length) return null;
  return { name: slot[1] ?? null, value: have.slice(0, have.length - suffix.length) };
}

/** How record hashes begin, in order: look-ups are cut into one shard for each first byte. */
export const SHARD_STARTS: readonly string[] = Array.from(
  { length: 256 },
  (_, first) => `sha256:${first.toString(16).padStart(2, '0')}`,
);

/** Where the look-up shard of a record hash stands: one file per first byte of the digest. */
export function verifyShardPath(recordHash: string): string {
  return `verify/${recordHash.slice('sha256:'.length, 'sha256:'.length + 2)}.txt`;
}

/** Hex digits of the sha256 that a stored file's name carries; the rest is in the list of files. */
const STORED_DIGITS = 20;
/** Too short to be taken for the digits, so that a stored path has one reading. */
const EXTENSION = /\.[a-z][a-z0-9]{0,9}$/;

/**
 * Where the bytes of a listed file stand below the data folder, for every release that lists them:
 * `free/a.json` is `files/free/a.<first 20 hex digits of its sha256>.json`.
 */
export function storedPath(path: string, sha256: string): string {
  const end = EXTENSION.exec(path.slice(path.lastIndexOf('/') + 1))?.[0] ?? '';
  const stem = path.slice(0, path.length - end.length);
  return `${FILES_FOLDER}/${stem}.${sha256.slice(0, STORED_DIGITS)}${end}`;
}

/** Folder of the bytes of all releases, beside `releases`. */
export const FILES_FOLDER = 'files';
