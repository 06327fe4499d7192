import aiModels from './register/ai-models.json' with { type: 'json' };
import aiTools from './register/ai-tools.json' with { type: 'json' };
import airnow from './register/airnow.json' with { type: 'json' };
import airnowFiles from './register/airnow-files.json' with { type: 'json' };
import aviationweather from './register/aviationweather.json' with { type: 'json' };
import bls from './register/bls.json' with { type: 'json' };
import cbpBwt from './register/cbp-bwt.json' with { type: 'json' };
import defillama from './register/defillama.json' with { type: 'json' };
import eddi from './register/eddi.json' with { type: 'json' };
import eia from './register/eia.json' with { type: 'json' };
import esmaMica from './register/esma-mica.json' with { type: 'json' };
import eurLex from './register/eur-lex.json' with { type: 'json' };
import faaNas from './register/faa-nas.json' with { type: 'json' };
import fred from './register/fred.json' with { type: 'json' };
import gleif from './register/gleif.json' with { type: 'json' };
import huggingFace from './register/hugging-face.json' with { type: 'json' };
import mcpRegistry from './register/mcp-registry.json' with { type: 'json' };
import nasaFirms from './register/nasa-firms.json' with { type: 'json' };
import ndbc from './register/ndbc.json' with { type: 'json' };
import nhc from './register/nhc.json' with { type: 'json' };
import nhcFormation from './register/nhc-formation.json' with { type: 'json' };
import noaaDaily from './register/noaa-daily.json' with { type: 'json' };
import noaaStarVhi from './register/noaa-star-vhi.json' with { type: 'json' };
import noaaTemperature from './register/noaa-temperature.json' with { type: 'json' };
import nwps from './register/nwps.json' with { type: 'json' };
import nwsRiverFlood from './register/nws-river-flood.json' with { type: 'json' };
import nwsWarnings from './register/nws-warnings.json' with { type: 'json' };
import openMeteoAirQuality from './register/open-meteo-air-quality.json' with { type: 'json' };
import openMeteoArchive from './register/open-meteo-archive.json' with { type: 'json' };
import openMeteoMarine from './register/open-meteo-marine.json' with { type: 'json' };
import openMeteoSoilMoisture from './register/open-meteo-soil-moisture.json' with { type: 'json' };
import openfda from './register/openfda.json' with { type: 'json' };
import openfdaDevice from './register/openfda-device.json' with { type: 'json' };
import portwatch from './register/portwatch.json' with { type: 'json' };
import secEdgar from './register/sec-edgar.json' with { type: 'json' };
import secFacts from './register/sec-facts.json' with { type: 'json' };
import spc from './register/spc.json' with { type: 'json' };
import usdm from './register/usdm.json' with { type: 'json' };
import usdmSeasons from './register/usdm-seasons.json' with { type: 'json' };
import usgsEarthquakes from './register/usgs-earthquakes.json' with { type: 'json' };
import usgsNwis from './register/usgs-nwis.json' with { type: 'json' };

// Nothing but imports and one list may stand here: scripts/inline-json.ts writes the files into the module that is built.

/** The rows of the register of sources, by id; `register.ts` holds them to their format. */
export const REGISTER_FILES: readonly unknown[] = [
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
