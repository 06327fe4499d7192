import { HOUR_MS, isoTime } from '../contract/iso-time.ts';
import type { Release } from '../contract/release.ts';
import type { JsonObject } from '../contract/strict-json.ts';
import { canonicalHash } from './body-check.ts';
import type { Disk } from './disk.ts';
import { openFileList } from './file-list.ts';
import type { LogTimes } from './log-times.ts';
import { objectNodes } from './object-nodes.ts';
import type { ProvableHash } from './provable-hashes.ts';
import { isPublished } from './published-statement.ts';
import { Faults } from './release-fault.ts';
import { readHead } from './release-head.ts';
import { folderName, sequenceOf } from './release-root.ts';
import { StoredBodies } from './stored-bodies.ts';

/** Something that a key signed which was revoked later, or which ended. */
interface AnchorQuestion {
  /** The body with its citation. */
  readonly body: JsonObject;
  /** The hash of which the log has to hold an entry; null for a body that has none. */
  readonly leaf: ProvableHash | null;
  /** Hash of the signed statement, and of when it says that it is. */
  readonly statement: string;
  readonly retrieved_at: string;
  /** From when the key was revoked, or until when it was valid. */
  readonly before: string;
  readonly isRevoked: boolean;
}

/**
 * `anchored`: shown to be older. `reading`: only its reading is, which it bears whole. `forged`: the log shows that it is not
 * older. `open`: the log shows neither.
 */
export interface AnchorAnswer {
  readonly state: 'anchored' | 'reading' | 'forged' | 'open';
  readonly detail: string;
}

/** Null where the log cannot tell: the release is of a time at which the key still signed. */
export type AnchorCheck = (question: AnchorQuestion) => AnchorAnswer | null;

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
    const before = asked.isRevoked ? asked.before : hourEnd(asked.before);
    const question = { ...asked, before };
    const answer = statementLogged(question, log) ?? unlogged(question, evidence);
    const isWhole = question.isRevoked || Date.parse(head.as_of) > Date.parse(question.before);
    return isWhole || answer.state === 'anchored' ? answer : null;
  };
}

/** The answer for a body whose statement is not in the log itself. */
function unlogged(question: AnchorQuestion, evidence: Evidence): AnchorAnswer {
  const readings = readingsIn(question, evidence.log);
  return readings.state === 'forged' && !question.isRevoked
    ? readings
    : published(question, readings, evidence);
}

function hourEnd(time: string): string {
  return isoTime(Math.ceil(Date.parse(time) / HOUR_MS) * HOUR_MS);
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

/** Whether a release lists the statement: an older one that the log holds, or this one. */
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

/** Behind what was in the log before the end of a key. */
function unproven(before: string): string {
  return `were in the log before ${before}; all else is signed by a key of the past alone, and the release lists no such statement`;
}

/** Why a statement must be in the log and is not: since heads are in it, bodies without a record hash of their own are too. */
function missingLeaf({ leaf, statement, retrieved_at }: AnchorQuestion, log: LogTimes) {
  if (leaf?.of !== 'statement' || !log.hasHeadsBefore(retrieved_at)) return null;
  const { state, detail } = log.place(statement, retrieved_at);
  return state === 'absent' ? detail : null;
}

/** What the log shows of every record hash in a body. */
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

/** Releases that are kept beside the one that was given. */
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
