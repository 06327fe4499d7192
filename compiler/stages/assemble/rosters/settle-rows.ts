import { type RosterCore, type RosterKind, rosterCore } from '../../../contract/collections.ts';
import type { Evidence } from '../../../contract/record.ts';
import type { StoredRow } from '../../intake/collection-rows.ts';
import type { InputFault } from '../../intake/compile-error.ts';
import type { RowOrigin } from '../../intake/roster-rows.ts';
import { canonicalDigest } from '../../seal/canonical-digest.ts';
import { jcs } from '../../seal/jcs.ts';

/** What every kind of row has: where it comes from, and whether it was ever hashed. */
export type OriginRow = RowOrigin & {
  readonly imported?: boolean | undefined;
  readonly source_note?: string | undefined;
  readonly evidence?: Evidence | undefined;
};

/** A row that is published, with its hash; null for one that was imported without. */
export interface HashedRow<Row extends OriginRow = OriginRow> extends StoredRow<Row> {
  readonly core: RosterCore;
  readonly record_hash: string | null;
}

/** How rows of one kind are told apart and hashed. */
interface Identity<Row> {
  readonly kind: RosterKind;
  /** Rows of the same key are repeats or revisions of each other. */
  keyOf(row: Row): string;
  /** The members of the row as they are served, among them all of its core. */
  factsOf(row: Row): Readonly<Record<string, unknown>>;
}

export interface SettledRoster<Row extends OriginRow> {
  /** One row a key, in the order of the keys. */
  readonly kept: readonly HashedRow<Row>[];
  /** Rows that a later batch has revised. */
  readonly revised: readonly HashedRow<Row>[];
  readonly faults: readonly InputFault[];
}

/** What is known of a key so far: the item that counts, and the latest one, even if it is a repeat. */
interface Known<Item> {
  readonly kept: Item;
  readonly latest: Item;
}

/** How items of one kind follow each other. */
interface Succession<Item> {
  /** Items of the same key are repeats or revisions of each other. */
  keyOf(item: Item): string;
  /** Whether two items of one batch may stand beside each other. */
  isSame(latest: Item, found: Item): boolean;
  /** What stays of an item that is repeated; null for one that is revised. */
  repeated(kept: Item, found: Item): Item | null;
}

/** Items by key, those that others have taken the place of, and pairs of one batch that contradict each other. */
interface Succeeded<Item> {
  readonly kept: ReadonlyMap<string, Item>;
  readonly revised: readonly Item[];
  readonly conflicts: readonly (readonly [known: Item, found: Item])[];
}

/**
 * One item for each key: a repeat keeps the first collection, a later batch revises, and two items of one batch that
 * differ are a conflict, whatever was stored before. `items` is oldest batch first.
 */
export function succeed<Item extends { readonly batch: string }>(
  items: readonly Item[],
  { keyOf, isSame, repeated }: Succession<Item>,
): Succeeded<Item> {
  const byKey = new Map<string, Known<Item>>();
  const revised: Item[] = [];
  const conflicts: (readonly [Item, Item])[] = [];
  for (const found of items) {
    const key = keyOf(found);
    const known = byKey.get(key);
    if (known?.latest.batch === found.batch) {
      if (!isSame(known.latest, found)) conflicts.push([known.latest, found]);
      continue;
    }
    const kept = known === undefined ? null : repeated(known.kept, found);
    if (known !== undefined && kept === null) revised.push(known.kept);
    byKey.set(key, { kept: kept ?? found, latest: found });
  }
  return { kept: new Map([...byKey].map(([key, { kept }]) => [key, kept])), revised, conflicts };
}

/** One row for each key, hashed; `stored` is oldest batch first. */
export function settleRoster<Row extends OriginRow>(
  stored: readonly StoredRow<Row>[],
  identity: Identity<Row>,
): SettledRoster<Row> {
  const { kept, revised, conflicts } = succeed(
    stored.map((item) => hashedRow(item, identity)),
    {
      keyOf: ({ row }) => identity.keyOf(row),
      isSame: (latest, found) => jcs(latest.row) === jcs(found.row),
      repeated: (known, found) => (isRepeat(known, found) ? disclosed(known, found) : null),
    },
  );
  const inOrder = [...kept].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
  return { kept: inOrder, revised, faults: conflicts.map(conflict) };
}

function hashedRow<Row extends OriginRow>(
  item: StoredRow<Row>,
  identity: Identity<Row>,
): HashedRow<Row> {
  const core = rosterCore(identity.kind, identity.factsOf(item.row));
  return { ...item, core, record_hash: item.row.imported === true ? null : canonicalDigest(core) };
}

/** The same facts again; a row that was never hashed gives way to one that is. */
function isRepeat(known: HashedRow, found: HashedRow): boolean {
  const hashed = known.record_hash !== null || found.record_hash === null;
  return hashed && canonicalDigest(known.core) === canonicalDigest(found.core);
}

/** The first collection with what its newest repeat says beside the facts: names, grades, notes. Nothing of that is hashed. */
function disclosed<Row extends OriginRow>(
  kept: HashedRow<Row>,
  newest: HashedRow<Row>,
): HashedRow<Row> {
  // An import without hashes tells nothing about a row that has one.
  if (newest.record_hash !== kept.record_hash) return kept;
  const { collected_at, evidence } = kept.row;
  return { ...kept, row: { ...newest.row, collected_at, evidence } };
}

function conflict([known, found]: readonly [StoredRow<unknown>, StoredRow<unknown>]): InputFault {
  const message = `differs from line ${known.line} of "${known.file}" about the same subject; keep one of them`;
  return { code: 'conflict', file: found.file, line: found.line, message };
}
