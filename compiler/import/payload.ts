import type { CollectionId } from '../contract/collections.ts';
import { decodeUtf8, type JsonValue, parseJson } from '../contract/strict-json.ts';
import type { Reading } from '../stages/intake/reading.ts';
import type { FetchNote } from './fetch-note.ts';
import { ImportError } from './import-error.ts';

/** Largest payload that is read. */
export const PAYLOAD_BYTES_MAX = 64 * 1024 * 1024;

/** What an agency answered, with what is known of its fetch; `subject` is what messages call it. */
export interface Payload {
  readonly bytes: Uint8Array;
  readonly note: FetchNote;
  readonly subject: string;
}

/** Something in a payload that gave no reading, and why. */
export interface Skipped {
  readonly subject: string;
  readonly reason: string;
  readonly count: number;
}

/** What an importer makes of one payload. */
export interface Imported {
  /** By signal id; every list is sorted by entity and time. */
  readonly readings: ReadonlyMap<string, readonly Reading[]>;
  /** Rows by collection, for a source that lists more than readings. */
  readonly rows?: ReadonlyMap<CollectionId, readonly object[]>;
  /** The payload is a page of a list: what it leaves out is absent only when all pages say so. */
  readonly isPart?: true;
  readonly skipped: readonly Skipped[];
  /** Remarks about the payload as a whole. */
  readonly remarks: readonly string[];
}

/**
 * The text of a payload. Throws an ImportError for one that is empty, too large, not UTF-8, or a page of markup where the
 * source answers with something else.
 */
export function textOf(
  { bytes, subject }: Pick<Payload, 'bytes' | 'subject'>,
  { isMarkup = false }: { readonly isMarkup?: boolean } = {},
): string {
  if (bytes.length > PAYLOAD_BYTES_MAX) {
    const state = `${bytes.length} bytes, more than ${PAYLOAD_BYTES_MAX}; ask the source for less`;
    throw new ImportError({ subject, state });
  }
  const start = String.fromCharCode(...bytes.subarray(0, 64)).trimStart();
  if (start === '')
    throw new ImportError({ subject, state: 'the payload is empty; fetch it again' });
  if (start.startsWith('<') && !isMarkup) {
    const state = 'an HTML or XML page, not what the source answers with; fetch it again';
    throw new ImportError({ subject, state });
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
    const reason = cause instanceof Error ? cause.message : String(cause);
    const state = `the payload is not whole JSON (${reason}); fetch it again`;
    throw new ImportError({ subject, state }, { cause });
  }
}

/** Counts what was skipped, one entry for each subject and reason. */
export class SkipCount {
  readonly #counts = new Map<string, Skipped>();

  add(subject: string, reason: string, count = 1): void {
    const key = JSON.stringify([subject, reason]);
    const before = this.#counts.get(key)?.count ?? 0;
    this.#counts.set(key, { subject, reason, count: before + count });
  }

  list(): Skipped[] {
    return [...this.#counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, skipped]) => skipped);
  }
}
