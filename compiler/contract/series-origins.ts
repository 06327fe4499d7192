import { type HashedRecord, hashCore } from './record-hash.ts';

// What the hash core of a row has and the row does not. Rows of one source mostly share it, so it is stored once for all
// rows in a sequence that have the same (FORMAT.md, section 8).

/** In the order of the core. */
const ORIGIN_FIELDS = ['source_ref', 'source_tier', 'sources', 'lifecycle'] as const;

/** Members of a core that a row lacks; each source reduced to what is hashed. */
export type RowOrigin = Readonly<Record<(typeof ORIGIN_FIELDS)[number], unknown>>;

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
