import { gzipSync } from 'node:zlib';

/** Where a gzip stream names the system that made it (RFC 1952), and the value for none. */
const SYSTEM_AT = 9;
const SYSTEM_UNKNOWN = 255;

/** Bytes under gzip, the same on every system. */
export function gzipBytes(bytes: Uint8Array): Buffer {
  const packed = gzipSync(bytes);
  packed[SYSTEM_AT] = SYSTEM_UNKNOWN;
  return packed;
}
