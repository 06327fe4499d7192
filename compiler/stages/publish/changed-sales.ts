import { type Catalog, entitiesOf } from '../../contract/catalog/catalog.ts';
import {
  type Leg,
  type Line,
  legEntity,
  type NamedEntity,
  type Signal,
} from '../../contract/catalog/line.ts';
import { defined } from '../../contract/defined.ts';
import type { Endpoint, Param } from '../../contract/endpoints.ts';
import { grouped } from '../../contract/grouped.ts';
import type { Ruler } from '../../contract/rulers.ts';
import { metricUnit } from '../../contract/units.ts';

// How a catalogue differs from the one before in what was sold: buyers hold addresses and records of it, and read them by
// what the words meant then. What is added, prices, titles, names and further aliases change nothing of that.

/** What the current release sells. */
export interface Sold {
  readonly catalog: Catalog;
  /** Entities with a record, by signal. */
  readonly entities: ReadonlyMap<string, readonly string[]>;
  /** Paths of the operations that money opens and that are answered. */
  readonly paths: ReadonlySet<string>;
}

/** The row of a catalogue that a change is about. */
export type ChangedRow =
  | { readonly line: string; readonly member: string }
  | { readonly signal: string; readonly of: string; readonly member: string }
  | { readonly entity: string; readonly of: string }
  | { readonly ruler: string }
  | { readonly price: string };

/** One thing that was sold and is so no longer. */
export interface SoldChange {
  readonly row: ChangedRow;
  /** What was, and what is. */
  readonly change: string;
  /** What to do where it was no intention. */
  readonly remedy: string;
}

/** A place may be corrected by this much; what moves farther is another place. */
const MOVED_KM_MAX = 10;
const KM_A_DEGREE = 111.2;
const NAMES_SHOWN_MAX = 5;

/** Everything that a catalogue changes of what was sold; empty where buyers lose nothing. */
export function soldChanges(sold: Sold, now: Catalog): SoldChange[] {
  const lines = sold.catalog.lines.flatMap((line) => lineChanges(line, sold, now));
  const rulers = changedRulers(sold, now);
  const paths = [...sold.paths].flatMap((path) => operationChanges(path, sold.catalog, now));
  return [...lines, ...rulers, ...paths];
}

/** Signals of a line with their entities that have a record. */
function soldSignals({ signals }: Line, { entities }: Sold) {
  return signals.flatMap((signal) => {
    const own = entities.get(signal.id) ?? [];
    return own.length === 0 ? [] : [{ signal, entities: own }];
  });
}

function lineChanges(line: Line, sold: Sold, now: Catalog): SoldChange[] {
  const signals = soldSignals(line, sold);
  if (signals.length === 0) return [];
  if (signals.every(({ signal }) => !now.entryById.has(signal.id)))
    return [goneLine(line, signals)];
  return [
    ...signals.flatMap(({ signal }) => signalChanges(signal, line.id, now)),
    ...entityChanges(line, signals, now),
    ...placeChanges(signals, { before: sold.catalog, now }),
    ...readElsewhere(line, signals, now),
    ...wordChanges(line, now),
  ];
}

type SoldSignals = ReturnType<typeof soldSignals>;

function goneLine({ id }: Line, signals: SoldSignals): SoldChange {
  const ids = shown(signals.map(({ signal }) => signal.id));
  return {
    row: { line: id, member: '' },
    change: `line "${id}" sold ${ids}, and is gone`,
    remedy: 'put it back',
  };
}

/** Names in quotes, as many as a reader can use. */
function shown(names: readonly string[]): string {
  const list = names.slice(0, NAMES_SHOWN_MAX).map((name) => `"${name}"`);
  const rest = names.length - list.length;
  return rest > 0 ? `${list.join(', ')} and ${rest} more` : list.join(', ');
}

function signalChanges(before: Signal, of: string, now: Catalog): SoldChange[] {
  const { id } = before;
  const after = now.entryById.get(id)?.signal;
  const changed = (member: string, change: string, remedy: string): SoldChange => {
    return { row: { signal: id, of, member }, change, remedy };
  };
  if (after === undefined) {
    return [changed('', `signal "${id}" was sold, and is gone`, 'put it back')];
  }
  const other = 'give what is measured now a signal of its own';
  const wrote = (text: string) => `"${id}" measured "${text}"`;
  const isSame = before.measures === after.measures;
  return [
    ...(isSame
      ? []
      : [changed('measures', `${wrote(before.measures)}, now "${after.measures}"`, other)]),
    ...metricChanges(before, after).map((change) => changed('metrics', change, other)),
    ...classChanges(before, after).map((change) => {
      return changed('bands', change, 'keep the classes and their order');
    }),
    ...thresholdChanges(before, after).map((change) => {
      return changed('ownThresholds', change, 'keep the thresholds and their order');
    }),
  ];
}

function metricChanges({ id, metrics }: Signal, after: Signal): string[] {
  const lost = metrics.filter((metric) => !after.metrics.includes(metric));
  const units = lost.map((metric) => lostMetric(id, metric, after.metrics));
  if (units.length > 0 || metrics[0] === after.metrics[0]) return units;
  return [`the main metric of "${id}" was "${metrics[0]}", and is now "${after.metrics[0]}"`];
}

function lostMetric(id: string, metric: string, metrics: readonly string[]): string {
  const { stem } = metricUnit(metric);
  const other = metrics.find((name) => metricUnit(name).stem === stem);
  const sold = `the metric "${metric}" of "${id}" was sold`;
  return other === undefined ? `${sold}, and is gone` : `${sold}, and is now "${other}"`;
}

/** New classes may come between the old ones or after them: before the mildest, each record would change its meaning. */
function classChanges({ id, bands: before }: Signal, { bands: after = [] }: Signal): string[] {
  if (before === undefined) return [];
  if (before[0] === after[0] && isSubsequence(before, after)) return [];
  return [`"${id}" had the classes ${listed(before)}, and now has ${listed(after)}`];
}

function thresholdChanges({ id, ownThresholds: before = [] }: Signal, after: Signal): string[] {
  const { ownThresholds: names = [] } = after;
  if (isSubsequence(before, names)) return [];
  return [`"${id}" had the thresholds ${listed(before)}, and now has ${listed(names)}`];
}

const listed = (names: readonly string[]): string => names.join(', ') || 'none';

function isSubsequence(part: readonly string[], whole: readonly string[]): boolean {
  let found = 0;
  for (const one of whole) if (one === part[found]) found += 1;
  return found === part.length;
}

/** Entities that have records and are no longer legal. */
function entityChanges({ id }: Line, signals: SoldSignals, now: Catalog): SoldChange[] {
  const lost = signals.flatMap(({ signal, entities }) => {
    const entry = now.entryById.get(signal.id);
    const legal = entry === undefined ? 'open' : entitiesOf(entry);
    if (legal === 'open') return [];
    const known = new Set(legal);
    const line = defined(entry, 'the signal').line.id;
    return entities.filter((entity) => !known.has(entity)).map((entity) => ({ entity, line }));
  });
  return [...grouped(lost, ({ line }) => line)].map(([line, rows]) => {
    const names = shown([...new Set(rows.map(({ entity }) => entity))]);
    return {
      row: { line, member: 'entities' },
      change: `line "${id}" sold records of ${names}, which the list of entities lacks now`,
      remedy: 'put them back',
    };
  });
}

interface TwoCatalogs {
  readonly before: Catalog;
  readonly now: Catalog;
}

/** Entities with records that lie elsewhere now. */
function placeChanges(signals: SoldSignals, { before, now }: TwoCatalogs): SoldChange[] {
  const moved = signals.flatMap(({ signal: { id }, entities }) => {
    const [was, is] = [before, now].map((one) => one.entryById.get(id));
    if (was === undefined || is === undefined) return [];
    return entities.flatMap((entity) => {
      const change = movedText(at(was.named, entity), at(is.named, entity));
      return change === null ? [] : [movedChange(is.line.id, entity, change)];
    });
  });
  return onceByRow(moved);
}

/** What several signals have in common is said once. */
function onceByRow(changes: readonly SoldChange[]): SoldChange[] {
  return [...new Map(changes.map((change) => [JSON.stringify(change.row), change])).values()];
}

function at(named: Readonly<Record<string, NamedEntity>>, entity: string): NamedEntity | undefined {
  return Object.hasOwn(named, entity) ? named[entity] : undefined;
}

function movedChange(line: string, entity: string, change: string): SoldChange {
  return {
    row: { entity, of: line },
    change: `"${entity}" ${change}`,
    remedy: 'give the other place an id of its own',
  };
}

function movedText(was: NamedEntity | undefined, is: NamedEntity | undefined): string | null {
  if (was === undefined || is === undefined) return null;
  if (was.zone !== undefined && is.zone !== undefined && was.zone !== is.zone) {
    return `had its days counted in ${was.zone}, and now in ${is.zone}`;
  }
  const [from, to] = [pointOf(was), pointOf(is)];
  if (from === null || to === null || kmBetween(from, to) <= MOVED_KM_MAX) return null;
  return `was at ${from.join(', ')}, and is now at ${to.join(', ')}`;
}

type MapPosition = readonly [latitude: number, longitude: number];

function pointOf({ latitude, longitude }: NamedEntity): MapPosition | null {
  return latitude === undefined || longitude === undefined ? null : [latitude, longitude];
}

/** On a plane, which is close enough to tell a correction from another place. */
function kmBetween([fromNorth, fromEast]: MapPosition, [toNorth, toEast]: MapPosition): number {
  const middle = ((fromNorth + toNorth) / 2) * (Math.PI / 180);
  const turn = Math.abs(fromEast - toEast);
  const east = Math.min(turn, 360 - turn) * Math.cos(middle);
  return KM_A_DEGREE * Math.hypot(fromNorth - toNorth, east);
}

function readElsewhere(line: Line, signals: SoldSignals, now: Catalog): SoldChange[] {
  return signals.flatMap(({ signal: { id } }) => {
    const after = now.entryById.get(id)?.line;
    if (after === undefined || line.bundle === undefined) return [];
    const bundled = new Set([
      ...line.entities,
      ...Object.keys(line.entityOf?.[id] ?? {}),
      ...Object.keys(after.entityOf?.[id] ?? {}),
    ]);
    const changed = [...bundled].filter(
      (entity) => legEntity(line, id, entity) !== legEntity(after, id, entity),
    );
    if (changed.length === 0) return [];
    return [
      {
        row: { line: after.id, member: 'entityOf' },
        change: `"${id}" of ${shown(changed)} is now read at another entity`,
        remedy: 'put the old ones back',
      },
    ];
  });
}

/** Words of a line that buyers send or read. */
function wordChanges({ id, industry, states = [] }: Line, now: Catalog): SoldChange[] {
  const after = now.lineById.get(id);
  if (after === undefined) return [];
  const lost = states.filter((state) => after.states?.includes(state) !== true);
  const changed = (member: string, change: string): SoldChange => {
    const remedy = 'put back what was';
    return { row: { line: id, member }, change: `line "${id}" ${change}`, remedy };
  };
  return [
    ...(industry === after.industry
      ? []
      : [
          changed(
            'industry',
            `was of the industry "${industry}", which watchlists name, and is now of "${after.industry}"`,
          ),
        ]),
    ...(lost.length === 0
      ? []
      : [changed('lifecycle', `sold subjects in the state ${shown(lost)}, which is gone`)]),
  ];
}

/** Scales that were replaced in place: what was classed by them means something else now. */
function changedRulers(sold: Sold, now: Catalog): SoldChange[] {
  const ids = new Map([...sold.catalog.rulerById].map(([id, ruler]) => [ruler, id]));
  const changes = sold.catalog.signals.flatMap(({ id, rulers = [] }) => {
    const after = now.entryById.get(id)?.signal;
    if (after === undefined || (sold.entities.get(id) ?? []).length === 0) return [];
    const known = new Set((after.rulers ?? []).map(scaleText));
    const lost = rulers.filter((ruler) => !known.has(scaleText(ruler)));
    if (lost.length === 0) return reclassed(id, rulers, now);
    return lost.map((ruler) => changedRuler(defined(ids.get(ruler), 'the id'), ruler, { id, now }));
  });
  return onceByRow(changes);
}

const scaleText = (ruler: Ruler): string => JSON.stringify(scaleOf(ruler));

/** Of the scales that hold on a day, the last one of the list decides: whether another one decides now of days of before. */
function reclassed(id: string, before: readonly Ruler[], now: Catalog): SoldChange[] {
  const { signal, line } = defined(now.entryById.get(id), 'the signal');
  const { rulers = [] } = signal;
  const [old, own] = [before.map(scaleText), rulers.map(scaleText)];
  const isEndless = rulers.some(
    ({ since }, at) => since === undefined && !old.includes(own[at] ?? ''),
  );
  if (old.length === 0 || (isSubsequence(old, own) && !isEndless)) return [];
  return [
    {
      row: { signal: id, of: line.id, member: 'rulers' },
      change: isEndless
        ? `"${id}" has a further ruler, which holds on all days of before too`
        : `"${id}" has its rulers in another order, so others decide`,
      remedy: 'keep the order, and write from which day a further ruler holds, with "since"',
    },
  ];
}

interface ClassedSignal {
  readonly id: string;
  readonly now: Catalog;
}

function changedRuler(ruler: string, before: Ruler, { id, now }: ClassedSignal): SoldChange {
  const after = now.rulerById.get(ruler);
  const values = after === undefined ? [] : changedValues(scaleOf(before), scaleOf(after));
  const became = values.length > 0 ? `: ${values.join('; ')}` : ', which it no longer has';
  return {
    row: { ruler },
    change: `"${id}" was classed by the ruler "${ruler}"${became}`,
    remedy: 'put it back and add a new scale as a further ruler with "since"',
  };
}

type Scale = Readonly<Record<string, string>>;

/** What a scale says, in words; what it is called and where it was published may be corrected. */
function scaleOf({ metric, unit, direction, edge, steps, ...rest }: Ruler): Scale {
  const { actionBand, since = 'none', beside } = rest;
  const step = ({ band, at: from, edge: own = edge }: Ruler['steps'][number]) =>
    `${band} at ${from} (${own})`;
  return {
    metric,
    unit,
    direction,
    actionBand: actionBand ?? 'none',
    since,
    steps: steps.map(step).join(', '),
    beside: beside === undefined ? 'none' : Object.values(scaleOf(beside)).join(' '),
  };
}

function changedValues(before: Scale, after: Scale): string[] {
  return Object.entries(before)
    .filter(([name, value]) => after[name] !== value)
    .map(([name, value]) => `"${name}" was ${value}, and is now ${after[name]}`);
}

function operationChanges(path: string, before: Catalog, now: Catalog): SoldChange[] {
  const [was, is] = [before, now].map((one) => one.operationByPath.get(path));
  if (was === undefined) return [];
  const line = before.lines.find(({ bundle }) => bundle?.path === path);
  if (is === undefined) return [goneOperation(was, line, now)];
  const row = rowOf(path, now);
  return [
    ...paramChanges(was, is).map((change) => ({ row, change, remedy: 'put back what was' })),
    ...(line?.bundle === undefined ? [] : legChanges(path, line.bundle.legs, now)),
  ];
}

function rowOf(path: string, now: Catalog): ChangedRow {
  const line = now.lines.find(({ bundle }) => bundle?.path === path);
  return line === undefined ? { price: path } : { line: line.id, member: 'bundle' };
}

function goneOperation(
  { path, priceUsd }: Endpoint,
  line: Line | undefined,
  now: Catalog,
): SoldChange {
  const kept = line === undefined ? undefined : now.lineById.get(line.id);
  // A bundle that is still there has lost its price alone.
  const isBundle = kept !== undefined && kept.bundle?.path !== path;
  return {
    row: isBundle ? { line: kept.id, member: 'bundle' } : { price: path },
    change: `"${path}" was sold, and is no longer offered`,
    remedy: isBundle ? 'put the bundle back at this path' : offerAgain(priceUsd),
  };
}

function offerAgain(priceUsd: string | null): string {
  return priceUsd === null ? 'offer it again' : 'put it back with its price';
}

/** A name by which a request was answered must go on to be one. */
function paramChanges({ path, params }: Endpoint, is: Endpoint): string[] {
  const after = Object.entries(is.params).flatMap(([name, param]) => namesOf(name, param));
  const known = new Set(after);
  const names = Object.entries(params).flatMap(([name, param]) => namesOf(name, param));
  const lost = names.filter((name) => !known.has(name));
  const upper = Object.entries(params).filter(
    ([name, { upperCase }]) => upperCase === true && is.params[name]?.upperCase !== true,
  );
  return [
    ...(lost.length === 0 ? [] : [`"${path}" was asked by ${shown(lost)}, and cannot be now`]),
    ...upper
      .filter(([name]) => !lost.includes(name))
      .map(([name]) => `"${path}" took "${name}" in any case, and now only as it is written`),
  ];
}

function namesOf(name: string, { aliases = [] }: Param): readonly string[] {
  return [name, ...aliases];
}

function legChanges(path: string, before: readonly Leg[], now: Catalog): SoldChange[] {
  const line = now.lines.find(({ bundle }) => bundle?.path === path);
  if (line?.bundle === undefined) return [];
  const [was, is] = [before, line.bundle.legs].map((legs) => legs.flatMap(legTexts));
  const [old, own] = [defined(was, 'the legs before'), defined(is, 'the legs')];
  if (isSubsequence(old, own)) return [];
  return [
    {
      row: { line: line.id, member: 'bundle' },
      change: `"${path}" joined ${old.join(', then ')}, and now ${own.join(', then ')}`,
      remedy: 'keep these legs and their order, or sell the other chain at another path',
    },
  ];
}

function legTexts({ name, signals }: Leg): string[] {
  return signals.map((id) => `${name} (${id})`);
}
