import type { Signal } from '../../contract/catalog/line.ts';
import { roundDecimal, subtractDecimal } from '../../contract/decimal.ts';
import type { StandardRuler } from '../../contract/record.ts';
import { CLASS, type Ruler, type RulerStep } from '../../contract/rulers.ts';
import { metricUnit } from '../../contract/units.ts';
import type { Reading } from '../intake/reading.ts';

/** The official ruler that holds for a reading on its own day, or null when no agency has one. */
export function rulerFor(signal: Signal, reading: Reading): Ruler | null {
  if (signal.ownThresholds !== undefined) return ownRuler(signal, reading);
  const ruler = officialRuler(signal, reading);
  return ruler === null || isOffScale(ruler, reading) ? null : decisive(ruler, reading);
}

/** A class that the agency does not have, such as one of ours, stands nowhere on its scale. */
function isOffScale({ steps }: Ruler, { current: { band } }: Reading): boolean {
  return typeof band === 'string' && !steps.some((step) => step.band === band);
}

/** Of two scales the one with the worse class, the first one if both agree; null if the second metric is unknown. */
function decisive(ruler: Ruler, reading: Reading): Ruler | null {
  const { beside } = ruler;
  if (beside === undefined) return ruler;
  if (reading.current[beside.metric] === undefined) return null;
  const [own, other] = [positionOn(ruler, reading), positionOn(beside, reading)];
  if (own === null || other === null) return ruler;
  return placeOf(beside, other) > placeOf(ruler, own) ? beside : ruler;
}

/** Where a reading stands on a scale: its number, or that of the class it names; null for neither. */
export function positionOn({ metric, steps }: Ruler, { current }: Pick<Reading, 'current'>) {
  const value = current[metric];
  if (typeof value === 'number') return value;
  return metric === CLASS ? (steps.find(({ band }) => band === value)?.at ?? null) : null;
}

function placeOf(ruler: Ruler, value: number): number {
  return ruler.steps.indexOf(classify(ruler, value));
}

/** The ruler of the table that holds on the day of a reading. */
export function officialRuler(
  signal: Signal,
  { observed_at }: Pick<Reading, 'observed_at'>,
): Ruler | null {
  const day = observed_at.slice(0, 10);
  return signal.rulers?.findLast((ruler) => (ruler.since ?? '') <= day) ?? null;
}

/**
 * Whether an agency stands behind the classes of a reading: an entity's own thresholds belong to the agency that the
 * reading names, or to none if it names none.
 */
export function isOfficial(signal: Signal, { thresholds_agency }: Reading): boolean {
  return signal.ownThresholds === undefined || thresholds_agency != null;
}

/** A ruler from the thresholds that the snapshot carries, such as the flood stages of a gauge. */
function ownRuler(signal: Signal, reading: Reading): Ruler | null {
  const given = reading.thresholds;
  if (given === undefined) return null;
  const steps = (signal.ownThresholds ?? []).flatMap((band) => {
    const at = given[band];
    return at === undefined ? [] : [{ band, at }];
  });
  const actionBand = steps[0]?.band;
  if (actionBand === undefined) return null;
  const [metric] = signal.metrics;
  return {
    scale: `thresholds of ${reading.entity_name ?? reading.entity}`,
    metric,
    unit: metricUnit(metric).label,
    direction: 'up',
    edge: 'worse',
    actionBand,
    steps: [{ band: `below-${actionBand}`, at: Number.NEGATIVE_INFINITY }, ...steps],
    provenance: isOfficial(signal, reading)
      ? `${reading.thresholds_agency}, as stored with the reading`
      : 'as stored with the reading, which names no agency',
  };
}

/** The class a value falls into; an edge belongs to the side that the ruler names. */
export function classify(ruler: Ruler, value: number): RulerStep {
  const worse = ruler.direction === 'up' ? 1 : -1;
  // Doubles are in the order of the decimals they stand for, so nothing need be subtracted.
  const reached = ({ at, edge = ruler.edge }: RulerStep): boolean =>
    edge === 'worse' ? worse * value >= worse * at : worse * value > worse * at;
  const [mildest, ...others] = ruler.steps;
  if (mildest === undefined) throw new RangeError(`Cannot classify by "${ruler.scale}": no steps`);
  return others.findLast(reached) ?? mildest;
}

/** Official class of a reading, else the band that its publisher gave, else null. */
export function bandOf(signal: Signal, reading: Reading): string | null {
  const ruler = rulerFor(signal, reading);
  const value = ruler === null ? null : positionOn(ruler, reading);
  if (ruler !== null && value !== null) return classify(ruler, value).band;
  const { band } = reading.current;
  return typeof band === 'string' ? band : null;
}

/** The position of a reading on its official ruler, or null without a ruler or a place on it. */
export function standardRuler(signal: Signal, reading: Reading): StandardRuler | null {
  const ruler = rulerFor(signal, reading);
  const value = ruler === null ? null : positionOn(ruler, reading);
  if (ruler === null || value === null) return null;
  const step = classify(ruler, value);
  const action = ruler.steps.find((item) => item.band === ruler.actionBand)?.at ?? null;
  return {
    band: step.band,
    official_category: step.band.replaceAll(/[-_]/g, ' '),
    thresholds: ruler.steps
      .filter(({ at }) => Number.isFinite(at))
      .map(({ band, at }) => ({ band, at })),
    distance_to_action: action === null ? null : distanceToAction(ruler, value, action),
    pct_to_action: action === null ? null : pctToAction(ruler, value, action),
    normalized_index: normalizedIndex(ruler, value),
    unit: ruler.unit,
    provenance: `${ruler.scale}; ${ruler.provenance}`,
  };
}

/** Room left before the action class, in the ruler's unit; negative when it is passed. */
function distanceToAction(ruler: Ruler, value: number, action: number): number {
  return ruler.direction === 'up' ? subtractDecimal(action, value) : subtractDecimal(value, action);
}

/** Share of the action threshold in percent: 100 is the threshold itself, more is beyond; null of numbers of classes. */
function pctToAction(ruler: Ruler, value: number, action: number): number | null {
  if (ruler.metric === CLASS) return null;
  const [part, whole] = ruler.direction === 'up' ? [value, action] : [action, value];
  return whole <= 0 ? null : roundDecimal((part / whole) * 100, 1);
}

/**
 * 0 to 100 over the classes, each class an equal share, linear inside a class; the last class is
 * as wide as the one before it. The same number means the same official position at any station.
 */
function normalizedIndex(ruler: Ruler, value: number): number {
  const sign = ruler.direction === 'up' ? 1 : -1;
  const index = placeOf(ruler, value);
  const edge = (at: number): number => sign * (ruler.steps[at]?.at ?? Number.NaN);
  const last = index === ruler.steps.length - 1;
  const low = Number.isFinite(edge(index)) ? edge(index) : Math.min(0, sign * value);
  const width = last ? edge(index) - edge(index - 1) : edge(index + 1) - low;
  const inside = width > 0 ? Math.min(1, Math.max(0, (sign * value - low) / width)) : 0;
  return roundDecimal(((index + inside) / ruler.steps.length) * 100, 1);
}
