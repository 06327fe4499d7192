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
