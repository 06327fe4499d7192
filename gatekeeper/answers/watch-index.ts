import { type Line, legEntity } from '../../compiler/contract/catalog/line.ts';
import { LINES } from '../../compiler/contract/lines.ts';
import type { CatalogRow } from '../../compiler/contract/release.ts';
import type { ReleaseIndex } from '../release/release-index.ts';
import { catalogTable } from './catalog.ts';

/** Lines by industry. */
const linesOf = new Map<string, Line[]>();
for (const line of LINES) {
  linesOf.set(line.industry, [...(linesOf.get(line.industry) ?? []), line]);
}

/** An `industry:entity` pair of a watchlist. */
export interface WatchItem {
  readonly item: string;
  readonly industry: string;
  readonly entity: string;
}

/** The latest reading of every signal of an item, in the order of the table; empty for an unknown one. */
export async function readingsOf(item: WatchItem, release: ReleaseIndex): Promise<CatalogRow[]> {
  const table = await catalogTable(release);
  return (linesOf.get(item.industry) ?? []).flatMap((line) => {
    const asked = line.upperCase ? item.entity.toUpperCase() : item.entity;
    return line.signals.flatMap(({ id }) => {
      const entity = legEntity(line, id, asked);
      const rows = table.list(table.numbersOf(entity.toLowerCase()));
      return [...rows].filter((row) => row.signal_id === id && row.entity === entity);
    });
  });
}
