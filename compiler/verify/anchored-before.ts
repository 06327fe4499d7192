import { HOUR_MS, isoTime } from '../contract/iso-time.ts';
import {
  anchorStatePath,
  type LogBatch,
  logBatchesPath,
  parseAnchorState,
  parseLogBatches,
} from '../contract/log-batch.ts';
import {
  type LogLine,
  leadOf,
  logLineStart,
  parseLogLine,
  runPath,
  runsOf,
  shardOfLead,
} from '../contract/log-runs.ts';
import type { Release } from '../contract/release.ts';
import { releaseBatch } from '../contract/release-leaf.ts';
import { decodeBundle, TILE_WIDTH, tilePath } from '../contract/tiles.ts';
import { canonicalHash, objectNodes } from './body-check.ts';
import type { Disk } from './disk.ts';
import { openFileList } from './file-list.ts';
import type { AnchorAnswer, AnchorCheck, AnchorQuestion } from './logged-check.ts';
import { Faults } from './release-fault.ts';
import { folderName, readHead, sequenceOf } from './release-head.ts';
import { isPublished, StoredBodies } from './stored-bodies.ts';

interface AnchoringRelease {
  readonly disk: Disk;
  readonly root: string;
  readonly head: Release;
  readonly bodies: StoredBodies;
  readonly log: LogTimes;
}

/**
 * Asks a release that a valid key signed. Of a key that was revoked, the very statement has to be in its log from before, or
 * published now or by an older release whose head is: a record hash alone would let a thief put other words around a
 * genuine reading. Of a key that ended the same is asked; what is still published is older.
 */
export function anchorsOf(release: AnchoringRelease): AnchorCheck {
  const { head, bodies, log } = release;
  const evidence: Evidence = { log, bodies, older: new OlderReleases(release) };
  return (asked) => {
    // An entry counts from the end of its hour, so a key that ended within one has the rest of it.
    const before = asked.isRevoked
      ? asked.before
      : isoTime(Math.ceil(Date.parse(asked.before) / HOUR_MS) * HOUR_MS);
    const question = { ...asked, before };
    const answer = statementLogged(question, log) ?? unlogged(question, evidence);
    const isWhole = question.isRevoked || Date.parse(head.as_of) > Date.parse(question.before);
    return isWhole || answer.state === 'anchored' ? answer : null;
  };
}

function unlogged(question: AnchorQuestion, evidence: Evidence): AnchorAnswer {
  const readings = readingsIn(question, evidence.log);
  return readings.state === 'forged' && !question.isRevoked
    ? readings
    : published(question, readings, evidence);
}

/** What the log shows of the statement itself; null where it has no entry and needs none. */
function statementLogged(question: AnchorQuestion, log: LogTimes): AnchorAnswer | null {
  const { statement, before } = question;
  const { state, detail } = log.place(statement, before);
  if (state === 'before') return anchored(`in the log before ${before}`);
  if (state === 'after') return { state: 'forged', detail };
  const missing = missingLeaf(question, log);
  return missing === null ? null : { state: 'forged', detail: missing };
}

interface Evidence {
  readonly log: LogTimes;
  readonly bodies: StoredBodies;
  readonly older: OlderReleases;
}

function anchored(detail: string): AnchorAnswer {
  return { state: 'anchored', detail };
}

function published(
  { leaf, statement, before, isRevoked }: AnchorQuestion,
  readings: AnchorAnswer,
  { bodies, older }: Evidence,
): AnchorAnswer {
  if (older.haveListed(statement, before)) {
    return anchored(`listed by a release that was in the log before ${before}`);
  }
  const isOlder = readings.state === 'reading' || !isRevoked;
  if (isOlder && isPublished(bodies, statement)) return anchored('still published');
  return readings.state === 'reading' && leaf?.of !== 'reading'
    ? { state: 'open', detail: `the readings that it names ${unproven(before)}` }
    : readings;
}

function unproven(before: string): string {
  return `were in the log before ${before}; all else is signed by a key of the past alone, and the release lists no such statement`;
}

/** Why a statement must be in the log and is not: since heads are in it, bodies without a record hash of their own are too. */
function missingLeaf({ leaf, statement, retrieved_at }: AnchorQuestion, log: LogTimes) {
  if (leaf?.of !== 'statement' || !log.hasHeadsBefore(retrieved_at)) return null;
  const { state, detail } = log.place(statement, retrieved_at);
  return state === 'absent' ? detail : null;
}

function readingsIn({ body, before }: AnchorQuestion, log: LogTimes): AnchorAnswer {
  const hashes = [...objectNodes(body)].flatMap(({ path, value }) => {
    const hash = /(^|\.)_citation$/.test(path) ? null : value.record_hash;
    return typeof hash === 'string' ? [hash] : [];
  });
  if (hashes.length === 0) {
    return { state: 'open', detail: 'the body names no record hash that a log could hold' };
  }
  const places = hashes.map((hash) => log.place(hash, before));
  const odd = places.find(({ state }) => state !== 'before');
  if (odd !== undefined) {
    return { state: odd.state === 'open' ? 'open' : 'forged', detail: odd.detail };
  }
  return {
    state: 'reading',
    detail: `only its readings are proven: they ${unproven(before)}`,
  };
}

class OlderReleases {
  readonly #release: AnchoringRelease;
  #held: readonly { readonly hash: string; readonly bodies: StoredBodies }[] | null = null;

  constructor(release: AnchoringRelease) {
    this.#release = release;
  }

  /** Whether one of them whose head was in the log before a time lists a statement; it is only as good as that entry. */
  haveListed(statement: string, before: string): boolean {
    this.#held ??= this.#read();
    return this.#held.some(({ hash, bodies }) => {
      return (
        this.#release.log.place(hash, before).state === 'before' && isPublished(bodies, statement)
      );
    });
  }

  #read() {
    const { disk, root } = this.#release;
    const own = folderName(disk, root);
    const others = disk.list(`${root}/..`).filter(({ name, kind }) => {
      return name !== own && kind === 'folder' && sequenceOf(name) !== null;
    });
    return others.flatMap(({ name }) => {
      const folder = `${root}/../${name}`;
      const faults = new Faults();
      // Who signed it is shown by the log that holds its head.
      const head = readHead({ disk, root: folder, trust: 'any', faults });
      if (head === null || faults.count > 0) return [];
      const bodies = new StoredBodies(disk, folder, openFileList(disk, folder));
      return [{ hash: canonicalHash(head), bodies }];
    });
  }
}

/** Between which times something came, epoch milliseconds. */
interface Span {
  readonly began: number;
  readonly ended: number;
}

/** The head of a release in its own log: it came with that release, and so did all entries since the head before it. */
interface LoggedHead {
  readonly position: number;
  readonly as_of: string;
}

/** The entries of the log of one release, and when they came. */
export class LogTimes {
  readonly #bodies: StoredBodies;
  readonly #head: Pick<Release, 'as_of' | 'log_index'>;
  #heldBatches: readonly LogBatch[] | null = null;
  #heldFirst: { readonly head: LoggedHead | null } | null = null;

  constructor(bodies: StoredBodies, head: Pick<Release, 'as_of' | 'log_index'>) {
    this.#bodies = bodies;
    this.#head = head;
  }

  /** Whether an entry with this hash was in the log before a time, ISO-8601. */
  place(
    hash: string,
    before: string,
  ): { state: 'before' | 'after' | 'absent' | 'open'; detail: string } {
    if (this.size() === 0) return { state: 'open', detail: 'the release has no log' };
    const position = this.#line(hash)?.position ?? null;
    if (position === null) return { state: 'absent', detail: `"${hash}" is not in the log` };
    const row = this.#batches().find(({ size }) => size > position);
    if (row === undefined) return { state: 'open', detail: 'the log is cut short' };
    const limit = Date.parse(before);
    const { began, ended, by } = this.#came(position, row);
    const detail = `"${hash}" entered the log with ${by}`;
    if (ended <= limit || this.#stamped(row) <= limit) return { state: 'before', detail };
    if (began >= limit) return { state: 'after', detail };
    return { state: 'open', detail: `${detail}, which had not ended` };
  }

  /** Whether the log held the head of a release before a time: bodies that join readings have an entry since then. */
  hasHeadsBefore(time: string): boolean {
    const first = this.#firstHead();
    return first !== null && Date.parse(first.as_of) < Date.parse(time);
  }

  /**
   * A batch of an old day may come late, so the release counts that an entry came with. Up to the first head nothing but
   * the batch says when.
   */
  #came(position: number, { batch }: LogBatch): Span & { readonly by: string } {
    const first = this.#firstHead();
    const head = first === null || position <= first.position ? null : this.#headFrom(position);
    if (head === null) return { ...spanOf(batch), by: `batch "${batch}"` };
    return { ...spanOf(releaseBatch(head)), by: `the release of ${head.as_of}` };
  }

  /** When a batch was stamped into a block, epoch milliseconds; infinity where it was not. */
  #stamped({ root }: LogBatch): number {
    const text = this.#bodies.text(anchorStatePath(root));
    const stamp = text === null ? null : parseAnchorState(text);
    if (stamp?.ots_state !== 'confirmed') return Number.POSITIVE_INFINITY;
    return Date.parse(stamp.stamped_at);
  }

  #firstHead(): LoggedHead | null {
    this.#heldFirst ??= { head: this.#headFrom(0) };
    return this.#heldFirst.head;
  }

  /** The first head at or behind a position, each alone in its batch; the one of this release comes right behind its log. */
  #headFrom(start: number): LoggedHead | null {
    for (const { batch, size, size_before } of this.#batches()) {
      if (size <= start || size !== size_before + 1 || !batch.includes('T')) continue;
      const hash = this.#hashAt(size_before);
      const facts = hash === null ? null : this.#line(hash)?.facts;
      if (facts?.kind === 'release') return { position: size_before, as_of: facts.observed_at };
    }
    const { as_of, log_index: position } = this.#head;
    return position === undefined ? null : { position, as_of };
  }

  #batches(): readonly LogBatch[] {
    if (this.#heldBatches !== null) return this.#heldBatches;
    const rows: LogBatch[] = [];
    for (let number = 0; ; number += 1) {
      const text = this.#bodies.text(logBatchesPath(number));
      if (text === null) break;
      rows.push(...parseLogBatches(text));
    }
    this.#heldBatches = rows;
    return rows;
  }

  /** Where an entry with this hash stands in the signed list of entries; null where the log has none. */
  positionOf(hash: string): number | null {
    const position = this.size() === 0 ? null : (this.#line(hash)?.position ?? null);
    return position !== null && this.#hashAt(position) === hash ? position : null;
  }

  size(): number {
    return this.#batches().at(-1)?.size ?? 0;
  }

  #hashAt(position: number): string | null {
    const size = this.size();
    const index = Math.floor(position / TILE_WIDTH);
    const width = Math.min(TILE_WIDTH, size - index * TILE_WIDTH);
    const bytes = this.#bodies.bytes(tilePath({ level: 'entries', index, width }));
    return bytes === null ? null : (decodeBundle(bytes)[position % TILE_WIDTH] ?? null);
  }

  #line(hash: string): LogLine | null {
    const hex = hash.slice('sha256:'.length);
    for (const run of runsOf(this.size())) {
      const text = this.#bodies.text(runPath(run, shardOfLead(run, leadOf(hex))));
      const line = text?.split('\n').find((each) => each.startsWith(logLineStart(hex)));
      if (line !== undefined) return parseLogLine(line);
    }
    return null;
  }
}

/** When a batch begins and ends, epoch milliseconds: an hour or a day. */
function spanOf(batch: string): Span {
  const isHour = batch.includes('T');
  const began = Date.parse(isHour ? `${batch.slice(0, 13)}:00:00Z` : `${batch}T00:00:00Z`);
  return { began, ended: began + (isHour ? 1 : 24) * HOUR_MS };
}
