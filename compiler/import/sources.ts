import { nearest } from '../contract/nearest.ts';
import type { Source } from './source.ts';
import { airnow } from './sources/airnow/airnow.ts';
import { bls } from './sources/fred-bls/bls.ts';
import { fred } from './sources/fred-bls/fred.ts';
import { noaaDaily } from './sources/noaa-daily/noaa-daily.ts';
import { noaaStarVhi } from './sources/noaa-star-vhi/noaa-star-vhi.ts';
import { openMeteoAirQuality } from './sources/open-meteo/open-meteo-air-quality.ts';
import { openMeteoArchive } from './sources/open-meteo/open-meteo-archive.ts';
import { openMeteoMarine } from './sources/open-meteo/open-meteo-marine.ts';
import { openMeteoSoilMoisture } from './sources/open-meteo/open-meteo-soil-moisture.ts';
import { secEdgar } from './sources/sec-edgar/sec-edgar.ts';
import { usgsEarthquakes } from './sources/usgs-earthquakes/usgs-earthquakes.ts';
import { usgsNwis } from './sources/usgs-nwis/usgs-nwis.ts';

/** Every official source, by name. */
export const SOURCES: readonly Source[] = [
  airnow,
  bls,
  fred,
  noaaDaily,
  noaaStarVhi,
  openMeteoAirQuality,
  openMeteoArchive,
  openMeteoMarine,
  openMeteoSoilMoisture,
  secEdgar,
  usgsEarthquakes,
  usgsNwis,
];

/** Throws a RangeError for an unknown name. */
export function sourceOf(id: string): Source {
  const found = SOURCES.find((source) => source.id === id);
  if (found !== undefined) return found;
  const known = SOURCES.map((source) => source.id);
  const meant = nearest(id, known);
  const hint = meant === null ? `known are ${known.join(', ')}` : `did you mean "${meant}"?`;
  throw new RangeError(`Cannot use source "${id}": no such source; ${hint}`);
}
