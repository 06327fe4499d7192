import type { Signal } from '../products/shapes/line.ts';
import type { Reading } from './reading.ts';
import type { SeasonPast } from './season.ts';
import type { Segment, SeriesPast, SourcedRow } from './series-segments.ts';
import type { HashOf, HeldHash, Instant } from './timeline.ts';

/**
 * What a compile must know of an entity's past. Its size does not grow with age, so that a later compile settles new lines
 * upon it and reads no old one. The newest observations are kept whole, because they are revised most. All older ones are
 * firm: a line about one of these, or about a time before, is settled upon the rows of the entity's series. Where those
 * do not tell enough, the entity goes back to its own lines.
 */
export interface EntityPast {
  readonly entity: string;
  /** Newest batch that names the entity. */
  readonly batch: string;
  /** When the source was last looked at for it, also without anything new. */
  readonly looked_at: string;
  /** Lines so far. */
  readonly lines: number;
  readonly revisions: number;
  readonly repeats: number;
  /** The newest observations, and those of the last rows of the series, which are others after a revision; oldest first. */
  readonly tail: readonly Instant[];
  /** The other facts that were said of firm observations, by their time, newest first; all those since a time. */
  readonly replaced: readonly Replaced[];
  /** In milliseconds; null for all of them. */
  readonly replaced_since: number | null;
  /** Firm observations that the newest batch repeated, by their time: the digest of what is said of each. */
  readonly again: Readonly<Record<string, string>>;
  /** The newest firm reading with a value. */
  readonly fact: Reading | null;
  /** Of the firm readings. */
  readonly series: SeriesPast;
  /** Null for a signal without seasons. */
  readonly season: SeasonPast | null;
}

export type Replaced = readonly [time: number, others: readonly HeldHash[]];

/** What growing needs beside the lines. */
export interface Ground {
  readonly signal: Signal;
  /** Names of the batches, as the lines number them. */
  readonly batches: readonly string[];
  /** Days that a series delivers, back from its newest snapshot. */
  readonly seriesDays: number;
  readonly hashOf: HashOf;
  readonly rowOf: (reading: Reading, record_hash: string) => SourcedRow;
  readonly readSegment: (entity: string, segment: Segment) => Buffer;
}
