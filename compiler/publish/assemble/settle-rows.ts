import type { Catalog } from '../../catalog/catalog.ts';
import { defined } from '../../format/errors.ts';
import {
  type CapturedCollection,
  type ListedCollection,
  type RosterCore,
  type RosterKind,
  rosterCore,
  rosterCoreFields,
} from '../../products/collections.ts';
import { endpointAt, type TablePath } from '../../products/products.ts';
import { listsOf, type RosterProduct } from '../../products/rosters.ts';
import { joinedProvenance, type LineagePart } from '../../products/shapes/bundle.ts';
import type { Cadence } from '../../products/shapes/freshness.ts';
import { canonicalTarget, filePath, preferredValue } from '../../products/shapes/path.ts';
import type { Evidence, Provenance } from '../../products/shapes/record.ts';
import { type RosterRow, rosterBody, rosterStatement } from '../../products/shapes/roster-views.ts';
import { NATURE, UNCERTAINTY } from '../../products/shapes/words.ts';
import type { StoredRow } from '../../readings/collection-rows.ts';
import { disclosures, hoursBetween, measurers } from '../../readings/figures.ts';
import type { Snapshots } from '../../readings/list-snapshots.ts';
import type { CaptureRow, RowOrigin } from '../../readings/roster-rows.ts';
import type { Leaf } from '../../release/leaf-store.ts';
import type { Press } from '../../release/press.ts';
import type { InputFault } from '../../system/compile-error.ts';
import { canonicalDigest, jcs } from '../../system/jcs.ts';

/** What every kind of row has: where it comes from, and whether it was ever hashed. */
type OriginRow = RowOrigin & {
  readonly imported?: boolean | undefined;
  readonly source_note?: string | undefined;
  readonly evidence?: Evidence | undefined;
};

/** A row that is published, with its hash; null for one that was imported without. */
export interface HashedRow<Row extends OriginRow = OriginRow> extends StoredRow<Row> {
  readonly core: RosterCore;
  readonly record_hash: string | null;
}

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

interface Succession<Item> {
  keyOf(item: Item): string;
  /** Whether two items of one batch may stand beside each other. */
  isSame(latest: Item, found: Item): boolean;
  /** What stays of an item that is repeated; null for one that is revised. */
  repeated(kept: Item, found: Item): Item | null;
}

/**
 * One item for each key: a repeat keeps the first collection, a later batch revises, and two items of one batch that
 * differ are a conflict, whatever was stored before. `items` is oldest batch first. Returns items by key, those that
 * others have taken the place of, and pairs of one batch that contradict each other.
 */
export function succeed<Item extends { readonly batch: string }>(
  items: readonly Item[],
  { keyOf, isSame, repeated }: Succession<Item>,
) {
  /** The item that counts, and the latest one, even if it is a repeat. */
  const byKey = new Map<string, { kept: Item; latest: Item }>();
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

interface ShownRow {
  readonly shown: object;
  readonly from: HashedRow;
}

/**
 * Writes a roster in its usual form and with the pre-image of each row; an empty one is not for sale. `lastDay` is the day of
 * the newest capture.
 */
export function putRoster(
  press: Press,
  about: RosterSubject,
  {
    product: { path, list },
    lastDay,
    rows: shown,
  }: { product: RosterProduct; lastDay: string; rows: readonly ShownRow[] },
): void {
  if (shown.length === 0) return;
  const { member } = list;
  const claim = list.claim(lastDay);
  const rows = shown.map((row) => rosterRow(about, row));
  for (const verifiable of [false, true]) {
    const target = path + (verifiable ? '?verifiable=1' : '');
    const statement = rosterStatement({ member, claim, target }, rows);
    const sealed = press.sealer.seal(rosterBody(member, rows, verifiable), statement);
    press.put(path, verifiable ? { verifiable: '1' } : {}, sealed);
  }
}

function rosterRow(about: RosterSubject, { shown, from }: ShownRow): RosterRow {
  const { row, record_hash, core } = from;
  return {
    ...rosterPart(about, from),
    shown,
    core: record_hash === null ? null : core,
    record_hash,
    collected_at: row.collected_at,
    source_note: row.source_note,
    ...disclosures(row),
  };
}

/** The file whose rows carry their pre-images. */
export function verifiableFile(path: TablePath): string | null {
  return filePath(endpointAt(path), { verifiable: '1' });
}

/** A row that has a hash, with the file that it can be recomputed from; null for one that another has taken the place of. */
interface HashPlace {
  readonly from: HashedRow;
  readonly entity: string;
  readonly file: string | null;
}

/** Puts the hashes of a roster where they are found; `places` has the rows that are served now first. */
export function putHashes(press: Press, signal_id: string, places: readonly HashPlace[]): void {
  const hashes = places.flatMap(({ from, entity, file }): RowHash[] => {
    const { record_hash, row } = from;
    const { observed_at } = row;
    return record_hash === null ? [] : [{ record_hash, signal_id, entity, observed_at, file }];
  });
  putRowHashes(press, hashes);
}

/** Legal values that a preview lists; the answer of the operation itself tells about the others. */
const PREVIEW_VALUES_MAX = 500;

/** What a preview says whatever it is about: what is stored, what an answer costs, what a row's hash covers. */
export function previewHead(
  { asOf, catalog }: Press,
  of: ListedCollection | CapturedCollection,
  counts: object,
) {
  const paths = [
    ...('subject' in of ? [of.subject.path] : []),
    ...listsOf(of.id).map(({ path }) => path),
  ];
  const hash_core = rosterCoreFields(of.id);
  const prices = paths.flatMap((path) => pricesAt(path, catalog));
  return { nature: NATURE, as_of: asOf, counts, prices, hash_core };
}

/** The price of an operation and what it is asked by; none where it is not offered. */
function pricesAt(path: TablePath, { operationByPath }: Catalog) {
  const operation = operationByPath.get(path);
  if (operation === undefined) return [];
  const { priceUsd, params } = operation;
  const [parameter = null] = Object.keys(params).filter((name) => params[name]?.required);
  return [{ path, price_usd: priceUsd ?? '0', parameter }];
}

/** The legal values of an operation, with a request that one of them answers. */
export function previewValues(path: TablePath, values: readonly string[]) {
  const [first] = Object.entries(endpointAt(path).params);
  const [name, param] = defined(first, 'a parameter of the operation');
  const example = preferredValue(param.examples ?? [], values);
  return {
    example_request: example === null ? null : canonicalTarget(path, { [name]: example }),
    values: values.slice(0, PREVIEW_VALUES_MAX),
    values_total: values.length,
  };
}

interface RosterSubject {
  readonly id: string;
  readonly dimension: string;
  readonly cadence: Cadence;
}

function rosterPart(about: RosterSubject, { row, record_hash }: HashedRow): LineagePart {
  const { observed_at, collected_at, source_ref, evidence } = row;
  return {
    cadence: about.cadence,
    observed_at,
    data_age_hours: hoursBetween(observed_at, collected_at),
    validation_status: row.validation_status ?? null,
    lineage: {
      signal: about.id,
      independent_dimension: about.dimension,
      traceable_to: measurers(row),
      uncertainty: row.uncertainty ?? UNCERTAINTY,
      observed_at,
      record_hash,
      source_ref,
      ...(evidence === undefined ? {} : { evidence }),
    },
  };
}

export function rowProvenance(about: RosterSubject, row: HashedRow): Provenance {
  return joinedProvenance([rosterPart(about, row)], {});
}

/** How a captured row came here, for people. */
export function noteOf(row: CaptureRow): string {
  return row.source_note ?? `captured on ${row.capture_date} by ${measurers(row)}`;
}

/** A hash of a row, and the file that it can be recomputed from; null where another has taken its place. */
export interface RowHash extends Pick<Leaf, 'record_hash' | 'observed_at'> {
  readonly signal_id: string | null;
  readonly entity: string;
  readonly file: string | null;
}

/** Makes each hash findable once, and puts it into the log: of what is served now also where it stands. */
export function putRowHashes(press: Press, hashes: readonly RowHash[]): void {
  const seen = new Set<string>();
  for (const { file, ...rest } of hashes) {
    if (seen.has(rest.record_hash)) continue;
    seen.add(rest.record_hash);
    const facts = { ...rest, kind: 'row' } as const;
    if (file !== null) press.lookUp({ ...facts, state: 'current', file });
    press.leaf(facts);
  }
}

/** Whether the release holds a file of this path. */
export type IsStored = (path: string) => boolean;

/** A part of a release that comes from collections: all of them are read before any of them is written. */
export interface CollectionPart {
  readonly faults: readonly InputFault[];
  readonly rows: number;
  /** `isStored` knows the files of the release that come from signals, so that no body names what is not there. */
  write(press: Press, isStored: IsStored): void;
}

/** Reads the collections that a part is made of; `asOf` is the instant that the compile speaks about. */
export type ReadPart = (
  collections: Snapshots['collections'],
  asOf: string,
  catalog: Catalog,
) => CollectionPart;
