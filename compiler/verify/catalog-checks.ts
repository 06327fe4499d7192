import { bandOfRecord, isLit } from '../contract/bundle.ts';
import { BUILTIN } from '../contract/catalog/builtin.ts';
import type { Catalog } from '../contract/catalog/catalog.ts';
import type { Signal } from '../contract/catalog/line.ts';
import type { SignalRecord } from '../contract/record.ts';
import { ownScale, positionOn, type Ruler, standingOn } from '../contract/rulers.ts';
import { isObject, type JsonObject, type JsonValue } from '../contract/strict-json.ts';
import { agreement, type BodyCheck, checkAt } from './body-check.ts';
import { memberPath, type ObjectNode } from './object-nodes.ts';
import { isSame, rowsOf } from './relation.ts';

// What a body says in words of the catalogue: the class, the official scale and the range of each reading, and whether its
// class lights it.

const NOT_JUDGED = 'its class, scale and range were not judged';

/** A catalogue that a body is judged by. */
export interface JudgingCatalog {
  readonly catalog: Catalog;
  /**
   * Whether the body is known to be of a release of this catalogue. A publisher may change a catalogue, and no body says which one
   * it was made under: so any other body that differs is named, and neither judged nor failed.
   */
  readonly isOfBody: boolean;
}

/**
 * Whether the readings of a body are what a catalogue says of their signals. Without one, a signal that is not built in is
 * named: nothing of it is known here, not even which classes light it.
 */
export function catalogChecks(
  nodes: readonly ObjectNode[],
  judgedBy?: JudgingCatalog,
): BodyCheck[] {
  const { catalog = BUILTIN, isOfBody = true } = judgedBy ?? {};
  const checks = [
    ...nodes.flatMap((node) => litChecks(node, catalog)),
    ...wordChecks(nodes, judgedBy?.catalog),
  ];
  const different = checks.find(({ status }) => status === 'fail');
  if (isOfBody || different === undefined) return checks;
  const why = 'this body was made under another catalogue, which nobody passed';
  const at = checkAt('catalog', different.where);
  return [
    at.notApplicable(`${different.detail}: ${why}; classes, scales and ranges were not judged`),
  ];
}

/** Whether a reading or a leg is lit as its class says; one without these members says nothing. */
function litChecks({ path, value }: ObjectNode, { entryById }: Catalog): BodyCheck[] {
  const { signal_id, lit, provenance, position = provenance } = value;
  const signal = entryById.get(String(signal_id))?.signal;
  if (lit === undefined || position === undefined || signal === undefined) return [];
  const band =
    value.band === undefined ? bandOfRecord(value as unknown as SignalRecord) : value.band;
  const right = isLit(signal, typeof band === 'string' ? band : null);
  const where = memberPath(path, 'lit');
  return [agreement(where, lit === right, `${right}, which follows from its class`)];
}

function wordChecks(nodes: readonly ObjectNode[], catalog?: Catalog): BodyCheck[] {
  const { entryById } = catalog ?? BUILTIN;
  const why =
    catalog === undefined
      ? 'is not built in; judging it takes the catalogue of its publisher'
      : 'is not in the catalogue; judging it takes the one of its time';
  const unknown = new Map<string, BodyCheck>();
  const checks = nodes.flatMap((node) => {
    const id = signalIdOf(node);
    if (id === null) return [];
    const signal = entryById.get(id)?.signal;
    if (signal !== undefined) return catalog === undefined ? [] : readingChecks(node, signal);
    const at = checkAt('catalog', memberPath(node.path, 'signal_id'));
    if (!unknown.has(id)) unknown.set(id, at.notApplicable(`"${id}" ${why}: ${NOT_JUDGED}`));
    return [];
  });
  return [...checks, ...unknown.values()];
}

/** The signal of a reading in the form of this service; null for any other object. */
function signalIdOf({ value }: ObjectNode): string | null {
  const { signal_id: id, current, standard_ruler, lit } = value;
  const isOwn = standard_ruler !== undefined || lit !== undefined;
  return typeof id === 'string' && isObject(current) && isOwn ? id : null;
}

function readingChecks({ path, value }: ObjectNode, signal: Signal): BodyCheck[] {
  const current = value.current as JsonObject;
  const { standard_ruler: shown } = value;
  return [
    ...rangeChecks(path, current, signal),
    ...classChecks(memberPath(path, 'current.band'), current.band, signal),
    ...classChecks(memberPath(path, 'band'), value.band, signal),
    ...(isObject(shown) ? [rulerCheck({ path, value }, shown, signal)] : []),
  ];
}

function rangeChecks(path: string, current: JsonObject, { metrics, range }: Signal): BodyCheck[] {
  const [main] = metrics;
  const value = current[main];
  if (range === undefined || typeof value !== 'number') return [];
  const { from, to = Number.POSITIVE_INFINITY } = range;
  const at = checkAt('catalog', memberPath(path, `current.${main}`));
  return value >= from && value <= to
    ? [at.pass('in the range of the signal')]
    : [at.fail(`${value} is outside the range of the signal, ${from} to ${to}`)];
}

/** A class is one that the signal has; whatever is below the lowest of an entity's own thresholds has a name of its own. */
function classChecks(where: string, band: JsonValue | undefined, signal: Signal): BodyCheck[] {
  const { bands, ownThresholds = [] } = signal;
  if (typeof band !== 'string' || bands === undefined) return [];
  const known = [...bands, ...ownThresholds, ...ownThresholds.map((name) => `below-${name}`)];
  const at = checkAt('catalog', where);
  return known.includes(band)
    ? [at.pass('a class of the signal')]
    : [at.fail(`"${band}" is no class of the signal`)];
}

/** Class, thresholds and distances follow from the value and the scale that the record names. */
function rulerCheck({ path, value }: ObjectNode, shown: JsonObject, signal: Signal): BodyCheck {
  const where = memberPath(path, 'standard_ruler');
  const named = rulersNamed(shown, signal);
  const current = value.current as JsonObject;
  const faults = named.map((ruler) => rulerFault(shown, { ruler, current }));
  const [fault] = faults;
  if (fault === undefined) {
    const name = JSON.stringify(shown.provenance);
    return checkAt('catalog', where).notApplicable(`no scale ${name} is in the catalogue`);
  }
  return fault === null || faults.includes(null)
    ? checkAt('catalog', where).pass('follows from the value and the official scale')
    : checkAt('catalog', memberPath(where, fault)).fail(
        'does not follow from the value and the official scale of this name',
      );
}

/** The first member that is not what follows from a value on a scale; null where all are. */
function rulerFault(
  shown: JsonObject,
  { ruler, current }: { readonly ruler: Ruler; readonly current: JsonObject },
): string | null {
  const position = positionOn(ruler, { current });
  if (position === null) return 'band';
  const right = standingOn(ruler, position) as unknown as JsonObject;
  const names = Object.keys({ ...right, ...shown });
  return names.find((name) => !isSame(shown[name], right[name])) ?? null;
}

/** The official scales that a record means by the text it shows; thresholds of its own stand in the record. */
function rulersNamed(
  { provenance, thresholds }: JsonObject,
  { rulers = [], ownThresholds, metrics }: Signal,
): readonly Ruler[] {
  if (ownThresholds === undefined) {
    const all = rulers.flatMap((ruler) => [ruler, ruler.beside ?? []].flat());
    return all.filter((ruler) => `${ruler.scale}; ${ruler.provenance}` === provenance);
  }
  const steps = rowsOf(thresholds).flatMap(({ band, at }) =>
    typeof band === 'string' && typeof at === 'number' ? [{ band, at }] : [],
  );
  const own = ownScale(metrics[0], steps);
  const [scale = '', ...rest] = String(provenance).split('; ');
  return own === null ? [] : [{ ...own, scale, provenance: rest.join('; ') }];
}
