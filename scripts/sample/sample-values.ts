import { DAY_MS, isoTime } from '../../compiler/format/iso-time.ts';
import { textHash } from '../../compiler/format/text-hash.ts';
import type { Line, Signal } from '../../compiler/products/shapes/line.ts';
import {
  floodHeights,
  inRange,
  type MetricValue,
  type MetricValues,
  RECIPES,
  type Recipe,
  type SampleSubject,
  type Situation,
} from './sample-signals.ts';
import { monthCollectedAt } from './sample-times.ts';

/** Days between two points that a series moves between. */
const KNOT_DAYS = 6;
const UNIT = 2 ** 32;

/** A stable number from 0 to 1 for a text: FNV-1a, then mixed; integers only, so every machine agrees. */
export function fixedNumber(text: string): number {
  let hash = textHash(text);
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

/** The generated values of one reading, main metric first and its band after it. */
export function sampleValues(
  signal: Signal,
  { entity, time, severity }: { entity: string; time: string; severity?: number },
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
  const band = bandFor(signal, values, { recipe, situation, observedAt: time });
  if (band === undefined) return values;
  const [main, ...others] = Object.entries(values);
  const entries: (readonly [string, MetricValue])[] = [...(main ? [main] : []), ['band', band]];
  return Object.fromEntries([...entries, ...others]);
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
  const ruler = (signal.rulers ?? []).findLast(
    (ruler) => ruler.since === undefined || observedAt >= ruler.since,
  );
  // A recipe with edges of its own also makes readings that are off the scale.
  if (ruler !== undefined && recipe.bandAt === undefined) {
    const sign = ruler.direction === 'up' ? 1 : -1;
    const passed = ruler.steps.findLast((step) => {
      const beyond = (main - step.at) * sign;
      return ruler.edge === 'worse' ? beyond >= 0 : beyond > 0;
    });
    return (passed ?? ruler.steps[0])?.band;
  }
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

/** The official heights that a reading carries, where its signal has thresholds of its own. */
export function sampleThresholds(signal: Signal, entity: string): Record<string, number> | null {
  if (signal.ownThresholds === undefined) return null;
  const series = `${RECIPES[signal.id]?.group ?? signal.id}/${entity}`;
  return floodHeights((name) => fixedNumber(`${series}:${name}`));
}

const NOTE = 'generated sample; says nothing about a real subject';

/** Where a generated life goes: the days on which it begins, falters and ends. */
interface Life {
  readonly birthAt: string;
  readonly riskAt?: string;
  readonly endAt?: string;
  readonly endState?: 'ended' | 'dead';
  readonly deathType?: string;
}

/** Ids of the table that exist in the world keep their public dates; one of them falters since this many days, generated. */
const PUBLIC_LIVES: Readonly<Record<string, Life & { readonly atRiskDays?: number }>> = {
  'kyoto-protocol': {
    birthAt: '2005-02-16T00:00:00Z',
    endAt: '2020-12-31T00:00:00Z',
    endState: 'ended',
    deathType: 'expired',
  },
  'eu-ets': { birthAt: '2005-01-01T00:00:00Z' },
  'us-inflation-reduction-act': {
    birthAt: '2022-08-16T00:00:00Z',
    atRiskDays: 26,
  },
  'au-carbon-pricing': {
    birthAt: '2012-07-01T00:00:00Z',
    endAt: '2014-07-01T00:00:00Z',
    endState: 'dead',
    deathType: 'rescinded',
  },
};

/**
 * The first subject of a line falters, the second ends: lately on some lines, long ago on others. The third goes on. Turns
 * are counted back from the middle of a month, so that lives are the same all month.
 */
function lifeOf(row: Line, { entity, hour }: SampleSubject): Life {
  const turn = `${monthCollectedAt(hour).slice(0, 10)}T00:00:00Z`;
  const known = PUBLIC_LIVES[entity];
  if (known?.atRiskDays !== undefined)
    return { ...known, riskAt: daysBefore(turn, known.atRiskDays) };
  if (known !== undefined) return known;
  const birthAt = daysBefore('2023-06-01T00:00:00Z', Math.floor(fixedNumber(entity) * 1500));
  const day = Math.floor(fixedNumber(`${entity}:turn`) * 20);
  const place = row.entities.indexOf(entity);
  if (place > 1) return { birthAt };
  if (place === 0) return { birthAt, riskAt: daysBefore(turn, 5 + day) };
  const lately = fixedNumber(`${row.id}:lately`) < 0.5;
  const endAt = daysBefore(lately ? turn : '2025-03-15T00:00:00Z', day);
  return {
    birthAt,
    riskAt: daysBefore(endAt, 30),
    endAt,
    endState: lately ? 'dead' : 'ended',
    deathType: row.states?.[4] ?? 'ceased',
  };
}

function daysBefore(at: string, days: number): string {
  return isoTime(Date.parse(at) - days * DAY_MS);
}

function stateAt(life: Life, observedAt: string): string {
  if (life.endAt !== undefined && observedAt >= life.endAt) return life.endState ?? 'ended';
  return life.riskAt !== undefined && observedAt >= life.riskAt ? 'at_risk' : 'operating';
}

/** What a life-cycle line says of one of its subjects at one time. */
export function lifecycleReading(row: Line, signal: Signal, at: SampleSubject) {
  const life = lifeOf(row, at);
  if (signal.id === `${row.id}.lifecycle`) {
    // Known as of one time: `current`, and the life cycle itself.
    const state = stateAt(life, at.time);
    const over = life.endAt !== undefined && at.time >= life.endAt;
    const until = over ? (life.endAt ?? at.time) : at.time;
    const ageDays = Math.floor((Date.parse(until) - Date.parse(life.birthAt)) / DAY_MS);
    return {
      current: { state, age_days: ageDays },
      lifecycle: {
        state,
        birth_at: life.birthAt,
        end_at: over ? until : null,
        death_type: over ? (life.deathType ?? null) : null,
        context: state === 'operating' ? null : { note: NOTE },
      },
    };
  }
  if (signal.id === `${row.id}.industry-timeline`) return { current: yearOf(row, at.time) };
  const series = `${signal.id}/${at.entity}`;
  const [least, most] = SEVERITY[stateAt(life, at.time)] ?? OVER;
  const place = 0.8 * fixedNumber(series) + 0.2 * fixedNumber(`${series}@${at.time}`);
  const severity = least + (most - least) * place;
  return { current: sampleValues(signal, { ...at, severity }) };
}

/** From how bad to how bad it looks in a state: who falters shows it in the legs, who is over shows the worst. */
const SEVERITY: Readonly<Record<string, readonly [number, number]>> = {
  operating: [0.02, 0.4],
  at_risk: [0.5, 0.8],
};
const OVER = [0.86, 1] as const;

/** Ends and births of a year are facts of the whole line: the same for each of its subjects. */
function yearOf(row: Line, time: string) {
  const count = (what: string, most: number) =>
    Math.floor(fixedNumber(`${row.id}:${what}/${time.slice(0, 7)}`) * most);
  return { ends_365d_count: 1 + count('ends', 6), births_365d_count: 2 + count('births', 14) };
}
