import { DAY_MS, isoTime } from '../../format/iso-time.ts';
import type { Reading } from '../../readings/reading.ts';
import type { Payload } from './payload.ts';
import { type Origin, statedReading } from './readings.ts';

// What registers of subjects that begin and end have in common: the readings of life-cycle lines.

/** A subject of a life-cycle line, as its register states it. Instants are epoch milliseconds. */
export interface Subject extends Pick<Reading, 'entity'>, Partial<Pick<Reading, 'entity_name'>> {
  /** A word of the states of its line. */
  readonly state: string;
  /** Null where the register does not say. */
  readonly birth: number | null;
  /** Null for one that has not ended, or where the register does not say when. */
  readonly end: number | null;
  readonly death_type?: string;
  readonly context?: NonNullable<Reading['lifecycle']>['context'];
}

/** Where, when and in which words a register speaks; `at` is in epoch milliseconds. */
export interface Statement {
  readonly origin: Origin;
  readonly payload: Payload;
  readonly at: number;
  readonly scope: string;
}

const YEAR_DAYS = 365;
/** States in which a subject still is: of one in another state whose end is not known, nobody knows how old it became. */
const GOING_ON: readonly string[] = ['operating', 'at_risk', 'suspended'];

/** The state of a subject, and its age in whole days: until its end, where it has one. */
export function stateReading(subject: Subject, statement: Statement): Reading {
  const { entity, entity_name, state, birth, end, death_type = null, context = null } = subject;
  const { origin, payload, at, scope } = statement;
  const until = end ?? (GOING_ON.includes(state) ? at : null);
  const age = birth === null || until === null ? null : Math.floor((until - birth) / DAY_MS);
  const stated = statedReading(origin, payload, {
    entity,
    ...(entity_name ? { entity_name } : {}),
    at,
    current: { state, age_days: age },
    scope,
  });
  const [birth_at, end_at] = [birth, end].map((time) => (time === null ? null : isoTime(time)));
  return {
    ...stated,
    lifecycle: { state, birth_at: birth_at ?? null, end_at: end_at ?? null, death_type, context },
  };
}

/** What is known of all subjects of a register; null among the instants for one that is not known. */
export interface Year {
  readonly entity: string;
  readonly ends: readonly (number | null)[];
  /** Absent where the register does not say when its subjects began. */
  readonly births?: readonly (number | null)[];
}

/** Ends and births of the 365 days up to `at`; a count is null where an instant that may lie in them is not known. */
export function yearReading(
  { entity, ends, births = [null] }: Year,
  { origin, payload, at, scope }: Statement,
): Reading {
  const since = at - YEAR_DAYS * DAY_MS;
  const [ended, born] = [ends, births].map((times) =>
    times.includes(null)
      ? null
      : times.filter((time) => time !== null && time > since && time <= at).length,
  );
  const current = { ends_365d_count: ended ?? null, births_365d_count: born ?? null };
  return statedReading(origin, payload, { entity, at, current, scope });
}
