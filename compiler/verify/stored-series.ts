import { messageOf } from '../format/errors.ts';
import {
  decodeUtf8,
  isObject,
  type JsonObject,
  type JsonValue,
  parseJson,
} from '../format/strict-json.ts';
import {
  parseSegmentPath,
  SERIES_ROWS_MAX,
  type SegmentPlace,
  segmentPath,
  segmentPlaces,
  settledRows,
} from '../products/shapes/series.ts';
import { isSame } from './relation.ts';
import type { BodyFault } from './release-fault.ts';
import { originsOf } from './series-checks.ts';
import type { StoredBodies } from './stored-bodies.ts';

/** Joins a stored series with its segments; null where one of them is not the listed file, which is named there. */
export function wholeSeries(stored: JsonObject, bodies: StoredBodies) {
  const { segments, ...series } = stored;
  const before = rowsBefore(stored);
  const places = placesOf(stored, before);
  const faults: BodyFault[] = [];
  const read: SegmentRows[] = [];
  for (const [at, place] of places.entries()) {
    const path = segmentPath(
      { signal_id: String(stored.signal_id), entity: String(stored.entity) },
      place,
    );
    if (bodies.list.find(path) === null) {
      faults.push([`segments.${at}`, `"${path}" is not listed`]);
      continue;
    }
    const bytes = bodies.bytes(path);
    if (bytes === null) return null;
    try {
      read.push(readSegment(bytes, place));
    } catch (error) {
      faults.push([`segments.${at}`, `"${path}" ${messageOf(error)}`]);
    }
  }
  const computed = read.map(({ place, rows }) => [
    place.start,
    place.count,
    ...[rows[0], rows.at(-1)].map((row) => row?.snapshot_date ?? null),
  ]);
  if (faults.length === 0 && !isSame(segments, computed)) {
    faults.push(['segments', 'not the segments of so many rows']);
  }
  return { body: joined(series, read, before), faults };
}

/** What is wrong with a segment that no series names; null where one does, or where that cannot be read. */
export function strayFault(path: string, bodies: StoredBodies): string | null {
  const place = placeOf(path);
  if (place === null) return 'not the path of a segment';
  const series = bodies.get(place.series);
  if (series === 'damaged') return null;
  if (series === 'absent') return `is of "${place.series}", which is not listed`;
  const isNamed = placesOf(series, rowsBefore(series)).some(
    ({ start, count }) => start === place.start && count === place.count,
  );
  return isNamed ? null : `is no segment of "${place.series}"`;
}

function placeOf(path: string) {
  try {
    return parseSegmentPath(path);
  } catch {
    return null;
  }
}

/** Whether a path is among those of segments, right or wrong. */
export function isSegment(path: string): boolean {
  return path.startsWith('segment/');
}

function placesOf({ retained }: JsonObject, before: number): SegmentPlace[] {
  const rows = isObject(retained) ? retained.rows : null;
  // A series that claims more rows than can be delivered does not get the program to count them.
  if (typeof rows !== 'number' || rows - before > SERIES_ROWS_MAX) return [];
  return segmentPlaces(settledRows(rows), before);
}

function rowsBefore({ before }: JsonObject): number {
  const rows = isObject(before) ? before.rows : null;
  return typeof rows === 'number' && Number.isSafeInteger(rows) && rows > 0 ? rows : 0;
}

interface SegmentRows {
  readonly place: SegmentPlace;
  readonly rows: readonly JsonObject[];
  readonly cuts: readonly {
    /** Number of the row that it is in front of. */
    row: number;
    cut: JsonValue;
  }[];
  readonly origins: readonly JsonObject[];
}

/** Reads a segment strictly: its cuts, its origins, then one row a line, each followed by a comma. */
function readSegment(bytes: Uint8Array, place: SegmentPlace): SegmentRows {
  const [first = '', second = '', ...lines] = decodeUtf8(bytes).split('\n');
  if (lines.pop() !== '' || lines.length !== place.count) {
    throw new TypeError(`does not hold ${place.count} lines of rows`);
  }
  const rows = lines.map((line, index) => {
    const row = line.endsWith(',') ? parseJson(line.slice(0, -1)) : null;
    if (isObject(row)) return row;
    throw new TypeError(`has no row in line ${index + 3}`);
  });
  const origins = originsOf(parseJson(second), rows.length);
  return {
    place,
    rows,
    cuts: listOf(parseJson(first)).map((cut) => {
      const row = listOf(cut)[1];
      if (typeof row === 'number' && row >= place.start && row < place.start + place.count)
        return { row, cut };
      throw new TypeError('has a cut that is not between its rows');
    }),
    origins,
  };
}

/** The delivered rows of all files, and the cuts between them. */
function joined(series: JsonObject, segments: readonly SegmentRows[], before: number): JsonObject {
  const delivered = <T>(of: readonly T[], { place }: SegmentRows): readonly T[] =>
    of.slice(Math.max(0, before - place.start));
  const rows = segments.flatMap((segment) => delivered(segment.rows, segment));
  const origins = segments.flatMap((segment) => delivered(segment.origins, segment));
  const cuts = segments.flatMap((segment) => segment.cuts).filter(({ row }) => row > before);
  const [begin = null, ...behind] = listOf(series.cuts);
  return {
    ...series,
    rows: [...rows, ...listOf(series.rows)],
    cuts: [begin, ...cuts.map(({ cut }) => cut), ...behind],
    origins: [...origins.map((origin) => [1, origin]), ...listOf(series.origins)],
  };
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}
