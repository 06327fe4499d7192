import { hash } from 'node:crypto';
import {
  CHAIN_ORIGIN,
  type ChainState,
  chainLink,
  cutRuns,
  formatRuns,
  joinRuns,
  type OriginRun,
  parseRuns,
  rowsBeyond,
  SERIES_TAIL,
  type SegmentPlace,
  type SeriesCut,
  type SeriesRow,
  segmentPlaces,
  stateBefore,
} from '../products/shapes/series.ts';
import { jcs } from '../system/jcs.ts';

// What an hour adds to a series costs the same however long the series is: its settled rows are remembered as a state of
// the chain, a list of segments and fewer than 16 open lines. Every 16 lines become a segment, every 4 segments of one
// size one of the next. The outcome follows from the rows alone, not from how many came at a time.

const NEWLINE = 0x0a;

/** A row, and the JSON text of what its hash core has besides (RowOrigin). */
export interface SourcedRow extends SeriesRow {
  readonly origin: string;
}

export interface Segment {
  /** The chain in front of its first row. */
  readonly before: ChainState;
  readonly count: number;
  readonly first_date: string;
  readonly last_date: string;
  readonly size: number;
  readonly sha256: string;
}

interface DeliveredStart {
  readonly before: ChainState;
  /** Snapshot date of the first of them; null where none of the settled rows is delivered. */
  readonly snapshot_date: string | null;
}

/** Everything that a later compile needs of the settled rows of a series; plain data of a bounded size. */
export interface SeriesPast {
  /** Behind the last settled row. */
  readonly chain: ChainState;
  readonly delivered: DeliveredStart;
  /** Those of the release, in order. */
  readonly segments: readonly Segment[];
  /** In front of the open rows: the settled ones that are too few for a segment. */
  readonly openBefore: ChainState;
  readonly open: readonly string[];
  /** Cuts inside the open rows. */
  readonly cuts: readonly SeriesCut[];
  readonly origins: readonly OriginRun<string>[];
}

export const NO_SERIES: SeriesPast = {
  chain: CHAIN_ORIGIN,
  delivered: { before: CHAIN_ORIGIN, snapshot_date: null },
  segments: [],
  openBefore: CHAIN_ORIGIN,
  open: [],
  cuts: [],
  origins: [],
};

/** The past with more rows, and the segments that came into being. */
export interface SettledSeries {
  readonly past: SeriesPast;
  readonly written: readonly WrittenSegment[];
}

interface WrittenSegment {
  readonly segment: Segment;
  readonly bytes: Buffer;
}

/** Adds rows that have become settled; none where only the newest date moves on. */
export function settleRows(
  past: SeriesPast,
  rows: readonly SourcedRow[],
  { wanted, readSegment }: { wanted: string; readSegment: (segment: Segment) => Buffer },
): SettledSeries {
  const open = opened(past, rows);
  const written = new Map<Segment, Buffer>();
  const read = (segment: Segment): Buffer => written.get(segment) ?? readSegment(segment);
  const segments = segmentPlaces(open.end.rows, past.delivered.before.rows).map((place) => {
    const known = past.segments.find(
      (segment) => segment.before.rows === place.start && segment.count === place.count,
    );
    if (known !== undefined) return known;
    const made = joinSegment(place, open, { past, read });
    written.set(made.segment, made.bytes);
    return made.segment;
  });
  const reach = { wanted, read };
  const delivered = deliveredFrom({ from: past.delivered, segments, open }, reach);
  const kept = keptSegments(segments, open.end.rows, delivered);
  return {
    past: { chain: open.end, delivered, segments: kept, ...openBehind(segments, open) },
    written: kept.flatMap((segment) => {
      const bytes = written.get(segment);
      return bytes === undefined ? [] : [{ segment, bytes }];
    }),
  };
}

/** Lines that stand in no segment yet, old ones and new ones. */
interface OpenLines {
  readonly lines: readonly string[];
  /** The state in front of each line that a segment may begin with. */
  readonly stateAt: (row: number) => ChainState;
  readonly cuts: readonly SeriesCut[];
  readonly origins: readonly OriginRun<string>[];
  /** Number of the first of them. */
  readonly start: number;
  readonly end: ChainState;
}

function opened(
  { chain, openBefore, open, cuts, origins }: SeriesPast,
  rows: readonly SourcedRow[],
): OpenLines {
  const added = chainRows(chain, rows);
  return {
    lines: [...open, ...added.lines],
    stateAt(row) {
      if (row === openBefore.rows) return openBefore;
      const state = row === added.end.rows ? added.end : added.states[row - chain.rows];
      if (state !== undefined) return state;
      throw new RangeError(`Cannot tell the chain in front of row ${row}: inside the open rows`);
    },
    cuts: [...cuts, ...added.cuts],
    origins: joinRuns([...origins, ...added.origins]),
    start: openBefore.rows,
    end: added.end,
  };
}

interface SegmentSource {
  readonly past: SeriesPast;
  readonly read: (segment: Segment) => Buffer;
}

/** Rows that go into a segment, one behind the other. */
interface Piece extends Pick<Segment, 'before' | 'count' | 'first_date' | 'last_date'> {
  readonly cuts: readonly SeriesCut[];
  readonly origins: readonly OriginRun<string>[];
  readonly rows: Buffer;
}

/** The segment of a place, out of the smaller ones that stand there and of open lines. */
function joinSegment(
  place: SegmentPlace,
  open: OpenLines,
  { past, read }: SegmentSource,
): WrittenSegment {
  const end = place.start + place.count;
  const within = ({ before }: Segment) => before.rows >= place.start && before.rows < end;
  const pieces = [
    ...past.segments.filter(within).map((segment) => pieceOf(segment, read(segment))),
    ...linePieces(place, open),
  ];
  const [first] = pieces;
  const last = pieces.at(-1);
  const count = pieces.reduce((sum, piece) => sum + piece.count, 0);
  if (first === undefined || last === undefined || count !== place.count) {
    throw new RangeError(`Cannot join ${place.count} rows from ${place.start} on: ${count} found`);
  }
  const cuts = JSON.stringify(pieces.flatMap((piece) => piece.cuts));
  const origins = formatRuns(joinRuns(pieces.flatMap((piece) => piece.origins)));
  const bytes = Buffer.concat([
    Buffer.from(`${cuts}\n${origins}\n`),
    ...pieces.map(({ rows }) => rows),
  ]);
  const { before, first_date } = first;
  const digest = { size: bytes.length, sha256: hash('sha256', bytes, 'hex') };
  const segment = { before, count, first_date, last_date: last.last_date, ...digest };
  return { segment, bytes };
}

function pieceOf(segment: Segment, bytes: Buffer): Piece {
  const { cuts, origins, rows } = segmentParts(bytes);
  return { ...segment, cuts: JSON.parse(cuts), origins: parseRuns(origins), rows };
}

/** A segment is the line of its cuts, the line of its origins, and its rows. */
export function segmentParts(bytes: Buffer) {
  const cutsEnd = bytes.indexOf(NEWLINE);
  const originsEnd = bytes.indexOf(NEWLINE, cutsEnd + 1);
  return {
    cuts: bytes.toString('utf8', 0, cutsEnd),
    origins: bytes.toString('utf8', cutsEnd + 1, originsEnd),
    rows: bytes.subarray(originsEnd + 1),
  };
}

function linePieces({ start, count }: SegmentPlace, open: OpenLines): Piece[] {
  const from = Math.max(start, open.start);
  const lines = open.lines.slice(from - open.start, start + count - open.start);
  const [first] = lines;
  const last = lines.at(-1);
  if (first === undefined || last === undefined) return [];
  return [
    {
      before: open.stateAt(from),
      count: lines.length,
      first_date: dateOf(first),
      last_date: dateOf(last),
      cuts: open.cuts.filter(([, rows]) => rows >= from && rows < start + count),
      origins: cutRuns(open.origins, from - open.start, start + count - open.start),
      rows: Buffer.from(lines.map((line) => `${line},\n`).join('')),
    },
  ];
}

function dateOf(line: string): string {
  const { snapshot_date }: SeriesRow = JSON.parse(line);
  return snapshot_date;
}

interface Dated {
  readonly from: DeliveredStart;
  readonly segments: readonly Segment[];
  readonly open: OpenLines;
}

/** Where the delivered rows begin: no earlier than they did, at a date that is wanted, and never more rows than allowed. */
function deliveredFrom(
  series: Dated,
  { wanted, read }: { wanted: string; read: SegmentSource['read'] },
): DeliveredStart {
  const { segments, open } = series;
  const from = withoutBeyond(series);
  if (from.snapshot_date !== null && from.snapshot_date >= wanted) return from;
  const segment = segments.find(({ last_date }) => last_date >= wanted);
  if (segment !== undefined && segment.first_date >= wanted) return beginningOf(segment);
  const cuts: readonly SeriesCut[] =
    segment === undefined ? open.cuts : JSON.parse(segmentParts(read(segment)).cuts);
  const cut = cuts.find(([date]) => date >= wanted);
  if (cut === undefined) return { before: open.end, snapshot_date: null };
  return { before: stateBefore(cut, knownDates(series, cuts)), snapshot_date: cut[0] };
}

/** The beginning, moved on where more rows would be delivered than are allowed. */
function withoutBeyond({ from, segments, open }: Dated): DeliveredStart {
  const beyond = rowsBeyond(open.end.rows + SERIES_TAIL);
  if (from.before.rows >= beyond) return from;
  const segment = segments.find(({ before }) => before.rows === beyond);
  if (segment !== undefined) return beginningOf(segment);
  throw new RangeError(`Cannot leave out ${beyond} rows: no segment ends there`);
}

function beginningOf({ before, first_date }: Segment): DeliveredStart {
  return { before, snapshot_date: first_date };
}

function knownDates({ from, segments }: Dated, cuts: readonly SeriesCut[]): string[] {
  const { snapshot_date } = from.before;
  return [
    ...(snapshot_date === null ? [] : [snapshot_date]),
    ...segments.flatMap(({ first_date, last_date }) => [first_date, last_date]),
    ...cuts.map(([date]) => date),
  ];
}

/** The segments that belong to the release, out of a list that may begin earlier. */
function keptSegments(
  segments: readonly Segment[],
  settled: number,
  { before }: DeliveredStart,
): Segment[] {
  const [first] = segmentPlaces(settled, before.rows);
  return first === undefined ? [] : segments.filter((each) => each.before.rows >= first.start);
}

/** The open rows that are left behind the last segment. */
function openBehind(segments: readonly Segment[], open: OpenLines) {
  const last = segments.at(-1);
  const start = last === undefined ? open.start : last.before.rows + last.count;
  return {
    openBefore: open.stateAt(start),
    open: open.lines.slice(start - open.start),
    cuts: open.cuts.filter(([, rows]) => rows >= start),
    origins: cutRuns(open.origins, start - open.start),
  };
}

export interface ChainedRows {
  /** Each row as its line stands in a file, without the comma behind it. */
  readonly lines: readonly string[];
  /** The state in front of each row. */
  readonly states: readonly ChainState[];
  /** Where each snapshot date begins. */
  readonly cuts: readonly SeriesCut[];
  readonly origins: readonly OriginRun<string>[];
  readonly end: ChainState;
}

/** Runs the chain over rows that follow a state. */
export function chainRows(before: ChainState, sourced: readonly SourcedRow[]): ChainedRows {
  const cuts: SeriesCut[] = [];
  const states: ChainState[] = [];
  const lines: string[] = [];
  let state = before;
  for (const { origin: _, ...row } of sourced) {
    const { snapshot_date } = row;
    if (snapshot_date !== state.snapshot_date) cuts.push([snapshot_date, state.rows, state.chain]);
    states.push(state);
    lines.push(JSON.stringify(row));
    const digest = hash('sha256', jcs(chainLink(state, row)), 'hex');
    state = { rows: state.rows + 1, snapshot_date, chain: `sha256:${digest}` };
  }
  const origins = joinRuns(sourced.map(({ origin }) => [1, origin]));
  return { lines, states, cuts, origins, end: state };
}
