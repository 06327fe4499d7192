import { retainedFrom } from '../../contract/series.ts';
import {
  rowsBeyond,
  type SegmentPlace,
  segmentPath,
  segmentPlaces,
  settledRows,
} from '../../contract/series-segments.ts';
import { snapshotDate } from '../derive/age.ts';
import type { Reading } from '../intake/reading.ts';
import type { Timeline } from '../intake/timeline.ts';
import type { Sealer } from '../seal/sealer.ts';
import type { EntityFacts } from './entity-record.ts';
import { type SeriesFile, seriesFile, seriesRow } from './series.ts';
import { NO_SERIES, type Segment, settleRows, type WrittenSegment } from './series-segments.ts';

/** Rows that are settled at a time: as many as the largest segment has, so that none is made in order to be joined. */
const ROWS_AT_A_TIME = 4096;

/** The bytes of one segment at its path. */
export interface SegmentFile {
  readonly path: string;
  readonly bytes: Buffer;
}

export interface WholeSeries {
  readonly file: SeriesFile;
  readonly segments: readonly SegmentFile[];
}

interface Sealing {
  readonly hashOf: (reading: Reading) => string;
  readonly sealer: Sealer;
}

/** The series of an entity and its segments, made out of all its readings. */
export function wholeSeries(facts: EntityFacts, { hashOf, sealer }: Sealing): WholeSeries {
  const { signal, latest, timeline } = facts;
  const dated = datedReadings(timeline);
  const rowsOf = (from: number, end: number) =>
    dated.slice(from, end).map(({ reading }) => seriesRow(signal, reading, hashOf(reading)));
  const settled = settledRows(dated.length);
  const newest = newestOf(dated);
  let past = NO_SERIES;
  let written: readonly WrittenSegment[] = [];
  const readSegment = (segment: Segment): Buffer => bytesOf(written, segment);
  for (let from = 0; from < settled; from += ROWS_AT_A_TIME) {
    const rows = rowsOf(from, Math.min(from + ROWS_AT_A_TIME, settled));
    const next = settleRows(past, rows, { newest, readSegment });
    past = next.past;
    written = [...written, ...next.written].filter(({ segment }) =>
      past.segments.includes(segment),
    );
  }
  const file = seriesFile(facts, { past, tail: rowsOf(settled, dated.length) }, sealer);
  const subject = { signal_id: signal.id, entity: latest.entity };
  const segments = written.map(({ segment: { before, count }, bytes }) => {
    return { path: segmentPath(subject, { start: before.rows, count }), bytes };
  });
  return { file, segments };
}

function bytesOf(written: readonly WrittenSegment[], segment: Segment): Buffer {
  const found = written.find((each) => each.segment === segment);
  if (found !== undefined) return found.bytes;
  throw new RangeError(`Cannot read the segment from row ${segment.before.rows} on: not written`);
}

interface DatedReading {
  readonly reading: Reading;
  readonly date: string;
}

function newestOf(dated: readonly DatedReading[]): string {
  const last = dated.at(-1);
  if (last === undefined) throw new RangeError('Cannot make a series: no readings');
  return last.date;
}

/** Readings in the order of a series: by snapshot date, then as they were observed. */
function datedReadings({ readings }: Timeline): readonly DatedReading[] {
  const dated = readings.map((reading) => ({ reading, date: snapshotDate(reading) }));
  return dated.sort((a, b) => (a.date < b.date ? -1 : a.date > b.date ? 1 : 0));
}

/** Paths of the segments that the series of these readings has. */
export function segmentPaths(signal_id: string, timeline: Timeline): string[] {
  const dated = datedReadings(timeline);
  const wanted = retainedFrom(newestOf(dated));
  const reached = dated.findIndex(({ date }) => date >= wanted);
  const delivered = Math.max(reached, rowsBeyond(dated.length));
  const subject = { signal_id, entity: timeline.entity };
  const toPath = (place: SegmentPlace): string => segmentPath(subject, place);
  return segmentPlaces(settledRows(dated.length), delivered).map(toPath);
}
