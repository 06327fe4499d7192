import { describe, expect, it } from 'vitest';
import { BUILTIN, builtinLine } from '../../../compiler/contract/catalog/builtin.ts';
import { placesOf } from '../../../compiler/contract/catalog/catalog.ts';
import { CONVECTION_AREAS } from '../../../compiler/import/convection-regions.ts';
import { ImportError, type Imported } from '../../../compiler/import/payload.ts';
import { inBox } from '../../../compiler/import/region-box.ts';
import { boxPoints, boxRing, mapArea, outlookMap, point, pointsText } from '../outlooks.ts';
import { PAYLOADS, readAs } from '../recorded.ts';

const CONVECTION_REGIONS = builtinLine('severe-convection').entities;

const NOTE = {
  url: 'https://www.spc.noaa.gov/products/outlook/day1otlk_cat.nolyr.geojson',
  fetched_at: '2026-04-17T17:00:00Z',
};
const RISK = 'severe-convection.forecast-risk-env';
const read = (payload: unknown) => readAs('spc', payload, NOTE);
const bandsOf = ({ readings }: Imported) =>
  Object.fromEntries(
    (readings.get(RISK) ?? []).map(({ entity, current }) => [entity, current.band]),
  );

const MAP = outlookMap(
  mapArea('TSTM', [boxRing([30, 45], [-104, -85])]),
  mapArea('SLGT', [boxRing([37, 40], [-101, -96])]),
);
const TEXT = pointsText([
  ['MDT', boxPoints([38.2, 38.6], [-99, -98])],
  ['SLGT', boxPoints([37, 40], [-101, -96]), boxPoints([27, 27.5], [-82, -81])],
  ['TSTM', [point(29, -105), point(49.5, -105)]],
]);

describe('the regions of the line', () => {
  it('are all there, with a box and counties', () => {
    expect([...CONVECTION_AREAS.keys()].sort()).toEqual([...CONVECTION_REGIONS].sort());
    for (const { states, zones } of CONVECTION_AREAS.values()) {
      const named = new Set([...zones].map((zone) => /^([A-Z]{2})C\d{3}$/.exec(zone)?.[1]));
      expect([...named]).toEqual(states);
    }
  });
});

describe('a region of the line', () => {
  it.each([...CONVECTION_AREAS])('%s has its place in its box', (entity, { box }) => {
    const place = placesOf(BUILTIN, 'severe-convection').get(entity);
    expect(place && inBox(box, place.longitude, place.latitude)).toBe(true);
  });
});

describe('spc', () => {
  it('takes the highest category of a map in every region', () => {
    const imported = read(MAP);
    const {
      'central-kansas': kansas,
      'corn-belt-il': illinois,
      'mid-atlantic': east,
    } = bandsOf(imported);
    expect([kansas, illinois, east]).toEqual(['slight', 'tstm', null]);
    const reading = imported.readings.get(RISK)?.find(({ entity }) => entity === 'central-kansas');
    expect(reading).toMatchObject({
      entity_name: 'Central Kansas',
      observed_at: '2026-04-17T16:35:00Z',
      collected_at: NOTE.fetched_at,
      current: {
        outlook_category_index: 2,
        band: 'slight',
        category: 'SLGT',
        expires_at: '2026-04-18T12:00:00Z',
      },
      sources: [{ name: 'NOAA Storm Prediction Center', value: 2, independent: true }],
      source_tier: 'T1',
    });
    expect(imported.remarks).toEqual([
      'highest category anywhere SLGT, valid until 2026-04-18T12:00:00Z',
    ]);
  });

  it('says of a region without any category that there is none', () => {
    const east = read(MAP)
      .readings.get(RISK)
      ?.find(({ entity }) => entity === 'mid-atlantic');
    expect(east?.current).toMatchObject({
      outlook_category_index: null,
      band: null,
      category: 'none',
    });
  });

  it('leaves out a hole, and what only touches a region', () => {
    const around = mapArea('ENH', [boxRing([30, 45], [-104, -85]), boxRing([36, 41], [-102, -95])]);
    const touching = mapArea('HIGH', [boxRing([39.49, 41], [-99, -98])]);
    expect(bandsOf(read(outlookMap(around, touching)))['central-kansas']).toBeNull();
    const plain = mapArea('ENH', [boxRing([30, 45], [-104, -85])]);
    const inside = mapArea('HIGH', [boxRing([39.4, 41], [-99, -98])]);
    expect(bandsOf(read(outlookMap(plain)))['central-kansas']).toBe('enhanced');
    expect(bandsOf(read(outlookMap(plain, inside)))['central-kansas']).toBe('high');
  });

  it('takes the points of a text, with lines that end at the border', () => {
    const imported = read(TEXT);
    expect(bandsOf(imported)).toMatchObject({
      'central-kansas': 'moderate',
      'tornado-alley-core': 'slight',
      'florida-peninsula': 'slight',
      'mid-atlantic': 'tstm',
      'front-range-co': 'tstm',
    });
    expect(imported.readings.get(RISK)?.[0]).toMatchObject({
      observed_at: '2026-04-17T16:35:00Z',
      current: { expires_at: '2026-04-18T12:00:00Z' },
    });
  });

  it('says who rebuilt a text', () => {
    const text = TEXT.replace('NWS STORM PREDICTION CENTER', 'IOWA MESONET SYNTHETIC PRODUCT FROM');
    const [reading] = read(text).readings.get(RISK) ?? [];
    expect(reading).toMatchObject({
      source_tier: 'T2',
      sources: [
        {
          name: 'Iowa Environmental Mesonet',
          independent: false,
          relay_of: 'NOAA Storm Prediction Center',
        },
      ],
    });
  });

  const one = (over: object) =>
    outlookMap(mapArea('TSTM', [boxRing([30, 45], [-104, -85])], { ...over }));
  it.each([
    ['a category under another name', one({ LABEL: 'SEVERE' }), 'features.0.properties.LABEL'],
    ['a category of another number', one({ DN: 3 }), 'TSTM has the number 3, not 2'],
    ['two times of issue', one({ ISSUE: '202604171300' }), 'the times of TSTM differ'],
    [
      'an expiry before its issue',
      one({ EXPIRE: '202604171200', EXPIRE_ISO: '2026-04-17T12:00:00Z' }),
      'expires before',
    ],
    ['a category twice', outlookMap(...MAP.features, MAP.features[0] ?? {}), 'TSTM is drawn twice'],
    [
      'areas of two issues',
      outlookMap(
        ...MAP.features,
        mapArea('MRGL', [boxRing([30, 45], [-104, -85])], {
          ISSUE: '202604171300',
          ISSUE_ISO: '2026-04-17T13:00:00+00:00',
        }),
      ),
      'MRGL is of another issue',
    ],
    ['no area', outlookMap(), 'no area is drawn'],
    [
      'an open geometry',
      outlookMap({ ...MAP.features[0], geometry: { type: 'LineString' } }),
      'features.0.geometry',
    ],
    [
      'a ring that is open',
      outlookMap(mapArea('TSTM', [boxRing([30, 45], [-104, -85]).slice(1)])),
      'a ring that does not end',
    ],
    [
      'an issue after the fetch',
      one({ ISSUE: '202604171800', ISSUE_ISO: '2026-04-17T18:00:00Z' }),
      'after its fetch',
    ],
  ])('I55: refuses a map with %s', (_name, map, message) => {
    expect(() => read(map)).toThrow(ImportError);
    expect(() => read(map)).toThrow(message);
  });

  it.each([
    ['a point too few', TEXT.replace('11 NNW ABC\n', ''), 'MDT has 5 points, its sentences name 4'],
    ['a lost row', TEXT.replace(/^ {7}\d.*\n/m, ''), 'points, its sentences name'],
    ['a category under another name', TEXT.replace('MDT    ', 'SEV    '), 'row "SEV    '],
    ['a sentence of another one', TEXT.replace('MDT RISK', 'SEV RISK'), '"SEV RISK" is not known'],
    ['a point of seven digits', TEXT.replace('29000500', '2900500'), 'row "TSTM   2900500'],
    ['a line that ends inland', TEXT.replace('29000500', '39000500'), 'far from the border'],
    ['another weekday', TEXT.replace('FRI APR 17', 'SAT APR 17'), 'no time of issue'],
    ['an unknown zone', TEXT.replace('AM CDT', 'AM XDT'), 'no time of issue'],
    ['another hour', TEXT.replace('1135 AM', '0335 PM'), 'its heading says 171637'],
    ['a valid time of another day', TEXT.replace('181200Z', '201200Z'), 'no VALID TIME'],
    ['no end of its table', TEXT.replace('&&', ''), 'no whole table'],
  ])('I55: refuses a text with %s', (_name, text, message) => {
    expect(text).not.toBe(TEXT);
    expect(() => read(text)).toThrow(ImportError);
    expect(() => read(text)).toThrow(message);
  });

  it.each([
    [
      TEXT.replace('PTSDY1', 'PTSDY3'),
      'it is PTSDY3, the points of an outlook; import PTSDY1, of the first day',
    ],
    [TEXT.replace('PTSDY1', 'SEL5'), 'it is SEL5, the text of one watch'],
    ['<html></html>', 'HTML'],
    [JSON.stringify(MAP).slice(0, 300), 'not whole JSON'],
  ])('refuses another document by its name', (text, message) => {
    expect(() => read(text)).toThrow(message);
  });
});

describe.each(PAYLOADS)('recorded outlooks: $name', ({ recorded }) => {
  const file = (name: string) =>
    readAs('spc', recorded(`spc/${name}`), { ...NOTE, fetched_at: '2026-11-20T00:00:00Z' });

  it('reads the map of one area, which covers no region', () => {
    const imported = file('day1otlk_cat_2026-09-25_one-feature.geojson');
    expect(imported.remarks).toEqual([
      'highest category anywhere TSTM, valid until 2026-09-26T12:00:00Z',
    ]);
    expect(new Set(Object.values(bandsOf(imported)))).toEqual(new Set([null]));
    expect(imported.readings.get(RISK)?.[0]?.observed_at).toBe('2026-09-25T16:09:00Z');
  });

  it.each([
    ['ptsdy1_1994-06-12_mdt.txt', '1994-06-12T14:37:00Z', 'MDT', 'iowa-missouri', 'moderate'],
    ['ptsdy1_1999-05-03_mdt.txt', '1999-05-03T16:15:00Z', 'MDT', 'tornado-alley-core', 'moderate'],
    ['ptsdy1_2006-05-10_mdt.txt', '2006-05-10T16:32:00Z', 'MDT', 'dixie-alabama', 'moderate'],
    ['ptsdy1_2014-05-06_tstm.txt', '2014-05-06T12:50:00Z', 'TSTM', 'corn-belt-il', 'tstm'],
    ['ptsdy1_2015-06-04_enh.txt', '2015-06-04T16:25:00Z', 'ENH', 'iowa-missouri', 'enhanced'],
    ['ptsdy1_2015-06-22T1300Z_enh.txt', '2015-06-22T12:54:00Z', 'ENH', 'ohio-valley', 'enhanced'],
    ['ptsdy1_2015-06-22T2000Z_enh.txt', '2015-06-22T20:07:00Z', 'ENH', 'corn-belt-il', 'enhanced'],
    ['ptsdy1_2019-05-28T0100Z_enh.txt', '2019-05-28T01:18:00Z', 'ENH', 'ohio-valley', 'enhanced'],
    ['ptsdy1_2019-09-07_mrgl.txt', '2019-09-07T12:55:00Z', 'MRGL', 'central-kansas', 'marginal'],
    ['ptsdy1_2021-04-27_slgt.txt', '2021-04-27T16:23:00Z', 'SLGT', 'north-texas', 'slight'],
    ['ptsdy1_2021-06-01_mrgl.txt', '2021-06-01T12:36:00Z', 'MRGL', 'tx-panhandle-hail', 'marginal'],
    ['ptsdy1_2026-04-17_mdt.txt', '2026-04-17T16:35:00Z', 'MDT', 'central-kansas', 'moderate'],
    ['ptsdy1_2026-07-22T0100Z_slgt.txt', '2026-07-22T00:54:00Z', 'SLGT', 'mid-atlantic', 'slight'],
  ])('reads %s', (name, ...[issued, highest, entity, band]) => {
    const imported = file(name);
    expect(imported.remarks[0]).toContain(`highest category anywhere ${highest},`);
    expect(bandsOf(imported)[entity ?? '']).toBe(band);
    expect(new Set(imported.readings.get(RISK)?.map(({ observed_at }) => observed_at))).toEqual(
      new Set([issued]),
    );
  });

  it('finds no storms where the outlook of 2026-04-17 drew none', () => {
    const bands = bandsOf(file('ptsdy1_2026-04-17_mdt.txt'));
    expect(bands).toMatchObject({
      'florida-peninsula': null,
      'front-range-co': null,
      'mid-atlantic': 'tstm',
    });
  });

  it.each([
    ['ptsdy3_2026-03-03_cig.txt', 'it is PTSDY3, the points of an outlook'],
    ['watch_saw9_2021_pds.txt', 'it is SAW9, the outline of one watch'],
    ['watch_saw_cancelled.txt', 'it is SAW5, the outline of one watch'],
    ['watch_sel5_2007.txt', 'it is SEL5, the text of one watch'],
    ['watch_sel9_2021-07-28_svr-pds.txt', 'it is SEL9, the text of one watch'],
    ['watch_wwp9.txt', 'it is WWP9, the probabilities of one watch'],
    ['watch_wwp9_pds.txt', 'it is WWP9, the probabilities of one watch'],
  ])('refuses %s', (name, message) => {
    expect(() => file(name)).toThrow(message);
  });
});
