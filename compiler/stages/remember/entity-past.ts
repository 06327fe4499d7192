import { hash } from 'node:crypto';
import type { Signal } from '../../contract/lines.ts';
import type { SeriesRow } from '../../contract/series.ts';
import { SERIES_TAIL } from '../../contract/series-segments.ts';
import {
  NO_SERIES,
  type Segment,
  type SeriesPast,
  type Settled as SettledRows,
  settleRows,
} from '../assemble/series-segments.ts';
import { snapshotDate } from '../derive/age.ts';
import { type SeasonPast, seasonBehind } from '../derive/season-past.ts';
import type { Problem } from '../intake/compile-error.ts';
import { batchOrder } from '../intake/list-snapshots.ts';
import type { StoredReading } from '../intake/read-signal.ts';
import type { Reading } from '../intake/reading.ts';
import {
  type Batched,
  batchName,
  groupByTime,
  type HashOf,
  type HeldHash,
  type Instant,
  laterTime,
  replacedOf,
  settle,
  timeOf,
  toldOf,
  tooMany,
  withoutEvidence,
} from '../intake/timeline.ts';
import { jcs } from '../seal/jcs.ts';

/**
 * What a compile must know of an entity's past. Its size does not grow with age, so that a later compile settles new lines
 * upon it and reads no old one. The newest observations are kept whole, because they may be revised. All older ones are
 * firm: a line about one of these, or about a time before, sends the entity back to its own lines.
 */
export interface EntityPast {
  readonly entity: string;
  /** Newest batch that names the entity. */
  readonly batch: string;
  /** When the source was last looked at for it, also without anything new. */
  readonly looked_at: string;
  /** Lines so far. */
  readonly lines: number;
  readonly revisions: number;
  readonly repeats: number;
  /** Oldest first; empty where its rows are not the last ones of the series, so that nothing can be settled upon it. */
  readonly tail: readonly Instant[];
  /** Firm observations that the newest batch repeated, by their time: the digest of what is said of each. */
  readonly again: Readonly<Record<string, string>>;
  /** The newest firm reading with a value. */
  readonly fact: Reading | null;
  /** Of the firm readings. */
  readonly series: SeriesPast;
  /** Null for a signal without seasons. */
  readonly season: SeasonPast | null;
}

/** An entity with new lines settled upon its past. */
export interface Grown {
  readonly past: EntityPast;
  /** The newest observations, oldest first. */
  readonly recent: readonly Instant[];
  /** The newest reading with a value before those. */
  readonly fact: Reading | null;
  /** Rows of the series that are not firm. */
  readonly rows: readonly SeriesRow[];
  /** Segments of the series that came into being. */
  readonly segments: SettledRows['written'];
  /** Hashes that were not said before. */
  readonly fresh: readonly HeldHash[];
}

type Unsettled =
  | { readonly problem: Problem }
  /** The lines do not come behind what is remembered; only all lines of the entity say what follows from them. */
  | { readonly isBehind: true };
export type Growth = { readonly ok: Grown } | Unsettled;

/** What growing needs beside the lines. */
export interface Ground {
  readonly signal: Signal;
  /** Names of the batches, as the lines number them. */
  readonly batches: readonly string[];
  readonly hashOf: HashOf;
  readonly rowOf: (reading: Reading, record_hash: string) => SeriesRow;
  readonly readSegment: (entity: string, segment: Segment) => Buffer;
}

const BEHIND = { isBehind: true } as const;
/** Rows that are settled at a time: as many as the largest segment has, so that none is made in order to be joined. */
const ROWS_AT_A_TIME = 4096;

/** Settles lines upon what is remembered of their entity; null for one that is new, or of which all lines are given. */
export function growPast(
  before: EntityPast | null,
  lines: readonly StoredReading[],
  ground: Ground,
): Growth {
  const [first] = lines;
  if (first === undefined) throw new RangeError('Cannot grow an entity: no lines');
  const { entity } = first.reading;
  const problem = tooMany(entity, { lines: (before?.lines ?? 0) + lines.length, file: first.file });
  if (problem !== null) return { problem };
  if (before !== null && !comesAfter(lines, before, ground.batches)) return BEHIND;
  const touched = new Touched(before, ground);
  for (const [time, group] of groupByTime(lines)) {
    const unsettled = touched.take(time, group);
    if (unsettled !== null) return unsettled;
  }
  return grown(before, lines, { ground, touched });
}

/** A batch has its last word once: what an older one says would have to be settled first. */
function comesAfter(
  lines: readonly StoredReading[],
  { batch, tail }: EntityPast,
  batches: readonly string[],
): boolean {
  const last = batchOrder(batch);
  return tail.length > 0 && lines.every((line) => batchOrder(batchName(batches, line)) > last);
}

/** Settles groups of lines, each of one time, upon the observations that are not firm. */
class Touched {
  readonly #before: EntityPast | null;
  readonly #ground: Ground;
  readonly #instants: Map<number, Instant>;
  /** Hashes that were not said before. */
  readonly fresh: HeldHash[] = [];
  /** Digests of firm observations that were said again as they stand. */
  readonly again = new Map<number, string>();
  repeats: number;
  revisions: number;

  constructor(before: EntityPast | null, ground: Ground) {
    this.#before = before;
    this.#ground = ground;
    this.#instants = new Map((before?.tail ?? []).map((instant) => [timeOf(instant), instant]));
    this.repeats = before?.repeats ?? 0;
    this.revisions = before?.revisions ?? 0;
  }

  /** Those that are not firm with those of the lines, oldest first. */
  get instants(): readonly Instant[] {
    return [...this.#instants.values()].sort((a, b) => timeOf(a) - timeOf(b));
  }

  /** Answers what keeps the group from being settled; null when nothing does. */
  take(time: number, group: readonly StoredReading[]): Unsettled | null {
    return this.#isFirm(time) ? this.#repeat(time, group) : this.#settle(time, group);
  }

  /** Before anything is firm, an older reading finds its place among all others. */
  #isFirm(time: number): boolean {
    const [oldest] = this.#before?.tail ?? [];
    const hasFirm = this.#before !== null && this.#before.series.chain.rows > 0;
    return hasFirm && oldest !== undefined && time < timeOf(oldest);
  }

  #repeat(time: number, group: readonly StoredReading[]): Unsettled | null {
    const digest = this.#before?.again[time];
    if (digest === undefined) return BEHIND;
    if (!group.every(({ reading }) => digestOf(reading) === digest)) return BEHIND;
    this.again.set(time, digest);
    this.repeats += group.length;
    return null;
  }

  #settle(time: number, group: readonly StoredReading[]): Unsettled | null {
    const was = this.#instants.get(time) ?? null;
    const settled = settle(was, group, this.#ground);
    if ('problem' in settled) return settled;
    this.#instants.set(time, settled.ok);
    this.fresh.push(...newHashes(was, settled.ok));
    this.repeats += settled.ok.repeats - (was?.repeats ?? 0);
    this.revisions += replacedOf(settled.ok).length - (was === null ? 0 : replacedOf(was).length);
    return null;
  }
}

function newHashes(was: Instant | null, now: Instant): HeldHash[] {
  const known = new Set(was === null ? [] : hashesOf(was).map(({ record_hash }) => record_hash));
  return hashesOf(now).filter(({ record_hash }) => !known.has(record_hash));
}

function hashesOf({ kept, record_hash, others }: Instant): readonly HeldHash[] {
  const { observed_at } = kept.reading;
  return [...others, { record_hash, batch: kept.batch, observed_at }];
}

function grown(
  before: EntityPast | null,
  lines: readonly StoredReading[],
  { ground, touched }: { readonly ground: Ground; readonly touched: Touched },
): Growth {
  const { fresh, again, repeats, revisions } = touched;
  const order = ordered(touched.instants);
  const { entity } = order.latest.kept.reading;
  const start = before?.series ?? NO_SERIES;
  // The rows that are firm stand before all others.
  if (order.firstDate < (start.chain.snapshot_date ?? '')) return BEHIND;
  const season = seasonBehind(ground.signal, before?.season ?? null, seasonOf(order));
  if (season === 'ended') return BEHIND;
  const rowOf = (instant: Instant): SeriesRow => ground.rowOf(toldOf(instant), instant.record_hash);
  const readSegment = (segment: Segment): Buffer => ground.readSegment(entity, segment);
  const series = settleAll(start, order.firmRows, { rowOf, newest: order.lastDate, readSegment });
  const batch = newestBatch(lines, ground.batches);
  const past: EntityPast = {
    entity,
    batch,
    looked_at: lookedAt(before, lines),
    lines: (before?.lines ?? 0) + lines.length,
    revisions,
    repeats,
    // Rows in another order than observations cannot be told apart from firm ones by their time.
    tail: order.recent.every((instant) => order.lastRows.includes(instant))
      ? order.recent.map(remembered)
      : [],
    again: Object.fromEntries([...again, ...repeatedFirm(order.firm, batch)]),
    fact: newestFact(ground.signal, order.firm) ?? before?.fact ?? null,
    series: series.past,
    season,
  };
  const rows = order.lastRows.map(rowOf);
  const { recent } = order;
  return { ok: { past, recent, fact: past.fact, rows, segments: series.written, fresh } };
}

/** Observations in their two orders: by time, and as they stand in a series. */
interface Order {
  readonly latest: Instant;
  readonly oldest: Instant;
  /** The newest observations, and those that are firm from now on. */
  readonly recent: readonly Instant[];
  readonly firm: readonly Instant[];
  /** The last rows of the series, and those that are settled from now on. */
  readonly lastRows: readonly Instant[];
  readonly firmRows: readonly Instant[];
  /** Snapshot dates of the first and the last row. */
  readonly firstDate: string;
  readonly lastDate: string;
}

/** `instants` are at least one, oldest first. */
function ordered(instants: readonly Instant[]): Order {
  const rows = [...instants].sort(byDate);
  const [oldest, firstRow] = [instants[0], rows[0]];
  const [latest, lastRow] = [instants.at(-1), rows.at(-1)];
  if (oldest === undefined || latest === undefined || !firstRow || !lastRow) {
    throw new RangeError('Cannot grow an entity: nothing observed');
  }
  return {
    latest,
    oldest,
    recent: instants.slice(-SERIES_TAIL),
    firm: instants.slice(0, -SERIES_TAIL),
    lastRows: rows.slice(-SERIES_TAIL),
    firmRows: rows.slice(0, -SERIES_TAIL),
    firstDate: dateOf(firstRow),
    lastDate: dateOf(lastRow),
  };
}

function seasonOf({ latest, oldest, firm }: Order) {
  const { entity, observed_at } = latest.kept.reading;
  const first = oldest.kept.reading.observed_at;
  return { entity, oldest: first, latest: observed_at, firm: firm.map(toldOf) };
}

interface Settling {
  readonly rowOf: (instant: Instant) => SeriesRow;
  /** Newest snapshot date of the series. */
  readonly newest: string;
  readonly readSegment: (segment: Segment) => Buffer;
}

function settleAll(
  start: SeriesPast,
  instants: readonly Instant[],
  { rowOf, newest, readSegment }: Settling,
): SettledRows {
  let { past, written }: SettledRows = { past: start, written: [] };
  const read = (segment: Segment): Buffer =>
    written.find((made) => made.segment === segment)?.bytes ?? readSegment(segment);
  // At least once: what is delivered follows from the newest date, too.
  for (let from = 0; from === 0 || from < instants.length; from += ROWS_AT_A_TIME) {
    const rows = instants.slice(from, from + ROWS_AT_A_TIME).map(rowOf);
    const next = settleRows(past, rows, { newest, readSegment: read });
    past = next.past;
    written = [...written, ...next.written].filter(({ segment }) =>
      past.segments.includes(segment),
    );
  }
  return { past, written };
}

/** Instants of one date stay in the order of their times. */
function byDate(a: Instant, b: Instant): number {
  const [one, other] = [dateOf(a), dateOf(b)];
  return one < other ? -1 : one > other ? 1 : 0;
}

function dateOf(instant: Instant): string {
  return snapshotDate(instant.kept.reading);
}

function newestFact({ metrics: [metric] }: Signal, firm: readonly Instant[]): Reading | null {
  const found = firm.findLast(({ kept }) => kept.reading.current[metric] !== null);
  return found === undefined ? null : withoutEvidence(toldOf(found));
}

/** Evidence is told of the newest reading alone, and then of the line that stands: no other is remembered. */
function remembered(instant: Instant, at: number, recent: readonly Instant[]): Instant {
  const { kept, said } = instant;
  const isNewest = at === recent.length - 1;
  return {
    ...instant,
    kept: isNewest ? kept : plain(kept),
    said: said === null ? null : plain(said),
  };
}

function plain({ reading, batch }: Batched): Batched {
  return { reading: withoutEvidence(reading), batch };
}

/** A source that lists its last day every hour repeats observations that have long been firm. */
function repeatedFirm(firm: readonly Instant[], batch: string): [number, string][] {
  const repeated = firm.filter(({ said }) => said?.batch === batch);
  return repeated.map((instant) => [timeOf(instant), digestOf(toldOf(instant))]);
}

/** A digest of everything that a reading says, except when and where it was collected. */
function digestOf({ collected_at, evidence, ...said }: Reading): string {
  return hash('sha256', jcs(said), 'base64url').slice(0, 22);
}

/** Of lines of which none is older than what is remembered. */
function newestBatch(lines: readonly StoredReading[], batches: readonly string[]): string {
  return batchName(
    batches,
    lines.reduce((most, line) => (line.batch > most.batch ? line : most)),
  );
}

function lookedAt(before: EntityPast | null, lines: readonly StoredReading[]): string {
  const times = lines.map(({ reading }) => reading.collected_at);
  return before === null ? times.reduce(laterTime) : times.reduce(laterTime, before.looked_at);
}
