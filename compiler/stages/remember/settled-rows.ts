import type { SeriesRow } from '../../contract/series.ts';
import type { Segment, SeriesPast } from '../assemble/series-segments.ts';
import type { Reading } from '../intake/reading.ts';
import { withoutEvidence } from '../intake/timeline.ts';

// A late or revised observation finds its place among the settled rows of its entity. They stand in the segments of its
// series, so no snapshot file is read again. A row does not say everything of its reading: what only the reading tells
// is not asked of it.

/** A settled observation, of which its row is known. */
export interface SettledRow {
  /** When it was observed, in milliseconds. */
  readonly time: number;
  readonly row: SeriesRow;
  /** What its newest repeat says, where one came after it was settled. */
  readonly said: Reading | null;
}

/** The settled rows of one entity, in the order of the series. */
export class SettledRows {
  readonly #series: SeriesPast;
  /** Number of the first of them. */
  readonly first: number;
  readonly #before: readonly SeriesRow[];
  readonly #now = new Map<number, SettledRow>();

  constructor(series: SeriesPast, readSegment: (segment: Segment) => Buffer) {
    this.#series = series;
    this.first = (series.segments[0]?.before ?? series.openBefore).rows;
    const lines = [...series.segments.flatMap((one) => linesOf(readSegment(one))), ...series.open];
    this.#before = lines.map((line): SeriesRow => JSON.parse(line));
    for (const row of this.#before) {
      const time = Date.parse(row.observed_at);
      this.#now.set(time, { time, row, said: null });
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

  /** A repeat of the same fact: of the row only the class may change, which follows from what is said beside the fact. */
  repeat(
    { time, row }: SettledRow,
    reading: Reading,
    bandOf: (reading: Reading) => string | null,
  ): void {
    const said = { ...withoutEvidence(reading), observed_at: row.observed_at };
    this.#now.set(time, { time, row: { ...row, band: bandOf(said) }, said });
  }

  /** What of the series stays where it has so many settled rows now; null where that is not known. */
  pastOf(count: number, rowAt: (at: number) => SeriesRow): SeriesPast | null {
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
    };
  }

  /** How many rows at the beginning are what they were. */
  #sameRows(count: number, rowAt: (at: number) => SeriesRow): number {
    const most = Math.min(count, this.#before.length);
    for (let at = 0; at < most; at += 1) {
      const [was, now] = [this.#before[at], rowAt(at)];
      if (was !== now && JSON.stringify(was) !== JSON.stringify(now)) return at;
    }
    return most;
  }
}

/** Each row of a segment, whose first line holds its cuts, without the comma behind it. */
function linesOf(segment: Buffer): string[] {
  return segment
    .toString('utf8')
    .split(',\n')
    .map((line, at) => (at === 0 ? line.slice(line.indexOf('\n') + 1) : line))
    .slice(0, -1);
}
