import { endpointAt } from './endpoints.ts';
import { decodeSegment, encodeSegment, filePath } from './path.ts';
import { SERIES_ROWS_MAX } from './series.ts';

// The rows of a series stand in files of two kinds (FORMAT.md, section 8): its own, which every release writes again, and
// segments, which never change. How the rows are shared out follows from their number alone.

/** Newest rows of a series, which may still be revised; all rows before them are settled. */
export const SERIES_TAIL = 8;

/** Rows of the largest segments; no row is dropped but with the whole block of so many. */
const SEGMENT_ROWS_MAX = 4096;
/** Rows that a segment can have, the most first. Each size is 4 of the next, so 4 segments are joined into one. */
const SEGMENT_SIZES = [SEGMENT_ROWS_MAX, 1024, 256, 64, 16] as const;

const FOLDER = 'segment/';
const PATH = /^segment\/([^/]+)\/([^/]+)\/(0|[1-9]\d*)-(16|64|256|1024|4096)\.txt$/;

/** A stretch of the rows of a series, counted from the first row ever. */
export interface SegmentPlace {
  readonly start: number;
  readonly count: number;
}

/** What a stored series says of a segment: its place, and the snapshot dates of its first and last row. */
export type StoredSegment = readonly [
  start: number,
  count: number,
  first_date: string,
  last_date: string,
];

/** How many rows of a series of so many rows never change. */
export function settledRows(rows: number): number {
  return Math.max(0, rows - SERIES_TAIL);
}

/**
 * The segments of a series: as many of each size as fit into its settled rows, so that fewer than 16 rows stay open.
 * Blocks of the largest size that end in front of the first `delivered` row are left out.
 */
export function segmentPlaces(settled: number, delivered: number): SegmentPlace[] {
  const places: SegmentPlace[] = [];
  const from = Math.min(delivered, settled);
  let start = from - (from % SEGMENT_ROWS_MAX);
  for (const count of SEGMENT_SIZES) {
    for (; start + count <= settled; start += count) places.push({ start, count });
  }
  return places;
}

/** How many of its oldest rows a series of so many rows does not deliver, since it delivers no more than SERIES_ROWS_MAX. */
export function rowsBeyond(rows: number): number {
  const blocks = Math.ceil((rows - SERIES_ROWS_MAX) / SEGMENT_ROWS_MAX);
  return Math.max(0, blocks) * SEGMENT_ROWS_MAX;
}

/** Whose rows they are. */
export interface SeriesSubject {
  readonly signal_id: string;
  readonly entity: string;
}

/** The path of a segment; its folder is that of no other file. */
export function segmentPath({ signal_id, entity }: SeriesSubject, place: SegmentPlace): string {
  const folder = `${encodeSegment(signal_id)}/${encodeSegment(entity)}`;
  return `${FOLDER}${folder}/${place.start}-${place.count}.txt`;
}

/** The path of the series that a segment is of, and its place; null for any other file. */
export function parseSegmentPath(
  path: string,
): (SegmentPlace & { readonly series: string }) | null {
  const [, signal, of, start, count] = PATH.exec(path) ?? [];
  if (signal === undefined || of === undefined) return null;
  const values = { signal_id: decodeSegment(signal), entity: decodeSegment(of) };
  const series = filePath(endpointAt('/gauge/history-series'), values);
  return series === null ? null : { series, start: Number(start), count: Number(count) };
}
