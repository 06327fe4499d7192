import { percentDecimal, subtractDecimal } from '../../format/decimal.ts';

/** One official class: it begins at `at`, in the ruler's unit. */
export interface RulerStep {
  readonly band: string;
  readonly at: number;
  /** To which class the edge itself belongs, where it is not that of the ruler. */
  readonly edge?: Ruler['edge'];
  /** What people call the class. */
  readonly name?: string;
  /** The agency's own colour of it. */
  readonly colour?: string;
}

/**
 * A scale, official where it names agency and document. Steps go from the mildest class to the worst; with `direction: 'up'` a larger
 * value is worse. On an edge the value belongs to the class named by `edge`. A reading whose publisher gives it a class
 * that is not on the scale has no place there.
 */
export interface Ruler {
  readonly scale: string;
  /** The number that is classed, or `CLASS` where the agency publishes the class itself. */
  readonly metric: string;
  readonly unit: string;
  readonly direction: 'up' | 'down';
  readonly edge: 'worse' | 'milder';
  /** The class from which the agency advises action; null where it names none. */
  readonly actionBand: string | null;
  readonly steps: readonly RulerStep[];
  readonly provenance: string;
  readonly agency?: string;
  readonly document?: string;
  /** First day of validity, ISO date; readings before it use the ruler before this one. */
  readonly since?: string;
  /**
   * The same classes on a second metric, of which the worse holds: the record shows the scale that decides. Null says that
   * the second metric sets no class; without the member it was not looked at, and the reading has no class.
   */
  readonly beside?: Ruler;
}

/** A reading names its class in this member. Such a scale counts classes: `at` is a class's own number. */
export const CLASS = 'band';

// Where a value stands on an official scale: who compiles and who verifies work it out alike.

/** Where a reading stands on a scale: its number, or that of the class it names; null for neither. */
export function positionOn(
  { metric, steps }: Ruler,
  { current }: { readonly current: Readonly<Record<string, unknown>> },
) {
  const value = current[metric];
  if (typeof value === 'number') return value;
  return metric === CLASS ? (steps.find(({ band }) => band === value)?.at ?? null) : null;
}

/** The number of the class that a value falls into, 0 for the mildest. */
export function classIndex(ruler: Ruler, value: number): number {
  return ruler.steps.indexOf(classify(ruler, value));
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

/** All that a record says of a value on a scale. */
export function standingOn(ruler: Ruler, value: number) {
  const step = classify(ruler, value);
  const action = ruler.steps.find((item) => item.band === ruler.actionBand)?.at ?? null;
  const [from, to] = ruler.direction === 'up' ? [value, action] : [action, value];
  return {
    band: step.band,
    official_category: step.band.replaceAll(/[-_]/g, ' '),
    thresholds: ruler.steps
      .filter(({ at }) => Number.isFinite(at))
      .map(({ band, at }) => ({ band, at })),
    // Room left before the action class, in the ruler's unit; negative when it is passed.
    distance_to_action: from === null || to === null ? null : subtractDecimal(to, from),
    // Share of the action threshold in percent: 100 is the threshold itself, more is beyond; null of numbers of classes.
    pct_to_action:
      from === null || to === null || to <= 0 || ruler.metric === CLASS
        ? null
        : percentDecimal(from, to),
    normalized_index: normalizedIndex(ruler, value),
    unit: ruler.unit,
    provenance: `${ruler.scale}; ${ruler.provenance}`,
  };
}

/**
 * 0 to 100 over the classes, each class an equal share, linear inside a class; the last class is
 * as wide as the one before it. The same number means the same official position at any station.
 */
function normalizedIndex(ruler: Ruler, value: number): number {
  const sign = ruler.direction === 'up' ? 1 : -1;
  const index = classIndex(ruler, value);
  const edge = (at: number): number => sign * (ruler.steps[at]?.at ?? Number.NaN);
  const last = index === ruler.steps.length - 1;
  const low = Number.isFinite(edge(index)) ? edge(index) : Math.min(0, sign * value);
  const [from, to] = last ? [edge(index - 1), edge(index)] : [low, edge(index + 1)];
  const step = { index, count: ruler.steps.length };
  if (!Number.isFinite(from) || to <= from) return percentDecimal(0, 1, step);
  const width = subtractDecimal(to, from);
  const passed = subtractDecimal(sign * value, low);
  return percentDecimal(Math.min(width, Math.max(0, passed)), width, step);
}

/** The scale of an entity's own thresholds, lowest first; null without any. Who set them is for the reading to say. */
export function ownScale(
  { metric, unit }: Pick<Ruler, 'metric' | 'unit'>,
  steps: readonly RulerStep[],
): Omit<Ruler, 'scale' | 'provenance'> | null {
  const actionBand = steps[0]?.band;
  if (actionBand === undefined) return null;
  const mildest = { band: `below-${actionBand}`, at: Number.NEGATIVE_INFINITY };
  return { metric, unit, direction: 'up', edge: 'worse', actionBand, steps: [mildest, ...steps] };
}
