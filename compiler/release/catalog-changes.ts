import { SITE_CHANGES_MAX } from '../catalog/site.ts';
import { type CatalogRow, parseCatalogRow } from '../format/release.ts';
import { differentLines, type LinePair } from './sorted-lines.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** A line of the catalog begins with `["`. */
const SIGNAL_AT = 2;
const BETWEEN = '","'.length;
const SEPARATOR = 0x0a;

/** What became of the latest reading of an entity: `newer` and `older` by its time, `revised` at the same time. */
export const CHANGE_KINDS = ['new', 'newer', 'revised', 'older', 'gone'] as const;
export type ChangeKind = (typeof CHANGE_KINDS)[number];

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

/** What differs between two catalogs, read in one pass. */
export interface CatalogNews {
  readonly counts: ChangeCounts;
  /** The newest by the time of observation, at most NEWEST_MAX. */
  readonly newest: readonly CatalogChange[];
  /** Whether an entity came, went, or has another name. */
  readonly hasOtherNames: boolean;
  /** Every entity with another line, also one that was only looked at again: signal -> entities in order. */
  readonly touched: ReadonlyMap<string, readonly string[]>;
}

const NEWEST_MAX = SITE_CHANGES_MAX;

export function catalogNews(before: Buffer, after: Buffer): CatalogNews {
  const counts = { new: 0, newer: 0, revised: 0, older: 0, gone: 0 };
  let newest: CatalogChange[] = [];
  let hasOtherNames = false;
  const touched = new Map<string, string[]>();
  for (const { one, other } of differentLines(before, after, ROWS)) {
    hasOtherNames ||= one?.entity_name !== other?.entity_name || one === null || other === null;
    const kind = changeKind({ one, other } as LinePair<CatalogRow>);
    const row = other ?? one;
    if (row === null) continue;
    const own = touched.get(row.signal_id);
    if (own === undefined) touched.set(row.signal_id, [row.entity]);
    else own.push(row.entity);
    if (kind === null) continue;
    counts[kind] += 1;
    newest.push({ kind, row });
    if (newest.length >= 2 * NEWEST_MAX) newest = newestOf(newest);
  }
  return { counts, newest: newestOf(newest), hasOtherNames, touched };
}

/** By time, then by place, so that equal catalogs give equal lists. */
function newestOf(changes: readonly CatalogChange[]): CatalogChange[] {
  const order = ({ row }: CatalogChange): string => `${row.signal_id}\n${row.entity}`;
  const byTime = (a: CatalogChange, b: CatalogChange): number =>
    Date.parse(b.row.observed_at) - Date.parse(a.row.observed_at) || (order(a) < order(b) ? -1 : 1);
  return [...changes].sort(byTime).slice(0, NEWEST_MAX);
}

/** Where an entity of a signal belongs in the catalog; both are printable ASCII. */
export function place(signalId: string, entity: string): string {
  return `${signalId}${String.fromCharCode(SEPARATOR)}${entity}`;
}

/** The order of lines of the catalog by their places, read off without parsing them. */
export function catalogOrder(bytes: Buffer, start: number, key: string): number {
  let at = start + SIGNAL_AT;
  for (let index = 0; index < key.length; index += 1) {
    const wanted = key.charCodeAt(index);
    if (bytes[at] === QUOTE) {
      // The separator is below every character, and so is the end.
      if (wanted !== SEPARATOR) return -1;
      at += BETWEEN;
      continue;
    }
    if (bytes[at] === BACKSLASH) at += 1;
    const lead = (bytes[at] ?? 0) - wanted;
    if (lead !== 0) return lead;
    at += 1;
  }
  return bytes[at] === QUOTE ? 0 : 1;
}
