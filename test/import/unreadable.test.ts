import { describe, expect, it } from 'vitest';
import { readPayload } from '../../compiler/import/import-command.ts';
import { sourceOf } from '../../compiler/import/sources.ts';
import { AIR_AND_PRICES } from './air-and-prices.ts';
import { alert, alerts, reference } from './alerts.ts';
import { authorityDay, demandAnswer, demandNote } from './demand.ts';
import { areaNote, areas } from './drought.ts';
import { bytesOf, detail, feed, GENERATED, HOUR, quake } from './feed.ts';
import { FIRES_NOTE, fireList } from './fires.ts';
import { boxRing, mapArea, outlookMap } from './outlooks.ts';
import { form4 } from './ownership.ts';
import { report, reports } from './reports.ts';
import {
  currentStatements,
  falseStatements,
  filingStatements,
  type Mutated,
  mutationReport,
  type Question,
  readingStatements,
} from './statements.ts';
import { storm, storms } from './storms.ts';
import { TRAVEL_AND_DRUGS } from './travel-and-drugs.ts';

const at = (url: string, fetched_at = '2026-11-20T11:05:00Z') => ({
  url,
  fetched_at,
  http_status: 200,
});

const QUAKES = feed(
  [
    quake('us1', { mag: 6.4, mmi: 7.1, cdi: 5.5, felt: 31, alert: 'yellow' }),
    quake('us2', { mag: 2.6, time: GENERATED - 50 * HOUR, at: [140, 36, 10] }),
    quake('ci3', { type: 'quarry blast', at: [-117, 34, 0] }),
  ],
  { title: 'USGS All Earthquakes, Past Week' },
);

const point = (value: string, dateTime: string) => ({ value, qualifiers: ['P'], dateTime });
const gauge = (parameter: string, unitCode: string, values: readonly object[]) => ({
  sourceInfo: { siteName: 'RIVER', siteCode: [{ value: '03336645', agencyCode: 'USGS' }] },
  variable: {
    variableCode: [{ value: parameter }],
    unit: { unitCode },
    noDataValue: -999999,
    options: { option: [{ name: 'Statistic', optionCode: '00000' }] },
  },
  values: [{ method: [{ methodDescription: '' }], value: values }],
});
const WATERML = {
  value: {
    timeSeries: [
      gauge('00065', 'ft', [
        point('13.6', '2026-11-20T04:00:00.000-06:00'),
        point('-999999', '2026-11-20T04:15:00.000-06:00'),
        point('13.9', '2026-11-20T04:30:00.000-06:00'),
      ]),
      gauge('00060', 'ft3/s', [point('420', '2026-11-20T04:30:00.000-06:00')]),
    ],
  },
};

const feature = (parameter_code: string, unit_of_measure: string, value: string) => ({
  type: 'Feature',
  properties: {
    monitoring_location_id: 'USGS-03336645',
    parameter_code,
    statistic_id: '00011',
    time_series_id: `series-${parameter_code}`,
    time: '2026-11-20T10:30:00+00:00',
    approval_status: 'Provisional',
    qualifier: null,
    unit_of_measure,
    value,
  },
});
const OGC = {
  type: 'FeatureCollection',
  features: [feature('00065', 'ft', '13.9'), feature('00060', 'ft^3/s', '420')],
  numberReturned: 2,
};

type Row = readonly [form: string, filed: string, accepted: string, items?: string];
const columns = (year: string, rows: readonly Row[]) => ({
  accessionNumber: rows.map(
    (_, index) => `0000123456-${year}-${String(index + 1).padStart(6, '0')}`,
  ),
  filingDate: rows.map(([, filed]) => filed),
  reportDate: rows.map(([, filed]) => filed),
  acceptanceDateTime: rows.map(([, , accepted]) => accepted),
  form: rows.map(([form]) => form),
  items: rows.map((row) => row[3] ?? ''),
  primaryDocument: rows.map(() => 'a.htm'),
});
const PAGE = columns('20', [
  ['10-K', '2020-02-12', '2020-02-12T23:00:00.000Z'],
  ['8-K', '2019-05-02', '2019-05-03T01:00:00.000Z', '5.02'],
]);
/** As many rows as a list has before it leaves older ones to pages. */
const MANY: readonly Row[] = Array.from({ length: 997 }, (_, index) => {
  const day = new Date(Date.parse('2026-02-11') - Math.floor(index / 4) * 86_400_000);
  const filed = day.toISOString().slice(0, 10);
  return ['424B2', filed, `${filed}T21:00:00.000Z`];
});
const LIST = {
  cik: '0000123456',
  name: 'Example Corp',
  tickers: ['EXMP'],
  filings: {
    recent: columns('26', [
      ['8-K', '2026-11-03', '2026-11-03T23:30:00.000Z', '2.02,9.01'],
      ['NT 10-Q', '2026-08-10', '2026-08-10T21:00:00.000Z'],
      ['10-K', '2026-02-12', '2026-02-13T00:30:00.000Z'],
      ...MANY,
    ]),
    files: [
      {
        name: 'CIK0000123456-submissions-001.json',
        filingCount: 2,
        filingFrom: '2019-05-02',
        filingTo: '2020-02-12',
      },
    ],
  },
};
const LIST_NOTE = at('https://data.sec.gov/submissions/CIK0000123456.json');
const PAGE_NOTE = at('https://data.sec.gov/submissions/CIK0000123456-submissions-001.json');

/** Of every kind, on every side of every filing. */
const QUESTIONS: readonly Question[] = [
  '2018-12-31',
  '2019-12-31',
  '2020-06-30',
  '2026-02-12',
  '2026-02-12T23:59:00Z',
  '2026-06-30',
  '2026-11-03T23:00:00Z',
  '2026-11-10',
  '2026-12-31',
].flatMap((cutoff) => [
  ...['10-K', '10-Q', '8-K', 'NT 10-Q', '4'].map((form) => ({ form, eventClass: null, cutoff })),
  ...['2.02', '5.02', '1.01'].map((eventClass) => ({ form: '8-K', eventClass, cutoff })),
]);

const imported = (payload: unknown, note: typeof LIST_NOTE) =>
  readPayload(sourceOf('sec-edgar'), { bytes: bytesOf(payload), note, subject: 'payload' });

/** A list as text, so that two equal ones are the same. */
const asText = (stated: unknown): unknown => (Array.isArray(stated) ? stated.join() : stated);
const GRAVE = 'This is a PARTICULARLY DANGEROUS SITUATION.';
const WARNING = { tornadoDamageThreat: ['CONSIDERABLE'] };

const KINDS: Readonly<Record<string, Mutated>> = {
  'a list of storms': {
    source: 'nhc',
    payload: storms(
      storm('al012026', { windWatchesWarnings: { issuance: '2026-08-02T03:00:00.000Z' } }),
      storm('ep022026', { name: 'Other', intensity: '70', classification: 'HU' }),
      storm('ep032026', { name: 'Third', intensity: '30', classification: 'PC' }),
    ),
    note: at('https://www.nhc.noaa.gov/CurrentStorms.json', '2026-08-02T05:00:00Z'),
    says: (list) =>
      new Map([...currentStatements(list)].map(([name, stated]) => [name, asText(stated)])),
    // The source itself writes null where there is no product, and a shorter list where a storm is gone.
    honest: /(WatchesWarnings|WarningGIS) = null$|^activeStorms(\.\d absent| = \[)/,
  },
  'a map of outlook categories': {
    source: 'spc',
    payload: outlookMap(
      mapArea('TSTM', [boxRing([30, 45], [-104, -85]), boxRing([36, 37], [-102, -95])]),
      mapArea('SLGT', [boxRing([37, 40], [-101, -96])]),
    ),
    note: at('https://www.spc.noaa.gov/products/outlook/', '2026-04-17T17:00:00Z'),
    says: currentStatements,
    // An area less, a hole less or a corner less are other areas that may be drawn.
    honest:
      /^features(\.\d absent| = \[)|coordinates(\.0)?(\.\d)? = \[|coordinates(\.\d){2,3} absent$/,
  },
  'alerts in force': {
    source: 'nws-warnings',
    payload: alerts(
      alert('1', 'TO.W'),
      alert('2', 'TO.W', {
        properties: {
          description: GRAVE,
          messageType: 'Update',
          references: [reference('1')],
        },
        parameters: WARNING,
        counties: ['ILC123', 'ILC203'],
      }),
      alert('3', 'HT.Y'),
    ),
    note: at('https://api.weather.gov/alerts/active', '2026-05-20T21:00:00Z'),
    says: currentStatements,
    // The source itself gives a shorter list where an alert is over.
    honest: /^features(\.\d absent| = \[)/,
  },
  'relayed storm reports': {
    source: 'nws-warnings',
    payload: reports(
      report('TORNADO'),
      report('HAIL', { magf: 1.75 }),
      report('RAIN', { magf: 2 }),
      report('TORNADO', {
        valid: '2026-05-20T20:40:00Z',
        remark: 'Corrects previous tornado report from 3 SE Toluca.',
        product_id: '202605202050-KILX-NWUS53-LSRILX',
      }),
    ),
    note: at(
      'https://mesonet.agron.iastate.edu/geojson/lsr.geojson?sts=2026-05-19T20:59Z&ets=2026-05-20T21:00Z',
      '2026-05-20T21:00:00Z',
    ),
    says: currentStatements,
    // No count tells that a report is gone, and only words tell that it corrects another one.
    honest: /^features(\.\d absent| = \[)|\.3\.properties\.remark = /,
  },
  ...AIR_AND_PRICES,
  'a feed of quakes': {
    source: 'usgs-earthquakes',
    payload: QUAKES,
    note: at(QUAKES.metadata.url),
    says: currentStatements,
    // The source itself writes null where nobody reported or computed anything, and another word for what is no quake.
    honest: /\.(felt|cdi|mmi|alert) = null$|\.properties\.type = "n\/a"$/,
  },
  'the detail of a quake': {
    source: 'usgs-earthquakes',
    payload: detail('us1'),
    note: at('https://earthquake.usgs.gov/earthquakes/feed/v1.0/detail/us1.geojson'),
    says: currentStatements,
  },
  'river values in WaterML': {
    source: 'usgs-nwis',
    payload: WATERML,
    note: at('https://waterservices.usgs.gov/nwis/iv/?sites=03336645'),
    says: readingStatements,
  },
  'river values in OGC features': {
    source: 'usgs-nwis',
    payload: OGC,
    note: at('https://api.waterdata.usgs.gov/x?monitoring_location_id=USGS-03336645'),
    says: readingStatements,
  },
  'areas in drought': {
    source: 'usdm',
    payload: ['2026-11-17', '2026-11-10'].flatMap((week) =>
      [
        areas('AR', [53_000, 0, 0, 0, 0, 0]),
        areas('LA', [10_000, 42_000, 21_000, 0, 0, 0]),
        areas('MS', [1_000.5, 47_000, 46_000, 45_000, 10_500, 1_000]),
      ].map((row) => ({ ...row, mapDate: `${week}T00:00:00`, validStart: `${week}T00:00:00` })),
    ),
    note: areaNote('05,22,28'),
    says: readingStatements,
  },
  'demand of a grid': {
    source: 'eia',
    payload: demandAnswer(authorityDay('SWPP', [50_000, 45_000, 57_000])),
    note: demandNote('SWPP'),
    says: readingStatements,
    // The source itself writes null until it has a value.
    honest: /\.value = null$/,
  },
  'a list of fires': {
    source: 'nasa-firms',
    payload: fireList([{}, { at: [-33, 149], confidence: '91' }, { at: [55, -115] }]),
    note: FIRES_NOTE,
    says: currentStatements,
    // No count in the file tells that a row is gone, and an empty header line leaves no table.
    honest: /^line [1-9]\d* absent$/,
  },
  'a list of filings': {
    source: 'sec-edgar',
    payload: LIST,
    note: LIST_NOTE,
    says: (list) => filingStatements([list, imported(PAGE, PAGE_NOTE)], QUESTIONS),
  },
  'the form of an insider': {
    source: 'sec-edgar',
    payload: form4([{ shares: '300' }, { code: 'P', shares: '7' }, { code: 'A' }]),
    note: at('https://www.sec.gov/Archives/edgar/data/123456/000012345626000001/form4.xml'),
    says: currentStatements,
    // No count tells how many transactions there are, an issuer without a ticker writes so, and any number may be true.
    honest:
      /^nonDerivativeTransaction twice$|^issuerTradingSymbol at \d+ = "(n\/a)?"$|^value at \d+ = "99999"$/,
  },
  'an older page of filings': {
    source: 'sec-edgar',
    payload: PAGE,
    note: PAGE_NOTE,
    says: (page) => filingStatements([imported(LIST, LIST_NOTE), page], QUESTIONS),
  },
  ...TRAVEL_AND_DRUGS,
};

/** Each kind is changed and imported in hundreds of ways, once. */
const judged = new Map<Mutated, ReturnType<typeof mutationReport>>();
function reportOf(kind: Mutated): ReturnType<typeof mutationReport> {
  const report = judged.get(kind) ?? mutationReport(kind);
  judged.set(kind, report);
  return report;
}

describe('a payload with one thing wrong in it', () => {
  it.each(Object.entries(KINDS))('I55: makes no false statement of %s', (_name, kind) => {
    const { lies, refused, read, weakened, statements } = reportOf(kind);
    expect(lies).toEqual([]);
    expect(statements).toBeGreaterThan(1);
    expect(refused + weakened).toBeGreaterThan(50);
    expect(read).toBeGreaterThan(5);
  });

  it.each(Object.entries(KINDS))('says the same of %s behind a byte order mark', (_name, kind) => {
    const { payload, note, source, says } = kind;
    const text = typeof payload === 'string' ? payload : JSON.stringify(payload);
    const saidOf = (mark: string) => {
      const bytes = Buffer.from(`${mark}${text}`);
      const sent = { ...note, bytes: bytes.length };
      return says(readPayload(sourceOf(source), { bytes, note: sent, subject: 'payload' }));
    };
    expect(saidOf('\ufeff')).toEqual(saidOf(''));
  });

  it('looks past one byte order mark, and at everything behind it as before', () => {
    const text = JSON.stringify(QUAKES);
    const read = (source: string, bytes: Buffer) =>
      readPayload(sourceOf(source), { bytes, note: at(QUAKES.metadata.url), subject: 'payload' });
    const quakes = (given: string) => read('usgs-earthquakes', Buffer.from(given));
    expect(quakes(`\ufeff${text}`).readings.size).toBe(3);
    expect(() => quakes(`\ufeff\ufeff${text}`)).toThrow('a byte order mark');
    expect(() => quakes(`{"a":1}\ufeff`)).toThrow('not whole JSON');
    expect(() => quakes('\ufeff<html></html>')).toThrow('an HTML or XML page');
    expect(() => quakes('\ufeff ')).toThrow('the payload is empty');
    expect(() => quakes('\ufeff<?xml version="1.0"?><pager></pager>')).toThrow('a loss estimate');
    const wide = Buffer.from(`\ufeff${text}`, 'utf16le');
    expect(() => read('usgs-earthquakes', wide)).toThrow('it is not UTF-8');
    const statistics = Buffer.from('\ufeff# US Geological Survey\n# USGS Daily Statistics\n');
    expect(() => read('usgs-nwis', statistics)).toThrow('percentiles of the days');
  });

  it('is refused or weakened in well over a thousand ways', () => {
    const reports = Object.values(KINDS).map(reportOf);
    const all = reports.reduce((sum, { refused, read }) => sum + refused + read, 0);
    expect(all).toBeGreaterThan(1000);
  });

  it('says of the whole lists both that forms were filed and that they were not', () => {
    const says = filingStatements(
      [imported(LIST, LIST_NOTE), imported(PAGE, PAGE_NOTE)],
      QUESTIONS,
    );
    expect(says.get('10-K  until 2018-12-31')).toBe(false);
    expect(says.get('4  until 2026-06-30')).toBe(false);
    expect(says.get('8-K 5.02 until 2019-12-31')).toBe(true);
    expect(says.get('8-K 1.01 until 2026-11-10')).toBe(false);
    expect(says.get('10-K  until 2026-12-31')).toBe(true);
    expect(says.get('filing.material-events filings_8k_30d_count')).toBe(1);
  });
});

describe('falseStatements()', () => {
  it('finds what differs and what is new, and lets silence be', () => {
    const truth = new Map<string, unknown>([
      ['a', 1],
      ['b', false],
    ]);
    expect(falseStatements(new Map([['a', 1]]), truth)).toEqual([]);
    expect(falseStatements(new Map([['a', null]]), truth)).toEqual([]);
    expect(falseStatements(new Map([['a', 2]]), truth)).toEqual(['a: 2, not 1']);
    expect(falseStatements(new Map([['c', 0]]), truth)).toEqual(['c: 0, not undefined']);
    expect(falseStatements(new Map([['b', 0]]), truth)).toEqual(['b: 0, not false']);
  });
});
