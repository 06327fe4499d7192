import { z } from 'zod';
import { sealed } from '../../format/citation.ts';
import { DAY_MS, isoTime, utcTime } from '../../format/iso-time.ts';
import { INVENTED_HASH, member, orNull } from '../../format/members.ts';
import { type HashedRecord, hashCore, RECORD_HASH } from '../../format/record-hash.ts';
import { decodeSegment, encodeSegment } from './path.ts';
import { disclosure, lifecycle, provenance, recordSchema } from './record.ts';

/** Columns of a series row, in the order of the specification; a row has these members and no other. */
export const SERIES_COLUMNS = [
  'snapshot_date',
  'observed_at',
  'data_age_hours',
  'current',
  'band',
  'record_hash',
] as const;

/** Columns of a table whose rows come with their hash cores. */
export const CORE_COLUMNS = [...SERIES_COLUMNS, '_hash_core'] as const;

/** First line of a series as CSV, without its end and without the column of hash cores; no signature is in such a series. */
export const SERIES_CSV_HEADER = SERIES_COLUMNS.join(',');

/** Longest `days` of a series. */
export const SERIES_DAYS_MAX = 1000;

/** Template of the file of a series in a release. */
export const SERIES_FILE = 'series/{signal_id}/{entity}.json';

/** Most rows that a series delivers: 1000 days of an hourly source, with room for doubled snapshots. */
export const SERIES_ROWS_MAX = 25_000;

/** Chain value in front of the first row. */
export const CHAIN_START = `sha256:${'0'.repeat(64)}`;

const dateTime = z.iso.datetime();
const hash = z
  .string()
  .regex(RECORD_HASH)
  .meta({ examples: [INVENTED_HASH] });
const count = z.int().min(0);

/** One snapshot of a series; `current` has the main metric first, `data_age_hours` is frozen at collection. */
const seriesRowSchema = z.strictObject({
  snapshot_date: member.snapshot_date,
  observed_at: member.observed_at,
  data_age_hours: member.data_age_hours,
  current: member.current,
  band: orNull(member.band),
  record_hash: member.record_hash,
});
export type SeriesRow = z.infer<typeof seriesRowSchema>;

/** A row of an answer with verifiable=1 has the canonical pre-image of its hash. */
const answeredRowSchema = seriesRowSchema.extend({
  _hash_core: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('canonical pre-image of the record hash'),
});

/** What the hash core of a row has and the row does not. */
const rowOriginSchema = z.strictObject({
  source_ref: member.source_ref,
  source_tier: member.source_tier,
  sources: z
    .array(z.record(z.string(), z.unknown()))
    .nullable()
    .describe('who measured, with weights'),
  lifecycle,
});

/** Where a chain stands: how many rows are behind it, the day of the last of them, and its value. */
export interface ChainState {
  readonly rows: number;
  readonly snapshot_date: string | null;
  readonly chain: string;
}

/** The state before the first row. */
export const CHAIN_ORIGIN: ChainState = { rows: 0, snapshot_date: null, chain: CHAIN_START };

/** What is hashed for the next chain value: the canonical JSON of the state before a row, and the row. */
export function chainLink<Row>(before: ChainState, row: Row): readonly [ChainState, Row] {
  return [before, row];
}

/** Members of a delivered series that its signature does not cover; the signed chain proves them. */
const SERIES_CUT_FIELDS = [
  'days',
  'count',
  'before',
  'rows',
  'cuts',
  'origins',
  'segments',
] as const;

/** What the citation of a series signs: the body without the members that a cut changes. */
export function seriesHead(body: object): Readonly<Record<string, unknown>> {
  const members = Object.entries(body).filter(
    ([name]) => !(SERIES_CUT_FIELDS as readonly string[]).includes(name),
  );
  return Object.fromEntries(members);
}

/** `/gauge/history-series`; `segments`, `cuts` and `origins` stand in the stored form alone. */
export const seriesSchema = z.strictObject({
  nature: member.nature,
  tier: z.literal('history-series').describe('kind of body: full or history-series'),
  signal_id: member.signal_id,
  entity: member.entity,
  entity_name: member.entity_name,
  observed_at: member.observed_at,
  record_hash: member.record_hash,
  columns: z.array(z.enum(SERIES_COLUMNS)).describe('names of the columns of a row'),
  retained: z
    .strictObject({
      rows: count.describe('number of kept rows'),
      from: dateTime.describe('first day or date-time'),
      to: dateTime.describe('last day or date-time'),
      chain: hash.describe('sha256:<64 hex> of the chain over the rows'),
      older_rows: count.describe('rows in front of the kept ones'),
      /** Where the chain stands behind them; absent where there is none. */
      older_chain: hash.exactOptional().describe('sha256:<64 hex> of the chain behind those'),
    })
    .describe('what of the series is kept'),
  note: member.note,
  record_hash_verifiable: recordSchema.shape.record_hash_verifiable,
  provenance,
  ...disclosure,
  segments: z
    .array(z.tuple([count, count, dateTime, dateTime]))
    .optional()
    .describe('where stored pieces of the series lie; never delivered'),
  cuts: z
    .array(z.tuple([dateTime, count, hash]))
    .optional()
    .describe('where the series can be cut; never delivered'),
  origins: z
    .array(z.tuple([count, rowOriginSchema]))
    .optional()
    .describe('what rows lack of their hash cores; never delivered'),
  days: z.int().min(1).max(SERIES_DAYS_MAX).describe('days'),
  count: member.count,
  before: z
    .strictObject({
      rows: count.describe('rows in front of the first delivered one'),
      snapshot_date: orNull(member.snapshot_date),
      chain: hash.describe('sha256:<64 hex> of the chain over the rows'),
    })
    .describe('where the chain stands in front of the first delivered row'),
  rows: z.array(answeredRowSchema).describe('the rows'),
  ...sealed,
});

/** The first snapshot date that `days` reach, counted back from the newest one: 1 is that day alone. */
export function seriesFrom(newest: string, days: number): string {
  return isoTime(utcTime(newest) - (days - 1) * DAY_MS);
}

/** Where a series can be cut: its first row, or the first one of a snapshot date, with the rows before it and the chain value there. */
export type SeriesCut = readonly [snapshot_date: string, rows: number, chain: string];

/**
 * The state that a body carries as `before` when it begins where a date does. The row in front of the cut has the latest
 * earlier date that is known: `known` must hold that one, and may hold dates of any other rows.
 */
export function stateBefore([date, rows, chain]: SeriesCut, known: readonly string[]): ChainState {
  let snapshot_date: string | null = null;
  for (const each of known) {
    if (each < date && (snapshot_date === null || each > snapshot_date)) snapshot_date = each;
  }
  return { rows, snapshot_date, chain };
}

// The rows of a series stand in files of two kinds (AUDIT.md, section 3): its own, which every release writes again, and
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
  // Throws for a segment that compile never writes.
  for (const segment of [signal, of]) decodeSegment(segment);
  return { series: `series/${signal}/${of}.json`, start: Number(start), count: Number(count) };
}

// What the hash core of a row has and the row does not. Rows of one source mostly share it, so it is stored once for all
// rows in a sequence that have the same (AUDIT.md, section 3).

/** Members of a core that a row lacks; each source reduced to what is hashed. */
export type RowOrigin = Readonly<
  Record<'source_ref' | 'source_tier' | 'sources' | 'lifecycle', unknown>
>;

/** So many rows, one behind the other, of one origin. */
export type OriginRun<Origin = RowOrigin> = readonly [rows: number, origin: Origin];

/** The origin of what a core is made of; throws a TypeError where a member is missing. */
export function originOf(record: HashedRecord): RowOrigin {
  const { source_ref, source_tier, sources, lifecycle } = hashCore(record);
  return { source_ref, source_tier, sources, lifecycle };
}

type Loose<Names extends string> = Readonly<Partial<Record<Names, unknown>>>;

/** The whole core of a row of a series; throws a TypeError that names a member which is missing. */
export function rowCore(
  { signal_id, entity }: Loose<'signal_id' | 'entity'>,
  { snapshot_date, observed_at, current }: Loose<'snapshot_date' | 'observed_at' | 'current'>,
  { source_ref, source_tier, sources, lifecycle }: Loose<keyof RowOrigin>,
) {
  const fact = { signal_id, entity, snapshot_date, observed_at, current };
  return hashCore({ ...fact, source_ref, source_tier, sources, lifecycle });
}

/** The origin of each row. */
export function* eachOrigin<Origin>(runs: readonly OriginRun<Origin>[]): Generator<Origin> {
  for (const [rows, origin] of runs) {
    for (let row = 0; row < rows; row += 1) yield origin;
  }
}

/** Runs that follow one another, as few as they can be. */
export function joinRuns(runs: Iterable<OriginRun<string>>): OriginRun<string>[] {
  const joined: OriginRun<string>[] = [];
  for (const [rows, origin] of runs) {
    const last = joined.at(-1);
    if (last !== undefined && last[1] === origin)
      joined[joined.length - 1] = [last[0] + rows, origin];
    else if (rows > 0) joined.push([rows, origin]);
  }
  return joined;
}

/** The runs of the rows `from` to `to`, counted from the first row of the runs. */
export function cutRuns<Origin>(
  runs: readonly OriginRun<Origin>[],
  from: number,
  to = Number.POSITIVE_INFINITY,
): OriginRun<Origin>[] {
  let start = 0;
  return runs.flatMap(([rows, origin]): OriginRun<Origin>[] => {
    const [begin, end] = [Math.max(from, start), Math.min(to, start + rows)];
    start += rows;
    return end > begin ? [[end - begin, origin]] : [];
  });
}

/** Runs as JSON; each origin is the JSON text of one. */
export function formatRuns(runs: readonly OriginRun<string>[]): string {
  return `[${runs.map(([rows, origin]) => `[${rows},${origin}]`).join()}]`;
}

/** What `formatRuns` wrote. */
export function parseRuns(text: string): OriginRun<string>[] {
  const runs: readonly OriginRun[] = JSON.parse(text);
  return runs.map(([rows, origin]) => [rows, JSON.stringify(origin)]);
}
