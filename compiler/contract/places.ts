/** Where an entity is, and what people call it. Nothing of it is hashed. */
export interface Place {
  readonly name: string;
  /** Degrees north and east; of an area a point inside it. */
  readonly latitude: number;
  readonly longitude: number;
  /** IANA time zone, where days are counted by it. */
  readonly zone?: string;
}

/** Cities of the environment line. */
const CITIES: Readonly<Record<string, Place>> = {
  'us-stlouis': {
    name: 'St. Louis, MO',
    latitude: 38.627,
    longitude: -90.1994,
    zone: 'America/Chicago',
  },
};

const PLACES: Readonly<Record<string, ReadonlyMap<string, Place>>> = {
  environment: new Map(Object.entries(CITIES)),
};

/** Places of the entities of a line, by entity; empty for a line without any. */
export function placesOf(lineId: string): ReadonlyMap<string, Place> {
  return Object.hasOwn(PLACES, lineId) ? (PLACES[lineId] ?? new Map()) : new Map();
}
