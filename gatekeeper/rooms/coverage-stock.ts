import type { Line, Signal, SignalEntry } from '../../compiler/contract/catalog/line.ts';
import { knownOf } from '../../compiler/contract/freshness.ts';
import { grouped } from '../../compiler/contract/lists.ts';
import type { Spend } from '../http/cost.ts';
import { perRelease } from '../release/per-release.ts';
import type { ReleaseIndex } from '../release/release-index.ts';
import { catalogRows, catalogTable, distinctEntities } from './catalog.ts';
import type { RowList } from './catalog-table.ts';

/** Readings of one entity that are parsed at the price of a plain answer. */
const PARSED_ROWS_A_UNIT = 25;

/** What a release holds of one signal, oldest reading first. */
export interface Stock {
  readonly signal: Signal;
  readonly line: Line;
  readonly rows: RowList;
  readonly punctual: Punctuality;
}

/** Until when (epoch milliseconds) some source of a signal is known to be late, and every one is known at all. */
export interface Punctuality {
  readonly lateUntil: number;
  readonly knownUntil: number;
}

/** Readings by age: where the stale ones end and the fresh ones begin follows from two searches. */
export const stocks = perRelease(async (release: ReleaseIndex): Promise<readonly Stock[]> => {
  const [table, rows] = [await catalogTable(release), await catalogRows(release)];
  return [...release.catalog.entryById].map(([id, entry]) =>
    stockOf(entry, rows.get(id) ?? table.list([])),
  );
});

function stockOf({ signal, line }: SignalEntry, rows: RowList): Stock {
  let [lateUntil, knownUntil] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (const row of rows) {
    const { state, until } = knownOf({ ...row, official_cadence: signal.cadence });
    if (state === 'overdue') lateUntil = Math.max(lateUntil, until);
    knownUntil = Math.min(knownUntil, until);
  }
  const oldestFirst = rows.sortedBy(({ observed_at }) => Date.parse(observed_at));
  return { signal, line, rows: oldestFirst, punctual: { lateUntil, knownUntil } };
}

/** Entities of the whole release, counted once. */
export const entityCount = perRelease(async (release: ReleaseIndex): Promise<number> => {
  return distinctEntities((await catalogRows(release)).values());
});

/** What is stored of an entity in any spelling: a stranger's text must not cost a look at every reading. */
export async function stocksOf(
  entity: string,
  release: ReleaseIndex,
  spend: Spend,
): Promise<readonly Stock[]> {
  const table = await catalogTable(release);
  const found = table.numbersOf(entity.toLowerCase());
  spend(found.length / PARSED_ROWS_A_UNIT);
  const numbers = grouped(found, (number) => table.signalOf(number));
  return [...release.catalog.entryById].flatMap(([id, entry]) => {
    const own = numbers.get(id);
    return own === undefined ? [] : [stockOf(entry, table.list(own))];
  });
}

const sorted = new WeakMap<RowList, RowList>();

/** Rows in the order in which they are listed, sorted once for a release. */
export function byEntity(rows: RowList): RowList {
  const known = sorted.get(rows) ?? rows.sortedBy(({ entity }) => entity);
  sorted.set(rows, known);
  return known;
}
