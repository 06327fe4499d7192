import { nearest } from '../contract/nearest.ts';
import type { Source } from './source.ts';
import { airnow } from './sources/airnow/airnow.ts';
import { aviationweather } from './sources/aviationweather/aviationweather.ts';
import { cbpBwt } from './sources/cbp-bwt/cbp-bwt.ts';
import { eia } from './sources/eia/eia.ts';
import { faaNas } from './sources/faa-nas/faa-nas.ts';
import { bls } from './sources/fred-bls/bls.ts';
import { fred } from './sources/fred-bls/fred.ts';
import { mcpRegistry } from './sources/mcp-registry/mcp-registry.ts';
import { nasaFirms } from './sources/nasa-firms/nasa-firms.ts';
import { nhc } from './sources/nhc/nhc.ts';
import { noaaDaily } from './sources/noaa-daily/noaa-daily.ts';
import { noaaStarVhi } from './sources/noaa-star-vhi/noaa-star-vhi.ts';
import { nwsRiverFlood } from './sources/nws-river-flood.ts';
import { nwsWarnings } from './sources/nws-warnings/nws-warnings.ts';
import { openMeteoAirQuality } from './sources/open-meteo/open-meteo-air-quality.ts';
import { openMeteoArchive } from './sources/open-meteo/open-meteo-archive.ts';
import { openMeteoMarine } from './sources/open-meteo/open-meteo-marine.ts';
import { openMeteoSoilMoisture } from './sources/open-meteo/open-meteo-soil-moisture.ts';
import { openfda } from './sources/openfda/openfda.ts';
import { secEdgar } from './sources/sec-edgar/sec-edgar.ts';
import { spc } from './sources/spc/spc.ts';
import { usdm } from './sources/usdm/usdm.ts';
import { usgsEarthquakes } from './sources/usgs-earthquakes/usgs-earthquakes.ts';
import { usgsNwis } from './sources/usgs-nwis/usgs-nwis.ts';

/** Every official source, by name. */
export const SOURCES: readonly Source[] = [
  airnow,
  aviationweather,
  bls,
  cbpBwt,
  eia,
  faaNas,
  fred,
  mcpRegistry,
  nasaFirms,
  nhc,
  noaaDaily,
  noaaStarVhi,
  nwsRiverFlood,
  nwsWarnings,
  openMeteoAirQuality,
  openMeteoArchive,
  openMeteoMarine,
  openMeteoSoilMoisture,
  openfda,
  secEdgar,
  spc,
  usdm,
  usgsEarthquakes,
  usgsNwis,
];

/** Throws a RangeError for an unknown name. */
export function sourceOf(id: string): Source {
  const found = SOURCES.find((source) => source.id === id);
  if (found !== undefined) return found;
  const known = SOURCES.map((source) => source.id);
  const suggestion = nearest(id, known);
  const hint =
    suggestion === null ? `known are ${known.join(', ')}` : `did you mean "${suggestion}"?`;
  throw new RangeError(`Cannot use source "${id}": no such source; ${hint}`);
}
