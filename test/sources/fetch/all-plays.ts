import { hostsOf, rowOf } from '../../../compiler/catalog/register.ts';
import { defined } from '../../../compiler/format/errors.ts';
import { payloadText } from '../kit/cases.ts';
import { registryPage, server, soilFrom, zipOf } from '../kit/recorded.ts';
import type { Reply } from './agency.ts';
import { PLAYS, type Play } from './agency-payloads.ts';

// All other sources, as they answer in the hour from 2026-11-20T11:00Z on.

const json = (body: string): Reply => ({ body, type: 'application/json' });
const text = (type: string, body: string): Reply => ({ type, body });

/** A source that answers at the host of its first address. */
function play(source: string, entities: readonly string[], reply: Play['reply'] | Reply): Play {
  const host = defined(hostsOf(rowOf(source))[0], `the host of ${source}`);
  return { host, entities, reply: typeof reply === 'function' ? reply : () => reply };
}

/** A source that answers with a payload of its cases. */
function plays(source: string, entities: readonly string[], name = 'of a run') {
  return { [source]: play(source, entities, json(payloadText(source, name))) };
}

const SEATTLE = ['us-seattle'];

/** A source that answers with a payload of its cases, by what its address says; the last one otherwise. */
function answers(
  source: string,
  entities: readonly string[],
  ...named: readonly (readonly [name: string, path?: string])[]
): Play {
  return play(source, entities, (_, path) => {
    const [name = ''] = named.find(([, part = '']) => path.includes(part)) ?? [];
    const body = payloadText(source, name);
    return body.startsWith('{') || body.startsWith('[') ? json(body) : text('text/plain', body);
  });
}

/** Registers of subjects, and sources of weather and sea that need no key. */
const SUBJECT_PLAYS: Readonly<Record<string, Play>> = {
  'ai-models': answers('ai-models', [], ['models']),
  'ai-tools': {
    ...play('ai-tools', [], (_, path) => {
      const page = JSON.parse(payloadText('ai-tools', 'a page of tools'));
      return json(JSON.stringify(path.includes('cursor=') ? { servers: [] } : page));
    }),
    part: 'servers?version=latest',
  },
  'airnow-files': answers('airnow-files', [], ['monitors of an hour']),
  defillama: answers(
    'defillama',
    [],
    ['stablecoins', '/stablecoins'],
    ['prices', '/prices/'],
    ['protocols'],
  ),
  eddi: answers('eddi', [], ['a grid of a month']),
  'esma-mica': answers('esma-mica', [], ['e-money tokens']),
  'eur-lex': answers('eur-lex', ['eu-ets'], ['acts of the EU']),
  gleif: answers('gleif', ['coreweave'], ['entities of a name']),
  'hugging-face': answers(
    'hugging-face',
    ['c4'],
    ['models of a dataset', 'filter='],
    ['a dataset'],
  ),
  ndbc: answers('ndbc', ['gulfmexico'], ['waves of a buoy']),
  'nhc-formation': answers('nhc-formation', ['atlantic'], ['two disturbances']),
  'noaa-temperature': {
    ...answers('noaa-temperature', ['us-ercot'], ['temperatures']),
    part: 'dataTypes=TMAX',
  },
  nwps: answers('nwps', ['07010000'], ['a gauge with its flood stages']),
  'openfda-device': answers(
    'openfda-device',
    ['fda-lzg'],
    ['recalls of a kind', 'recall.json'],
    ['reports of a kind', 'event.json'],
    ['devices of a kind'],
  ),
  portwatch: answers('portwatch', ['hormuz'], ['days of a chokepoint']),
  'sec-facts': {
    ...answers('sec-facts', ['coreweave'], ['facts of a filer']),
    part: '/api/xbrl/',
  },
  'usdm-seasons': {
    ...answers('usdm-seasons', ['us-california'], ['ten years']),
    part: 'startdate=11/',
  },
};

/** Every source that can be fetched, by name. */
export const ALL_PLAYS: Readonly<Record<string, Play>> = {
  ...PLAYS,
  ...plays('airnow', ['us-losangeles'], 'air of areas'),
  ...plays('aviationweather', ['atl']),
  // Months that FRED says nothing of, so that none has two publishers.
  bls: play('bls', [], (_, path) => {
    if (path.includes('LNS')) return json(payloadText('bls', 'unemployment of the agency'));
    const prices = payloadText('bls', 'prices of the agency').replaceAll(/"202([56])"/g, '"201$1"');
    return json(prices.replace('CUSR0000SA0E', path.replace(/.*\//, '')));
  }),
  'cbp-bwt': play('cbp-bwt', ['laredo-world-trade'], (_, path) =>
    json(payloadText('cbp-bwt', path.includes('graph') ? 'a graph of a run' : 'of a run')),
  ),
  ...plays('eia', ['spp'], 'demand of a grid'),
  'faa-nas': play('faa-nas', [], text('application/xml', payloadText('faa-nas', 'of a run'))),
  fred: play('fred', [], text('text/csv', payloadText('fred', 'prices of a table'))),
  'mcp-registry': {
    ...play('mcp-registry', [], (_, path) =>
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
  'nasa-firms': play('nasa-firms', [], text('text/csv', payloadText('nasa-firms', 'of a run'))),
  ...plays('nhc', []),
  'noaa-daily': {
    ...play('noaa-daily', SEATTLE, text('text/csv', payloadText('noaa-daily', 'rain of stations'))),
    part: 'dataTypes=PRCP',
  },
  'noaa-star-vhi': play(
    'noaa-star-vhi',
    ['ukr-6'],
    text('text/html', payloadText('noaa-star-vhi', 'vegetation of a province')),
  ),
  ...plays('nws-warnings', []),
  ...plays('open-meteo-air-quality', SEATTLE, 'air of a model'),
  'open-meteo-archive': {
    ...play(
      'open-meteo-archive',
      ['us-iowa'],
      json(payloadText('open-meteo-archive', 'heat of a model')),
    ),
    part: 'daily=temperature_2m_max',
  },
  ...plays('open-meteo-marine', ['hormuz'], 'waves of a model'),
  'open-meteo-soil-moisture': {
    ...play('open-meteo-soil-moisture', ['us-iowa'], json(JSON.stringify(soilFrom(2015)))),
    part: 'models=era5',
  },
  openfda: play('openfda', [], {
    body: zipOf(
      'drug-shortages-0001-of-0001.json',
      payloadText('openfda', 'a list of drug shortages'),
    ),
    type: 'application/zip',
  }),
  ...plays('spc', []),
  usdm: {
    ...play('usdm', ['us-california'], json(payloadText('usdm', 'of a run'))),
    part: 'startdate=10/',
  },
  ...SUBJECT_PLAYS,
};

/** Hosts beside the one of a play that answer for its source. */
export const OTHER_HOSTS: Readonly<Record<string, Reply>> = {
  'mesonet.agron.iastate.edu': json(payloadText('nws-warnings', 'reports of a run')),
};
