import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { sourceOf } from '../../../../../compiler/sources/sources.ts';
import {
  casesFile,
  outcomeLines,
  PLAYED,
  payloadText,
  played,
  playedPayloads,
  playedText,
} from '../../../../sources/kit/cases.ts';
import { readAs, SOIL_URL, soilFrom, zipOf } from '../../../../sources/kit/recorded.ts';

describe('what an importer makes of payloads', () => {
  it.each(PLAYED)('%s', async (source) => {
    await expect(playedText(source)).toMatchFileSnapshot(casesFile(source));
  });
});

/** Whole answers of the agencies, on a machine that has them: ours are extracts of these. */
const WHOLE = new URL('../../../../../../shared/official-payloads/', import.meta.url).pathname;
const RECORDED = PLAYED.flatMap((source) =>
  playedPayloads(source).flatMap(({ heads, text }) =>
    heads.recorded !== undefined &&
    existsSync(`${WHOLE}${heads.recorded}`) &&
    heads.whole === undefined
      ? [{ source, heads, text, file: heads.recorded }]
      : [],
  ),
);

describe.skipIf(RECORDED.length === 0)('a whole answer', () => {
  it.each(RECORDED)('says all that our extract of $file says', ({ source, heads, text, file }) => {
    const lines = (bytes: Buffer) =>
      outcomeLines(played(source, bytes, heads), new Map())
        .filter((line) => !line.startsWith('skipped'))
        .map((line) => (line.startsWith('refused') ? line.replaceAll(/\d+/g, 'N') : line));
    const whole = new Set(lines(readFileSync(`${WHOLE}${file}`)));
    expect(lines(Buffer.from(text)).filter((line) => !whole.has(line))).toEqual([]);
  });
});

describe('what is too long to be written out', () => {
  const note = (url: string, fetched_at = '2026-11-20T11:05:00Z') => ({ url, fetched_at });
  const SOIL = (...[payload, url = SOIL_URL]: [unknown, string?]) =>
    readAs('open-meteo-soil-moisture', payload, note(url)).readings.get('agriculture.drought');

  it('a week of soil stands among those of the season in earlier years, and of no other', () => {
    const current = { soil_moisture_percentile_pct: 54.5, years_count: 11 };
    const at = { entity: 'us-iowa', observed_at: '2026-11-15T00:00:00Z' };
    expect(SOIL(soilFrom(2015))).toMatchObject([{ ...at, current }]);
    const dry = soilFrom(2016, (year) => (year === 2026 ? 0.1 : 0.2));
    const driest = { soil_moisture_percentile_pct: 0, years_count: 10 };
    expect(SOIL(dry)).toMatchObject([{ ...at, current: driest }]);
    const wet = soilFrom(2016, (year, month) => (month === '07' ? 0.9 : year === 2026 ? 0.1 : 0.2));
    expect(SOIL(wet)).toMatchObject([{ ...at, current: driest }]);
  });

  it.each([
    ['too few years', soilFrom(2017), SOIL_URL, 'covers 9 earlier years'],
    ['a mixture of models', soilFrom(2015), SOIL_URL.replace('era5', ''), 'not say models=era5'],
    ['another place', soilFrom(2015), SOIL_URL.replace('42', '47.6'), 'no place of agriculture'],
    ['more than all of the soil', soilFrom(2015, () => 1.5), SOIL_URL, 'outside of 0 to 1'],
  ])('soil of %s is refused', (...[, payload, url, message]) => {
    expect(() => SOIL(payload, url)).toThrow(message);
  });

  it('many sensors of one gauge are looked at in one pass', () => {
    const river = payloadText('usgs-nwis', 'river values in WaterML');
    const [series] = JSON.parse(river).value.timeSeries;
    const values = Array.from({ length: 150_000 }, () => ({ value: [1] }));
    const timeSeries = [{ ...series, values }, JSON.parse(river).value.timeSeries[1]];
    const answer = JSON.stringify({ value: { timeSeries } });
    // One look at all the others for each would be 22 thousand million: the test would not end.
    const { skipped } = readAs(
      'usgs-nwis',
      answer,
      note('https://waterservices.usgs.gov/nwis/iv/'),
    );
    const reason = '150000 series of 00065, none of them primary';
    expect(skipped).toEqual([{ subject: '03336645', reason, count: 1 }]);
  });

  it('a long list of filings that names no older page is whole from its first day only', () => {
    const from = (length: number) => {
      const all = (text: (at: number) => string) => Array.from({ length }, (_, at) => text(at));
      const recent = {
        accessionNumber: all((at) => `0000123456-26-${String(at + 1).padStart(6, '0')}`),
        filingDate: all(() => '2026-02-27'),
        reportDate: all(() => ''),
        acceptanceDateTime: all(() => '2026-02-27T23:30:00Z'),
        form: all(() => '4'),
        items: all(() => ''),
        primaryDocument: all(() => 'form4.xml'),
      };
      const list = { cik: '123456', name: 'Example', tickers: [], filings: { recent, files: [] } };
      const url = 'https://data.sec.gov/submissions/CIK0000123456.json';
      return readAs('sec-edgar', list, note(url)).rows?.get('filing.submission')?.[0];
    };
    expect(from(999)).toMatchObject({ from: null });
    expect(from(1000)).toMatchObject({ from: '2026-02-27' });
  });

  it('a list of drug shortages says the same in its archive', () => {
    const text = payloadText('openfda', 'a list of drug shortages');
    const read = (answer: unknown) =>
      [...readAs('openfda', answer, note('https://download.open.fda.gov/')).readings.values()]
        .flat()
        .map(({ evidence: _, ...reading }) => reading);
    const packed = read(zipOf('drug-shortages-0001-of-0001.json', text));
    expect(packed).toEqual(read(text));
    expect(packed.length).toBeGreaterThan(0);
  });

  it('the genuine feed of 2018-02-07 has eleven quakes in Taiwan on its last day', () => {
    const path = '../../../../../node_modules/vega-datasets/data/earthquakes.json';
    const bytes = readFileSync(new URL(path, import.meta.url));
    const own = sourceOf('usgs-earthquakes').ownNote?.(bytes, 'feed') ?? note('');
    const { readings, skipped } = readAs('usgs-earthquakes', bytes, own);
    const taiwan = (signal: string) =>
      readings.get(`earthquake.${signal}`)?.find(({ entity }) => entity === 'taiwan')?.current;
    expect(taiwan('current_activity')).toMatchObject({ max_mag: 6.4, count_m25_count: 11 });
    expect(taiwan('swarm_rate')).toMatchObject({ count_24h_count: 11, band: 'swarm' });
    expect(skipped).toEqual([
      { subject: 'feature', reason: 'type "explosion"', count: 15 },
      { subject: 'feature', reason: 'type "quarry blast"', count: 13 },
    ]);
  });
});
