import { describe, expect, it } from 'vitest';
import { sourceOf } from '../../../compiler/import/sources.ts';
import { PAYLOADS, readAs, valuesOf } from '../recorded.ts';
import { PROVINCE_TITLE, provinceText } from '../tables.ts';

const URL_HOME = 'https://www.star.nesdis.noaa.gov/smcd/emb/vci/VH/get_TS_admin.php';
const read = (payload: string, url = URL_HOME) => readAs('noaa-star-vhi', payload, { url });
const GOOD = '2020, 2, 0.053,260.31, 45.01, 39.46, 39.99,';

describe('noaa-star-vhi', () => {
  it('takes the weeks with data, at their last day, by the number of the agency', () => {
    const imported = read(provinceText());
    expect(
      valuesOf(imported, 'agriculture.crop-vhi').map(([entity, at, { vhi_index }]) => [
        entity,
        at,
        vhi_index,
      ]),
    ).toEqual([
      ['ukr-6', '2019-12-23T00:00:00Z', 55.69],
      ['ukr-6', '2019-12-31T00:00:00Z', 53.51],
      ['ukr-6', '2020-01-14T00:00:00Z', 39.99],
    ]);
    const [, , last] = imported.readings.get('agriculture.crop-vhi') ?? [];
    expect(last).toMatchObject({
      entity_name: "Donets'k, UKR",
      current: {
        vhi_index: 39.99,
        vci_index: 45.01,
        tci_index: 39.46,
        ndvi_smn: 0.053,
        bt_smt_k: 260.31,
      },
    });
    expect(imported.skipped).toEqual([
      { subject: 'ukr-6', reason: 'a week without data (-1)', count: 2 },
    ]);
  });

  it('takes a region of ours that is one province by its own id', () => {
    const title = PROVINCE_TITLE.replace("UKR  Province= 6: Donets'k", 'USA  Province= 16: Iowa');
    const [reading] = valuesOf(read(provinceText([GOOD], title)), 'agriculture.crop-vhi');
    expect(reading?.[0]).toBe('us-iowa');
    const other = title.replace('USA', 'UKR');
    expect(valuesOf(read(provinceText([GOOD], other)), 'agriculture.crop-vhi')[0]?.[0]).toBe(
      'ukr-16',
    );
  });

  it('takes the newer form, which names its columns', () => {
    const header = 'year,week, SMN,SMT, VCI, TCI, VHI,';
    expect(read(provinceText([header, GOOD])).readings.get('agriculture.crop-vhi')).toHaveLength(1);
    const swapped = 'year,week, SMN,SMT, TCI, VCI, VHI,';
    expect(() => read(provinceText([swapped, GOOD]))).toThrow('is no week of');
  });

  it.each([
    ['a week 53', '2020,53, 0.1,260, 45, 39, 40,', 'is no week'],
    ['a week 0', '2020, 0, 0.1,260, 45, 39, 40,', 'is no week'],
    ['a year that it does not announce', '2021, 1, 0.1,260, 45, 39, 40,', 'is no week'],
    ['a column too few', '2020, 3, 0.1,260, 45, 39,', 'is no week'],
    ['a column too many', '2020, 3, 0.1,260, 45, 39, 40, 41,', 'is no week'],
    ['a word', '2020, 3, 0.1,260, 45, 39, high,', 'is no week'],
    ['an index above 100', '2020, 3, 0.1,260, 45, 39, 140,', 'outside of its scale'],
    ['an index alone without data', '2020, 3, 0.1,260, 45, 39, -1.00,', 'outside of its scale'],
    ['a temperature in °C', '2020, 3, 0.1,17, 45, 39, 40,', 'outside of its scale'],
    ['a week twice', GOOD, 'repeats a week'],
  ])('refuses %s', (_name, week, message) => {
    expect(() => read(provinceText([GOOD, week]))).toThrow(message);
  });

  it.each([
    ['a text without its end', provinceText().slice(0, -8), 'may be cut off'],
    [
      'another title',
      provinceText([GOOD], 'Mean data for UKR, from 1981 to 2020, weekly'),
      'is not the title',
    ],
    [
      'a daily mean',
      provinceText([GOOD], PROVINCE_TITLE.replace('weekly', 'daily')),
      'is not the title',
    ],
    [
      'no week with data',
      provinceText(['2020, 1,-1.000, -1.00, -1.00, -1.00, -1.00,']),
      'gives no reading',
    ],
    ['a page', '<html></html>', 'an HTML or XML page'],
  ])('refuses %s', (_name, payload, message) => {
    expect(() => read(payload)).toThrow(message);
  });

  it('refuses a week that had not come', () => {
    const note = { url: URL_HOME, fetched_at: '2020-01-13T23:00:00Z' };
    expect(() => readAs('noaa-star-vhi', provinceText([GOOD]), note)).toThrow('after its fetch');
  });

  it('refuses another province than the address names', () => {
    const text = provinceText([GOOD]);
    expect(read(text, `${URL_HOME}?country=UKR&provinceID=6`).readings.size).toBe(1);
    expect(() => read(text, `${URL_HOME}?country=UKR&provinceID=7`)).toThrow('asks for UKR 7');
    expect(() => read(text, `${URL_HOME}?country=RUS&provinceID=6`)).toThrow('asks for RUS 6');
  });

  it('asks for our regions that are one province, and for any province by its id', () => {
    const { fetch } = sourceOf('noaa-star-vhi');
    const now = Date.parse('2026-11-20T11:05:00Z');
    expect(fetch?.addresses({ entities: [], now })).toHaveLength(4);
    expect(fetch?.addresses({ entities: ['ukr-24', 'ua-ukraine'], now })).toEqual([
      `${URL_HOME}?country=UKR&provinceID=24&year1=2020&year2=2026&type=Mean`,
    ]);
  });
});

describe.each(PAYLOADS)('recorded answers: $name', ({ isWhole, recorded }) => {
  it.each([
    ['01_cherkasy', 'ukr-1', 29.05],
    ['05_dnipropetrovsk', 'ukr-5', 44.47],
    ['08_kharkiv', 'ukr-8', 39.01],
    ['09_kherson', 'ukr-9', 51.98],
    ['17_odessa', 'ukr-17', 38.02],
    ['18_poltava', 'ukr-18', 32.11],
    ['24_vinnytsya', 'ukr-24', 35.66],
    ['26_zaporizhzhya', 'ukr-26', 44.19],
  ])('gives the worked value of province %s', (...[name, entity, vhi_index]) => {
    const bytes = recorded(`noaa-star-vhi/ukr_province${name}_1981-2020.txt`);
    const weeks = valuesOf(read(bytes.toString()), 'agriculture.crop-vhi');
    expect(weeks.at(-1)).toMatchObject([entity, '2020-04-14T00:00:00Z', { vhi_index }]);
    expect(weeks).toHaveLength(isWhole ? 1940 : 6);
    if (entity === 'ukr-24') expect(weeks.at(-2)?.[2]).toMatchObject({ vhi_index: 37.4 });
  });
});
