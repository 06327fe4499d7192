import type { Signal } from '../../compiler/contract/catalog/line.ts';
import { DAY_MS } from '../../compiler/contract/iso-time.ts';
import type { Ruler } from '../../compiler/contract/rulers.ts';
import {
  inRange,
  type MetricValue,
  type MetricValues,
  type Recipe,
  type Situation,
} from './sample-recipe.ts';
import { floodHeights, RECIPES } from './sample-signals.ts';

/** Days between two points that a series moves between. */
const KNOT_DAYS = 6;
const UNIT = 2 ** 32;

/** A stable number from 0 to 1 for a text: FNV-1a, then mixed; integers only, so every machine agrees. */
export function fixedNumber(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / UNIT;
}

/** How bad things are at one time, 0 to 1: a level of the entity, a slow swing and a little noise. */
function severityOf(series: string, observedAt: string): number {
  const day = Date.parse(observedAt) / DAY_MS;
  const knot = Math.floor(day / KNOT_DAYS);
  const share = day / KNOT_DAYS - knot;
  const before = fixedNumber(`${series}#${knot}`);
  const after = fixedNumber(`${series}#${knot + 1}`);
  const swing = before + (after - before) * share;
  const noise = fixedNumber(`${series}@${observedAt}`);
  return 0.4 * fixedNumber(series) + 0.5 * swing + 0.1 * noise;
}

/** Which reading to generate; how bad things are follows from the time unless it is given. */
interface SampleMoment {
  readonly entity: string;
  readonly time: string;
  readonly severity?: number;
}

/** The generated values of one reading, main metric first and its band after it. */
export function sampleValues(
  signal: Signal,
  { entity, time, severity }: SampleMoment,
): MetricValues {
  const recipe = RECIPES[signal.id];
  if (recipe === undefined) {
    throw new RangeError(`Cannot generate "${signal.id}": no recipe; add one to RECIPES`);
  }
  const series = `${recipe.group ?? signal.id}/${entity}`;
  const situation: Situation = {
    severity: severity ?? severityOf(series, time),
    entity,
    fixed: (name) => fixedNumber(`${series}:${name}`),
  };
  const values = recipe.make?.(situation) ?? rangeValues(recipe, situation.severity);
  return withBand(values, bandFor(signal, values, { recipe, situation, observedAt: time }));
}

function rangeValues(recipe: Recipe, severity: number): MetricValues {
  const pairs = Object.entries(recipe.ranges ?? {}).map(([metric, range]) => {
    // bands of our own are rare at the far end: most days are mild
    const value = inRange(range, recipe.bandAt === undefined ? severity : severity * severity);
    return [metric, recipe.signed === true ? value : Math.max(0, value)] as const;
  });
  return Object.fromEntries(pairs);
}

interface BandBasis {
  readonly recipe: Recipe;
  readonly situation: Situation;
  readonly observedAt: string;
}

function bandFor(signal: Signal, values: MetricValues, basis: BandBasis): string | undefined {
  const { recipe, situation, observedAt } = basis;
  const main = values[signal.metrics[0]];
  if (signal.bands === undefined || values.band !== undefined || typeof main !== 'number') {
    return undefined;
  }
  const ruler = rulerAt(signal.rulers ?? [], observedAt);
  // A recipe with edges of its own also makes readings that are off the scale.
  if (ruler !== undefined && recipe.bandAt === undefined) return rulerBand(ruler, main);
  return signal.bands[ownStep(signal, main, { recipe, situation })];
}

function ownStep(signal: Signal, main: number, basis: Omit<BandBasis, 'observedAt'>): number {
  if (signal.ownThresholds !== undefined) {
    const heights = Object.entries(floodHeights(basis.situation.fixed));
    const [reached = ''] = heights.findLast(([, height]) => main >= height) ?? [];
    return Math.max(0, signal.bands?.indexOf(reached) ?? 0);
  }
  const [mild, worst] = basis.recipe.ranges?.[signal.metrics[0]] ?? [0, 1];
  const edges = basis.recipe.bandAt ?? [];
  return edges.filter((edge) => (worst > mild ? main >= edge : main <= edge)).length;
}

function rulerAt(rulers: readonly Ruler[], observedAt: string): Ruler | undefined {
  return rulers.findLast((ruler) => ruler.since === undefined || observedAt >= ruler.since);
}

function rulerBand(ruler: Ruler, value: number): string | undefined {
  const sign = ruler.direction === 'up' ? 1 : -1;
  const passed = ruler.steps.findLast((step) => {
    const beyond = (value - step.at) * sign;
    return ruler.edge === 'worse' ? beyond >= 0 : beyond > 0;
  });
  return (passed ?? ruler.steps[0])?.band;
}

function withBand(values: MetricValues, band: string | undefined): MetricValues {
  if (band === undefined) return values;
  const [main, ...others] = Object.entries(values);
  const entries: (readonly [string, MetricValue])[] = [...(main ? [main] : []), ['band', band]];
  return Object.fromEntries([...entries, ...others]);
}

/** The official heights that a reading carries, where its signal has thresholds of its own. */
export function sampleThresholds(signal: Signal, entity: string): Record<string, number> | null {
  if (signal.ownThresholds === undefined) return null;
  const series = `${RECIPES[signal.id]?.group ?? signal.id}/${entity}`;
  return floodHeights((name) => fixedNumber(`${series}:${name}`));
}
