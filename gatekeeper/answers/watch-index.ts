import { LINES, type Line, legEntity } from '../../compiler/contract/lines.ts';
import type { CatalogRow } from '../../compiler/contract/release.ts';
import { perRelease } from '../release/per-release.ts';
import type { ReleaseIndex } from '../release/release-index.ts';
import { catalogRows } from './catalog.ts';

interface WatchIndex {
  readonly bySignal: ReadonlyMap<string, ReadonlyMap<string, CatalogRow>>;
  readonly linesOf: ReadonlyMap<string, readonly Line[]>;
}

/** Latest readings by signal and entity, and lines by industry: one look-up for each signal of an item. */
const watchIndex = perRelease(async (release: ReleaseIndex): Promise<WatchIndex> => {
  const rows = await catalogRows(release);
  const bySignal = new Map(
    [...rows].map(([id, list]) => [id, new Map(list.map((row) => [row.entity, row]))] as const),
  );
  const linesOf = new Map<string, Line[]>();
  for (const line of LINES as readonly Line[]) {
    const known = linesOf.get(line.industry);
    if (known === undefined) linesOf.set(line.industry, [line]);
    else known.push(line);
  }
  return { bySignal, linesOf };
});

/** An `industry:entity` pair of a watchlist. */
export interface WatchItem {
  readonly item: string;
  readonly industry: string;
  readonly entity: string;
}

/** The latest reading of every signal of an item, in the order of the table; empty for an unknown one. */
export async function readingsOf(item: WatchItem, release: ReleaseIndex): Promise<CatalogRow[]> {
  const { bySignal, linesOf } = await watchIndex(release);
  return (linesOf.get(item.industry) ?? []).flatMap((line) => {
    const entity = line.upperCase ? item.entity.toUpperCase() : item.entity;
    return line.signals.flatMap(
      ({ id }) => bySignal.get(id)?.get(legEntity(line, id, entity)) ?? [],
    );
  });
}
