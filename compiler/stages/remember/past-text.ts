import type { Reading } from '../intake/reading.ts';
import type { Batched, Instant } from '../intake/timeline.ts';
import type { EntityPast } from './entity-past.ts';

/** What the release says of an entity, so that the next one can take it back. */
export interface Published {
  /** Its files, see formatSaid. */
  readonly said: string;
  /** Of the latest reading. */
  readonly record_hash: string;
  readonly observed_at: string;
}

/** An entity as one compile leaves it to the next. */
export interface KnownEntity {
  readonly past: EntityPast;
  readonly published: Published;
}

/** A reading as what differs from another one: members to set, and those to leave out. */
type Difference = readonly [set: Partial<Reading>, cut: readonly string[]];

type StoredInstant = Omit<Instant, 'kept' | 'said'> & {
  readonly kept: readonly [Difference, batch: string];
  readonly said: readonly [Difference, batch: string] | null;
};

/** JSON of an entity. Readings repeat most of what the newest one says, so that only differences are written. */
export function formatKnown({ past, published }: KnownEntity): string {
  const base = past.tail.at(-1)?.kept.reading ?? null;
  const tail = past.tail.map((instant) => storedInstant(instant, base));
  return JSON.stringify({ past: { ...past, tail }, base, published });
}

/** The inverse of formatKnown. */
export function parseKnown(text: string): KnownEntity {
  const { past, base, published } = JSON.parse(text) as {
    past: Omit<EntityPast, 'tail'> & { tail: StoredInstant[] };
    base: Reading | null;
    published: Published;
  };
  return { past: { ...past, tail: past.tail.map((stored) => instantOf(stored, base)) }, published };
}

function storedInstant({ kept, said, ...rest }: Instant, base: Reading | null): StoredInstant {
  return {
    ...rest,
    kept: [difference(kept.reading, base), kept.batch],
    said: said === null ? null : [difference(said.reading, kept.reading), said.batch],
  };
}

function instantOf(
  { kept: [first, keptBatch], said, ...rest }: StoredInstant,
  base: Reading | null,
): Instant {
  const kept: Batched = { reading: applied(first, base), batch: keptBatch };
  if (said === null) return { ...rest, kept, said };
  const [newest, batch] = said;
  return { ...rest, kept, said: { reading: applied(newest, kept.reading), batch } };
}

function difference(reading: Reading, base: Reading | null): Difference {
  const same = new Map(
    Object.entries(base ?? {}).map(([name, value]) => [name, JSON.stringify(value)]),
  );
  const set = Object.entries(reading).filter(
    ([name, value]) => JSON.stringify(value) !== same.get(name),
  );
  const cut = [...same.keys()].filter((name) => !(name in reading));
  return [Object.fromEntries(set), cut];
}

function applied([set, cut]: Difference, base: Reading | null): Reading {
  const rest = Object.entries(base ?? {}).filter(([name]) => !cut.includes(name));
  return { ...Object.fromEntries(rest), ...set } as Reading;
}
