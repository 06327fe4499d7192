import { z } from 'zod';
import { SERIES_DAYS_MAX } from './endpoints.ts';
import { DAY_MS, isoTime, utcTime } from './iso-time.ts';
import { provenanceSchema, recordSchema } from './record.ts';
import { RECORD_HASH } from './record-hash.ts';

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

/** Most rows that a series delivers: 1000 days of an hourly source, with room for doubled snapshots. */
export const SERIES_ROWS_MAX = 25_000;

/** Chain value in front of the first row. */
export const CHAIN_START = `sha256:${'0'.repeat(64)}`;

const dateTime = z.iso.datetime();
const hash = z.string().regex(RECORD_HASH);
const count = z.int().min(0);

/** One snapshot of a series; `current` has the main metric first, `data_age_hours` is frozen at collection. */
const seriesRowSchema = z.strictObject({
  snapshot_date: dateTime,
  observed_at: dateTime,
  data_age_hours: z.number(),
  current: z.record(z.string(), z.unknown()),
  band: z.string().nullable(),
  record_hash: hash,
});
export type SeriesRow = z.infer<typeof seriesRowSchema>;

/** A row of an answer with verifiable=1 has the canonical pre-image of its hash. */
const answeredRowSchema = seriesRowSchema.extend({
  _hash_core: z.record(z.string(), z.unknown()).optional(),
});

/** What the hash core of a row has and the row does not. */
const rowOriginSchema = z.strictObject({
  source_ref: z.string().nullable(),
  source_tier: z.string().nullable(),
  sources: z.array(z.record(z.string(), z.unknown())).nullable(),
  lifecycle: recordSchema.shape.lifecycle,
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
  nature: z.string(),
  tier: z.literal('history-series'),
  signal_id: z.string(),
  entity: z.string(),
  entity_name: z.string().nullable(),
  observed_at: dateTime,
  record_hash: hash,
  columns: z.array(z.enum(SERIES_COLUMNS)),
  retained: z.strictObject({
    rows: count,
    from: dateTime,
    to: dateTime,
    chain: hash,
    /** Rows of the chain in front of `from`, which are not delivered any more. */
    older_rows: count,
    /** Where the chain stands behind them; absent where there is none. */
    older_chain: hash.exactOptional(),
  }),
  note: z.string(),
  record_hash_verifiable: recordSchema.shape.record_hash_verifiable,
  provenance: provenanceSchema,
  grade: z.string().nullable(),
  scope: z.string().nullable(),
  segments: z.array(z.tuple([count, count, dateTime, dateTime])).optional(),
  cuts: z.array(z.tuple([dateTime, count, hash])).optional(),
  origins: z.array(z.tuple([count, rowOriginSchema])).optional(),
  days: z.int().min(1).max(SERIES_DAYS_MAX),
  count,
  before: z.strictObject({ rows: count, snapshot_date: dateTime.nullable(), chain: hash }),
  rows: z.array(answeredRowSchema),
  _proof: recordSchema.shape._proof,
  _citation: recordSchema.shape._citation,
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
