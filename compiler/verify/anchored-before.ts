import { HOUR_MS } from '../contract/iso-time.ts';
import {
  anchorStatePath,
  type LogBatch,
  logBatchesPath,
  parseAnchorState,
  parseLogBatches,
} from '../contract/log-batch.ts';
import {
  leadOf,
  logLineStart,
  parseLogLine,
  runPath,
  runsOf,
  shardOfLead,
} from '../contract/log-runs.ts';
import type { JsonObject } from '../contract/strict-json.ts';
import type { Disk } from './disk.ts';
import { openFileList } from './file-list.ts';
import { objectNodes } from './object-nodes.ts';
import { isPublished } from './published-statement.ts';
import { StoredBodies } from './stored-bodies.ts';

/** Something that a revoked key signed. */
interface AnchorQuestion {
  /** The body with its citation. */
  readonly body: JsonObject;
  /** Hash of the signed statement. */
  readonly statement: string;
  /** When the key was revoked. */
  readonly before: string;
}

/** `open`: neither shown to be older than the revocation nor shown to be forged. */
interface AnchorAnswer {
  readonly state: 'anchored' | 'forged' | 'open';
  readonly detail: string;
}

export type AnchorCheck = (question: AnchorQuestion) => AnchorAnswer;

/**
 * Asks a release that a valid key signed. A body is anchored when every record hash in it entered the log before, and its
 * very statement is published now: a hash alone would let a thief put other words around a genuine reading.
 */
export function anchorsOf(disk: Disk, root: string): AnchorCheck {
  const bodies = new StoredBodies(disk, root, openFileList(disk, root));
  const log = new LogRows(bodies);
  return ({ body, statement, before }) => {
    const hashes = [...objectNodes(body)].flatMap(({ path, value }) => {
      const hash = /(^|\.)_citation$/.test(path) ? null : value.record_hash;
      return typeof hash === 'string' ? [hash] : [];
    });
    if (hashes.length === 0) return open('the body names no record hash that a log could hold');
    const late = hashes.map((hash) => log.fault(hash, before)).find((each) => each !== null);
    if (late !== undefined && late !== null) return late;
    if (!isPublished(bodies, statement)) {
      return open(
        'its readings entered the log before, but the release does not list the statement',
      );
    }
    return { state: 'anchored', detail: `in the log before ${before}, and still published` };
  };
}

function open(detail: string): AnchorAnswer {
  return { state: 'open', detail };
}

/** The batches of a log, and the entries that they added. */
class LogRows {
  readonly #bodies: StoredBodies;
  #rows: readonly LogBatch[] | null = null;

  constructor(bodies: StoredBodies) {
    this.#bodies = bodies;
  }

  /** Why a record hash is not known to be older than a time; null when it is. */
  fault(hash: string, before: string): AnchorAnswer | null {
    this.#rows ??= this.#read();
    const last = this.#rows.at(-1);
    if (last === undefined) return open('the release has no log');
    const entry = this.#entry(hash, last.size);
    if (entry === null) return { state: 'forged', detail: `"${hash}" is not in the log` };
    const row = this.#rows.find(({ size }) => size > entry);
    if (row === undefined) return open('the log is cut short');
    const limit = Date.parse(before);
    if (this.#knownBy(row) <= limit) return null;
    const began = Date.parse(hourOf(row.batch));
    const detail = `"${hash}" entered the log with batch "${row.batch}"`;
    return began >= limit ? { state: 'forged', detail } : open(`${detail}, which had not ended`);
  }

  /** When the entries of a batch were there: at the end of its hour or day, or when they were stamped into a block. */
  #knownBy({ batch, root }: LogBatch): number {
    const hours = batch.includes('T') ? 1 : 24;
    const end = Date.parse(hourOf(batch)) + hours * HOUR_MS;
    const text = this.#bodies.text(anchorStatePath(root));
    const stamp = text === null ? null : parseAnchorState(text);
    if (stamp?.ots_state !== 'confirmed') return end;
    return Math.min(end, Date.parse(stamp.stamped_at));
  }

  #read(): LogBatch[] {
    const rows: LogBatch[] = [];
    for (let number = 0; ; number += 1) {
      const text = this.#bodies.text(logBatchesPath(number));
      if (text === null) return rows;
      rows.push(...parseLogBatches(text));
    }
  }

  /** Position of an entry of a log of so many. */
  #entry(hash: string, size: number): number | null {
    const hex = hash.slice('sha256:'.length);
    for (const run of runsOf(size)) {
      const text = this.#bodies.text(runPath(run, shardOfLead(run, leadOf(hex))));
      const line = text?.split('\n').find((each) => each.startsWith(logLineStart(hex)));
      if (line !== undefined) return parseLogLine(line).position;
    }
    return null;
  }
}

/** The hour with which a batch begins, ISO-8601. */
function hourOf(batch: string): string {
  return batch.includes('T') ? `${batch.slice(0, 13)}:00:00Z` : `${batch}T00:00:00Z`;
}
