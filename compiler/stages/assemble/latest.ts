import type { Reading } from '../intake/reading.ts';

/** The latest reading of an entity, as every body that joins entities reads it. */
export interface Latest {
  readonly reading: Reading;
  readonly record_hash: string;
  /** When the source was last looked at for this entity, also without anything new. */
  readonly looked_at: string;
}
