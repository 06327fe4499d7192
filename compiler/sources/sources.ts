import { nearest } from '../products/shapes/nearest.ts';
import { airnow } from './agencies/airnow.ts';
import { aviationweather } from './agencies/aviationweather.ts';
import { cbpBwt } from './agencies/cbp-bwt.ts';
import { eia } from './agencies/eia.ts';
import { faaNas } from './agencies/faa-nas.ts';
import { bls, fred } from './agencies/fred-bls.ts';
import { mcpRegistry } from './agencies/mcp-registry.ts';
import { nasaFirms } from './agencies/nasa-firms.ts';
import { nhc } from './agencies/nhc.ts';
import { noaaDaily } from './agencies/noaa-daily.ts';
import { noaaStarVhi } from './agencies/noaa-star-vhi.ts';
import { nwsRiverFlood } from './agencies/nws-river-flood.ts';
import { nwsWarnings } from './agencies/nws-warnings.ts';
import {
  openMeteoAirQuality,
  openMeteoArchive,
  openMeteoMarine,
  openMeteoSoilMoisture,
} from './agencies/open-meteo.ts';
import { openfda } from './agencies/openfda.ts';
import { secEdgar } from './agencies/sec-edgar.ts';
import { spc } from './agencies/spc.ts';
import { usdm } from './agencies/usdm.ts';
import { usgsEarthquakes } from './agencies/usgs-earthquakes.ts';
import { usgsNwis } from './agencies/usgs-nwis.ts';
import type { Source } from './kit/source.ts';

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

export function sourceOf(id: string): Source {
  const found = SOURCES.find((source) => source.id === id);
  if (found !== undefined) return found;
  const known = SOURCES.map((source) => source.id);
  const suggestion = nearest(id, known);
  const hint =
    suggestion === null ? `known are ${known.join(', ')}` : `did you mean "${suggestion}"?`;
  throw new RangeError(`Cannot use source "${id}": no such source; ${hint}`);
}
