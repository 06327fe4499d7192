import {
  AGRI_PLACES,
  AIRPORT_PLACES,
  AUTHORITY_PLACES,
  BASIN_PLACES,
  CITY_GAUGES,
  CITY_LOCS,
  CITY_PLACES,
  CLASS_NAMES,
  CONVECTION_PLACES,
  CROSSING_PLACES,
  DROUGHT_PLACES,
  DRUGS,
  EARTHQUAKE_PLACES,
  GRID_PLACES,
  type PlaceRow,
  SHIPPING_PLACES,
  WILDFIRE_PLACES,
} from './entities.ts';
import { lineOf } from './lines.ts';

/** Where an entity is, and what people call it. Nothing of it is hashed. */
export interface Place {
  readonly name: string;
  /** Degrees north and east; of an area a point inside it. */
  readonly latitude: number;
  readonly longitude: number;
  /** IANA time zone, where days are counted by it. */
  readonly zone?: string;
}

/** By line; a line that is absent has entities without a position. */
const PLACES: Readonly<Record<string, ReadonlyMap<string, Place>>> = {
  environment: places({ ...CITY_PLACES, ...gauges() }),
  agriculture: places(AGRI_PLACES),
  grid: places(GRID_PLACES),
  shipping: places(SHIPPING_PLACES),
  wildfire: places(WILDFIRE_PLACES),
  nas: places(AIRPORT_PLACES),
  'border-wait': places(CROSSING_PLACES),
  earthquake: places(EARTHQUAKE_PLACES),
  hurricane: places(BASIN_PLACES),
  drought: places(DROUGHT_PLACES),
  'severe-convection': places(CONVECTION_PLACES),
  'grid-reliability': places(AUTHORITY_PLACES),
};
const NONE: ReadonlyMap<string, Place> = new Map();

/** Names of what is nowhere, by line. The name of a filer comes with its filings. */
const NAMES: Readonly<Record<string, ReadonlyMap<string, string>>> = {
  'drug-shortage': new Map(Object.entries(CLASS_NAMES)),
  'drug-detail': new Map(DRUGS.map((id) => [id, sentenceCase(id)])),
};

/** Places of the entities of a line, by entity; empty for a line without any. */
export function placesOf(lineId: string): ReadonlyMap<string, Place> {
  return (Object.hasOwn(PLACES, lineId) ? PLACES[lineId] : undefined) ?? NONE;
}

/** What people call an entity of a signal; null where the tables do not know it. */
export function knownName(signalId: string, entity: string): string | null {
  const line = lineOf(signalId)?.id ?? '';
  return placesOf(line).get(entity)?.name ?? NAMES[line]?.get(entity) ?? null;
}

/** The members of a body that say where its entity is; both or none. */
interface Position {
  readonly latitude?: number | undefined;
  readonly longitude?: number | undefined;
}

/** Where an entity of a signal is; without members where the tables do not know it. */
export function positionOf(signalId: string, entity: string): Position {
  return positionIn(placesOf(lineOf(signalId)?.id ?? '').get(entity) ?? {});
}

/** The position alone, from a body that may have none. */
export function positionIn({ latitude, longitude }: Position): Position {
  return latitude === undefined || longitude === undefined ? {} : { latitude, longitude };
}

/** What the names and positions of bodies follow from, as plain data. */
export function placeTables(): { readonly [line: string]: Readonly<Record<string, unknown>> } {
  const known = { ...NAMES, ...PLACES };
  return Object.fromEntries(
    Object.entries(known).map(([line, rows]) => [line, Object.fromEntries(rows)]),
  );
}

/** `potassium-chloride` as `Potassium chloride`. */
function sentenceCase(id: string): string {
  return id.slice(0, 1).toUpperCase() + id.slice(1).replaceAll('-', ' ');
}

function places(rows: Readonly<Record<string, PlaceRow>>): ReadonlyMap<string, Place> {
  return new Map(
    Object.entries(rows).map(([entity, [name, latitude, longitude, zone]]) => [
      entity,
      { name, latitude, longitude, ...(zone === undefined ? {} : { zone }) },
    ]),
  );
}

/** The gauges by their own id; days are counted as in their city. */
function gauges(): Readonly<Record<string, PlaceRow>> {
  return Object.fromEntries(
    CITY_LOCS.map((city) => {
      const [site, name, latitude, longitude] = CITY_GAUGES[city];
      return [site, [name, latitude, longitude, CITY_PLACES[city][3]]];
    }),
  );
}
