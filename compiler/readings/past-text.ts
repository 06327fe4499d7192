import type { EntityPast } from './entity-past.ts';
import type { Reading } from './reading.ts';
import type { Segment } from './series-segments.ts';
import type { Batched, Instant, Latest } from './timeline.ts';

const TAB = '\t';

/** An entity as one compile leaves it to the next. */
export interface KnownEntity {
  readonly latest: Latest;
  readonly past: EntityPast;
  /** The files that the release has about it, see formatFileMarks. */
  readonly files: string;
}

/** A reading as what differs from another one: members to set, and those to leave out. */
type Difference = readonly [set: Partial<Reading>, cut: readonly string[]];

/** `said` is the name of a repeat, and of the files, in the text that is kept. */
type StoredInstant = Omit<Instant, 'kept' | 'repeat'> & {
  readonly kept: readonly [Difference, batch: string];
  readonly said: readonly [Difference, batch: string] | null;
};
type StoredPast = Omit<EntityPast, 'tail' | 'series'> & {
  readonly tail: readonly StoredInstant[];
  readonly series: Omit<EntityPast['series'], 'segments'>;
  readonly segments: readonly SegmentFields[];
};
/** Members of a segment without their names: an old series has many. */
type SegmentFields = readonly [
  start: number,
  date: string | null,
  chain: string,
  count: number,
  first_date: string,
  last_date: string,
  size: number,
  sha256: string,
];

/** An entity as a line, `<entity>` tab JSON of its latest reading tab JSON of the rest, which repeats nothing of that reading. */
export function formatKnown({ latest, past, files }: KnownEntity): string {
  const tail = past.tail.map((instant) => storedInstant(instant, latest.reading));
  const { segments, ...series } = past.series;
  const stored = { ...past, tail, series, segments: segments.map(storedSegment) };
  const rest = { past: stored satisfies StoredPast, said: files };
  return `${[past.entity, JSON.stringify(latest), JSON.stringify(rest)].join(TAB)}\n`;
}

/** What stands behind the entity and its tab in a line of formatKnown, without the line end. */
export function parseKnown(text: string): KnownEntity {
  const tab = text.indexOf(TAB);
  const latest: Latest = JSON.parse(text.slice(0, tab));
  const { past: stored, said: files } = JSON.parse(text.slice(tab + 1)) as {
    past: StoredPast;
    said: string;
  };
  const { segments, ...past } = stored;
  const series = { ...past.series, segments: segments.map(segmentOf) };
  const tail = past.tail.map((instant) => instantOf(instant, latest.reading));
  return { latest, past: { ...past, tail, series }, files };
}

/** The latest reading alone. */
export function parseLatest(text: string): Latest {
  return JSON.parse(text.slice(0, text.indexOf(TAB)));
}

function storedSegment({
  before,
  count,
  first_date,
  last_date,
  size,
  sha256,
}: Segment): SegmentFields {
  const { rows, snapshot_date, chain } = before;
  return [rows, snapshot_date, chain, count, first_date, last_date, size, sha256];
}

function segmentOf([
  rows,
  date,
  chain,
  count,
  first_date,
  last_date,
  size,
  sha256,
]: SegmentFields): Segment {
  const before = { rows, snapshot_date: date, chain };
  return { before, count, first_date, last_date, size, sha256 };
}

function storedInstant({ kept, repeat, ...rest }: Instant, base: Reading): StoredInstant {
  return {
    ...rest,
    kept: [difference(kept.reading, base), kept.batch],
    said: repeat === null ? null : [difference(repeat.reading, kept.reading), repeat.batch],
  };
}

function instantOf(
  { kept: [first, firstBatch], said, ...rest }: StoredInstant,
  base: Reading,
): Instant {
  const kept: Batched = { reading: applied(first, base), batch: firstBatch };
  if (said === null) return { ...rest, kept, repeat: null };
  const [newest, batch] = said;
  return { ...rest, kept, repeat: { reading: applied(newest, kept.reading), batch } };
}

function difference(reading: Reading, base: Reading): Difference {
  const before = new Map<string, unknown>(Object.entries(base));
  const set = Object.entries(reading).filter(([name, value]) => !isSame(value, before.get(name)));
  const cut = [...before.keys()].filter((name) => !(name in reading));
  return [Object.fromEntries(set), cut];
}

/** Lines share what their header says, so most members are the very same. */
function isSame(value: unknown, other: unknown): boolean {
  if (value === other) return true;
  const isObject = typeof value === 'object' && value !== null && typeof other === 'object';
  return isObject && JSON.stringify(value) === JSON.stringify(other);
}

function applied([set, cut]: Difference, base: Reading): Reading {
  const rest = Object.entries(base).filter(([name]) => !cut.includes(name));
  return { ...Object.fromEntries(rest), ...set } as Reading;
}
