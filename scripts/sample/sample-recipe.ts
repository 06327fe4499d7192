export type MetricValue = number | string | null;
export type MetricValues = Record<string, MetricValue>;

/** From the mildest to the worst value, and the rounding: 10 keeps one decimal, 0.1 keeps tens. */
export type MetricSpan = readonly [mild: number, worst: number, scale: number];

/** What a recipe knows: how bad it is (0 to 1) and stable numbers from 0 to 1 by name. */
export interface Situation {
  readonly severity: number;
  readonly entity: string;
  readonly fixed: (name: string) => number;
}

/**
 * How to generate one signal: ranges by metric, or a function where metrics depend on each other; the range of its main
 * metric then says which way is worse, and without one a larger value is.
 */
export interface Recipe {
  readonly ranges?: Readonly<Record<string, MetricSpan>>;
  /** Negative values are real; otherwise what falls below 0 is 0. */
  readonly signed?: boolean;
  /** Where the bands of our own begin in the main metric, from the second band on. */
  readonly bandAt?: readonly number[];
  readonly make?: (situation: Situation) => MetricValues;
  /** Signals of one group share their severity, so that they tell one story. */
  readonly group?: string;
}

export function rounded(value: number, scale: number): number {
  return Math.round(value * scale) / scale;
}

export function inRange([mild, worst, scale]: MetricSpan, severity: number): number {
  return rounded(mild + (worst - mild) * severity, scale);
}

/** One generated reading, as a line of a snapshot has it. */
export interface SampleReading {
  readonly entity: string;
  readonly entity_name?: string;
  readonly observed_at: string;
  readonly collected_at: string;
  readonly current: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}
/** Whom a reading is about, when, and the hour at which the sample ends. */
export interface SampleSubject {
  readonly entity: string;
  readonly time: string;
  readonly hour: string;
}
/** Readings by signal and then by batch, as the exceptions edit them. */
export type SampleBatches = Map<string, SampleReading[]>;
