import type { CollectionId } from '../contract/collections.ts';
import { decodeUtf8, type JsonValue, parseJson } from '../contract/strict-json.ts';
import type { Reading } from '../stages/intake/reading.ts';
import { ImportError } from './import-error.ts';

/** Largest payload that is read. */
export const PAYLOAD_BYTES_MAX = 64 * 1024 * 1024;

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
  readonly skipped: readonly Skipped[];
  /** Remarks about the payload as a whole. */
  readonly remarks: readonly string[];
}

/** The JSON value of a payload; throws an ImportError for anything that is not one whole JSON text. */
export function parsePayload(bytes: Uint8Array, subject: string): JsonValue {
  if (bytes.length > PAYLOAD_BYTES_MAX) {
    const state = `${bytes.length} bytes, more than ${PAYLOAD_BYTES_MAX}; ask the source for less`;
    throw new ImportError({ subject, state });
  }
  const start = String.fromCharCode(...bytes.subarray(0, 64)).trimStart();
  if (start === '')
    throw new ImportError({ subject, state: 'the payload is empty; fetch it again' });
  if (start.startsWith('<')) {
    throw new ImportError({ subject, state: 'an HTML or XML page, not JSON; fetch it again' });
  }
  try {
    return parseJson(decodeUtf8(bytes));
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
