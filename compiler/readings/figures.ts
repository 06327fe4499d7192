import { roundDecimal } from '../format/decimal.ts';
import { ageHours } from '../products/shapes/freshness.ts';
import type { Signal } from '../products/shapes/line.ts';
import type { RecordSource, StandardRuler } from '../products/shapes/record.ts';
import {
  classIndex,
  classify,
  ownScale,
  positionOn,
  type Ruler,
  standingOn,
} from '../products/shapes/rulers.ts';
import { GRADE, SCOPE } from '../products/shapes/words.ts';
import type { Reading } from './reading.ts';

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
  return classIndex(beside, other) > classIndex(ruler, own) ? beside : ruler;
}

/** The ruler of the table that holds on the day of a reading. */
export function officialRuler(
  signal: Signal,
  { observed_at }: Pick<Reading, 'observed_at'>,
): Ruler | null {
  const day = observed_at.slice(0, 10);
  return signal.rulers?.findLast((ruler) => (ruler.since ?? '') <= day) ?? null;
}

/** Whether an agency stands for the classes of a reading: an entity's own thresholds are of the agency that it names, if any. */
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
  const [metric] = signal.metrics;
  const own = ownScale({ metric, unit: signal.unitOf[metric]?.label ?? '' }, steps);
  if (own === null) return null;
  return {
    ...own,
    scale: `thresholds of ${reading.entity_name ?? reading.entity}`,
    provenance: isOfficial(signal, reading)
      ? `${reading.thresholds_agency}, as stored with the reading`
      : 'as stored with the reading, which names no agency',
  };
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
  return ruler === null || value === null ? null : standingOn(ruler, value);
}

/**
 * Coefficient of variation (standard deviation over mean) of sources that are confirmed
 * independent and measured the same fact at the same time; null with fewer than two of them.
 */
export function sourceAgreement(sources: readonly RecordSource[]): number | null {
  const independent = sources.filter(
    (source) => source.independent && source.relay_of === undefined,
  );
  const times = new Set(independent.map((source) => source.as_of));
  const values = independent.map((source) => source.value);
  const numbers = values.filter((value) => typeof value === 'number');
  const comparable = numbers.length === values.length && times.size === 1 && !times.has(undefined);
  if (numbers.length < 2 || !comparable) return null;
  const mean = numbers.reduce((sum, value) => sum + value, 0) / numbers.length;
  if (mean === 0) return null;
  const variance = numbers.reduce((sum, value) => sum + (value - mean) ** 2, 0) / numbers.length;
  return roundDecimal(Math.sqrt(variance) / Math.abs(mean), 4);
}

/** Who measured: the sources, or whom they relay. */
export function measurers({ sources }: Pick<Reading, 'sources'>): string {
  return [...new Set(sources.map((source) => source.relay_of ?? source.name))].join(', ');
}

type Disclosed = Partial<Record<'grade' | 'scope', string | null | undefined>>;

/** Grade and scope as stored, or the service's own. */
export function disclosures({ grade, scope }: Disclosed) {
  return { grade: grade ?? GRADE, scope: scope ?? SCOPE };
}

/** UTC day of the collection, at midnight; intake takes no time but UTC. */
export function snapshotDate(reading: Reading): string {
  return `${reading.collected_at.slice(0, 10)}T00:00:00Z`;
}

/** Age at collection in hours, one decimal: frozen, for reference only. */
export function dataAgeHours(reading: Reading): number {
  return hoursBetween(reading.observed_at, reading.collected_at);
}

/** Hours from one ISO time to a later one, one decimal, never below 0. */
export function hoursBetween(from: string, to: string): number {
  return ageHours(from, Date.parse(to));
}
