/**
 * Follows the log of a service from outside, as RFC 6962 §5.3 asks of a monitor. A look at an address goes like this:
 *
 *  1. The list of issuer keys may only grow (round.ts).
 *  2. The signed head must not contradict any head that was seen, and must not be older than it promised (round.ts).
 *  3. The signed checkpoint must go on from every tree that was seen at any address, by tiles that lead to its root
 *     (follow-log.ts).
 *  4. Each new entry follows the one before it, and the head is the one of its entry (follow-log.ts).
 *  5. A free reading is not said again in another way (round.ts).
 *
 * What is wrong and proven is written as evidence, which a third person checks without this program's word (evidence.ts).
 * What an address does not answer says nothing about its log: it is asked again, ever more seldom.
 *
 * Order of writing: evidence, checkpoint, state, status. A kill leaves at most something that the next look writes again.
 */

import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { RELEASE_URL } from '../../catalog/static-files.ts';
import { messageOf } from '../../format/errors.ts';
import { DAY_MS, isoTime } from '../../format/iso-time.ts';
import type { LogPolicy } from '../../format/log-policy.ts';
import { HEAD_BYTES_MAX } from '../../format/release.ts';
import type { Clock } from '../../system/clock.ts';
import { readPlain, replaceFile } from '../../system/plain-file.ts';
import { believedDids } from '../key-trust.ts';
import { CheckpointFile } from './checkpoint-file.ts';
import { type Contradiction, type Evidence, formatEvidence, keysOfText } from './evidence.ts';
import { followLog } from './follow-log.ts';
import { type Fetch, type LogClient, logClient, UnreachableError } from './log-client.ts';
import {
  type AddressState,
  type Finding,
  firstState,
  isOpen,
  type MonitorState,
  metricsText,
  NO_ADDRESS,
  raiseAlarms,
  readState,
  statusOf,
  writeState,
} from './monitor-state.ts';
import {
  believeFirst,
  followHead,
  followKeys,
  followReadings,
  type ReadingBodies,
  type Round,
  trustOf,
} from './round.ts';

const LOOK_MS_MAX = 300_000;
/** Longest wait after failures, where looks are not further apart anyway. */
const RETRY_MS_MAX = 3_600_000;
const BODY_BYTES_MAX = 1 << 20;
/** Files named by their content are written here first: kills leave one draft in all, not one for each name. */
const DRAFT_NAME = 'draft.new';
/** Checkpoints that are kept though they could not be compared. */
const NOTES_MAX = 64;
const LINE_CHARS_MAX = 600;

export interface MonitorSettings {
  readonly folder: string;
  /** Addresses of one service, without a slash at their end; the first one leads. */
  readonly addresses: readonly string[];
  /** DIDs that are believed; without one the issuer of the first head. */
  readonly issuers: readonly string[];
  /** DIDs of root keys that are believed: they vouch for a list of keys together. */
  readonly roots: readonly string[];
  /** Signals whose free sample is read too. */
  readonly signals: readonly string[];
  readonly policy?: LogPolicy;
  readonly everyMs: number;
  /** File for Prometheus, beside the status. */
  readonly metrics?: string;
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly print: (line: string) => void;
  readonly answerMs?: number;
}

/** What the exit code says: all is well; something is wrong; it cannot be judged. */
export const MONITOR_EXIT = { well: 0, alarm: 1, undecided: 2 } as const;

export class Monitor {
  readonly #by: MonitorSettings;
  readonly #state: MonitorState;
  readonly #seen: CheckpointFile;
  readonly #readings: ReadingBodies;

  /** Goes on from what the folder remembers; throws a RangeError where that is not of this service. */
  constructor(by: MonitorSettings) {
    this.#by = by;
    for (const name of ['evidence', 'readings', 'unproven'])
      mkdirSync(join(by.folder, name), { recursive: true });
    this.#state = readState(by.folder) ?? firstState(by);
    refuseOthers(this.#state, by);
    this.#seen = new CheckpointFile(join(by.folder, 'checkpoints.txt'));
    const folder = join(by.folder, 'readings');
    const nameOf = (hash: string): string => `${hash.replace('sha256:', '')}.json`;
    const pathOf = (hash: string): string => join(folder, nameOf(hash));
    this.#readings = {
      read: (hash) =>
        existsSync(pathOf(hash)) ? readPlain(pathOf(hash), BODY_BYTES_MAX).toString('utf8') : null,
      write: (hash, text) => replaceFile(pathOf(hash), text, join(by.folder, DRAFT_NAME)),
      remove: (hash) => rmSync(pathOf(hash), { force: true }),
    };
    // A kill may leave the body of a reading that the state does not know.
    const known = new Set(this.#state.readings.map(([, hash]) => nameOf(hash)));
    for (const name of readdirSync(folder)) if (!known.has(name)) rmSync(join(folder, name));
  }

  get exitCode(): number {
    if (this.#state.alarms.some(isOpen)) return MONITOR_EXIT.alarm;
    const isWell = this.#by.addresses.every((address) => {
      const { last_success, failures, suspicions } = this.#addressOf(address);
      return last_success !== null && failures === 0 && Object.keys(suspicions).length === 0;
    });
    return isWell ? MONITOR_EXIT.well : MONITOR_EXIT.undecided;
  }

  /** Looks at every address, at those alone that are due where it says so. */
  async look({ isDueOnly = false } = {}): Promise<void> {
    const { addresses, clock } = this.#by;
    for (const address of addresses) {
      if (!isDueOnly || this.#dueAt(address) <= clock.now()) await this.#lookAt(address);
    }
  }

  /** When an address is due next, epoch milliseconds. */
  nextDue(): number {
    return Math.min(...this.#by.addresses.map((address) => this.#dueAt(address)));
  }

  /** A time that lies further ahead than any wait is of a clock that was set back. */
  #dueAt(address: string): number {
    const { clock, everyMs } = this.#by;
    const { next_due } = this.#addressOf(address);
    const due = next_due === null ? 0 : Date.parse(next_due);
    return due - clock.now() > DAY_MS + 2 * everyMs ? 0 : due;
  }

  #addressOf(address: string): AddressState {
    return this.#state.addresses[address] ?? NO_ADDRESS;
  }

  async #lookAt(address: string): Promise<void> {
    const { clock, addresses, policy, signals } = this.#by;
    const [state, now] = [this.#state, clock.now()];
    const own = { ...this.#addressOf(address), last_attempt: isoTime(now) };
    state.addresses[address] = own;
    const client = this.#client(address);
    const others = addresses.flatMap((each) => (each === address ? [] : [this.#client(each)]));
    const kept = { state, keys: undefined, seen: this.#seen, readings: this.#readings };
    const at = { address, client, others, own, policy, now };
    const round: Round = { ...kept, ...at, findings: [], news: [] };
    let failure: UnreachableError | null = null;
    try {
      if (state.keys !== null) round.keys = keysOfText(state.keys);
      const head = await client.get(RELEASE_URL, HEAD_BYTES_MAX);
      believeFirst(round, head);
      await followKeys(round);
      await followLog(round, followHead(round, head));
      await followReadings(round, signals);
    } catch (error) {
      // What a hostile service makes this program stumble over must not end it; what the disk refuses has to.
      if (error instanceof Error && 'syscall' in error) throw error;
      const detail = `it cannot be looked at: ${messageOf(error)}`;
      if (error instanceof UnreachableError) failure = error;
      else round.findings.push({ kind: 'unreadable', about: 'look', detail });
    }
    this.#conclude(round, failure);
  }

  #conclude(round: Round, failure: UnreachableError | null): void {
    const { state, own, address, now, findings, news } = round;
    const { everyMs, clock, folder } = this.#by;
    const keep = (proof: Contradiction): string => this.#keep(proof, round);
    for (const { note } of findings) if (note !== undefined) this.#keepNote(note);
    const found = { state, address, own, now, keep, isWhole: failure === null };
    news.push(...raiseAlarms(findings.map(plainFinding), found));
    if (failure === null && own.failures > 0) {
      news.push(`answers again, after ${own.failures} failed looks`);
    } else if (failure !== null && own.failures === 0) {
      news.push(`cannot be looked at, which says nothing about its log: ${failure.message}`);
    }
    own.failures = failure === null ? 0 : own.failures + 1;
    own.last_error = failure?.message ?? null;
    if (failure === null) own.last_success = isoTime(now);
    const longest = Math.max(everyMs, RETRY_MS_MAX);
    const wait = Math.min(longest, everyMs * 2 ** Math.min(Math.max(0, own.failures - 1), 20));
    // Monitors that were started together do not go on asking together.
    const spread = wait * (0.95 + 0.1 * clock.random());
    own.next_due = isoTime(Math.round(now + Math.max(spread, failure?.waitMs ?? 0)));
    state.rounds += 1;
    writeState(folder, state);
    this.#writeStatus(now);
    for (const line of news) this.#by.print(`${isoTime(now)} ${address} ${plain(line)}`);
  }

  #client(address: string): LogClient {
    const { fetch, clock, answerMs } = this.#by;
    const usual = { fetch, clock, totalMs: LOOK_MS_MAX };
    return logClient(address, answerMs === undefined ? usual : { ...usual, answerMs });
  }

  /** Named by its content, so that a kill leaves no second one. */
  #keep(proof: Contradiction, round: Round): string {
    const { issuers: named, keys } = this.#state;
    // Root keys vouch for the whole list, so its first key does for whoever knows that key alone.
    const issuers = named.length > 0 ? named : believedDids(trustOf(round), undefined).slice(0, 1);
    const path = join('evidence', `${proof.kind}-${digestOf(JSON.stringify(proof))}.json`);
    const found = { found_at: isoTime(round.now), address: round.address, issuers, keys };
    const text = formatEvidence({
      format: 'signalpress-evidence/1',
      ...found,
      ...proof,
    } as Evidence);
    return this.#write(path, text);
  }

  /** The first ones are kept: a service that shows ever new ones fills no disk. */
  #keepNote(note: string): void {
    const { length } = readdirSync(join(this.#by.folder, 'unproven'));
    if (length < NOTES_MAX) this.#write(join('unproven', `${digestOf(note)}.txt`), note);
  }

  /** Writes a file that is named by its content; answers where it stands. */
  #write(name: string, text: string): string {
    const path = join(this.#by.folder, name);
    if (!existsSync(path)) replaceFile(path, text, join(this.#by.folder, DRAFT_NAME));
    return path;
  }

  #writeStatus(now: number): void {
    const { folder, metrics, addresses } = this.#by;
    const checkpoints = this.#seen.count;
    const status = statusOf(this.#state, { now, addresses, checkpoints, exitCode: this.exitCode });
    replaceFile(join(folder, 'status.json'), `${JSON.stringify(status, null, 2)}\n`);
    if (metrics !== undefined) replaceFile(metrics, metricsText(status));
  }
}

function digestOf(text: string): string {
  return bytesToHex(sha256(Buffer.from(text))).slice(0, 16);
}

/** What strangers wrote, as it may stand in a terminal and in the status. */
function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?').slice(0, LINE_CHARS_MAX);
}

function plainFinding(finding: Finding): Finding {
  const { about = '', detail } = finding;
  return { ...finding, detail: plain(detail), about: plain(about) };
}

function refuseOthers({ issuers, roots, addresses }: MonitorState, by: MonitorSettings): void {
  const strange =
    by.issuers.find((did) => !issuers.includes(did)) ??
    by.roots.find((did) => !roots.includes(did));
  const known = Object.keys(addresses);
  const isOther = known.length > 0 && !known.some((address) => by.addresses.includes(address));
  if (strange === undefined && !isOther) return;
  const why = isOther ? `it is about ${known.join(', ')}` : `it does not believe ${strange}`;
  throw new RangeError(`Cannot go on in "${by.folder}": ${why}; name another --state`);
}
