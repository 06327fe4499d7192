import { HOUR_MS } from '../contract/iso-time.ts';
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
import type { StoredBodies } from './stored-bodies.ts';

/** How an entry stands to a time; `open`: it came in an hour or batch that had begun by then, and not ended. */
interface LogPlace {
  readonly state: 'before' | 'after' | 'absent' | 'open';
  readonly detail: string;
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
  place(hash: string, before: string): LogPlace {
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

  /** Entries of the log; 0 without one. */
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
