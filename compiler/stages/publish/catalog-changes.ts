import { type CatalogRow, parseCatalogRow } from '../../contract/release.ts';
import { place } from './catalog-order.ts';
import { differentLines, type LinePair } from './sorted-lines.ts';

/**
 * What became of the latest reading of an entity. `newer` and `older` are other readings by their time; `revised` is the same
 * time with another content.
 */
export const CHANGE_KINDS = ['new', 'newer', 'revised', 'older', 'gone'] as const;
export type ChangeKind = (typeof CHANGE_KINDS)[number];

/** An entity whose latest reading is not the one that it was. */
export interface CatalogChange {
  readonly kind: ChangeKind;
  readonly row: CatalogRow;
}

export type ChangeCounts = Readonly<Record<ChangeKind, number>>;

const ROWS = {
  parse: parseCatalogRow,
  key: ({ signal_id, entity }: CatalogRow): string => place(signal_id, entity),
};

/** Every entity whose latest reading differs between two catalogs, by signal and entity. */
export function* catalogChanges(before: Buffer, after: Buffer): Generator<CatalogChange> {
  for (const pair of differentLines(before, after, ROWS)) {
    const kind = changeKind(pair);
    if (kind === null) continue;
    yield { kind, row: pair.one === null ? pair.other : (pair.other ?? pair.one) };
  }
}

/** Null where an entity was only looked at again. */
function changeKind({ one, other }: LinePair<CatalogRow>): ChangeKind | null {
  if (one === null) return 'new';
  if (other === null) return 'gone';
  const later = Date.parse(other.observed_at) - Date.parse(one.observed_at);
  if (later !== 0) return later > 0 ? 'newer' : 'older';
  return one.record_hash === other.record_hash ? null : 'revised';
}

export function countChanges(before: Buffer, after: Buffer): ChangeCounts {
  const counts = { new: 0, newer: 0, revised: 0, older: 0, gone: 0 };
  for (const { kind } of catalogChanges(before, after)) counts[kind] += 1;
  return counts;
}
