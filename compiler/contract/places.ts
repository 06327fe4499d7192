import { CITY_RIVER_GAUGE } from './entities.ts';
import {
  AGRI_PLACES,
  AIRPORT_PLACES,
  AUTHORITY_PLACES,
  BASIN_PLACES,
  CITY_PLACES,
  CONVECTION_PLACES,
  CROSSING_PLACES,
  DROUGHT_PLACES,
  EARTHQUAKE_PLACES,
  GAUGE_PLACES,
  GRID_PLACES,
  type PlaceRow,
  SHIPPING_PLACES,
  WILDFIRE_PLACES,
} from './place-rows.ts';

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

/** Places of the entities of a line, by entity; empty for a line without any. */
export function placesOf(lineId: string): ReadonlyMap<string, Place> {
  return (Object.hasOwn(PLACES, lineId) ? PLACES[lineId] : undefined) ?? NONE;
}

function places(rows: Readonly<Record<string, PlaceRow>>): ReadonlyMap<string, Place> {
  return new Map(
    Object.entries(rows).map(([entity, [name, latitude, longitude, zone]]) => [
      entity,
      { name, latitude, longitude, ...(zone === undefined ? {} : { zone }) },
    ]),
  );
}

/** The gauges by their own id, a USGS site number. */
function gauges(): Readonly<Record<string, PlaceRow>> {
  return Object.fromEntries(
    Object.entries(GAUGE_PLACES).map(([city, row]) => [
      CITY_RIVER_GAUGE[city as keyof typeof GAUGE_PLACES],
      row,
    ]),
  );
}
