import { z } from 'zod';
import { defined, messageOf } from '../../format/errors.ts';
import { decodeUtf8, type JsonValue, parseJson } from '../../format/strict-json.ts';
import type { CollectionId } from '../../products/collections.ts';
import type { Reading } from '../../readings/reading.ts';

export const PAYLOAD_BYTES_MAX = 64 * 1024 * 1024;

/** When and where a payload was fetched; many payloads hold no time of their own. */
export interface FetchNote {
  readonly url: string;
  /** ISO-8601, in UTC. */
  readonly fetched_at: string;
  readonly http_status: number;
  readonly http_date?: string | undefined;
  readonly last_modified?: string | undefined;
  /** How long the payload is, as its transfer said: a table that is cut where a line ends looks whole. */
  readonly bytes?: number | undefined;
}

/** What an agency answered, with what is known of its fetch; `subject` is what messages call it. */
export interface Payload {
  readonly bytes: Uint8Array;
  readonly note: FetchNote;
  readonly subject: string;
}

export interface Skipped {
  readonly subject: string;
  readonly reason: string;
  readonly count: number;
  /** It could not be read, rather than being none of ours. */
  readonly isUnread?: true;
}

export interface Imported {
  /** By signal id; every list is sorted by entity and time. */
  readonly readings: ReadonlyMap<string, readonly Reading[]>;
  /** Rows by collection, for a source that lists more than readings. */
  readonly rows?: ReadonlyMap<CollectionId, readonly object[]>;
  /** The payload is a page of a list: what it leaves out is absent only when all pages say so. */
  readonly isPart?: true;
  readonly skipped: readonly Skipped[];
  readonly remarks: readonly string[];
}

/** Bytes without the byte order mark that may stand in front of a text, which is no part of it (RFC 8259, section 8.1). */
export function withoutMark(bytes: Uint8Array): Uint8Array {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

/**
 * The text of a payload. Throws an ImportError for one that is empty, too large, not UTF-8, or a page of markup where the
 * source answers with something else.
 */
export function textOf(
  { bytes: marked, subject }: Pick<Payload, 'bytes' | 'subject'>,
  { isMarkup = false }: { readonly isMarkup?: boolean } = {},
): string {
  const bytes = withoutMark(marked);
  if (bytes.length > PAYLOAD_BYTES_MAX) {
    const state = `${bytes.length} bytes, more than ${PAYLOAD_BYTES_MAX}; ask the source for less`;
    throw new ImportError({ subject, state });
  }
  const start = String.fromCharCode(...bytes.subarray(0, 64)).trimStart();
  if (start === '') throw fetchAgain({ subject }, 'the payload is empty');
  if (start.startsWith('<') && !isMarkup) {
    throw fetchAgain({ subject }, 'an HTML or XML page, not what the source answers with');
  }
  try {
    return decodeUtf8(bytes);
  } catch (cause) {
    throw new ImportError({ subject, state: 'it is not UTF-8; fetch it again' }, { cause });
  }
}

/** The JSON value of a payload; throws an ImportError for anything that is not one whole JSON text. */
export function parsePayload(bytes: Uint8Array, subject: string): JsonValue {
  const text = textOf({ bytes, subject });
  try {
    return parseJson(text);
  } catch (cause) {
    const state = `the payload is not whole JSON (${messageOf(cause)}); fetch it again`;
    throw new ImportError({ subject, state }, { cause });
  }
}

/** Counts what was skipped, one entry for each subject and reason. */
export class SkipCount {
  readonly #counts = new Map<string, Skipped>();

  add(subject: string, reason: string, count = 1): void {
    const key = JSON.stringify([subject, reason]);
    const before = this.#counts.get(key);
    this.#counts.set(key, { ...before, subject, reason, count: (before?.count ?? 0) + count });
  }

  /** Counts what cannot be read, by what it may touch: a region, an airport, a filer. */
  unread(subject: string, reason: string, count = 1): void {
    this.add(subject, reason, count);
    const key = JSON.stringify([subject, reason]);
    const { count: all } = defined(this.#counts.get(key), 'what was counted');
    this.#counts.set(key, { subject, reason, count: all, isUnread: true });
  }

  list(): Skipped[] {
    return [...this.#counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, skipped]) => skipped);
  }
}

/** A payload that cannot become a snapshot batch; nothing was written. */
export class ImportError extends Error {
  constructor({ subject, state }: { subject: string; state: string }, options?: ErrorOptions) {
    super(`Cannot import "${subject}": ${state}`, options);
    this.name = 'ImportError';
  }
}

/** A payload that is not what its source documents; another fetch may be. */
export function fetchAgain({ subject }: { readonly subject: string }, state: string): ImportError {
  return new ImportError({ subject, state: `${state}; fetch it again` });
}

/** A parsed payload as the shape that its source documents; throws an ImportError that names the first member at fault. */
export function shaped<Shape>(
  schema: z.ZodType<Shape>,
  value: unknown,
  { subject, is }: { subject: string; is: string },
): Shape {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const member = issue?.path.join('.') || 'payload';
  const state = `not ${is} (${member}: ${issue?.message}); fetch it again`;
  throw new ImportError({ subject, state }, { cause: parsed.error });
}

/** The JSON of a payload in the shape that its source documents; throws an ImportError that names what is at fault. */
export function jsonOf<Shape>(
  { bytes, subject }: Pick<Payload, 'bytes' | 'subject'>,
  schema: z.ZodType<Shape>,
  is: string,
): Shape {
  return shaped(schema, parsePayload(bytes, subject), { subject, is });
}

/** What a reader of a payload makes of it; its RangeError becomes an ImportError. */
export function readable<Read>({ subject }: Pick<Payload, 'subject'>, read: () => Read): Read {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new ImportError({ subject, state: `${cause.message}; fetch it again` }, { cause });
  }
}

const HEAD_BYTES = 4096;

/** Another kind of answer of the same agency: how its text begins, what it is, and what to import instead. */
export interface OtherKind {
  readonly begins: RegExp;
  readonly is: string;
}

/** Throws an ImportError that says what a payload is, where it is one of the kinds that give no readings. */
export function refuseOtherKinds(
  { bytes, subject }: Pick<Payload, 'bytes' | 'subject'>,
  kinds: readonly OtherKind[],
): void {
  const start = withoutMark(bytes).subarray(0, HEAD_BYTES);
  const head = new TextDecoder('latin1').decode(start).trimStart();
  const found = kinds.find(({ begins }) => begins.test(head));
  if (found !== undefined) throw new ImportError({ subject, state: found.is });
}

/** The same for entries of JSON, which are told by a member that only they have. */
export function refuseOtherEntries(
  entry: unknown,
  kinds: ReadonlyMap<string, string>,
  subject: string,
): void {
  if (typeof entry !== 'object' || entry === null) return;
  const found = [...kinds].find(([member]) => Object.hasOwn(entry, member));
  if (found !== undefined) throw new ImportError({ subject, state: found[1] });
}

/** A number as publishers write it: digits and at most one point, no exponent. */
const NUMBER = /^-?\d{1,15}(\.\d{1,12})?$/;

/** The number that a text writes; null for any other text, so that what cannot be read never becomes 0. */
export function numberOf(text: string): number | null {
  return NUMBER.test(text) ? Number(text) : null;
}

/** Query parameters that carry a data key at the official sources, in lower case. */
const KEY_PARAMETERS: readonly string[] = ['api_key', 'apikey', 'map_key', 'registrationkey'];
/** A data key as a part of a path, as NASA FIRMS takes it. */
const KEY_IN_PATH = /\/[0-9a-f]{32}(?=\/|$)/gi;

const fetchNoteSchema: z.ZodType<FetchNote> = z.strictObject({
  url: z.url().transform(withoutKeys),
  fetched_at: z.iso.datetime({ error: 'not an ISO-8601 UTC time such as 2026-11-20T11:00:12Z' }),
  http_status: z.int(),
  http_date: z.string().optional(),
  last_modified: z.string().optional(),
  bytes: z.int().min(0).optional(),
});

/** The same address without data keys and credentials, so that none is ever stored. */
export function withoutKeys(address: string): string {
  const url = new URL(address);
  for (const name of [...url.searchParams.keys()]) {
    if (KEY_PARAMETERS.includes(name.toLowerCase())) url.searchParams.delete(name);
  }
  url.pathname = url.pathname.replace(KEY_IN_PATH, '/{key}');
  url.username = '';
  url.password = '';
  return url.href;
}

/** Reads the bytes of a note file; throws an ImportError that names the member at fault. */
export function parseFetchNote(bytes: Uint8Array, file: string): FetchNote {
  let value: unknown;
  try {
    value = parseJson(decodeUtf8(bytes));
  } catch (cause) {
    const state = 'the fetch note is not JSON; write it again';
    throw new ImportError({ subject: file, state }, { cause });
  }
  const parsed = fetchNoteSchema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const member = issue?.path.join('.') || 'fetch note';
    const state = `${member}: ${issue?.message}; correct the fetch note`;
    throw new ImportError({ subject: file, state }, { cause: parsed.error });
  }
  if (parsed.data.http_status !== 200) {
    throw fetchAgain({ subject: file }, `the source answered HTTP ${parsed.data.http_status}`);
  }
  return parsed.data;
}
