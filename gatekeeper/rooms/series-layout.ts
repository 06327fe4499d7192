import type {
  ChainState,
  OriginRun,
  SeriesCut,
  StoredSegment,
} from '../../compiler/contract/series.ts';
import type { Body } from '../release/release-index.ts';

// Where the lines of a stored series stand (FORMAT.md, section 8). Answers are cut out of these bytes.

const NEWLINE = 0x0a;
const ROWS = ',"rows":[';

/** Rows that follow one another in one file. */
export interface Stretch {
  readonly body: Body;
  /** Number of the first row, counted from the first one ever. */
  readonly start: number;
  /** Offset of every row, and behind the last of them that of what follows. */
  readonly rows: readonly number[];
  readonly cuts: readonly SeriesCut[];
  readonly origins: readonly OriginRun[];
}

/** The file of a series: its head, its segments, where its rows can be cut, their origins, its rows, the citation. */
export interface SeriesLayout extends Stretch {
  /** End of the head, behind its line end. */
  readonly headEnd: number;
  readonly segments: readonly StoredSegment[];
  /** In front of the first row that is delivered. */
  readonly before: ChainState;
  /** Rows of the whole chain. */
  readonly end: number;
}

/** What is made of a body, once for as long as the body is held. */
function oncePerBody<Value, More extends readonly unknown[]>(
  make: (body: Body, ...more: More) => Value,
): (body: Body, ...more: More) => Value {
  const made = new WeakMap<Body, { readonly value: Value }>();
  return (body, ...more) => {
    const known = made.get(body);
    if (known !== undefined) return known.value;
    const value = make(body, ...more);
    made.set(body, { value });
    return value;
  };
}

/** The layout of the file of a series. */
export const layoutOf = oncePerBody((body: Body): SeriesLayout => {
  const [headEnd = 0, segmentsEnd = 0, cutsEnd = 0, originsEnd = 0, answerEnd = 0, ...more] =
    lineEnds(body);
  const line = (start: number, end: number): string => body.bytes.toString('utf8', start, end);
  const answer = `{${line(originsEnd, answerEnd).trimEnd().slice(0, -ROWS.length)}}`;
  const { before, count }: { before: ChainState; count: number } = JSON.parse(answer);
  const rows = [answerEnd, ...more];
  const end = before.rows + count;
  return {
    body,
    headEnd,
    segments: memberOf(line(headEnd, segmentsEnd)),
    cuts: memberOf(line(segmentsEnd, cutsEnd)),
    origins: memberOf(line(cutsEnd, originsEnd)),
    before,
    start: end - (rows.length - 1),
    end,
    rows,
  };
});

/** The layout of a segment: its cuts, its origins, then its rows. */
export const segmentLayout = oncePerBody((body: Body, start: number): Stretch => {
  const [cutsEnd = 0, originsEnd = 0, ...more] = lineEnds(body);
  const cuts: SeriesCut[] = JSON.parse(body.bytes.toString('utf8', 0, cutsEnd));
  const origins: OriginRun[] = JSON.parse(body.bytes.toString('utf8', cutsEnd, originsEnd));
  return { body, start, cuts, origins, rows: [originsEnd, ...more] };
});

/** Offsets behind each line end. */
function lineEnds({ bytes }: Body): number[] {
  const ends: number[] = [];
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) {
    ends.push(at + 1);
  }
  return ends;
}

/** The value of a line that is one member of an object: `"name":value,`. */
function memberOf<Value>(line: string): readonly Value[] {
  return JSON.parse(line.slice(line.indexOf(':') + 1, line.lastIndexOf(',')));
}
