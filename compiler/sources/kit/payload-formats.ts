import { crc32, inflateRawSync } from 'node:zlib';
import { CsvError, parse } from 'csv-parse/sync';
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { defined, messageOf } from '../../format/errors.ts';
import { firstTwice } from '../../format/lists.ts';
import { fetchAgain, ImportError, PAYLOAD_BYTES_MAX, type Payload, textOf } from './payload.ts';

export type CsvRow = Readonly<Record<string, string>>;

/**
 * Rows of a table with a header line. Throws an ImportError where a column of `needed` is missing, a column stands twice, a
 * row has another number of values than the header, or the last line is not ended.
 */
export function csvRows(
  payload: Payload,
  needed: readonly string[],
  separator = ',',
): readonly CsvRow[] {
  const { subject } = payload;
  const [header, ...rows] = records(payload, separator);
  if (header === undefined) throw new ImportError({ subject, state: 'the table is empty' });
  const missing = needed.find((name) => !header.includes(name));
  const twice = firstTwice(header);
  if (missing !== undefined || twice !== undefined) {
    const fault = missing === undefined ? `two columns "${twice}"` : `no column "${missing}"`;
    const state = `${fault} in the header "${header.join(',').slice(0, 120)}"; fetch it again`;
    throw new ImportError({ subject, state });
  }
  return rows.map((row) =>
    Object.fromEntries(header.map((name, at) => [name, defined(row[at], 'the cell')] as const)),
  );
}

function records(payload: Payload, delimiter: string): string[][] {
  const text = textOf(payload);
  if (!text.endsWith('\n')) {
    throw fetchAgain(payload, 'its last line is not ended, so it may be cut off');
  }
  try {
    return parse(text, { delimiter, trim: true, skip_empty_lines: true });
  } catch (cause) {
    if (!(cause instanceof CsvError)) throw cause;
    const state = `not a whole table (${cause.message}); fetch it again`;
    throw new ImportError({ subject: payload.subject, state }, { cause });
  }
}

const PARSER = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  parseTagValue: false,
  parseAttributeValue: false,
  // Every element is a list, so that one entry and several look alike.
  isArray: (...[, , , isAttribute]) => !isAttribute,
});

/**
 * A document as objects: each element is a list of its occurrences, text stays text, attributes begin with "@". Throws an
 * ImportError for a document that is not whole, has another root element, or declares a document type.
 */
export function xmlDocument(payload: Payload, root: string): unknown {
  const { subject } = payload;
  const text = textOf(payload, { isMarkup: true });
  if (/<!(DOCTYPE|ENTITY)/i.test(text)) {
    throw new ImportError({ subject, state: 'it declares a document type, which is not read' });
  }
  const verdict = XMLValidator.validate(text);
  if (verdict !== true) {
    throw fetchAgain(payload, `not whole XML (line ${verdict.err.line}: ${verdict.err.msg})`);
  }
  const found = (PARSER.parse(text) as Readonly<Record<string, unknown>>)[root];
  if (Array.isArray(found) && found.length === 1) return found[0];
  throw fetchAgain(payload, `its root element is not <${root}>`);
}

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
    const state = `not a whole ZIP archive of one file (${messageOf(cause)}); fetch it again`;
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
