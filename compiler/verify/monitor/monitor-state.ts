import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { openNote } from '../../format/checkpoint.ts';
import { isoTime } from '../../format/iso-time.ts';
import { releaseSchema } from '../../format/release.ts';
import { decodeUtf8, parseJson } from '../../format/strict-json.ts';
import { readPlain, replaceFile } from '../../system/plain-file.ts';
import type { Contradiction } from './evidence.ts';

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

const FINDING_KINDS = [
  'fork',
  'release_fork',
  'key_fork',
  'leaf_missing',
  'log_order',
  'rewritten',
  'rollback',
  'frozen',
  'silent',
  'unknown_key',
  'unwitnessed',
  'key_unlisted',
  'other_log',
  'unproven',
  'unreadable',
] as const;

const count = z.int().min(0);
const time = z.iso.datetime();

const address = z.strictObject({
  sequence: count,
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
  keys: z.string().nullable(),
  /** Note of the largest tree that is proven to go on from all others. */
  newest: z.string().nullable(),
  /** Texts of the newest heads by sequence, the newest last. */
  heads: z.array(z.string()).max(HEADS_MAX),
  head_seen_at: time.nullable(),
  /** Hash of the newest head that was found at its place in the log. */
  logged_head: z.string().nullable(),
  /** How many entries of the log were read; 0 in the state of an earlier version. */
  entries_read: count.default(0),
  gaps_ms: z.array(count).max(GAPS_MAX),
  addresses: z.record(z.string(), address),
  alarms: z.array(alarm).max(ALARMS_MAX),
  /** How often a notice was found for which there was no room. */
  notices_left_out: count.default(0),
  /** Record hash by signal, entity and time. */
  readings: z.array(z.tuple([z.string(), z.string()])).max(READINGS_MAX),
  rounds: count,
});

export type AddressState = z.infer<typeof address>;
type Alarm = z.infer<typeof alarm>;
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
    entries_read: 0,
    gaps_ms: [],
    addresses: {},
    alarms: [],
    notices_left_out: 0,
    readings: [],
    rounds: 0,
  };
}

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

export interface Finding {
  readonly kind: (typeof FINDING_KINDS)[number];
  /** What it is about, where one kind may be found about several things. */
  readonly about?: string;
  readonly detail: string;
  /** What proves it to a third person; without it only the monitor saw it. */
  readonly proof?: Contradiction;
  /** Signed checkpoint that could not be compared: whoever has its tiles may prove a fork by it later. */
  readonly note?: string;
}

/** A reading that is said twice may be a correction of its source: it is told, and is no alarm. */
function isNotice({ kind }: Pick<Finding, 'kind'>): boolean {
  return kind === 'rewritten';
}

/** Notices that are kept; further ones are counted. */
const NOTICES_MAX = 128;

interface FoundAt {
  readonly state: MonitorState;
  readonly address: string;
  readonly own: AddressState;
  /** Epoch milliseconds. */
  readonly now: number;
  /** Keeps what proves a finding; answers the name of its file. */
  readonly keep: (proof: Contradiction) => string;
  /** Whether the look came to its end: one that broke off proves what it proved, and nothing else. */
  readonly isWhole: boolean;
}

/**
 * Turns what a whole look at an address found into alarms. What is proven is one at once, and stays. What only the monitor
 * saw must be there in two looks in a row, because a service that switches releases may look odd for a moment; it ends when it is
 * seen no longer. Answers a line for each change.
 */
export function raiseAlarms(findings: readonly Finding[], found: FoundAt): string[] {
  const unproven = findings.filter(({ proof }) => proof === undefined);
  const counted = found.isWhole ? findings : findings.filter(({ proof }) => proof !== undefined);
  const news = counted.flatMap((finding) => raised(finding, found));
  if (!found.isWhole) return news;
  const suspicions = Object.fromEntries(unproven.map((each) => [keyOf(each), each.detail]));
  found.own.suspicions = suspicions;
  for (const alarm of found.state.alarms) {
    const isOwn = alarm.address === found.address && alarm.evidence === null;
    if (!isOwn || alarm.ended_at !== null || suspicions[keyOf(alarm)] !== undefined) continue;
    alarm.ended_at = isoTime(found.now);
    news.push(`no longer so: ${alarm.kind}: ${alarm.detail}`);
  }
  return news;
}

export function isOpen(alarm: Alarm): boolean {
  return alarm.ended_at === null && !isNotice(alarm);
}

function raised(finding: Finding, { state, address, own, now, keep }: FoundAt): string[] {
  const { kind, about = '', detail, proof } = finding;
  const before = state.alarms.find(
    (alarm) =>
      alarm.address === address &&
      keyOf(alarm) === keyOf(finding) &&
      (alarm.evidence === null) === (proof === undefined),
  );
  if (before?.ended_at === null) return [];
  if (proof === undefined && own.suspicions[keyOf(finding)] === undefined) {
    return [`seen once, to be looked at again: ${kind}: ${detail}`];
  }
  const line = `${isNotice(finding) ? 'NOTICE' : 'ALARM'} ${kind}: ${detail}`;
  if (isNotice(finding) && state.alarms.filter(isNotice).length >= NOTICES_MAX) {
    state.notices_left_out += 1;
    return state.notices_left_out > 1 ? [] : [`${line}; further ones are only counted`];
  }
  const evidence = proof === undefined ? null : keep(proof);
  const alarm = { kind, address, about, detail, since: isoTime(now), ended_at: null, evidence };
  const others = state.alarms.filter((each) => each !== before);
  // The oldest that ended makes room, then the oldest that is not proven.
  const gone =
    others.length < ALARMS_MAX
      ? undefined
      : (others.find(({ ended_at }) => ended_at !== null) ??
        others.find((each) => each.evidence === null));
  state.alarms = others.filter((each) => each !== gone).concat(alarm);
  return [evidence === null ? line : `${line} (evidence: ${evidence})`];
}

function keyOf({ kind, about = '' }: Pick<Finding, 'kind' | 'about'>): string {
  return `${kind} ${about}`.trimEnd();
}

const VERDICTS = ['well', 'alarm', 'undecided'] as const;

export function statusOf(
  state: MonitorState,
  facts: { now: number; addresses: readonly string[]; checkpoints: number; exitCode: number },
) {
  const { now, addresses, checkpoints, exitCode } = facts;
  const newest = state.newest === null ? null : openNote(state.newest);
  const text = state.heads.at(-1);
  const head = text === undefined ? null : releaseSchema.parse(parseJson(text));
  return {
    version: 1 as const,
    updated_at: isoTime(now),
    // Undecided: an address does not answer, or something is to be looked at again.
    verdict: VERDICTS[exitCode] ?? 'undecided',
    origin: state.origin,
    issuers: state.issuers,
    tree_size: newest?.checkpoint.size ?? 0,
    checkpoints_kept: checkpoints,
    rounds: state.rounds,
    release: head && {
      sequence: head.sequence,
      as_of: head.as_of,
      valid_until: head.valid_until ?? null,
    },
    addresses: Object.fromEntries(
      addresses.map((address) => [address, state.addresses[address] ?? NO_ADDRESS]),
    ),
    alarms: state.alarms.filter(isOpen),
    // Readings that were said in two ways, and how often one more was found.
    notices: state.alarms.filter(isNotice),
    notices_left_out: state.notices_left_out,
  };
}

export type MonitorStatus = ReturnType<typeof statusOf>;

/** The same for Prometheus, in its text format 0.0.4. */
export function metricsText(status: MonitorStatus): string {
  const { alarms, notices, notices_left_out, addresses, tree_size, rounds, release, updated_at } =
    status;
  const seconds = (time: string | null): number => (time === null ? 0 : Date.parse(time) / 1000);
  const each = Object.entries(addresses);
  const kinds = [...new Set(alarms.map(({ kind }) => kind))];
  return [
    gauge('alarms', 'what is wrong now', [['', alarms.length]]),
    gauge(
      'alarm',
      'what is wrong now, by kind',
      kinds.map((kind) => [label('kind', kind), alarms.filter((one) => one.kind === kind).length]),
    ),
    gauge('notices', 'readings that were said in two ways', [['', notices.length]]),
    gauge('notices_left_out', 'notices for which there was no room', [['', notices_left_out]]),
    gauge('tree_size', 'entries of the log', [['', tree_size]]),
    gauge('release_sequence', 'number of the newest release', [['', release?.sequence ?? 0]]),
    gauge('looks', 'looks since the beginning', [['', rounds]]),
    gauge('updated_seconds', 'time of the last look', [['', seconds(updated_at)]]),
    gauge(
      'failures',
      'looks in a row that an address did not answer',
      each.map(([address, { failures }]) => [label('address', address), failures]),
    ),
    gauge(
      'last_success_seconds',
      'time of the last whole look at an address',
      each.map(([address, { last_success }]) => [label('address', address), seconds(last_success)]),
    ),
  ].join('');
}

function gauge(name: string, help: string, rows: readonly (readonly [string, number])[]): string {
  const full = `signalpress_monitor_${name}`;
  const lines = rows.map(([labels, value]) => `${full}${labels} ${value}\n`);
  return `# HELP ${full} ${help}\n# TYPE ${full} gauge\n${lines.join('')}`;
}

function label(name: string, value: string): string {
  return `{${name}="${value.replace(/[\\"\n]/g, (char) => (char === '\n' ? '\\n' : `\\${char}`))}"}`;
}
