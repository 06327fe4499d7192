import { BUILTIN } from './catalog/builtin.ts';
import type { Place } from './catalog/line.ts';
import { lineOf } from './lines.ts';

const NONE: ReadonlyMap<string, Place> = new Map();

/** Places of the entities of a line, by entity; empty for a line without any. */
export function placesOf(lineId: string): ReadonlyMap<string, Place> {
  return BUILTIN.placesByLine.get(lineId) ?? NONE;
}

/** What people call an entity of a signal; null where the catalogue does not know it. */
export function knownName(signalId: string, entity: string): string | null {
  const line = lineOf(signalId)?.id ?? '';
  const place = placesOf(line).get(entity);
  return place?.name ?? BUILTIN.namesByLine.get(line)?.get(entity) ?? null;
}

/** The members of a body that say where its entity is; both or none. */
interface Position {
  readonly latitude?: number | undefined;
  readonly longitude?: number | undefined;
}

/** Where an entity of a signal is; without members where the catalogue does not know it. */
export function positionOf(signalId: string, entity: string): Position {
  return positionIn(placesOf(lineOf(signalId)?.id ?? '').get(entity) ?? {});
}

/** The position alone, from a body that may have none. */
export function positionIn({ latitude, longitude }: Position): Position {
  return latitude === undefined || longitude === undefined ? {} : { latitude, longitude };
}

/** What the names and positions of bodies follow from, as plain data. */
export function placeTables(): { readonly [line: string]: Readonly<Record<string, unknown>> } {
  const known = [...BUILTIN.namesByLine, ...BUILTIN.placesByLine];
  return Object.fromEntries(known.map(([line, rows]) => [line, Object.fromEntries(rows)]));
}
