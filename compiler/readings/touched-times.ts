import { hash } from 'node:crypto';
import { defined } from '../format/errors.ts';
import {
  eachOrigin,
  type OriginRun,
  parseRuns,
  SERIES_TAIL,
  type SeriesRow,
} from '../products/shapes/series.ts';
import type { InputFault } from '../system/compile-error.ts';
import { jcs } from '../system/jcs.ts';
import type { EntityPast, Ground } from './entity-past.ts';
import { snapshotDate } from './figures.ts';
import type { StoredReading } from './read-signal.ts';
import type { Reading } from './reading.ts';
import {
  NO_SERIES,
  type Segment,
  type SeriesPast,
  type SourcedRow,
  segmentParts,
} from './series-segments.ts';
import {
  type HeldHash,
  type Instant,
  othersOf,
  replacedOf,
  settle,
  standingReading,
  timeOf,
  withoutEvidence,
} from './timeline.ts';

export type Unsettled =
  | { readonly fault: InputFault }
  /** The lines do not come behind what is remembered; only all lines of the entity say what follows from them. */
  | { readonly isBehind: true };
export const BEHIND = { isBehind: true } as const;

/** Settles groups of lines, each of one time, upon what is known of that time. */
export class Touched {
  readonly #before: EntityPast | null;
  readonly #ground: Ground;
  readonly #instants: Map<number, Instant>;
  readonly #replaced: ReadonlyMap<number, readonly HeldHash[]>;
  /** Times before this one are firm. */
  readonly #firmBefore: number;
  /** Read where the newest observations do not tell enough. */
  rows: SettledRows | null = null;
  /** Hashes that are new. */
  readonly fresh: HeldHash[] = [];
  /** Digests of firm observations that were repeated as they stand. */
  readonly again = new Map<number, string>();
  repeats: number;
  revisions: number;

  constructor(before: EntityPast | null, ground: Ground) {
    this.#before = before;
    this.#ground = ground;
    const tail = before?.tail ?? [];
    this.#instants = new Map(tail.map((instant) => [timeOf(instant), instant]));
    this.#replaced = new Map(before?.replaced);
    // Before anything is firm, an older reading finds its place among all others.
    const hasFirm = before !== null && before.series.chain.rows > 0;
    const [oldest] = tail.slice(-SERIES_TAIL);
    this.#firmBefore = hasFirm && oldest !== undefined ? timeOf(oldest) : Number.NEGATIVE_INFINITY;
    this.repeats = before?.repeats ?? 0;
    this.revisions = before?.revisions ?? 0;
    // Some of the newest observations stand among the settled rows.
    if (tail.length > SERIES_TAIL) this.#readRows();
  }

  /** Every observation that has a say in what follows, oldest first. */
  get items(): readonly Item[] {
    const whole = [...this.#instants.values()].map(wholeItem);
    const rows = this.rows === null ? [] : [...this.rows.all].map(rowItem);
    return [...whole, ...rows].sort((a, b) => a.time - b.time);
  }

  /** Answers what keeps the group from being settled; null when nothing does. */
  take(time: number, group: readonly StoredReading[]): Unsettled | null {
    const isFirm = time < this.#firmBefore && !this.#instants.has(time);
    if (!isFirm) return this.#settle(time, group);
    return this.#isRepeat(time, group) ? null : this.#settleFirm(time, group);
  }

  #isRepeat(time: number, group: readonly StoredReading[]): boolean {
    const digest = this.#before?.again[time];
    if (digest === undefined) return false;
    if (!group.every(({ reading }) => digestOf(reading) === digest)) return false;
    this.again.set(time, digest);
    this.repeats += group.length;
    return true;
  }

  #settle(time: number, group: readonly StoredReading[]): Unsettled | null {
    const was = this.#instants.get(time) ?? null;
    const settled = settle(was, group, this.#ground);
    if ('fault' in settled) return settled;
    this.#note(time, was, settled.ok);
    return null;
  }

  #note(time: number, was: Instant | null, now: Instant): void {
    this.#instants.set(time, now);
    this.fresh.push(...newHashes(was, now));
    this.repeats += now.repeats - (was?.repeats ?? 0);
    this.revisions += replacedOf(now).length - (was === null ? 0 : replacedOf(was).length);
  }

  /** Settles a group upon the row of its time, or upon nothing where the time has none. */
  #settleFirm(time: number, group: readonly StoredReading[]): Unsettled | null {
    const rows = this.#readRows();
    const known = rows.at(time);
    if (known === null) return rows.isPartial ? BEHIND : this.#settle(time, group);
    const others = this.#othersAt(time);
    if (others === null) return BEHIND;
    // Two facts in one batch are a conflict, whatever stood before.
    const alone = settle(null, group, this.#ground);
    if ('fault' in alone) return alone;
    const first = group.findIndex(({ reading }) => !this.#isFactOf(known, reading));
    const again = first === -1 ? group : group.slice(0, first);
    this.repeats += again.length;
    if (first === -1) return this.#repeatRow(known, group);
    return this.#reviseRow(known, others, group.slice(first));
  }

  #repeatRow(known: SettledRow, group: readonly StoredReading[]): null {
    const last = group.at(-1)?.reading;
    if (last === undefined) throw new RangeError('Cannot settle readings: empty group');
    const { record_hash } = known.row;
    this.rows?.repeat(known, last, (reading) => this.#ground.rowOf(reading, record_hash).band);
    this.again.set(known.time, digestOf({ ...last, observed_at: known.row.observed_at }));
    return null;
  }

  /** `group` begins with another fact than that of the row. */
  #reviseRow(
    { time, row }: SettledRow,
    others: readonly HeldHash[],
    [first, ...rest]: readonly StoredReading[],
  ): Unsettled | null {
    if (first === undefined) throw new RangeError('Cannot revise a reading: by nothing');
    const fresh = settle(null, [first], this.#ground);
    if ('fault' in fresh) return fresh;
    const { record_hash, observed_at, snapshot_date } = row;
    // Of what stood before only its hash matters, which is in the log already.
    const reading = { ...first.reading, observed_at };
    const kept = { reading, batch: snapshot_date.slice(0, 'YYYY-MM-DD'.length) };
    const was: Instant = { ...fresh.ok, kept, record_hash, others };
    const settled = settle({ ...fresh.ok, others: othersOf(was) }, rest, this.#ground);
    if ('fault' in settled) return settled;
    this.rows?.take(time);
    this.#note(time, was, settled.ok);
    return null;
  }

  /** Whether a reading says the fact of a row: its hash is that of the row but for the times. */
  #isFactOf({ row }: SettledRow, reading: Reading): boolean {
    const { observed_at, snapshot_date, record_hash } = row;
    const then = { ...reading, observed_at, collected_at: snapshot_date };
    return this.#ground.hashOf(then) === record_hash;
  }

  /** Other facts that a firm observation had; null where they are no longer remembered. */
  #othersAt(time: number): readonly HeldHash[] | null {
    const since = this.#before?.replaced_since ?? null;
    if (since !== null && time < since) return null;
    return this.#replaced.get(time) ?? [];
  }

  #readRows(): SettledRows {
    if (this.rows !== null) return this.rows;
    const { entity, series = NO_SERIES } = this.#before ?? { entity: '' };
    const rows = new SettledRows(series, (one) => this.#ground.readSegment(entity, one));
    for (const time of this.#instants.keys()) rows.take(time);
    this.rows = rows;
    return rows;
  }
}

/** An observation in the orders of what follows from all of them. */
export interface Item {
  readonly time: number;
  /** Snapshot date of its row. */
  readonly date: string;
  /** Null where only its row is known. */
  readonly instant: Instant | null;
  /** Null where it follows from the whole reading: an old entity has many. */
  readonly row: SourcedRow | null;
}

function wholeItem(instant: Instant): Item {
  const date = snapshotDate(instant.kept.reading);
  return { time: timeOf(instant), date, instant, row: null };
}

function rowItem({ time, row }: SettledRow): Item {
  return { time, date: row.snapshot_date, instant: null, row };
}

export function rowOfItem({ instant, row }: Item, rowOf: Ground['rowOf']): SourcedRow {
  if (row !== null) return row;
  if (instant === null) throw new RangeError('Cannot tell a row: nothing is known of it');
  return rowOf(standingReading(instant), instant.record_hash);
}

function newHashes(was: Instant | null, now: Instant): HeldHash[] {
  const known = new Set(was === null ? [] : hashesOf(was).map(({ record_hash }) => record_hash));
  return hashesOf(now).filter(({ record_hash }) => !known.has(record_hash));
}

function hashesOf({ kept, record_hash, others }: Instant): readonly HeldHash[] {
  const { observed_at } = kept.reading;
  return [...others, { record_hash, batch: kept.batch, observed_at }];
}

/** A digest of everything that a reading says, except when and where it was collected. */
export function digestOf({ collected_at, evidence, ...rest }: Reading): string {
  return hash('sha256', jcs(rest), 'base64url').slice(0, 22);
}

// A late or revised observation finds its place among the settled rows of its entity. They stand in the segments of its
// series, so no snapshot file is read again. A row does not say everything of its reading: what only the reading tells
// is not asked of it.

/** A settled observation, of which its row is known. */
interface SettledRow {
  /** When it was observed, in milliseconds. */
  readonly time: number;
  readonly row: SourcedRow;
  /** Its newest repeat, where one came after it was settled. */
  readonly repeat: Reading | null;
}

/** The settled rows of one entity, in the order of the series. */
export class SettledRows {
  readonly #series: SeriesPast;
  /** Number of the first of them. */
  readonly first: number;
  readonly #before: readonly SourcedRow[];
  readonly #now = new Map<number, SettledRow>();

  constructor(series: SeriesPast, readSegment: (segment: Segment) => Buffer) {
    this.#series = series;
    this.first = (series.segments[0]?.before ?? series.openBefore).rows;
    this.#before = [
      ...series.segments.flatMap((one) => segmentRows(readSegment(one))),
      ...sourcedRows(series.open, series.origins),
    ];
    for (const row of this.#before) {
      const time = Date.parse(row.observed_at);
      this.#now.set(time, { time, row, repeat: null });
    }
  }

  /** Whether the oldest rows are no longer delivered, so that nothing tells what was observed then. */
  get isPartial(): boolean {
    return this.first > 0;
  }

  get all(): Iterable<SettledRow> {
    return this.#now.values();
  }

  at(time: number): SettledRow | null {
    return this.#now.get(time) ?? null;
  }

  /** An observation of which the whole reading is known: what becomes of its row follows from that. */
  take(time: number): void {
    this.#now.delete(time);
  }

  /** A repeat of the same fact: of the row only the class may change, which follows from what stands beside the fact. */
  repeat(
    { time, row }: SettledRow,
    reading: Reading,
    bandOf: (reading: Reading) => string | null,
  ): void {
    const repeat = { ...withoutEvidence(reading), observed_at: row.observed_at };
    this.#now.set(time, { time, row: { ...row, band: bandOf(repeat) }, repeat });
  }

  /** What of the series stays where it has so many settled rows now; null where that is not known. */
  pastOf(count: number, rowAt: (at: number) => SourcedRow): SeriesPast | null {
    const { segments, openBefore, delivered } = this.#series;
    const other = this.first + this.#sameRows(count, rowAt);
    const kept = segments.filter(({ before, count: own }) => before.rows + own <= other);
    const start = segments[kept.length]?.before ?? openBefore;
    const isFirst = start.rows === delivered.before.rows;
    if (other < delivered.before.rows) return null;
    if (other === delivered.before.rows && !isFirst) return null;
    return {
      chain: start,
      // The first delivered row may be another one now.
      delivered: isFirst ? { ...delivered, snapshot_date: null } : delivered,
      segments: kept,
      openBefore: start,
      open: [],
      cuts: [],
      origins: [],
    };
  }

  /** How many rows at the beginning are what they were. */
  #sameRows(count: number, rowAt: (at: number) => SourcedRow): number {
    const most = Math.min(count, this.#before.length);
    for (let at = 0; at < most; at += 1) {
      const [was, now] = [this.#before[at], rowAt(at)];
      if (was !== now && JSON.stringify(was) !== JSON.stringify(now)) return at;
    }
    return most;
  }
}

function segmentRows(segment: Buffer): SourcedRow[] {
  const { origins, rows } = segmentParts(segment);
  return sourcedRows(rows.toString('utf8').split(',\n').slice(0, -1), parseRuns(origins));
}

function sourcedRows(
  lines: readonly string[],
  origins: readonly OriginRun<string>[],
): SourcedRow[] {
  const each = eachOrigin(origins);
  return lines.map((line) => {
    const row: SeriesRow = JSON.parse(line);
    const { value: origin } = each.next();
    return { ...row, origin: defined(origin, 'the origin of a row') };
  });
}
