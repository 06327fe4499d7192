import type { Signal } from '../products/shapes/line.ts';
import { SERIES_TAIL, seriesFrom } from '../products/shapes/series.ts';
import type { EntityPast, Ground, Replaced } from './entity-past.ts';
import { batchOrder } from './list-snapshots.ts';
import type { StoredReading } from './read-signal.ts';
import type { Reading } from './reading.ts';
import { type SeasonPast, type SeasonReading, seasonBehind } from './season.ts';
import {
  NO_SERIES,
  type Segment,
  type SeriesPast,
  type SettledSeries,
  type SourcedRow,
  settleRows,
} from './series-segments.ts';
import {
  type Batched,
  batchName,
  groupByTime,
  type HeldHash,
  type Instant,
  laterTime,
  standingReading,
  timeOf,
  tooMany,
  withoutEvidence,
} from './timeline.ts';
import {
  BEHIND,
  digestOf,
  type Item,
  rowOfItem,
  type SettledRows,
  Touched,
  type Unsettled,
} from './touched-times.ts';

/** An entity with new lines settled upon its past. */
export interface Grown {
  readonly past: EntityPast;
  /** The newest observations, oldest first. */
  readonly recent: readonly Instant[];
  /** The newest reading with a value before those. */
  readonly fact: Reading | null;
  /** Rows of the series that are not firm. */
  readonly rows: readonly SourcedRow[];
  /** The earliest snapshot date that the series delivers. */
  readonly seriesFrom: string;
  /** Segments of the series that came into being. */
  readonly segments: SettledSeries['written'];
  /** Hashes that are new. */
  readonly fresh: readonly HeldHash[];
}

type Growth = { readonly ok: Grown } | Unsettled;

/** Rows that are settled at a time: as many as the largest segment has, so that none is made in order to be joined. */
const ROWS_AT_A_TIME = 4096;
/** Firm observations of which the replaced facts are remembered. */
const REPLACED_MAX = 32;

/** Settles lines upon what is remembered of their entity; null for one that is new, or of which all lines are given. */
export function growPast(
  before: EntityPast | null,
  lines: readonly StoredReading[],
  ground: Ground,
): Growth {
  const [first] = lines;
  if (first === undefined) throw new RangeError('Cannot grow an entity: no lines');
  const { entity } = first.reading;
  const fault = tooMany(entity, { lines: (before?.lines ?? 0) + lines.length, file: first.file });
  if (fault !== null) return { fault };
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
  { batch }: EntityPast,
  batches: readonly string[],
): boolean {
  const last = batchOrder(batch);
  return lines.every((line) => batchOrder(batchName(batches, line)) > last);
}

function grown(
  before: EntityPast | null,
  lines: readonly StoredReading[],
  { ground, touched }: { readonly ground: Ground; readonly touched: Touched },
): Growth {
  const { fresh, again, repeats, revisions, rows } = touched;
  const order = ordered(touched.items);
  const [recent, last] = [wholesOf(order.recent), wholesOf(order.lastRows)];
  const rowOf = (item: Item): SourcedRow => rowOfItem(item, ground.rowOf);
  const resumed = resume(before?.series ?? NO_SERIES, order, { rows, rowOf });
  // What must be known whole is known by its row alone, or does not come behind what is settled.
  if (recent === null || last === null || resumed === null) return BEHIND;
  const known = { before, rows, firm: knownWhole(order.firm) };
  const season = seasonAfter(known, recent, ground.signal);
  const fact = factAfter(known, ground.signal);
  if (season === 'ended' || fact === 'unknown') return BEHIND;
  const { entity } = lastOf(recent).kept.reading;
  const readSegment = (segment: Segment): Buffer => ground.readSegment(entity, segment);
  const wanted = seriesFrom(order.lastDate, ground.seriesDays);
  const series = settleAll(resumed, { rowOf, wanted, readSegment });
  const batch = newestBatch(lines, ground.batches);
  const tail = [...new Set([...recent, ...last])].sort((a, b) => timeOf(a) - timeOf(b));
  const past: EntityPast = {
    entity,
    batch,
    looked_at: lookedAt(before, lines),
    lines: (before?.lines ?? 0) + lines.length,
    revisions,
    repeats,
    tail: tail.map(remembered),
    ...replacedAfter(known, tail),
    again: Object.fromEntries([...again, ...repeatedFirm(known.firm, batch)]),
    fact,
    series: series.past,
    season,
  };
  const openRows = order.lastRows.map(rowOf);
  return {
    ok: { past, recent, fact, rows: openRows, seriesFrom: wanted, segments: series.written, fresh },
  };
}

/** Observations in their two orders: by time, and as they stand in a series. */
interface Order {
  /** The newest observations, and those that are firm from now on. */
  readonly recent: readonly Item[];
  readonly firm: readonly Item[];
  /** The last rows of the series, and those that are settled from now on. */
  readonly lastRows: readonly Item[];
  readonly firmRows: readonly Item[];
  /** Snapshot dates of the first and the last row. */
  readonly firstDate: string;
  readonly lastDate: string;
}

/** `items` are at least one, oldest first. */
function ordered(items: readonly Item[]): Order {
  const rows = [...items].sort(byDate);
  const last = lastOf(rows);
  const [first = last] = rows;
  return {
    recent: items.slice(-SERIES_TAIL),
    firm: items.slice(0, -SERIES_TAIL),
    lastRows: rows.slice(-SERIES_TAIL),
    firmRows: rows.slice(0, -SERIES_TAIL),
    firstDate: first.date,
    lastDate: last.date,
  };
}

/** Items of one date stay in the order of their times. */
function byDate({ date: a }: Item, { date: b }: Item): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function lastOf<T>(items: readonly T[]): T {
  const last = items.at(-1);
  if (last === undefined) throw new RangeError('Cannot grow an entity: nothing observed');
  return last;
}

function knownWhole(items: readonly Item[]): Instant[] {
  return items.map(({ instant }) => instant).filter((instant) => instant !== null);
}

/** Null where one of them is known by its row alone. */
function wholesOf(items: readonly Item[]): readonly Instant[] | null {
  const whole = knownWhole(items);
  return whole.length === items.length ? whole : null;
}

interface Resumed {
  readonly past: SeriesPast;
  readonly items: readonly Item[];
}

/** Where the series goes on, and what follows there; null where that does not come behind it. */
function resume(
  series: SeriesPast,
  { firmRows, firstDate }: Order,
  {
    rows,
    rowOf,
  }: { readonly rows: SettledRows | null; readonly rowOf: (item: Item) => SourcedRow },
): Resumed | null {
  if (rows === null) {
    const isBehind = firstDate < (series.chain.snapshot_date ?? '');
    return isBehind ? null : { past: series, items: firmRows };
  }
  const past = rows.pastOf(firmRows.length, (at) => rowOf(itemAt(firmRows, at)));
  return past === null ? null : { past, items: firmRows.slice(past.chain.rows - rows.first) };
}

function itemAt(items: readonly Item[], at: number): Item {
  const item = items[at];
  if (item === undefined) throw new RangeError(`Cannot tell row ${at}: there are fewer`);
  return item;
}

/** What was known, and the firm observations of which the whole reading is known. */
interface FirmPast {
  readonly before: EntityPast | null;
  readonly rows: SettledRows | null;
  /** Oldest first. */
  readonly firm: readonly Instant[];
}

function seasonAfter(
  { before, rows, firm }: FirmPast,
  recent: readonly Instant[],
  signal: Signal,
): SeasonPast | null | 'ended' {
  if (!signal.seasonal) return null;
  const [oldest = lastOf(recent)] = firm.length > 0 ? firm : recent;
  const { entity, observed_at } = lastOf(recent).kept.reading;
  const readings = firm.map(standingReading);
  const kept = before?.season ?? null;
  const season = seasonBehind(signal, rows === null ? kept : seasonWithout(kept, readings), {
    entity,
    oldest: oldest.kept.reading.observed_at,
    latest: observed_at,
    firm: readings,
  });
  if (season === null || season === 'ended' || rows === null) return season;
  const inOrder = (a: SeasonReading, b: SeasonReading): number =>
    Date.parse(a.observed_at) - Date.parse(b.observed_at);
  return { ...season, readings: [...season.readings].sort(inOrder) };
}

/** Among rows one may come again that is firm already. */
function seasonWithout(season: SeasonPast | null, readings: readonly Reading[]): SeasonPast | null {
  if (season === null) return null;
  const times = new Set(readings.map(({ observed_at }) => Date.parse(observed_at)));
  const isOther = (one: SeasonReading): boolean => !times.has(Date.parse(one.observed_at));
  return { ...season, readings: season.readings.filter(isOther) };
}

/** The newest firm reading with a value; 'unknown' where the one that was it has none now. */
function factAfter({ before, rows, firm }: FirmPast, signal: Signal): Reading | null | 'unknown' {
  const newest = newestFact(signal, firm);
  if (before === null || before.fact === null) return newest;
  const { fact: was, batch } = before;
  const at = Date.parse(was.observed_at);
  if (newest !== null && Date.parse(newest.observed_at) >= at) return newest;
  if (firm.some((instant) => timeOf(instant) === at)) return 'unknown';
  const repeat = rows?.at(at)?.repeat ?? null;
  if (repeat === null) return was;
  return withoutEvidence(
    standingReading({ kept: { reading: was, batch }, repeat: { reading: repeat, batch } }),
  );
}

/** What is remembered of facts that were replaced, of the newest observations that are not kept whole. */
function replacedAfter(
  { before, firm }: FirmPast,
  tail: readonly Instant[],
): Pick<EntityPast, 'replaced' | 'replaced_since'> {
  const whole = new Set(tail);
  const fresh = firm.filter((instant) => instant.others.length > 0 && !whole.has(instant));
  const since = before?.replaced_since ?? null;
  const was = before?.replaced ?? [];
  if (fresh.length === 0 && tail.length <= SERIES_TAIL)
    return { replaced: was, replaced_since: since };
  const times = new Set([...firm, ...tail].map(timeOf));
  const all = [
    ...was.filter(([time]) => !times.has(time)),
    ...fresh.map((instant): Replaced => [timeOf(instant), instant.others]),
  ].sort(([a], [b]) => b - a);
  const replaced = all.slice(0, REPLACED_MAX);
  const oldest = replaced.at(-1)?.[0] ?? null;
  return { replaced, replaced_since: all.length > REPLACED_MAX ? oldest : since };
}

interface Settling {
  readonly rowOf: (item: Item) => SourcedRow;
  /** The earliest snapshot date that the series delivers. */
  readonly wanted: string;
  readonly readSegment: (segment: Segment) => Buffer;
}

function settleAll(start: Resumed, { rowOf, wanted, readSegment }: Settling): SettledSeries {
  let { past, written }: SettledSeries = { past: start.past, written: [] };
  const read = (segment: Segment): Buffer =>
    written.find((made) => made.segment === segment)?.bytes ?? readSegment(segment);
  // At least once: what is delivered follows from the newest date.
  for (let from = 0; from === 0 || from < start.items.length; from += ROWS_AT_A_TIME) {
    const rows = start.items.slice(from, from + ROWS_AT_A_TIME).map(rowOf);
    const next = settleRows(past, rows, { wanted, readSegment: read });
    past = next.past;
    written = [...written, ...next.written].filter(({ segment }) =>
      past.segments.includes(segment),
    );
  }
  return { past, written };
}

function newestFact({ metrics: [metric] }: Signal, firm: readonly Instant[]): Reading | null {
  const found = firm.findLast(({ kept }) => kept.reading.current[metric] !== null);
  return found === undefined ? null : withoutEvidence(standingReading(found));
}

/** Evidence is kept of the newest reading alone, and then of the line that stands: no other is remembered. */
function remembered(instant: Instant, at: number, recent: readonly Instant[]): Instant {
  const { kept, repeat } = instant;
  const isNewest = at === recent.length - 1;
  return {
    ...instant,
    kept: isNewest ? kept : plain(kept),
    repeat: repeat === null ? null : plain(repeat),
  };
}

function plain({ reading, batch }: Batched): Batched {
  return { reading: withoutEvidence(reading), batch };
}

/** A source that lists its last day every hour repeats observations that have long been firm. */
function repeatedFirm(firm: readonly Instant[], batch: string): [number, string][] {
  const repeated = firm.filter(({ repeat }) => repeat?.batch === batch);
  return repeated.map((instant) => [timeOf(instant), digestOf(standingReading(instant))]);
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
