import { describe, expect, it } from 'vitest';
import { ImportError } from '../../../compiler/import/payload.ts';
import { PAYLOADS, readAs, valuesOf } from '../recorded.ts';
import { storm, storms } from '../storms.ts';

const NOTE = {
  url: 'https://www.nhc.noaa.gov/CurrentStorms.json',
  fetched_at: '2026-08-02T05:00:00Z',
};
const ACTIVE = 'hurricane.active-storms';
const IMPACT = 'hurricane.impact-cascade';
const read = (...list: readonly object[]) => readAs('nhc', storms(...list), NOTE);

describe('nhc', () => {
  it('takes the strongest storm of each basin, and a basin without any as none when it was fetched', () => {
    const imported = read(
      storm('ep072026', { intensity: '40', pressure: '1004', name: 'Genevieve' }),
      storm('ep082026', {
        binNumber: 'EP3',
        intensity: '100',
        pressure: '950',
        classification: 'HU',
        name: 'Hernan',
        lastUpdate: '2026-08-02T04:00:00.000Z',
      }),
    );
    expect(valuesOf(imported, ACTIVE)).toEqual([
      [
        'atlantic',
        '2026-08-02T05:00:00Z',
        expect.objectContaining({ band: 'none', max_wind_kt: null, storm_count: 0 }),
      ],
      [
        'cpacific',
        '2026-08-02T05:00:00Z',
        expect.objectContaining({ band: 'none', strongest: null, storms: [] }),
      ],
      [
        'epacific',
        '2026-08-02T04:00:00Z',
        {
          max_wind_kt: 100,
          band: 'major',
          storm_count: 2,
          min_pressure_hpa: 950,
          strongest: 'Hernan',
          storms: ['Hernan HU 100 kt', 'Genevieve TS 40 kt'],
          potential_or_remnant_count: 0,
        },
      ],
    ]);
    expect(imported.readings.get(ACTIVE)?.[2]).toMatchObject({
      entity_name: 'Eastern Pacific basin',
      collected_at: NOTE.fetched_at,
      source_tier: 'T1',
      sources: [{ value: 100, independent: true }],
    });
  });

  it('counts a storm where its bin is, whatever its id says', () => {
    const [, central, eastern] = valuesOf(read(storm('ep072026', { binNumber: 'CP1' })), ACTIVE);
    expect(central?.[2]).toMatchObject({ storm_count: 1 });
    expect(eastern?.[2]).toMatchObject({ storm_count: 0, band: 'none' });
  });

  it.each([
    ['30', 'TD', 'depression'],
    ['34', 'TS', 'tropical-storm'],
    ['63', 'STS', 'tropical-storm'],
    ['64', 'HU', 'cat1-2'],
    ['95', 'HU', 'cat1-2'],
    ['96', 'HU', 'major'],
  ])('puts %s kt of a %s in the band %s', (intensity, classification, band) => {
    const [atlantic] = valuesOf(read(storm('al012026', { intensity, classification })), ACTIVE);
    expect(atlantic?.[2]).toMatchObject({ max_wind_kt: Number(intensity), band });
  });

  it.each(['PTC', 'PC'])('counts a %s apart, whatever its wind', (classification) => {
    const [atlantic] = valuesOf(
      read(storm('al012026', { intensity: '60', classification })),
      ACTIVE,
    );
    expect(atlantic?.[2]).toMatchObject({
      max_wind_kt: null,
      band: 'none',
      storm_count: 0,
      potential_or_remnant_count: 1,
    });
  });

  it('says "none" of watches and warnings only where no storm has any', () => {
    const product = { advNum: '002A', issuance: '2026-08-02T03:00:00.000Z' };
    const imported = read(
      storm('al012026', { windWatchesWarnings: product }),
      storm('ep022026', { binNumber: 'EP2' }),
      storm('ep032026', { binNumber: 'CP1', stormSurgeWatchWarningGIS: product }),
    );
    const under = { warnings_count: null, band: null, storms_with_watch_or_warning_count: 1 };
    const none = { warnings_count: 0, band: 'none', storms_with_watch_or_warning_count: 0 };
    expect(valuesOf(imported, IMPACT).map(([entity, , current]) => [entity, current])).toEqual([
      ['atlantic', under],
      ['cpacific', under],
      ['epacific', none],
    ]);
  });

  it('takes an update for the hour to come, which is out before, as of the fetch', () => {
    const [atlantic] = valuesOf(
      read(storm('al012026', { lastUpdate: '2026-08-02T06:00:00.000Z' })),
      ACTIVE,
    );
    expect(atlantic?.[1]).toBe(NOTE.fetched_at);
  });

  it.each([
    ['a wind in words', { intensity: 'strong' }, 'activeStorms.0.intensity'],
    ['a wind in another unit', { intensity: '40 mph' }, 'activeStorms.0.intensity'],
    ['a wind that is a number', { intensity: 40 }, 'activeStorms.0.intensity'],
    ['a pressure in inches', { pressure: '29.65' }, 'activeStorms.0.pressure'],
    ['an unknown class', { classification: 'XX' }, 'activeStorms.0.classification'],
    ['a bin of another ocean', { binNumber: 'WP1' }, 'activeStorms.0.binNumber'],
    ['a day that does not exist', { lastUpdate: '2026-02-30T03:00:00.000Z' }, 'lastUpdate'],
    ['no word on watches', { windWatchesWarnings: undefined }, 'windWatchesWarnings'],
    ['watches without an issue', { stormSurgeWatchWarningGIS: {} }, 'stormSurgeWatchWarningGIS'],
    ['an update after the fetch', { lastUpdate: '2026-08-02T06:00:01.000Z' }, 'after its fetch'],
    ['a stale update', { lastUpdate: '2026-08-01T15:00:00.000Z' }, 'stale when it was fetched'],
  ])('I55: refuses a list with %s', (_name, over, message) => {
    expect(() => read(storm('al012026', over))).toThrow(ImportError);
    expect(() => read(storm('al012026', over))).toThrow(message);
  });

  it.each([
    ['a storm twice', storms(storm('al012026'), storm('al012026')), 'listed twice'],
    ['no list', { storms: [] }, 'not the list of active storms (activeStorms'],
    ['a page of markup', '<html></html>', 'HTML'],
    ['half a list', JSON.stringify(storms(storm('al012026'))).slice(0, 200), 'not whole JSON'],
  ])('I55: refuses %s', (_name, payload, message) => {
    expect(() => readAs('nhc', payload, NOTE)).toThrow(message);
  });
});

describe.each(PAYLOADS)('recorded answers of the agency: $name', ({ recorded }) => {
  const file = (name: string, fetched_at: string) =>
    readAs('nhc', recorded(`nhc/${name}`), { ...NOTE, fetched_at });

  it('has Genevieve in the Eastern Pacific on 2026-08-02, and nothing in the Atlantic', () => {
    const imported = file('CurrentStorms_2026-08-02.json', '2026-08-02T04:00:00Z');
    const [atlantic, , eastern] = valuesOf(imported, ACTIVE);
    expect(atlantic?.[2]).toMatchObject({ band: 'none', storm_count: 0 });
    expect(eastern).toEqual([
      'epacific',
      '2026-08-02T03:00:00Z',
      expect.objectContaining({
        max_wind_kt: 40,
        min_pressure_hpa: 1004,
        strongest: 'Genevieve',
        band: 'tropical-storm',
      }),
    ]);
    expect(valuesOf(imported, IMPACT)[2]?.[2]).toMatchObject({ band: 'none', warnings_count: 0 });
  });

  it('has Arthur in the Atlantic on 2020-05-17, with watches or warnings', () => {
    const imported = file('CurrentStorms_2020-05-17.json', '2020-05-17T08:00:00Z');
    const [atlantic] = valuesOf(imported, ACTIVE);
    expect(atlantic?.[1]).toBe('2020-05-17T06:00:00Z');
    expect(atlantic?.[2]).toMatchObject({
      max_wind_kt: 35,
      band: 'tropical-storm',
      storms: ['Arthur TS 35 kt'],
    });
    expect(valuesOf(imported, IMPACT)[0]?.[2]).toMatchObject({ band: null, warnings_count: null });
  });

  it.each([
    'tcp_al012014_arthur_adv19_last.txt',
    'tcp_al022017_ptc-two_adv02.txt',
    'tcp_al092016_hermine_adv28A_corrected.txt',
    'tcp_ep2.txt',
  ])('refuses %s as the text of one storm', (name) => {
    expect(() => file(name, '2026-11-20T00:00:00Z')).toThrow(
      /it is TCP(AT|EP)\d, the public text of one storm/,
    );
  });
});
