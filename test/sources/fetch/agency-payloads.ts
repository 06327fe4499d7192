import { HOUR_MS, isoTime } from '../../../compiler/format/iso-time.ts';
import { feed, quake } from '../kit/recorded.ts';
import type { Reply } from './agency.ts';

// Small answers of our own making, in the shape of the agencies' and of the hour at which they are asked.

/** Stages of sites by site and time of 2026-11-20 (HH:MM, or a whole ISO time). */
export type Stages = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** A USGS water answer. */
export function gaugeAnswer(stages: Stages): string {
  const timeSeries = Object.entries(stages).map(([site, points]) => ({
    sourceInfo: { siteName: 'RIVER AT TOWN', siteCode: [{ value: site }] },
    variable: {
      variableCode: [{ value: '00065' }],
      noDataValue: -999999,
      options: { option: [{ optionCode: '00000' }] },
    },
    values: [
      {
        method: [],
        value: Object.entries(points).map(([time, value]) => ({
          value: String(value),
          qualifiers: ['P'],
          dateTime: time.length === 5 ? `2026-11-20T${time}:00Z` : time,
        })),
      },
    ],
  }));
  return JSON.stringify({ value: { timeSeries } });
}

/** The same of one site from the newer service, by ISO time. */
export function gaugeFeatures(site: string, points: Readonly<Record<string, number>>): string {
  const features = Object.entries(points).map(([time, value]) => ({
    type: 'Feature',
    id: `${site} ${time}`,
    geometry: null,
    properties: {
      time_series_id: 'a1',
      monitoring_location_id: `USGS-${site}`,
      parameter_code: '00065',
      statistic_id: '00011',
      time: time.replace('Z', '+00:00'),
      value: String(value),
      unit_of_measure: 'ft',
      approval_status: 'Provisional',
      qualifier: null,
    },
  }));
  const links = [{ rel: 'self', href: 'https://api.waterdata.usgs.gov/ogcapi/v1/x' }];
  const numberReturned = features.length;
  return JSON.stringify({ type: 'FeatureCollection', features, numberReturned, links });
}

/** A USGS quake feed, made at a time. */
function quakeFeed(now: number): string {
  const generated = Math.floor(now / HOUR_MS) * HOUR_MS;
  const one = quake('a', { time: generated - HOUR_MS, updated: generated - HOUR_MS / 2 });
  return JSON.stringify(feed([one], { generated }));
}

/** An EDGAR list of a filer with one filing. */
function filerList(cik: string): string {
  const recent = {
    accessionNumber: [`${cik}-26-000006`],
    filingDate: ['2026-11-18'],
    reportDate: ['2026-11-17'],
    acceptanceDateTime: ['2026-11-18T21:30:27.000Z'],
    form: ['8-K'],
    items: ['2.02,9.01'],
    primaryDocument: ['a.htm'],
  };
  const filings = { recent, files: [] };
  return JSON.stringify({ cik, name: 'EXAMPLE CORP', tickers: ['EXMP'], filings });
}

/** How a source is played. */
export interface Play {
  readonly host: string;
  /** Text of its addresses where other sources ask the same host. */
  readonly part?: string;
  readonly entities: readonly string[];
  readonly reply: (now: number, path: string) => Reply;
}

/** What stands for a play in `Agency.moods`. */
export function moodKey({ host, part }: Play): string {
  return part === undefined ? host : `${host} ${part}`;
}

const json = (body: string): Reply => ({ body, type: 'application/json' });
const SITE = '07010000';
const CIK = '0000320193';

/** Every source that is played, by name. */
export const PLAYS: Readonly<Record<string, Play>> = {
  'sec-edgar': {
    host: 'data.sec.gov',
    entities: [CIK],
    part: '/submissions/',
    reply: () => json(filerList(CIK)),
  },
  'usgs-earthquakes': {
    host: 'earthquake.usgs.gov',
    entities: [],
    reply: (now) => json(quakeFeed(now)),
  },
  'usgs-nwis': {
    host: 'api.waterdata.usgs.gov',
    entities: [SITE],
    reply: (now) => {
      const hour = Math.floor(now / HOUR_MS);
      const points = [hour - 1, hour].map((at) => [isoTime(at * HOUR_MS), 10 + (at % 7)] as const);
      return json(gaugeFeatures(SITE, Object.fromEntries(points)));
    },
  },
};
