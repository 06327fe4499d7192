import { type Catalog, entitiesOf } from '../catalog/catalog.ts';
import { type CatalogFault, pointerOf } from '../catalog/catalog-file.ts';
import { parseCatalog, WHOLE_CATALOG_PATH } from '../catalog/whole-catalog.ts';
import { defined, messageOf } from '../format/errors.ts';
import { grouped } from '../format/lists.ts';
import { CATALOG_PATH, parseCatalogRow } from '../format/release.ts';
import { endpointAt } from '../products/products.ts';
import { isBasket } from '../products/shapes/basket.ts';
import { type Line, legEntity, type Signal } from '../products/shapes/line.ts';
import { knownFilePath } from '../products/shapes/path.ts';
import type { Ruler } from '../products/shapes/rulers.ts';
import { CATALOG_FOLDER, nothingStored } from '../readings/list-snapshots.ts';
import { catalogFault, type LoadedCatalog } from '../readings/load-catalog.ts';
import { readStored } from '../release/release-list.ts';
import { previousFiles } from '../release/release-store.ts';
import { CompileError, type InputFault } from '../system/compile-error.ts';

// Buyers hold addresses and records, and read them by what the words of the catalogue meant then. So a catalogue may add to
// what was sold; where a row that was sold is gone or says something else, the publisher has to accept it.

/** The option that lets a catalogue change what was sold. */
export const ACCEPT_CHANGES = '--accept-catalog-changes';

/** Longest value that a difference shows. */
const SHOWN_MAX = 200;
/** Most differences that are looked up; a report spells out fewer. */
const DIFFERENCES_MAX = 1000;

const MANIFEST = knownFilePath(endpointAt('/manifest'), { all: '1' });

interface Sold {
  readonly catalog: Catalog;
  /** Entities with a record, by signal. */
  readonly entities: ReadonlyMap<string, readonly string[]>;
  /** Paths of the operations that money opens and that are answered. */
  readonly paths: ReadonlySet<string>;
}

/**
 * Refuses a catalogue that changes what the current release sells; `sha256` of its bytes tells that nothing changed. Throws
 * a CompileError that names every difference with its place; where they are accepted, they are returned as texts.
 */
export function refuseChanges(
  data: string,
  loaded: LoadedCatalog & { readonly sha256: string },
  { accepted }: { readonly accepted: boolean },
): readonly string[] {
  const sold = soldBefore(data, loaded.sha256);
  if (sold === null) return [];
  const [was, is] = [sold.catalog, loaded.catalog].map((catalog) => soldRows(catalog, sold));
  const found = differences(was, is).slice(0, DIFFERENCES_MAX);
  const faults = found.map((difference) => placed(loaded, difference));
  if (accepted) return faults.map(({ file, pointer, reason }) => `${file} ${pointer}: ${reason}`);
  if (faults.length === 0) return [];
  const advice = `put the old row back, or compile with ${ACCEPT_CHANGES}`;
  throw new CompileError(
    faults.map((fault) => catalogFault({ ...fault, reason: `${fault.reason}; ${advice}` })),
  );
}

interface Difference {
  /** Names of members, and ids of rows. */
  readonly path: readonly string[];
  readonly was: unknown;
  /** Undefined where it is gone. */
  readonly is: unknown;
}

/** Everything that is gone or another one; what is added is no difference. */
function differences(was: unknown, is: unknown, path: readonly string[] = []): Difference[] {
  if (was === undefined || JSON.stringify(was) === JSON.stringify(is)) return [];
  if (Array.isArray(was) && Array.isArray(is)) return isGrown(was, is) ? [] : [{ path, was, is }];
  if (Object(was) !== was || Object(is) !== is) return [{ path, was, is }];
  return Object.entries(was as object).flatMap(([name, own]) => {
    const other = Object.hasOwn(is as object, name) ? Reflect.get(is as object, name) : undefined;
    return differences(own, other, [...path, name]);
  });
}

/** Whether a list goes on as it was: it begins with the same, and what it had comes in the same order. */
function isGrown(was: readonly unknown[], is: readonly unknown[]): boolean {
  const kept = is.filter((one) => was.includes(one));
  return was[0] === is[0] && JSON.stringify(kept) === JSON.stringify(was);
}

/** A difference as a sentence, at the place where the publisher's own files hold the row, or could take it back. */
function placed({ files }: LoadedCatalog, { path, was, is }: Difference): CatalogFault {
  const hidden = path[0] === 'prices' ? ['leftOut', ...path.slice(1)] : path;
  const places = files.flatMap(({ file, value }) => {
    const left = foundIn(value, hidden);
    return [{ file, found: left.length === path.length ? left : foundIn(value, path) }];
  });
  const [place = { file: CATALOG_FOLDER, found: [] }] = places.sort(
    (a, b) => b.found.length - a.found.length,
  );
  const rest = path.slice(place.found.length);
  const subject = rest.length === 0 ? '' : `"${rest.join('/')}" `;
  const before = Object(was) === was && !Array.isArray(was) ? 'was sold' : `was ${shown(was)}`;
  const now = is === undefined ? 'and is gone' : `and is now ${shown(is)}`;
  return {
    file: place.file,
    pointer: pointerOf(place.found),
    reason: `${subject}${before}, ${now}`,
  };
}

/** How far a file holds a path: members by their names, rows of lists by their ids. */
function foundIn(value: unknown, [name, ...rest]: readonly string[]): PropertyKey[] {
  if (name === undefined || typeof value !== 'object' || value === null) return [];
  const key = Array.isArray(value)
    ? value.findIndex((row) => row === name || row?.id === name)
    : name;
  return Object.hasOwn(value, key) ? [key, ...foundIn(Reflect.get(value, key), rest)] : [];
}

function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text;
}

/** What a catalogue says of what was sold, by the names of its files: of lines and signals with records, and of operations. */
function soldRows(catalog: Catalog, sold: Sold): object {
  const lines = sold.catalog.lines.filter(({ signals }) =>
    signals.some(({ id }) => sold.entities.has(id)),
  );
  const signals = lines.flatMap((line) => line.signals.filter(({ id }) => sold.entities.has(id)));
  const used = new Set(signals.flatMap((signal) => signal.rulers ?? []));
  const rulers = [...idsOf(sold.catalog.rulerById)].filter(([ruler]) => used.has(ruler));
  return {
    lines: Object.fromEntries(lines.map((line) => [line.id, soldLine(line, catalog, sold)])),
    rulers: Object.fromEntries(rulers.map(([, id]) => [id, scaleOf(catalog.rulerById.get(id))])),
    prices: Object.fromEntries(
      [...sold.paths].map((path) => [path, catalog.operationByPath.has(path) ? {} : undefined]),
    ),
  };
}

function soldLine(
  before: Line,
  catalog: Catalog,
  { entities: recorded }: Sold,
): object | undefined {
  const line = catalog.lineById.get(before.id);
  if (line === undefined) return undefined;
  const { industry, bundle, open, upperCase, entityAliases = [], states = [] } = line;
  const sold = before.signals.filter(({ id }) => recorded.has(id));
  const ids = sold.map(({ id }) => id);
  const entities = [...new Set(ids.flatMap((id) => recorded.get(id) ?? []))];
  const lost = new Set(ids.flatMap((id) => illegal(recorded.get(id) ?? [], id, catalog)));
  const named = new Map(Object.entries(catalog.namedByLine.get(line.id) ?? {}));
  const places = entities.map((id) => {
    const { latitude, longitude, zone } = named.get(id) ?? {};
    return [id, lost.has(id) ? undefined : { latitude, longitude, zone }];
  });
  const bundled = before.bundle === undefined ? [] : new Set([...before.entities, ...entities]);
  const readAt = ids.map((id) => {
    const keys = [...bundled, ...Object.keys(before.entityOf?.[id] ?? {})];
    return [id, Object.fromEntries(keys.map((entity) => [entity, legEntity(line, id, entity)]))];
  });
  return {
    industry,
    upperCase: open && upperCase === true ? true : undefined,
    entityAliases: open ? byName(entityAliases) : undefined,
    signals: Object.fromEntries(sold.map((row) => [row.id, soldSignal(row, catalog)])),
    bundle: bundle && {
      path: bundle.path,
      param: bundle.param,
      legs: bundle.legs.flatMap(({ name, signals }) => signals.map((id) => `${name} (${id})`)),
    },
    lifecycle: { terms: byName(states) },
    entities: Object.fromEntries(places),
    entityOf: Object.fromEntries(readAt),
  };
}

const byName = (names: readonly string[]): object =>
  Object.fromEntries(names.map((name) => [name, {}]));

/** Entities that readings of a signal may no longer name. */
function illegal(entities: readonly string[], id: string, catalog: Catalog): readonly string[] {
  const entry = catalog.entryById.get(id);
  const legal = entry === undefined ? 'open' : entitiesOf(entry);
  if (legal === 'open') return [];
  const known = new Set(legal);
  return entities.filter((entity) => !known.has(entity));
}

function soldSignal(before: Signal, { entryById, rulerById }: Catalog): object | undefined {
  const signal = entryById.get(before.id)?.signal;
  if (signal === undefined) return undefined;
  const { measures, metrics, unitOf, bands, ownThresholds, rulers } = signal;
  // A metric that is gone is named as such, and not for its unit.
  const units = Object.entries({ ...before.unitOf, ...unitOf });
  const ids = rulers?.map((ruler) => defined(idsOf(rulerById).get(ruler), 'the id of a ruler'));
  const endless = ids?.filter((ruler) => rulerById.get(ruler)?.since === undefined);
  // The last ruler that holds on a day decides: one more of these would class the days of before anew.
  const scales = ids && { order: ids, 'without since': endless?.join(', ') };
  return {
    measures,
    metrics,
    units: Object.fromEntries(units.map(([metric, { label }]) => [metric, label])),
    bands,
    ownThresholds,
    rulers: scales,
  };
}

const idsOf = (rulers: Catalog['rulerById']): Map<Ruler, string> =>
  new Map([...rulers].map(([id, ruler]) => [ruler, id]));

/** All that classes a value; what a scale is called and where it was published may be corrected. */
function scaleOf(ruler: Ruler | undefined): object | undefined {
  if (ruler === undefined) return undefined;
  const { metric, unit, direction, edge, actionBand, since = null, beside, steps } = ruler;
  const texts = steps.map(({ band, at, edge: own = edge }) => `${band} at ${at} (${own})`);
  const second = scaleOf(beside) ?? null;
  return { metric, unit, direction, actionBand, since, beside: second, steps: texts.join(', ') };
}

/** What the current release sells; null where nothing is sold, or by the same catalogue. */
function soldBefore(data: string, sha256: string): Sold | null {
  const files = previousFiles(data)?.files() ?? null;
  const entry = files?.find(WHOLE_CATALOG_PATH) ?? null;
  // A release of the time before catalogues says nothing that could be compared.
  if (files === null || entry === null) return null;
  if (`sha256:${entry.sha256}` === sha256) return null;
  const read = (path: string): Buffer => {
    const stored = files.find(path);
    if (stored === null) throw new RangeError(`it has no "${path}"`);
    return readStored(data, stored);
  };
  try {
    const catalog = parseCatalog(read(WHOLE_CATALOG_PATH));
    const entities = recordedEntities(read(CATALOG_PATH));
    return { catalog, entities, paths: soldPaths(read(MANIFEST), catalog) };
  } catch (cause) {
    throw unreadable(data, cause);
  }
}

/** Without what was sold, nobody knows what a changed catalogue breaks. */
function unreadable(data: string, cause: unknown): CompileError {
  const message =
    `the catalogue changed, and what the current release sells cannot be read: ${messageOf(cause)}; ` +
    'restore that release from a copy, or put the catalogue back';
  return new CompileError([{ code: 'cannot_publish', file: data, message }]);
}

/** By signal, from the list of latest readings. */
function recordedEntities(list: Buffer): ReadonlyMap<string, readonly string[]> {
  const rows = list.toString('utf8').split('\n').slice(0, -1).map(parseCatalogRow);
  const groups = grouped(rows, ({ signal_id }) => signal_id);
  return new Map([...groups].map(([id, own]) => [id, own.map(({ entity }) => entity)]));
}

/** Money opens an operation by its price, by the prices of what is in a basket, or by a token that was bought. */
function soldPaths(manifest: Buffer, { operationByPath }: Catalog): ReadonlySet<string> {
  const { entries } = JSON.parse(manifest.toString('utf8')) as {
    entries: { path: string; sells_now: boolean }[];
  };
  const sold = entries.filter(({ path, sells_now }) => {
    const row = operationByPath.get(path);
    return sells_now && row && (row.priceUsd !== null || row.token || isBasket(row));
  });
  return new Set(sold.map(({ path }) => path));
}

/** A signal that loses more than this share of its entities or readings is taken for a mistake in the input. */
const SHRINK_SHARE_MAX = 0.2;

/** Refuses a release in which any signal shrinks suspiciously: an emptied or cut snapshot must not empty the shop. */
export function refuseShrink(
  before: { catalog: Buffer; signals: Readonly<Record<string, { readonly readings: number }>> },
  now: ReadonlyMap<string, { readonly entities: number; readonly readings: number }>,
): void {
  const faults: InputFault[] = [];
  for (const [id, entities] of countBySignal(before.catalog)) {
    const { readings = 0 } = before.signals[id] ?? {};
    const had = { entities, readings };
    const has = now.get(id) ?? { entities: 0, readings: 0 };
    const less = (['entities', 'readings'] as const).find(
      (count) => has[count] < had[count] * (1 - SHRINK_SHARE_MAX),
    );
    if (less === undefined) continue;
    const message =
      `${has[less]} ${less} where the previous release has ${had[less]}; restore the missing snapshots, ` +
      'or publish anyway with --allow-shrink';
    faults.push({ code: 'cannot_publish', file: id, message });
  }
  if (faults.length > 0) throw new CompileError(faults);
}

/** Refuses an empty release: files that are empty or hold only a header usually mean a failed fetch. */
export function refuseNothing(root: string, readings: number, rows: number): void {
  if (readings + rows > 0) return;
  const found = 'no snapshots found except files that are empty or hold only a header';
  const fault = nothingStored(root, found);
  const message = `${fault.message}; publish anyway with --allow-shrink`;
  throw new CompileError([{ ...fault, message }]);
}

/** A catalog line begins with the signal: `["genus.species",`. */
function countBySignal(catalog: Buffer): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (let at = 0; at < catalog.length; ) {
    const id = catalog.toString('latin1', at + 2, catalog.indexOf('"', at + 2));
    counts.set(id, (counts.get(id) ?? 0) + 1);
    at = catalog.indexOf(0x0a, at) + 1;
    if (at === 0) return counts;
  }
  return counts;
}
