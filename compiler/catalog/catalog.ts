import {
  type BundlePath,
  type Leg,
  LIFECYCLE_STATES,
  type Line,
  type NamedEntity,
  type Place,
  type Signal,
  type SignalEntry,
  type Units,
  type Words,
} from '../products/shapes/line.ts';
import type { Endpoint } from '../products/shapes/product.ts';
import type { Ruler } from '../products/shapes/rulers.ts';
import type { CatalogFile, LineRow, PlaceRow, RulerRow, SignalRow } from './catalog-file.ts';
import { type OperationFolders, operationFolders, operationsOf } from './operations.ts';
import { metricUnits, unitsOf } from './units.ts';

/** What a publisher measures and joins: a value that is built from files and passed to whoever works with it. */
export interface Catalog {
  /** Phases of the prices for people, each until the end of its last UTC day; empty where there are none. */
  readonly humanTrack: NonNullable<CatalogFile['humanTrack']>;
  readonly lines: readonly Line[];
  readonly signals: readonly Signal[];
  readonly lineById: ReadonlyMap<string, Line>;
  readonly entryById: ReadonlyMap<string, SignalEntry>;
  /** Units that metrics end in, by their symbols. */
  readonly units: Units;
  readonly rulerById: ReadonlyMap<string, Ruler>;
  /** Names and places, by line and entity. */
  readonly namedByLine: ReadonlyMap<string, SignalEntry['named']>;
  /** Words that the search knows beside names: by the id of a line or signal, `line/entity`, or path of an operation. */
  readonly aliases: ReadonlyMap<string, readonly string[]>;
  readonly abbreviations: ReadonlyMap<string, string>;
  /** What is sold and given away, in the order of the specification. */
  readonly operations: readonly Endpoint[];
  readonly operationByPath: ReadonlyMap<string, Endpoint>;
  /** Legal values of parameters by their list, where that is too long to be looked through for a request. */
  readonly valueSets: ReadonlyMap<readonly string[], ReadonlySet<string>>;
  readonly folders: OperationFolders;
}

/**
 * Builds the catalogue of files that were checked (`check-catalog.ts`). Throws a RangeError where one names a ruler that
 * none of them has.
 */
export function catalogOf(files: readonly CatalogFile[]): Catalog {
  const scales: Record<string, RulerRow> = Object.assign({}, ...files.map(({ rulers }) => rulers));
  const rulerById = new Map(Object.keys(scales).map((id) => [id, rulerOf(id, scales)]));
  const units = unitsOf(files);
  const rows = files.flatMap(({ lines }) => lines ?? []);
  const all = rows.map((row) => ({
    line: lineOf(row, { units, rulers: rulerById }),
    // Names of 100,000 entities take a third of the time of a catalogue, and most starts ask for none.
    named: once(() => {
      const rows = [...row.entities, ...(row.places ?? [])].filter(
        (one) => typeof one !== 'string',
      );
      return Object.fromEntries(rows.map((one) => [one.id, namedEntity(one)]));
    }),
  }));
  const lines = all.map(({ line }) => line);
  const entries = all.flatMap(({ line, named }) =>
    line.signals.map((signal): SignalEntry => {
      return {
        signal,
        line,
        units,
        get named() {
          return named();
        },
      };
    }),
  );
  const namedByLine = once(() => new Map(all.map(({ line, named }) => [line.id, named()])));
  const operations = operationsOf(lines, {
    prices: Object.assign({}, ...files.map(({ prices }) => prices)),
    leftOut: new Set(files.flatMap(({ leftOut }) => leftOut ?? [])),
  });
  const valueSets = once(() => longLists(operations));
  const folders = once(() => operationFolders(operations));
  return {
    humanTrack: files.findLast((file) => file.humanTrack)?.humanTrack ?? [],
    lines,
    signals: entries.map(({ signal }) => signal),
    lineById: new Map(lines.map((line) => [line.id, line])),
    entryById: new Map(entries.map((entry) => [entry.signal.id, entry])),
    units,
    rulerById,
    get namedByLine() {
      return namedByLine();
    },
    aliases: joinedRows(files.map(({ aliases }) => aliases)),
    abbreviations: joinedRows(files.map(({ abbreviations }) => abbreviations)),
    operations,
    operationByPath: new Map(operations.map((row) => [row.path, row])),
    get valueSets() {
      return valueSets();
    },
    get folders() {
      return folders();
    },
  };
}

const LOOKED_THROUGH_MAX = 200;

function longLists(operations: readonly Endpoint[]): Catalog['valueSets'] {
  const params = operations.flatMap((row) => Object.values(row.params));
  const lists = new Set(params.map((param) => param.enum ?? []));
  const long = [...lists].filter(({ length }) => length > LOOKED_THROUGH_MAX);
  return new Map(long.map((list) => [list, new Set(list)]));
}

function once<Value extends object>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** Rows of several files by their ids; the last of an id holds. */
function joinedRows<Row>(
  files: readonly (Readonly<Record<string, Row>> | undefined)[],
): ReadonlyMap<string, Row> {
  return new Map(files.flatMap((rows) => Object.entries(rows ?? {})));
}

/** Entities a reading of this signal may name; `open` when any id is valid. */
export function entitiesOf({ signal, line }: SignalEntry): readonly string[] | 'open' {
  return signal.entities === 'open' || line.open ? 'open' : line.entities;
}

/** Entities of a line that have a position, with it. */
export function placesOf(catalog: Catalog, lineId: string): ReadonlyMap<string, Place> {
  const named = Object.entries(catalog.namedByLine.get(lineId) ?? {});
  return new Map(
    named.flatMap(([entity, { latitude, longitude, ...rest }]) =>
      latitude === undefined || longitude === undefined
        ? []
        : [[entity, { ...rest, latitude, longitude }] as const],
    ),
  );
}

function rulerOf(id: string, rows: Readonly<Record<string, RulerRow>>): Ruler {
  const row = Object.hasOwn(rows, id) ? rows[id] : undefined;
  if (row === undefined) throw new RangeError(`Cannot find ruler "${id}": not in the catalogue`);
  const { note: _, beside, ...ruler } = row;
  return beside === undefined ? ruler : { ...ruler, beside: rulerOf(beside, rows) };
}

interface Known {
  readonly units: Units;
  readonly rulers: ReadonlyMap<string, Ruler>;
}

function lineOf(row: LineRow, known: Known): Line {
  const { id, industry, title, tagline, upperCase, emptyUntilKeyed, entityAliases } = row;
  return {
    id,
    industry,
    title,
    ...(tagline === undefined ? {} : { tagline }),
    entities: row.entities.map((entity) => (typeof entity === 'string' ? entity : entity.id)),
    ...(upperCase === true ? { upperCase } : {}),
    ...(emptyUntilKeyed === true ? { emptyUntilKeyed } : {}),
    ...(entityAliases === undefined ? {} : { entityAliases }),
    ...(row.lifecycle === undefined
      ? measuredParts(row, known)
      : lifecycleParts(row, row.lifecycle, known)),
  };
}

type Parts = Pick<Line, 'signals' | 'open' | 'bundle' | 'entityOf' | 'states'>;

function measuredParts(row: LineRow, known: Known): Parts {
  const signals = (row.signals ?? []).map((signal) => signalOf(signal, known));
  const { bundle, entityOf } = row;
  const maps = (entityOf ?? []).flatMap((map) =>
    map.signals.map((id) => [id, map.entities] as const),
  );
  return {
    signals,
    open: row.open === true,
    ...(bundle === undefined
      ? {}
      : {
          bundle: {
            path: bundle.path as BundlePath,
            param: bundle.param,
            legs: bundle.legs ?? legsOf(signals.map(({ id }) => id)),
          },
        }),
    ...(entityOf === undefined ? {} : { entityOf: Object.fromEntries(maps) }),
  };
}

/** The bands of a signal with official rulers are those of the rulers, unless it has more of its own. */
function signalOf(row: SignalRow, known: Known): Signal {
  const { note: _, rulers: ids, ...own } = row;
  const signal = withUnits(own, known);
  if (ids === undefined) return signal;
  const rulers = ids.map((id) => {
    const ruler = known.rulers.get(id);
    if (ruler === undefined) throw new RangeError(`Cannot find ruler "${id}" of "${row.id}"`);
    return ruler;
  });
  const bands = row.bands ?? rulers[0]?.steps.map(({ band }) => band);
  return { ...signal, rulers, ...(bands === undefined ? {} : { bands }) };
}

function withUnits(row: Omit<Signal, 'unitOf'>, { units }: Known): Signal {
  return { ...row, unitOf: metricUnits(row.metrics, units) };
}

/** The shape all life-cycle lines share: life cycle first, then the two legs of the line, and a timeline. */
function lifecycleParts(
  { id, title }: LineRow,
  { path, terms, legs }: NonNullable<LineRow['lifecycle']>,
  known: Known,
): Parts {
  const lifecycle: SignalRow = {
    id: `${id}.lifecycle`,
    measures: `official life-cycle state of ${title}`,
    cadence: 'as-events',
    metrics: ['state', 'age_days'],
    words: {
      title: 'life-cycle state',
      says: ['The state of {name} is "{state}".', 'Its age is {age_days}.'],
      classes: LIFECYCLE_WORDS,
    },
  };
  const timeline: SignalRow = {
    id: `${id}.industry-timeline`,
    measures: `ends and births among all ${title} in a year`,
    cadence: 'as-events',
    metrics: ['ends_365d_count', 'births_365d_count'],
  };
  // A reading of it counts all of the line, whatever entity it is stored under.
  const timelineWords: Words = {
    all: `all ${title}`,
    title: 'ends and births in 365 days',
    labels: { ends_365d_count: 'ends in 365 days', births_365d_count: 'births in 365 days' },
    says: [
      'Among {name}, {ends_365d_count} {ends_365d_count:end was|ends were} counted in 365 days.',
      '{births_365d_count} {births_365d_count:birth was|births were} counted.',
    ],
  };
  const measured = legs.map(
    ({ name, ...leg }): SignalRow => ({ id: `${id}.${name}`, cadence: 'as-events', ...leg }),
  );
  const chain = [lifecycle, ...measured].map((signal) => signal.id);
  return {
    signals: [
      ...[lifecycle, ...measured].map((row) => signalOf(row, known)),
      { ...signalOf(timeline, known), words: timelineWords },
    ],
    open: true,
    states: [...LIFECYCLE_STATES, ...terms],
    bundle: { path: path as BundlePath, param: 'entity', legs: legsOf(chain) },
  };
}

/** States that their ids do not spell. */
const LIFECYCLE_WORDS = { recall: 'under recall', 'demand-dead': 'without demand' } as const;

/** Each leg of a chain whose legs are one signal each is named after that signal's species. */
function legsOf(ids: readonly string[]): readonly Leg[] {
  return ids.map((id) => ({ name: id.slice(id.indexOf('.') + 1), signals: [id] }));
}

/** Written out: to spread the rest of a row takes several times as long, and a catalogue may have 100,000. */
function namedEntity({ name, latitude, longitude, zone }: PlaceRow): NamedEntity {
  if (latitude === undefined || longitude === undefined) {
    return zone === undefined ? { name } : { name, zone };
  }
  return zone === undefined ? { name, latitude, longitude } : { name, latitude, longitude, zone };
}
