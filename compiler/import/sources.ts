import { nearest } from '../contract/nearest.ts';
import type { Source } from './source.ts';
import { airnow } from './sources/airnow.ts';
import { aviationweather } from './sources/aviationweather.ts';
import { cbpBwt } from './sources/cbp-bwt.ts';
import { eia } from './sources/eia.ts';
import { faaNas } from './sources/faa-nas.ts';
import { bls, fred } from './sources/fred-bls.ts';
import { mcpRegistry } from './sources/mcp-registry.ts';
import { nasaFirms } from './sources/nasa-firms.ts';
import { nhc } from './sources/nhc.ts';
import { noaaDaily } from './sources/noaa-daily.ts';
import { noaaStarVhi } from './sources/noaa-star-vhi.ts';
import { nwsRiverFlood } from './sources/nws-river-flood.ts';
import { nwsWarnings } from './sources/nws-warnings.ts';
import {
  openMeteoAirQuality,
  openMeteoArchive,
  openMeteoMarine,
  openMeteoSoilMoisture,
} from './sources/open-meteo.ts';
import { openfda } from './sources/openfda.ts';
import { secEdgar } from './sources/sec-edgar.ts';
import { spc } from './sources/spc.ts';
import { usdm } from './sources/usdm.ts';
import { usgsEarthquakes } from './sources/usgs-earthquakes.ts';
import { usgsNwis } from './sources/usgs-nwis.ts';

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
