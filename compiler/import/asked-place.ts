import { BUILTIN } from '../contract/catalog/builtin.ts';
import { placesOf } from '../contract/catalog/catalog.ts';
import type { Place } from '../contract/catalog/line.ts';
import { ImportError, numberOf, type Payload } from './payload.ts';
import { isWanted } from './source.ts';

/** A place of ours that a payload speaks of. */
export interface AskedPlace {
  readonly line: string;
  readonly entity: string;
  readonly place: Place;
}

/** Degrees between what was asked and what answers: grids of models are finer, and areas of stations (ours). */
const APART_DEGREES_MAX = 1;

interface Coordinates {
  readonly latitude: number;
  readonly longitude: number;
}

/** Places of the closed lists of some lines. */
export function knownPlaces(lines: readonly string[]): AskedPlace[] {
  const wanted = BUILTIN.lines.filter(({ id }) => lines.includes(id));
  return wanted.flatMap(({ id, entities }) => {
    const places = placesOf(BUILTIN, id);
    return entities.flatMap((entity) => {
      const place = places.get(entity);
      return place === undefined ? [] : [{ line: id, entity, place }];
    });
  });
}

/** Those places of some lines that an operator wants; all of them where none is named. */
export function wantedPlaces(
  lines: readonly string[],
  entities: readonly string[],
): readonly AskedPlace[] {
  return knownPlaces(lines).filter(({ entity }) => isWanted({ entities }, entity));
}

/**
 * The places of ours whose coordinates the address asks for: a payload of a model names no entity, only its grid cell.
 * Throws an ImportError where the address names none of them, or where the payload speaks of somewhere else.
 */
export function askedPlaces(
  { note, subject }: Payload,
  answered: Coordinates | null,
  lines: readonly string[],
): readonly [AskedPlace, ...AskedPlace[]] {
  const query = new URL(note.url).searchParams;
  const [latitude, longitude] = [query.get('latitude') ?? '', query.get('longitude') ?? ''];
  const [asked, ...others] = knownPlaces(lines).filter(
    ({ place }) => place.latitude === numberOf(latitude) && place.longitude === numberOf(longitude),
  );
  if (asked === undefined) {
    const where = `latitude "${latitude}", longitude "${longitude}"`;
    const state = `its address asks for ${where}, which is no place of ${lines.join(', ')}; import it with a fetch note that holds the address as it was asked`;
    throw new ImportError({ subject, state });
  }
  if (answered !== null && !isNear(answered, asked.place)) {
    const state = `it speaks of latitude ${answered.latitude}, longitude ${answered.longitude}, far from ${asked.place.name}, which its address asks for; correct the fetch note`;
    throw new ImportError({ subject, state });
  }
  return [asked, ...others];
}

function isNear(a: Coordinates, b: Coordinates): boolean {
  const east = Math.abs(a.longitude - b.longitude);
  const apart = [a.latitude - b.latitude, Math.min(east, 360 - east)];
  return apart.every((degrees) => Math.abs(degrees) <= APART_DEGREES_MAX);
}

/** What the address of a payload asks for by name: the lists of some parameters of its query. */
export function namedIn({ note }: Payload, ...parameters: readonly string[]): string[] {
  const query = new URL(note.url).searchParams;
  return parameters.flatMap((name) => query.get(name)?.split(',').filter(Boolean) ?? []);
}

/** Throws an ImportError for a subject that is not one of `asked`; an address that names none asks for all. */
export function refuseUnasked(
  { subject }: Payload,
  asked: readonly string[],
  found: Iterable<string>,
): void {
  const foreign = [...found].find((id) => !asked.includes(id));
  if (asked.length === 0 || foreign === undefined) return;
  const state = `it holds "${foreign.slice(0, 40)}", which its address does not ask for; correct the fetch note`;
  throw new ImportError({ subject, state });
}
