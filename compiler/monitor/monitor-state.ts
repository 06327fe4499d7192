import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { decodeUtf8, parseJson } from '../contract/strict-json.ts';
import { replaceFile } from '../stages/publish/replace-file.ts';
import { readPlain } from '../verify/plain-file.ts';
import { FINDING_KINDS } from './finding.ts';

const STATE_NAME = 'state.json';
const STATE_BYTES_MAX = 16 << 20;
/** Heads that are kept, and bytes of them: a contradiction is found against any of them. */
const HEADS_MAX = 64;
const HEADS_BYTES_MAX = 1 << 20;
/** Times between releases that the rhythm of a log is read from. */
export const GAPS_MAX = 32;
/** Readings of free samples that are kept, with their bodies. */
export const READINGS_MAX = 256;
/** Alarms and notices that are kept, open ones and those that ended: more than can be open at all addresses. */
export const ALARMS_MAX = 1024;

const count = z.int().min(0);
const time = z.iso.datetime();

const address = z.strictObject({
  /** Number of the newest release that it showed. */
  sequence: count,
  /** Entries of the largest tree that it showed. */
  size: count,
  last_attempt: time.nullable(),
  last_success: time.nullable(),
  next_due: time.nullable(),
  failures: count,
  last_error: z.string().nullable(),
  /** Detail of what the last round saw and could not prove, by finding: seen again, it becomes an alarm. */
  suspicions: z.record(z.string(), z.string()),
});

const alarm = z.strictObject({
  kind: z.enum(FINDING_KINDS),
  address: z.string(),
  about: z.string(),
  detail: z.string(),
  since: time,
  /** When it was no longer so; null while it is. What is proven stays. */
  ended_at: time.nullable(),
  /** Name of the file that proves it; null where only the monitor saw it. */
  evidence: z.string().nullable(),
});

const state = z.strictObject({
  format: z.literal('signalpress-monitor/1'),
  /** Origin of the log; null before the first checkpoint. */
  origin: z.string().nullable(),
  /** DIDs that are believed; given, or those of the first head. */
  issuers: z.array(z.string()).max(64),
  /** DIDs of root keys that are believed; not in the state of an earlier version. */
  roots: z.array(z.string()).max(64).default([]),
  /** Text of the newest list of keys. */
  keys: z.string().nullable(),
  /** Note of the largest tree that is proven to go on from all others. */
  newest: z.string().nullable(),
  /** Texts of the newest heads by sequence, the newest last. */
  heads: z.array(z.string()).max(HEADS_MAX),
  /** When the newest head was first seen. */
  head_seen_at: time.nullable(),
  /** Hash of the newest head that was found at its place in the log. */
  logged_head: z.string().nullable(),
  /** Milliseconds between releases. */
  gaps_ms: z.array(count).max(GAPS_MAX),
  addresses: z.record(z.string(), address),
  alarms: z.array(alarm).max(ALARMS_MAX),
  /** How often a notice was found for which there was no room. */
  notices_left_out: count.default(0),
  /** Record hash by signal, entity and time. */
  readings: z.array(z.tuple([z.string(), z.string()])).max(READINGS_MAX),
  rounds: count,
});

/** How an address stands. */
export type AddressState = z.infer<typeof address>;
/** Something that was found, as it is remembered. */
export type Alarm = z.infer<typeof alarm>;
/** What a monitor remembers. */
export type MonitorState = z.infer<typeof state>;

export const NO_ADDRESS: AddressState = {
  sequence: 0,
  size: 0,
  last_attempt: null,
  last_success: null,
  next_due: null,
  failures: 0,
  last_error: null,
  suspicions: {},
};

/** What a monitor knows before its first round. */
export function firstState({
  issuers,
  roots,
}: {
  readonly issuers: readonly string[];
  readonly roots: readonly string[];
}): MonitorState {
  return {
    format: 'signalpress-monitor/1',
    origin: null,
    issuers: [...issuers],
    roots: [...roots],
    keys: null,
    newest: null,
    heads: [],
    head_seen_at: null,
    logged_head: null,
    gaps_ms: [],
    addresses: {},
    alarms: [],
    notices_left_out: 0,
    readings: [],
    rounds: 0,
  };
}

/** The newest heads, as many as are kept. */
export function newestHeads(texts: readonly string[]): string[] {
  const kept: string[] = [];
  let bytes = 0;
  for (const text of texts.slice(-HEADS_MAX).reverse()) {
    bytes += Buffer.byteLength(text);
    if (bytes > HEADS_BYTES_MAX) break;
    kept.unshift(text);
  }
  return kept;
}

/** Reads what a monitor remembers in a folder; null where it has not begun. Throws a RangeError for anything else. */
export function readState(folder: string): MonitorState | null {
  const path = join(folder, STATE_NAME);
  if (!existsSync(path)) return null;
  try {
    return state.parse(parseJson(decodeUtf8(readPlain(path, STATE_BYTES_MAX))));
  } catch (cause) {
    throw new RangeError(
      `Cannot go on from "${path}": not what this program remembers; name another --state, and keep this folder as it is`,
      { cause },
    );
  }
}

/** Replaces it in one durable step. */
export function writeState(folder: string, next: MonitorState): void {
  replaceFile(join(folder, STATE_NAME), `${JSON.stringify(next)}\n`);
}
