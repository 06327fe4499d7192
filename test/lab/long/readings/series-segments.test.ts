import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  CHAIN_ORIGIN,
  type ChainState,
  chainLink,
  formatRuns,
  SERIES_DAYS_MAX,
  SERIES_ROWS_MAX,
  SERIES_TAIL,
  segmentPlaces,
  seriesFrom,
} from '../../../../compiler/products/shapes/series.ts';
import {
  NO_SERIES,
  type Segment,
  type SeriesPast,
  type SourcedRow,
  settleRows,
} from '../../../../compiler/readings/series-segments.ts';
import { canonicalHash } from '../../../../compiler/verify/body-check.ts';
import { seeded } from '../../../public-part.ts';

const DAY_MS = 86_400_000;

/** Sources of rows, each of some rows in sequence; 23 divides no size of a segment. */
const ORIGIN_ROWS = 23;

/** Rows with made-up values; `dayOf` says on which day of 2020 and later each was collected. */
function madeRows(count: number, dayOf: (index: number) => number): SourcedRow[] {
  return Array.from({ length: count }, (_, index) => {
    const day = new Date(Date.parse('2020-01-01T00:00:00Z') + dayOf(index) * DAY_MS).toISOString();
    const snapshot_date = day.replace('.000Z', 'Z');
    return {
      snapshot_date,
      observed_at: snapshot_date,
      data_age_hours: 0,
      current: { price_usd: index, note: 'ü,"\n' },
      band: null,
      record_hash: `sha256:${index.toString(16).padStart(64, '0')}`,
      origin: `{"source_ref":"https://example.org/${Math.floor(index / ORIGIN_ROWS)}"}`,
    };
  });
}

/** A folder of segments, as a compile after another one finds them. */
class Segments {
  readonly bytes = new Map<string, Buffer>();
  past: SeriesPast = NO_SERIES;
  writes = 0;

  settle(rows: readonly SourcedRow[], newest: string): void {
    const readSegment = (segment: Segment): Buffer => {
      const bytes = this.bytes.get(nameOf(segment));
      if (bytes === undefined) throw new Error(`${nameOf(segment)} is not there any more`);
      return bytes;
    };
    const { past, written } = settleRows(this.past, rows, {
      wanted: retainedFrom(newest),
      readSegment,
    });
    for (const { segment, bytes } of written) this.bytes.set(nameOf(segment), bytes);
    // A later compile knows what an earlier one wrote down, and finds the files of its release alone.
    this.past = JSON.parse(JSON.stringify(past));
    const names = new Set(past.segments.map(nameOf));
    for (const name of this.bytes.keys()) if (!names.has(name)) this.bytes.delete(name);
    this.writes += written.length;
  }

  get outcome() {
    return {
      past: this.past,
      digests: new Map([...this.bytes].sort().map(([name, bytes]) => [name, sha256(bytes)])),
    };
  }
}

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

function nameOf({ before, count, sha256 }: Segment): string {
  return `${before.rows}-${count} ${sha256}`;
}

const retainedFrom = (newest: string): string => seriesFrom(newest, SERIES_DAYS_MAX);

/** A row as it is stored. */
function bare({ origin: _, ...row }: SourcedRow): object {
  return row;
}

/** The origins of rows as they are stored, counted another way. */
function originLine(rows: readonly SourcedRow[]): string {
  const starts = rows.flatMap(({ origin }, at) => (origin === rows[at - 1]?.origin ? [] : [at]));
  const runs = starts.map((at, index) => {
    const end = starts[index + 1] ?? rows.length;
    return [end - at, JSON.parse(rows[at]?.origin ?? '')];
  });
  return JSON.stringify(runs);
}

/** The state in front of each row, by another implementation of the hash. */
function statesOf(rows: readonly SourcedRow[]): ChainState[] {
  const states: ChainState[] = [CHAIN_ORIGIN];
  for (const row of rows) {
    const before = states.at(-1) ?? CHAIN_ORIGIN;
    const chain = canonicalHash(chainLink(before, bare(row)));
    states.push({ rows: before.rows + 1, snapshot_date: row.snapshot_date, chain });
  }
  return states;
}

const newestOf = (rows: readonly SourcedRow[]): string => rows.at(-1)?.snapshot_date ?? '';
const settledOf = (rows: readonly SourcedRow[]) =>
  rows.slice(0, Math.max(0, rows.length - SERIES_TAIL));

function atOnce(rows: readonly SourcedRow[]): Segments {
  const made = new Segments();
  made.settle(settledOf(rows), newestOf(rows));
  return made;
}

/** The same rows as they come: each time with the newest date that is known by then. */
function inPortions(rows: readonly SourcedRow[], most: number, seed: number): Segments {
  const below = seeded(seed);
  const made = new Segments();
  for (let known = 0; known < rows.length; ) {
    const before = settledOf(rows.slice(0, known)).length;
    known = Math.min(rows.length, known + 1 + below(most));
    const seen = rows.slice(0, known);
    made.settle(settledOf(seen).slice(before), newestOf(seen));
  }
  return made;
}

const CASES: readonly [string, number, (index: number) => number][] = [
  ['one row a day', 700, (index) => index],
  ['24 rows a day', 4400, (index) => Math.floor(index / 24)],
  ['days far apart', 700, (index) => index * 40],
  ['one day', 600, () => 0],
  ['one day, then nothing for years, then one day', 330, (index) => (index < 300 ? 0 : 3000)],
  ['a row a day for longer than is delivered', 4200, (index) => index],
  ['gaps longer than what is delivered', 200, (index) => Math.floor(index / 3) * 1001],
];

describe('settleRows()', () => {
  it.each(CASES)('has one outcome, however %s come', (_, count, dayOf) => {
    const rows = madeRows(count, dayOf);
    for (const [seed, most] of [1, 20, 300, 5000].entries()) {
      const few = most === 1 ? rows.slice(0, 400) : rows;
      expect(inPortions(few, most, seed).outcome, `at most ${most}`).toEqual(atOnce(few).outcome);
    }
  });

  it.each(CASES)(
    'keeps every row of %s in its place, with the chain in front of it',
    (...[, count, dayOf]) => {
      const rows = madeRows(count, dayOf);
      const states = statesOf(rows);
      const { past, bytes } = atOnce(rows);
      const settled = count - SERIES_TAIL;
      expect(past.chain).toEqual(states[settled]);
      const wanted = retainedFrom(newestOf(rows));
      const from = rows.findIndex((row) => row.snapshot_date >= wanted);
      expect(past.delivered.before).toEqual(states[Math.min(from, settled)]);
      expect(past.segments.map((each) => ({ start: each.before.rows, count: each.count }))).toEqual(
        segmentPlaces(settled, from),
      );
      for (const segment of past.segments) {
        const { before, count: size, first_date, last_date } = segment;
        const own = rows.slice(before.rows, before.rows + size);
        const cuts = own.flatMap((row, index) => {
          const at = before.rows + index;
          const { snapshot_date, chain } = states[at] ?? CHAIN_ORIGIN;
          return row.snapshot_date === snapshot_date ? [] : [[row.snapshot_date, at, chain]];
        });
        const lines = own.map((row) => `${JSON.stringify(bare(row))},`);
        const text = [JSON.stringify(cuts), originLine(own), ...lines, ''];
        const stored = bytes.get(nameOf(segment)) ?? Buffer.alloc(0);
        expect(stored.toString()).toBe(text.join('\n'));
        expect(segment.sha256).toBe(sha256(stored));
        expect(segment.size).toBe(stored.length);
        expect([first_date, last_date]).toEqual([own[0]?.snapshot_date, newestOf(own)]);
        expect(before).toEqual(states[before.rows]);
      }
      const last = past.segments.at(-1);
      const open = last === undefined ? past.openBefore.rows : last.before.rows + last.count;
      expect(past.openBefore).toEqual(states[open]);
      expect(past.open).toEqual(rows.slice(open, settled).map((row) => JSON.stringify(bare(row))));
      expect(formatRuns(past.origins)).toBe(originLine(rows.slice(open, settled)));
      expect(past.open.length).toBeLessThan(16);
    },
  );

  it('delivers no more than 25,000 rows, in whole blocks where they came on one day', () => {
    const most = SERIES_ROWS_MAX;
    for (const [count, from] of [
      [most, 0],
      [most + 1, 4096],
      [most + 4096, 4096],
      [most + 4097, 8192],
    ] as const) {
      const rows = madeRows(count, () => 0);
      const { past } = inPortions(rows, 9000, count);
      expect(past.delivered.before).toEqual(statesOf(rows.slice(0, from)).at(-1));
      expect(past.segments[0]?.before.rows).toBe(from);
      expect(past).toEqual(atOnce(rows).past);
    }
  });

  it('writes an hour that adds one row at a cost that does not grow with the rows before', () => {
    const rows = madeRows(6000, (index) => Math.floor(index / 24));
    const made = atOnce(rows.slice(0, 5000));
    const before = made.writes;
    for (let known = 5000; known < 6000; known += 1) {
      made.settle(
        rows.slice(known - SERIES_TAIL, known - SERIES_TAIL + 1),
        newestOf(rows.slice(0, known + 1)),
      );
    }
    // One in 16 hours, of whatever size.
    expect(made.writes - before).toBeLessThan(1000 / 16 + 1);
    expect(made.past).toEqual(atOnce(rows).past);
  });

  it('refuses to join what is not there', () => {
    const { past } = atOnce(madeRows(15 * 16 + SERIES_TAIL, (index) => index));
    const gap = { ...past, segments: past.segments.toSpliced(3, 1) };
    const rows = madeRows(16, (index) => 1000 + index);
    const readSegment = () => Buffer.from('[]\n[]\n');
    const settle = () =>
      settleRows(gap, rows, { wanted: retainedFrom(newestOf(rows)), readSegment });
    expect(settle).toThrow(/Cannot join 256 rows from 0 on: 240 found/);
  });
});

describe('segmentPlaces()', () => {
  it('counts settled blocks of 16 rows in digits of base 4', () => {
    const counts = (settled: number) => segmentPlaces(settled, 0).map(({ count }) => count);
    expect(counts(15)).toEqual([]);
    expect(counts(16)).toEqual([16]);
    expect(counts(255)).toEqual([64, 64, 64, 16, 16, 16]);
    expect(counts(256)).toEqual([256]);
    expect(counts(4096 + 256 + 33)).toEqual([4096, 256, 16, 16]);
    expect(counts(20 * 4096)).toEqual(Array(20).fill(4096));
  });

  it('leaves out whole blocks of the largest size alone', () => {
    const starts = (delivered: number) =>
      segmentPlaces(8192 + 40, delivered).map((each) => each.start);
    expect(starts(4095)).toEqual([0, 4096, 8192, 8208]);
    expect(starts(4096)).toEqual([4096, 8192, 8208]);
    expect(starts(8200)).toEqual([8192, 8208]);
    expect(starts(9000)).toEqual([8192, 8208]);
  });
});
