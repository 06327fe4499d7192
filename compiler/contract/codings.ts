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
