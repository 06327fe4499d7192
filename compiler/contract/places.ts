import type { Catalog } from './catalog/catalog.ts';
import type { NamedEntity, SignalEntry } from './catalog/line.ts';

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

/** What the names and positions of bodies follow from, as plain data; a name alone is a text. */
export function placeTables({ namedByLine }: Catalog): {
  readonly [line: string]: Readonly<Record<string, unknown>>;
} {
  const tables = [...namedByLine].map(([line, named]) => {
    const rows = Object.entries(named).map(([entity, known]) => {
      return [entity, known.latitude === undefined ? known.name : known];
    });
    return [line, Object.fromEntries(rows)] as const;
  });
  return Object.fromEntries(tables.filter(([, rows]) => Object.keys(rows).length > 0));
}

/** An id may be any text, also the name of something that every object has. */
function knownEntity({ named }: NamingEntry, entity: string): NamedEntity | undefined {
  return Object.hasOwn(named, entity) ? named[entity] : undefined;
}
