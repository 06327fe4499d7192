import { crc32, inflateRawSync } from 'node:zlib';
import { ImportError, PAYLOAD_BYTES_MAX, type Payload } from './payload.ts';

// APPNOTE 6.3: the end record leads to the directory, and that to the one file.
const END = { signature: 0x06054b50, bytes: 22 } as const;
const ENTRY = { signature: 0x02014b50, bytes: 46 } as const;
const LOCAL = { signature: 0x04034b50, bytes: 30 } as const;
const DEFLATED = 8;
const COMMENT_BYTES_MAX = 0xffff;

/** A payload that is a ZIP archive of one file as that file; any other payload as it is. Throws an ImportError for a broken one. */
export function unzipped(payload: Payload): Payload {
  const archive = Buffer.from(payload.bytes.buffer, payload.bytes.byteOffset, payload.bytes.length);
  if (!archive.subarray(0, 2).equals(Buffer.from('PK'))) return payload;
  try {
    return { ...payload, bytes: onlyFile(archive) };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const state = `not a whole ZIP archive of one file (${reason}); fetch it again`;
    throw new ImportError({ subject: payload.subject, state }, { cause });
  }
}

function onlyFile(archive: Buffer): Uint8Array {
  const end = endRecord(archive);
  const files = archive.readUInt16LE(end + 10);
  const entry = archive.readUInt32LE(end + 16);
  if (files !== 1) throw new RangeError(`${files} files`);
  expectAt(archive, entry, ENTRY.signature);
  const method = archive.readUInt16LE(entry + 10);
  const sum = archive.readUInt32LE(entry + 16);
  const packed = archive.readUInt32LE(entry + 20);
  const size = archive.readUInt32LE(entry + 24);
  const local = archive.readUInt32LE(entry + 42);
  expectAt(archive, local, LOCAL.signature);
  if (method !== DEFLATED) throw new RangeError(`method ${method}`);
  if (size > PAYLOAD_BYTES_MAX) throw new RangeError(`more than ${PAYLOAD_BYTES_MAX} bytes inside`);
  const start =
    local + LOCAL.bytes + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
  const bytes = inflateRawSync(archive.subarray(start, start + packed), {
    maxOutputLength: Math.max(size, 1),
  });
  if (bytes.length !== size || crc32(bytes) !== sum) throw new RangeError('another checksum');
  return bytes;
}

/** Where the end record begins; a comment may follow it. */
function endRecord(archive: Buffer): number {
  const last = archive.length - END.bytes;
  for (let at = last; at >= Math.max(0, last - COMMENT_BYTES_MAX); at -= 1) {
    if (archive.readUInt32LE(at) === END.signature) return at;
  }
  throw new RangeError('no end');
}

function expectAt(archive: Buffer, at: number, signature: number): void {
  if (archive.readUInt32LE(at) !== signature) throw new RangeError('no file where it should be');
}
