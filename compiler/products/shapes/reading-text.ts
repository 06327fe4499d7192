import type { Statement } from '../../format/citation.ts';
import type { NamedEntity, Signal, SignalEntry } from './line.ts';

/** What is said of a reading in words. */
export interface Worded {
  readonly entity: string;
  readonly entity_name?: string | null | undefined;
  readonly observed_at: string;
  readonly current: Readonly<Record<string, unknown>>;
  readonly collected_at: string;
}

/** Stands for a main metric that a source left out. */
export const NO_VALUE = 'no value';

/** The main metric as people write it: `13.6 ft`. */
export function valueText(signal: Signal, { current }: Pick<Worded, 'current'>): string {
  const [metric] = signal.metrics;
  const value = current[metric];
  const label = signal.unitOf[metric]?.label ?? '';
  if (value === null || value === undefined) return NO_VALUE;
  return label === '' ? String(value) : `${String(value)} ${label}`;
}

/** What people call the entity of a reading. */
export function nameOf({ entity, entity_name }: Pick<Worded, 'entity' | 'entity_name'>): string {
  return entity_name ?? entity;
}

/** A reading with the name that the catalogue gives its entity, where its source gives none. */
export function named<Body extends Pick<Worded, 'entity' | 'entity_name'>>(
  entry: SignalEntry,
  reading: Body,
): Body {
  if (reading.entity_name != null) return reading;
  const entity_name = knownName(entry, reading.entity);
  return entity_name === null ? reading : { ...reading, entity_name };
}

/** What the citation of a body about one reading says; `more` is in the middle of its query. */
export function readingStatement(
  signal: Signal,
  reading: Worded,
  { path, more = '' }: { readonly path: string; readonly more?: string },
): Statement {
  const { entity, observed_at, collected_at } = reading;
  return {
    claim: `${signal.measures} at ${nameOf(reading)}`,
    fact: `${signal.id} of ${entity} read ${valueText(signal, reading)} at ${observed_at}`,
    target: `${path}?entity=${encodeURIComponent(entity)}${more}&signal_id=${signal.id}`,
    observed_at,
    retrieved_at: collected_at,
  };
}

type NamingEntry = Pick<SignalEntry, 'named'>;

/** What people call an entity of a signal; null where the catalogue does not know it. */
export function knownName(entry: NamingEntry, entity: string): string | null {
  return knownEntity(entry, entity)?.name ?? null;
}

/** The members of a body that say where its entity is; both or none. */
interface BodyPosition {
  readonly latitude?: number | undefined;
  readonly longitude?: number | undefined;
}

/** Where an entity of a signal is; without members where the catalogue does not know it. */
export function positionOf(entry: NamingEntry, entity: string): BodyPosition {
  return positionIn(knownEntity(entry, entity) ?? {});
}

/** The position alone, from a body that may have none. */
export function positionIn({ latitude, longitude }: BodyPosition): BodyPosition {
  return latitude === undefined || longitude === undefined ? {} : { latitude, longitude };
}

/** An id may be any text, also the name of something that every object has. */
function knownEntity({ named }: NamingEntry, entity: string): NamedEntity | undefined {
  return Object.hasOwn(named, entity) ? named[entity] : undefined;
}
