import { nearest } from '../products/shapes/nearest.ts';
import { aiModels } from './agencies/ai-models.ts';
import { aiTools } from './agencies/ai-tools.ts';
import { airnow } from './agencies/airnow.ts';
import { airnowFiles } from './agencies/airnow-files.ts';
import { aviationweather } from './agencies/aviationweather.ts';
import { cbpBwt } from './agencies/cbp-bwt.ts';
import { defillama } from './agencies/defillama.ts';
import { eddi } from './agencies/eddi.ts';
import { eia } from './agencies/eia.ts';
import { esmaMica } from './agencies/esma-mica.ts';
import { eurLex } from './agencies/eur-lex.ts';
import { faaNas } from './agencies/faa-nas.ts';
import { bls, fred } from './agencies/fred-bls.ts';
import { gleif } from './agencies/gleif.ts';
import { huggingFace } from './agencies/hugging-face.ts';
import { mcpRegistry } from './agencies/mcp-registry.ts';
import { nasaFirms } from './agencies/nasa-firms.ts';
import { ndbc } from './agencies/ndbc.ts';
import { nhc } from './agencies/nhc.ts';
import { nhcFormation } from './agencies/nhc-formation.ts';
import { noaaDaily } from './agencies/noaa-daily.ts';
import { noaaStarVhi } from './agencies/noaa-star-vhi.ts';
import { noaaTemperature } from './agencies/noaa-temperature.ts';
import { nwps } from './agencies/nwps.ts';
import { nwsRiverFlood } from './agencies/nws-river-flood.ts';
import { nwsWarnings } from './agencies/nws-warnings.ts';
import {
  openMeteoAirQuality,
  openMeteoArchive,
  openMeteoMarine,
  openMeteoSoilMoisture,
} from './agencies/open-meteo.ts';
import { openfda } from './agencies/openfda.ts';
import { openfdaDevice } from './agencies/openfda-device.ts';
import { portwatch } from './agencies/portwatch.ts';
import { secEdgar } from './agencies/sec-edgar.ts';
import { secFacts } from './agencies/sec-facts.ts';
import { spc } from './agencies/spc.ts';
import { usdm } from './agencies/usdm.ts';
import { usdmSeasons } from './agencies/usdm-seasons.ts';
import { usgsEarthquakes } from './agencies/usgs-earthquakes.ts';
import { usgsNwis } from './agencies/usgs-nwis.ts';
import type { Source } from './kit/source.ts';

export const SOURCES: readonly Source[] = [
  aiModels,
  aiTools,
  airnowFiles,
  airnow,
  aviationweather,
  bls,
  cbpBwt,
  defillama,
  eddi,
  eia,
  esmaMica,
  eurLex,
  faaNas,
  fred,
  gleif,
  huggingFace,
  mcpRegistry,
  nasaFirms,
  ndbc,
  nhcFormation,
  nhc,
  noaaDaily,
  noaaStarVhi,
  noaaTemperature,
  nwps,
  nwsRiverFlood,
  nwsWarnings,
  openMeteoAirQuality,
  openMeteoArchive,
  openMeteoMarine,
  openMeteoSoilMoisture,
  openfdaDevice,
  openfda,
  portwatch,
  secEdgar,
  secFacts,
  spc,
  usdmSeasons,
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
