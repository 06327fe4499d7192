import { describe, expect, it } from 'vitest';
import {
  conditionsOf,
  aviationweather as source,
} from '../../../compiler/import/sources/aviationweather/aviationweather.ts';
import {
  flightCategory,
  parseMetar,
} from '../../../compiler/import/sources/aviationweather/metar.ts';
import { PAYLOADS, readAs, valuesOf } from '../recorded.ts';

const API = 'https://aviationweather.gov/api/data/metar';
const SIGNAL = 'nas.aviation_wx';
const AT = { url: API, fetched_at: '2026-11-20T11:05:00Z' };

/** A decoded report of 10:52Z, in agreement with its text. */
const decoded = (over: Record<string, unknown> = {}) => ({
  icaoId: 'KATL',
  obsTime: Date.parse('2026-11-20T10:52:00Z') / 1000,
  reportTime: '2026-11-20T11:00:00.000Z',
  wdir: 100,
  wspd: 14,
  wgst: 22,
  visib: 2.5,
  wxString: '-RA BR',
  rawOb: 'METAR KATL 201052Z 10014G22KT 2 1/2SM -RA BR SCT008 BKN015 OVC030 13/12 A2991 RMK AO2 $',
  clouds: [
    { cover: 'SCT', base: 800 },
    { cover: 'BKN', base: 1500 },
    { cover: 'OVC', base: 3000 },
  ],
  fltCat: 'IFR',
  ...over,
});
const clear = (station: string, over: Record<string, unknown> = {}) => ({
  icaoId: station,
  obsTime: Date.parse('2026-11-20T10:53:00Z') / 1000,
  wspd: 3,
  visib: '10+',
  rawOb: `METAR ${station} 201053Z 10003KT 10SM FEW250 13/12 A2991`,
  clouds: [{ cover: 'FEW', base: 25000 }],
  fltCat: 'VFR',
  ...over,
});
const read = (...reports: readonly object[]) => readAs('aviationweather', reports, AT);
const conditions = (text: string) => {
  const metar = parseMetar(`KATL 201052Z ${text}`);
  return metar === null ? null : conditionsOf(metar);
};

describe('aviationweather, decoded reports', () => {
  it('gives the metrics of a report, at its own time and not at the rounded one', () => {
    const imported = read(decoded());
    expect(valuesOf(imported, SIGNAL)).toEqual([
      [
        'atl',
        '2026-11-20T10:52:00Z',
        {
          visibility_mi: 2.5,
          ceiling_ft: 1500,
          wind_kt: 14,
          gust_kt: 22,
          wx: '-RA BR',
          flight_category: 'IFR',
          band: 'ifr',
        },
      ],
    ]);
    const [reading] = imported.readings.get(SIGNAL) ?? [];
    expect(reading).toMatchObject({
      source_tier: 'T1',
      qualifiers: ['station needs maintenance'],
      source_ref: `${API}?ids=KATL&format=json`,
    });
  });

  it('knows Anchorage by its own station, and bounds of visibility', () => {
    const imported = read(clear('PANC'), clear('KSEA'));
    expect(valuesOf(imported, SIGNAL).map(([entity]) => entity)).toEqual(['anc', 'sea']);
    const [reading] = imported.readings.get(SIGNAL) ?? [];
    expect(reading?.current).toMatchObject({ visibility_mi: 10, ceiling_ft: null, wx: null });
    expect(reading?.qualifiers).toEqual(['visibility 10 mi or more']);
  });

  it('takes the newest report, and a correction for what it corrects', () => {
    const older = decoded({
      obsTime: Date.parse('2026-11-20T09:52:00Z') / 1000,
      rawOb: decoded().rawOb.replace('201052Z', '200952Z'),
    });
    expect(valuesOf(read(older, decoded(), older), SIGNAL)).toHaveLength(1);
    expect(valuesOf(read(older, decoded()), SIGNAL)[0]?.[1]).toBe('2026-11-20T10:52:00Z');
    const corrected = clear('KATL', {
      obsTime: decoded().obsTime,
      rawOb: 'METAR KATL 201052Z COR 10003KT 10SM FEW250 13/12 A2991',
    });
    expect(valuesOf(read(decoded(), corrected), SIGNAL)[0]?.[2]).toMatchObject({
      band: 'vfr_clear',
    });
    const other = clear('KATL', {
      obsTime: decoded().obsTime,
      rawOb: 'METAR KATL 201052Z 10003KT 10SM FEW250 13/12 A2991',
    });
    expect(() => read(decoded(), other)).toThrow('two reports of one time');
  });

  it.each([
    ['icaoId', { icaoId: 'KBOS' }],
    ['obsTime', { obsTime: decoded().obsTime - 3600 }],
    ['obsTime', { obsTime: decoded().obsTime * 1000 }],
    ['wspd', { wspd: 7 }],
    ['wspd', { wspd: undefined }],
    ['wgst', { wgst: null }],
    ['visib', { visib: '10+' }],
    ['wxString', { wxString: undefined }],
    ['clouds', { clouds: [] }],
    ['fltCat', { fltCat: 'VFR' }],
  ])('I55: skips a report whose %s says something else than its text', (member, over) => {
    const imported = read(decoded(over), clear('KSEA'));
    expect(valuesOf(imported, SIGNAL).map(([entity]) => entity)).toEqual(['sea']);
    expect(imported.skipped[0]?.reason).toContain(`${member} differs from the report itself`);
  });

  it('takes an obscured sky that is decoded without a height by its text', () => {
    const fog = decoded({
      wspd: 0,
      wgst: undefined,
      visib: 0.25,
      wxString: 'FG',
      clouds: [{ cover: 'OVX' }],
      rawOb: 'SPECI KATL 201052Z 00000KT 1/4SM R09L/1200FT FG VV002 05/05 A2997',
      fltCat: 'LIFR',
    });
    expect(valuesOf(read(fog), SIGNAL)[0]?.[2]).toMatchObject({ ceiling_ft: 200, band: 'lifr' });
  });

  it.each([
    [
      'a station that its address does not ask for',
      [clear('KATL')],
      `${API}?ids=KSEA,KBOS`,
      'does not ask for',
    ],
    [
      'only a station of no airport here',
      [clear('KCLE')],
      `${API}?ids=KCLE`,
      'KCLE: not an airport of this line',
    ],
    ['no report', [], API, 'it is empty'],
    ['a report of after the fetch', [clear('KATL')], API, 'after its fetch'],
    ['another shape', { error: 'x' }, API, 'not a list of decoded METAR reports'],
    [
      'an hour as text',
      [clear('KATL', { obsTime: '1790823120' })],
      API,
      'report 1: obsTime cannot be read',
    ],
    [
      'a visibility in metres',
      [clear('KATL', { visib: '9999 m' })],
      API,
      'report 1: visib cannot be read',
    ],
  ])('refuses %s', (...[, payload, url, message]) => {
    const fetched_at = message === 'after its fetch' ? '2026-11-20T10:52:59Z' : AT.fetched_at;
    expect(() => readAs('aviationweather', payload, { url, fetched_at })).toThrow(message);
  });

  it('asks for all airports, or for those that are wanted', () => {
    const addresses = (entities: readonly string[]) =>
      source.fetch?.addresses({ entities, now: 0 });
    expect(addresses(['anc', 'bos'])).toEqual([`${API}?ids=PANC,KBOS&format=json`]);
    expect(addresses([])?.[0]).toContain('KEWR,KLGA,');
  });
});

const BULLETIN = [
  '\u0001\r\r\n769 \r\r\nSAUS80 KWBC 201100 RRI\r\r\nMETAR',
  'KSEA 201053Z 21006KT 10SM FEW026 BKN035 07/03 A3019 RMK AO2\r\r\n     SLP232=',
  'KBOS 201054Z AUTO VRB06KT 1 3/4SM -SN OVC004 M07/M10 A2987 RMK AO2=',
  'KDMH 201054Z AUTO 00/M06 A3012 RMK AO1=',
  '\r\r\n\u0003\n',
].join('\r\r\n');

describe('aviationweather, a raw bulletin', () => {
  const readText = (text: string, fetched_at = AT.fetched_at) =>
    readAs('aviationweather', text, { url: 'https://example.gov/bulletin', fetched_at });

  it('gives the reports of our airports', () => {
    const imported = readText(BULLETIN);
    expect(valuesOf(imported, SIGNAL)).toMatchObject([
      ['bos', '2026-11-20T10:54:00Z', { visibility_mi: 1.75, ceiling_ft: 400, band: 'lifr' }],
      ['sea', '2026-11-20T10:53:00Z', { visibility_mi: 10, ceiling_ft: 3500, band: 'vfr_clear' }],
    ]);
    expect(imported.skipped).toEqual([
      { subject: 'KDMH', reason: 'not an airport of this line', count: 1 },
    ]);
  });

  it('takes day 31 for last month when it is read on the 1st', () => {
    const text = BULLETIN.replaceAll(' 2010', ' 3123');
    expect(valuesOf(readText(text, '2027-01-01T00:10:00Z'), SIGNAL)[1]?.[1]).toBe(
      '2026-12-31T23:53:00Z',
    );
    expect(() => readText(text, '2026-12-01T00:10:00Z')).toThrow('not of the day before the fetch');
    expect(() => readText(text, '2027-01-03T00:10:00Z')).toThrow('not of the day before the fetch');
  });

  it('I55: skips a report that is cut off, and refuses a text without a bulletin heading', () => {
    const cut = readText(BULLETIN.slice(0, BULLETIN.indexOf('OVC004')));
    expect(valuesOf(cut, SIGNAL).map(([entity]) => entity)).toEqual(['sea']);
    expect(cut.skipped).toEqual([{ subject: 'last report', reason: 'it is cut off', count: 1 }]);
    expect(() => readText('KSEA 201053Z 21006KT 10SM CLR=')).toThrow('nor a bulletin');
    expect(() => readText('<html>x</html>')).toThrow('HTML');
  });
});

describe('parseMetar()', () => {
  it.each([
    ['10003KT 10SM CLR 13/12 A2991', { band: 'vfr_clear', ceiling_ft: null }],
    ['10003KT P6SM SKC', { band: 'vfr_clear', visibility_mi: 6 }],
    ['10003KT 5SM BKN040', { band: 'mvfr', ceiling_ft: 4000 }],
    ['10003KT 6SM BKN030', { band: 'mvfr' }],
    ['10003KT 6SM BKN031', { band: 'vfr_clear' }],
    ['10003KT 10SM OVC009', { band: 'ifr' }],
    ['10003KT 10SM OVC010', { band: 'mvfr' }],
    ['10003KT 2 1/2SM FEW001 SCT002', { band: 'ifr', ceiling_ft: null }],
    ['10003KT 10SM OVC004', { band: 'lifr' }],
    ['10003KT M1/4SM FG VV///', { band: null, visibility_mi: 0.25, flight_category: null }],
    ['10003KT 3/4SM -SN VV006', { band: 'lifr', ceiling_ft: 600 }],
    ['10003KT 10SM TSRA FEW040CB', { band: 'convective_or_high_wind', flight_category: 'VFR' }],
    ['10003KT 10SM VCTS CLR', { band: 'convective_or_high_wind' }],
    ['10003KT 10SM +FC BKN040', { band: 'convective_or_high_wind' }],
    ['28020G35KT 10SM CLR', { band: 'convective_or_high_wind', gust_kt: 35 }],
    ['28020G34KT 10SM CLR', { band: 'vfr_clear', gust_kt: 34 }],
    ['280105KT 10SM CLR', { band: 'convective_or_high_wind', wind_kt: 105 }],
    ['AUTO 10SM CLR', { band: null, wind_kt: null, flight_category: 'VFR' }],
    ['AUTO /////KT 10SM CLR', { band: null, wind_kt: null }],
    ['AUTO 10003KT 00/M06 A3012', { band: null, visibility_mi: null, flight_category: null }],
    ['10003KT 250V330 R28L/P6000FT 10SM CLR M01/ A////', { band: 'vfr_clear' }],
  ])('reads %s', (text, expected) => {
    expect(conditions(text)).toMatchObject(expected);
  });

  it('says nothing of a ceiling where the sky is not reported', () => {
    expect(conditions('10003KT 10SM 13/12')).not.toHaveProperty('ceiling_ft');
    expect(flightCategory({ visibility: null, ceiling: null })).toBeNull();
  });

  it.each([
    '10003KT 10SM CLR QQQ',
    '10003MPS 9999 CLR',
    '10003KT 9999 OVC010',
    '10003KT 10SM 5SM CLR',
    '10003KT 20004KT 10SM CLR',
    'NIL',
  ])('I55: reads no report with a group that is not known: %s', (text) => {
    expect(parseMetar(`KATL 201052Z ${text}`)).toBeNull();
  });

  it.each([
    '',
    'KATL',
    'KATL 201052 10003KT',
    'KATL 321052Z CLR',
    'KATL 202452Z CLR',
    'TAF KATL 201052Z',
  ])('reads no report of "%s"', (text) => {
    expect(parseMetar(text)).toBeNull();
  });

  it('reads flags of the station from its remarks', () => {
    expect(parseMetar('KATL 201052Z AUTO CLR RMK AO1 TSNO $')?.flags).toEqual([
      'automatic report',
      'station needs maintenance',
      'no thunderstorm sensor',
    ]);
    expect(parseMetar('KATL 201052Z CLR RMK AO2 SLP131')?.flags).toEqual([]);
  });
});

describe.each(PAYLOADS)('recorded reports: $name', ({ recorded }) => {
  const at = (ids: string) => ({ url: `${API}?ids=${ids}`, fetched_at: '2026-10-01T02:57:00Z' });

  it('gives the worked values of Atlanta', () => {
    const payload = recorded('aviationweather/metar_KATL_2026-10-01T0252Z.json');
    expect(valuesOf(readAs('aviationweather', payload, at('KATL')), SIGNAL)).toMatchObject([
      [
        'atl',
        '2026-10-01T02:52:00Z',
        { ceiling_ft: null, visibility_mi: 10, wind_kt: 3, band: 'vfr_clear' },
      ],
    ]);
  });

  it('reads Cleveland to its worked values, and refuses it as no airport of ours', () => {
    const payload = recorded('aviationweather/metar_KCLE_2026-10-01T0251Z.json');
    const message = 'KCLE: not an airport of this line';
    expect(() => readAs('aviationweather', payload, at('KCLE'))).toThrow(message);
    const [{ rawOb }] = JSON.parse(payload.toString()) as [{ rawOb: string }];
    const metar = parseMetar(rawOb);
    expect(metar === null ? null : conditionsOf(metar)).toMatchObject({
      ceiling_ft: 10000,
      wx: '-RA',
      band: 'vfr_clear',
    });
  });

  it('reads all reports of the collective, of which one is of ours', () => {
    const payload = recorded('aviationweather/metar_collective2.txt');
    const note = { url: 'https://example.gov/', fetched_at: '2013-02-01T00:10:00Z' };
    const imported = readAs('aviationweather', payload, note);
    expect(valuesOf(imported, SIGNAL)).toMatchObject([
      ['sea', '2013-01-31T23:53:00Z', { ceiling_ft: 3500, wind_kt: 6, band: 'vfr_clear' }],
    ]);
    expect(new Set(imported.skipped.map(({ reason }) => reason))).toEqual(
      new Set(['not an airport of this line']),
    );
  });
});
