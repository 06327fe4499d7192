import { payloadText } from '../kit/cases.ts';
import { registryPage, server, soilFrom, zipOf } from '../kit/recorded.ts';
import type { Reply } from './agency.ts';
import { PLAYS, type Play } from './agency-payloads.ts';

// All other sources, as they answer in the hour from 2026-11-20T11:00Z on.

const json = (body: string): Reply => ({ body, type: 'application/json' });
const text = (type: string, body: string): Reply => ({ type, body });

function play(host: string, entities: readonly string[], reply: Play['reply'] | Reply): Play {
  return { host, entities, reply: typeof reply === 'function' ? reply : () => reply };
}

/** A source that answers with a payload of its cases. */
function plays(source: string, host: string, entities: readonly string[], name = 'of a run') {
  return { [source]: play(host, entities, json(payloadText(source, name))) };
}

const ARCHIVE = 'customer-archive-api.open-meteo.com';
const SEATTLE = ['us-seattle'];

/** A source that answers with a payload of its cases, by what its address says; the last one otherwise. */
function answers(
  source: string,
  host: string,
  entities: readonly string[],
  ...named: readonly (readonly [name: string, path?: string])[]
): Play {
  return play(host, entities, (_, path) => {
    const [name = ''] = named.find(([, part = '']) => path.includes(part)) ?? [];
    const body = payloadText(source, name);
    return body.startsWith('{') || body.startsWith('[') ? json(body) : text('text/plain', body);
  });
}

/** Registers of subjects, and sources of weather and sea that need no key. */
const SUBJECT_PLAYS: Readonly<Record<string, Play>> = {
  'ai-models': answers('ai-models', 'raw.githubusercontent.com', [], ['models']),
  'ai-tools': {
    ...play('registry.modelcontextprotocol.io', [], (_, path) => {
      const page = JSON.parse(payloadText('ai-tools', 'a page of tools'));
      return json(JSON.stringify(path.includes('cursor=') ? { servers: [] } : page));
    }),
    part: 'servers?version=latest',
  },
  'airnow-files': answers('airnow-files', 'files.airnowtech.org', [], ['monitors of an hour']),
  defillama: answers(
    'defillama',
    'pro-api.llama.fi',
    [],
    ['stablecoins', '/stablecoins'],
    ['prices', '/prices/'],
    ['protocols'],
  ),
  eddi: answers('eddi', 'downloads.psl.noaa.gov', [], ['a grid of a month']),
  'esma-mica': answers('esma-mica', 'www.esma.europa.eu', [], ['e-money tokens']),
  'eur-lex': answers('eur-lex', 'publications.europa.eu', ['eu-ets'], ['acts of the EU']),
  gleif: answers('gleif', 'api.gleif.org', ['coreweave'], ['entities of a name']),
  'hugging-face': answers(
    'hugging-face',
    'huggingface.co',
    ['c4'],
    ['models of a dataset', 'filter='],
    ['a dataset'],
  ),
  ndbc: answers('ndbc', 'www.ndbc.noaa.gov', ['gulfmexico'], ['waves of a buoy']),
  'nhc-formation': answers(
    'nhc-formation',
    'tgftp.nws.noaa.gov',
    ['atlantic'],
    ['two disturbances'],
  ),
  'noaa-temperature': {
    ...answers('noaa-temperature', 'www.ncei.noaa.gov', ['us-ercot'], ['temperatures']),
    part: 'dataTypes=TMAX',
  },
  nwps: answers('nwps', 'api.water.noaa.gov', ['07010000'], ['a gauge with its flood stages']),
  'openfda-device': answers(
    'openfda-device',
    'api.fda.gov',
    ['fda-lzg'],
    ['recalls of a kind', 'recall.json'],
    ['reports of a kind', 'event.json'],
    ['devices of a kind'],
  ),
  portwatch: answers('portwatch', 'services9.arcgis.com', ['hormuz'], ['days of a chokepoint']),
  'sec-facts': {
    ...answers('sec-facts', 'data.sec.gov', ['coreweave'], ['facts of a filer']),
    part: '/api/xbrl/',
  },
  'usdm-seasons': {
    ...answers('usdm-seasons', 'usdmdataservices.unl.edu', ['us-california'], ['ten years']),
    part: 'startdate=11/',
  },
};

/** Every source that can be fetched, by name. */
export const ALL_PLAYS: Readonly<Record<string, Play>> = {
  ...PLAYS,
  ...plays('airnow', 'www.airnowapi.org', ['us-losangeles'], 'air of areas'),
  ...plays('aviationweather', 'aviationweather.gov', ['atl']),
  // Months that FRED says nothing of, so that none has two publishers.
  bls: play('api.bls.gov', [], (_, path) => {
    if (path.includes('LNS')) return json(payloadText('bls', 'unemployment of the agency'));
    const prices = payloadText('bls', 'prices of the agency').replaceAll(/"202([56])"/g, '"201$1"');
    return json(prices.replace('CUSR0000SA0E', path.replace(/.*\//, '')));
  }),
  'cbp-bwt': play('bwt.cbp.gov', ['laredo-world-trade'], (_, path) =>
    json(payloadText('cbp-bwt', path.includes('graph') ? 'a graph of a run' : 'of a run')),
  ),
  ...plays('eia', 'api.eia.gov', ['spp'], 'demand of a grid'),
  'faa-nas': play(
    'nasstatus.faa.gov',
    [],
    text('application/xml', payloadText('faa-nas', 'of a run')),
  ),
  fred: play('fred.stlouisfed.org', [], text('text/csv', payloadText('fred', 'prices of a table'))),
  'mcp-registry': {
    ...play('registry.modelcontextprotocol.io', [], (_, path) =>
      json(
        JSON.stringify(
          path.includes('cursor=')
            ? registryPage([server('com.example/two')])
            : registryPage([server('com.example/one')], 'com.example/one:1.0.0'),
        ),
      ),
    ),
    part: 'servers?limit=100',
  },
  'nasa-firms': play(
    'firms.modaps.eosdis.nasa.gov',
    [],
    text('text/csv', payloadText('nasa-firms', 'of a run')),
  ),
  ...plays('nhc', 'www.nhc.noaa.gov', []),
  'noaa-daily': {
    ...play(
      'www.ncei.noaa.gov',
      SEATTLE,
      text('text/csv', payloadText('noaa-daily', 'rain of stations')),
    ),
    part: 'dataTypes=PRCP',
  },
  'noaa-star-vhi': play(
    'www.star.nesdis.noaa.gov',
    ['ukr-6'],
    text('text/html', payloadText('noaa-star-vhi', 'vegetation of a province')),
  ),
  ...plays('nws-warnings', 'api.weather.gov', []),
  ...plays(
    'open-meteo-air-quality',
    'customer-air-quality-api.open-meteo.com',
    SEATTLE,
    'air of a model',
  ),
  'open-meteo-archive': {
    ...play(ARCHIVE, ['us-iowa'], json(payloadText('open-meteo-archive', 'heat of a model'))),
    part: 'daily=temperature_2m_max',
  },
  ...plays(
    'open-meteo-marine',
    'customer-marine-api.open-meteo.com',
    ['hormuz'],
    'waves of a model',
  ),
  'open-meteo-soil-moisture': {
    ...play(ARCHIVE, ['us-iowa'], json(JSON.stringify(soilFrom(2015)))),
    part: 'models=era5',
  },
  openfda: play('download.open.fda.gov', [], {
    body: zipOf(
      'drug-shortages-0001-of-0001.json',
      payloadText('openfda', 'a list of drug shortages'),
    ),
    type: 'application/zip',
  }),
  ...plays('spc', 'www.spc.noaa.gov', []),
  usdm: {
    ...play('usdmdataservices.unl.edu', ['us-california'], json(payloadText('usdm', 'of a run'))),
    part: 'startdate=10/',
  },
  ...SUBJECT_PLAYS,
};

/** Hosts beside the one of a play that answer for its source. */
export const OTHER_HOSTS: Readonly<Record<string, Reply>> = {
  'mesonet.agron.iastate.edu': json(payloadText('nws-warnings', 'reports of a run')),
};
