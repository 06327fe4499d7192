import type { z } from 'zod';
import type { JsonValue } from '../contract/strict-json.ts';
import { type WatchRow, watchSchema } from '../contract/watch-bodies.ts';
import { ClientError } from './client-error.ts';

/** A reading of a watchlist. Nobody signed it: buy the record of its hash before you rely on it. */
export interface WatchedReading {
  /** As it was asked for, `line:entity`. */
  readonly item: string;
  readonly row: WatchRow;
}

export interface WatchOptions {
  /** Bought at `/gauge/subscribe`. */
  readonly token: string;
  /** Milliseconds between two looks, WATCH_MS when absent; at least 1000. */
  readonly everyMs?: number;
  /** Ends the iteration before the next look. */
  readonly signal?: AbortSignal;
}

const WATCH_MS = 60_000;
const WATCH_MS_MIN = 1000;
/** Looks in a row that fail before the iteration does. */
const FAILURES_MAX = 5;

interface Watcher {
  look(): Promise<JsonValue>;
  wait(ms: number): Promise<void>;
}

/**
 * Each reading of a watchlist, then each one whose hash changes: new ones and corrected ones. A service that is not
 * reached is asked again; after five times the error of the last one is thrown.
 */
export async function* watchReadings(
  { look, wait }: Watcher,
  { everyMs = WATCH_MS, signal }: WatchOptions,
): AsyncGenerator<WatchedReading, void, undefined> {
  let known: Readings = new Map();
  let failures = 0;
  while (signal?.aborted !== true) {
    const seen = await look().then(readingsOf).catch(passing);
    failures = seen instanceof ClientError ? failures + 1 : 0;
    if (seen instanceof ClientError) {
      if (failures === FAILURES_MAX) throw seen;
    } else {
      yield* changed(known, seen);
      known = seen;
    }
    await wait(everyMs);
  }
}

/** Refused at once, not when the first reading is asked for. */
export function requireInterval(everyMs = WATCH_MS): void {
  if (everyMs >= WATCH_MS_MIN) return;
  throw new RangeError(`Cannot watch every ${everyMs} ms: at least ${WATCH_MS_MIN}`);
}

type Readings = ReadonlyMap<string, WatchedReading>;

function changed(known: Readings, seen: Readings): WatchedReading[] {
  const isNew = ([key, { row }]: readonly [string, WatchedReading]): boolean =>
    known.get(key)?.row.record_hash !== row.record_hash;
  return [...seen].filter(isNew).map(([, reading]) => reading);
}

/** An error that may be over at the next look; throws any other. */
function passing(error: unknown): ClientError {
  if (error instanceof ClientError && isPassing(error)) return error;
  throw error;
}

function isPassing({ code, facts }: ClientError): boolean {
  return code === 'failed' || facts.status === 429;
}

/** Only what is there now is kept, so that the memory is that of one answer. */
function readingsOf(answer: JsonValue): Readings {
  const body: z.infer<typeof watchSchema> = watchSchema.parse(answer);
  const readings = body.items.flatMap(({ item, rows }) => rows.map((row) => ({ item, row })));
  return new Map(
    readings.map((reading) => [JSON.stringify([reading.item, reading.row.signal_id]), reading]),
  );
}
