import { alert, alerts } from '../import/alerts.ts';
import { graph, lane, port } from '../import/border-ports.ts';
import { authorityDay, demandAnswer } from '../import/demand.ts';
import { areas } from '../import/drought.ts';
import { fireList } from '../import/fires.ts';
import { AIR, HEAT, soilFrom, WAVES } from '../import/models.ts';
import { NOWCAST } from '../import/observations.ts';
import { boxRing, mapArea, outlookMap } from '../import/outlooks.ts';
import { registryPage, server } from '../import/registry-pages.ts';
import { report, reports } from '../import/reports.ts';
import { row, shortages } from '../import/shortages.ts';
import { storm, storms } from '../import/storms.ts';
import { fredTable, provinceText, stationTable } from '../import/tables.ts';
import { BLS_ANSWER } from '../import/time-series.ts';
import { zipOf } from '../import/zip-of.ts';
import type { Reply } from './agency.ts';
import { PLAYS, type Play } from './agency-payloads.ts';

// All other sources, as they answer in the hour from 2026-11-20T11:00Z on.

const json = (value: unknown): Reply => ({
  body: JSON.stringify(value),
  type: 'application/json',
});
const text = (type: string, body: string): Reply => ({ type, body });

function play(host: string, entities: readonly string[], reply: Play['reply'] | Reply): Play {
  return { host, entities, reply: typeof reply === 'function' ? reply : () => reply };
}

const PRICES = Array.from({ length: 14 }, (_, index) => String(1.25 + index / 100));

const METAR = {
  icaoId: 'KATL',
  obsTime: Date.parse('2026-11-20T10:52:00Z') / 1000,
  wspd: 14,
  visib: '10+',
  rawOb: 'METAR KATL 201052Z 10014KT 10SM FEW026 13/12 A2991',
  clouds: [{ cover: 'FEW', base: 2600 }],
  fltCat: 'VFR',
};

const AIRPORT_DELAYS = [
  '<AIRPORT_STATUS_INFORMATION><Update_Time>Fri Nov 20 11:04:30 2026 GMT</Update_Time>',
  '<Delay_type><Name>Ground Delay Programs</Name><Ground_Delay_List><Ground_Delay><ARPT>BOS</ARPT><Reason>snow</Reason><Avg>1 hour and 5 minutes</Avg><Max>2 hours</Max></Ground_Delay></Ground_Delay_List></Delay_type>',
  '</AIRPORT_STATUS_INFORMATION>',
].join('');

const LAREDO = port(
  '230404',
  {
    commercial: [
      lane('At 5:00 am CST', 'delay', ['45', '10']),
      lane('At 5:00 am CST', 'no delay', ['3', '4']),
    ],
  },
  { time: '05:05:16' },
);

const TORNADO = alert('t', 'TO.W', {
  properties: {
    sent: '2026-11-20T04:31:00-06:00',
    expires: '2026-11-20T06:15:00-06:00',
    ends: '2026-11-20T06:15:00-06:00',
  },
  parameters: { VTEC: ['/O.NEW.KILX.TO.W.0007.261120T1031Z-261120T1215Z/'] },
});

const RISK = mapArea('SLGT', [boxRing([37, 40], [-101, -96])], {
  VALID: '202611201100',
  EXPIRE: '202611211200',
  ISSUE: '202611201055',
  EXPIRE_ISO: '2026-11-21T12:00:00+00:00',
  ISSUE_ISO: '2026-11-20T10:55:00+00:00',
});

/** Every source that can be fetched, by name. */
export const ALL_PLAYS: Readonly<Record<string, Play>> = {
  ...PLAYS,
  airnow: play('www.airnowapi.org', ['us-losangeles'], json(NOWCAST)),
  aviationweather: play('aviationweather.gov', ['atl'], json([METAR])),
  bls: play('api.bls.gov', [], json(BLS_ANSWER)),
  'cbp-bwt': play('bwt.cbp.gov', ['laredo-world-trade'], (_, path) =>
    json(path.includes('graph') ? graph('230404', { 0: ['20', '10'], 4: ['5', '40'] }) : [LAREDO]),
  ),
  eia: play(
    'api.eia.gov',
    ['spp'],
    json(demandAnswer(authorityDay('SWPP', [50_000, 44_947, 57_000]))),
  ),
  'faa-nas': play('nasstatus.faa.gov', [], text('application/xml', AIRPORT_DELAYS)),
  fred: play(
    'fred.stlouisfed.org',
    [],
    text('text/csv', fredTable({ CPIENGSL: PRICES, APU000072620: PRICES })),
  ),
  'mcp-registry': play('registry.modelcontextprotocol.io', [], (_, path) =>
    json(
      path.includes('cursor=')
        ? registryPage([server('com.example/two')])
        : registryPage([server('com.example/one')], 'com.example/one:1.0.0'),
    ),
  ),
  'nasa-firms': play('firms.modaps.eosdis.nasa.gov', [], text('text/csv', fireList([{}]))),
  nhc: play(
    'www.nhc.noaa.gov',
    [],
    json(storms(storm('ep072026', { lastUpdate: '2026-11-20T09:00:00.000Z' }))),
  ),
  'noaa-daily': play('www.ncei.noaa.gov', ['us-seattle'], text('text/csv', stationTable())),
  'noaa-star-vhi': play('www.star.nesdis.noaa.gov', ['ukr-6'], text('text/html', provinceText())),
  'nws-warnings': play('api.weather.gov', [], json(alerts(TORNADO))),
  'open-meteo-air-quality': play(
    'customer-air-quality-api.open-meteo.com',
    ['us-seattle'],
    json(AIR),
  ),
  'open-meteo-archive': {
    ...play('customer-archive-api.open-meteo.com', ['us-iowa'], json(HEAT)),
    part: 'daily=temperature_2m_max',
  },
  'open-meteo-marine': play('customer-marine-api.open-meteo.com', ['hormuz'], json(WAVES)),
  'open-meteo-soil-moisture': {
    ...play('customer-archive-api.open-meteo.com', ['us-iowa'], json(soilFrom(2015))),
    part: 'models=era5',
  },
  openfda: play('download.open.fda.gov', [], {
    body: zipOf(
      'drug-shortages-0001-of-0001.json',
      JSON.stringify(shortages([row('Cisplatin Injection', 'Available')])),
    ),
    type: 'application/zip',
  }),
  spc: play('www.spc.noaa.gov', [], json(outlookMap(RISK))),
  usdm: play(
    'usdmdataservices.unl.edu',
    ['us-california'],
    json([areas('CA', [40_000, 60_000, 30_000, 10_000, 0, 0])]),
  ),
};

/** Hosts beside the one of a play that answer for its source. */
export const OTHER_HOSTS: Readonly<Record<string, Reply>> = {
  'mesonet.agron.iastate.edu': json(reports(report('TORNADO', { valid: '2026-11-20T10:35:00Z' }))),
};
