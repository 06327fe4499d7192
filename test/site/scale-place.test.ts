import { describe, expect, it } from 'vitest';
import { isLit } from '../../compiler/contract/bundle.ts';
import { builtinRuler, SIGNALS } from '../../compiler/contract/catalog/builtin.ts';
import type { Ruler } from '../../compiler/contract/rulers.ts';
import {
  bandFor,
  isLitBand,
  scaleFor,
  scalePlace,
  shadeOf,
} from '../../compiler/site/scale-place.ts';
import { builtinEntry } from '../builtin-rows.ts';

const SHADES = 6;
const CROP_VHI = builtinRuler('vegetation-health');
const FLOOD_STAGE_BANDS = builtinEntry('hydrology.river-level').signal.bands ?? [];
const OUTLOOK_RISK = builtinRuler('convective-outlook');
const PM25 = builtinEntry('airquality.pm25').signal.rulers ?? [];
const US_AQI = builtinRuler('us-aqi');

const reading = (current: object, observed_at = '2026-11-20T10:45:00Z') => ({
  observed_at,
  current: current as Readonly<Record<string, unknown>>,
});
const classed = (...scales: readonly Ruler[]) => ({
  scales,
  bands: scales[0]?.steps.map(({ band }) => band) ?? [],
});

describe('bandFor()', () => {
  it.each([
    [50, 'good'],
    [51, 'moderate'],
    [301, 'hazardous'],
  ])('classes an index of %i as %s', (aqi_index, band) => {
    expect(bandFor(classed(US_AQI), reading({ aqi_index }))).toBe(band);
  });

  it('uses the scale of the day', () => {
    const at = (day: string) =>
      bandFor(classed(...PM25), reading({ pm25_ugm3: 10 }, `${day}T00:00:00Z`));
    expect([at('2023-01-01'), at('2024-05-06')]).toEqual(['good', 'moderate']);
  });

  it('keeps the class of the publisher where no scale has it, and none without any', () => {
    expect(bandFor(classed(US_AQI), reading({ aqi_index: 1, band: 'ours' }))).toBe('ours');
    expect(bandFor({ scales: [], bands: [] }, reading({ x: 1, band: 'gdp' }))).toBe('gdp');
    expect(bandFor(classed(US_AQI), reading({ aqi_index: null }))).toBeNull();
    expect(scaleFor(classed(US_AQI), reading({ band: 'ours' }))).toBeNull();
  });

  it('lets the worse of two scales decide', () => {
    const beside: Ruler = { ...US_AQI, metric: 'other_index' };
    const two = classed({ ...US_AQI, beside });
    expect(bandFor(two, reading({ aqi_index: 10, other_index: 160 }))).toBe('unhealthy');
    expect(bandFor(two, reading({ aqi_index: 160, other_index: 10 }))).toBe('unhealthy');
    expect(bandFor(two, reading({ aqi_index: 160 }))).toBeNull();
  });
});

describe('isLitBand()', () => {
  it('agrees with the contract for every class of every signal', () => {
    for (const signal of SIGNALS) {
      const { id, bands = [], ownThresholds = [] } = signal;
      const below = ownThresholds.map((name) => `below-${name}`);
      for (const band of [...bands, ...below, 'unheard-of', null]) {
        expect([id, band, isLitBand({ bands }, band)]).toEqual([id, band, isLit(signal, band)]);
      }
    }
  });
});

describe('shadeOf()', () => {
  it('goes from the mildest colour to the worst', () => {
    const bands = US_AQI.steps.map(({ band }) => band);
    expect(bands.map((band) => shadeOf({ bands }, band))).toEqual([0, 1, 2, 3, 4, 5]);
    expect(shadeOf({ bands: FLOOD_STAGE_BANDS }, 'major')).toBe(SHADES - 1);
    expect(shadeOf({ bands: FLOOD_STAGE_BANDS }, 'below-minor')).toBe(0);
    expect([shadeOf({ bands }, 'other'), shadeOf({ bands }, null)]).toEqual([null, null]);
  });
});

describe('scalePlace()', () => {
  it('puts a value into its class, and how far', () => {
    expect(scalePlace(US_AQI, reading({ aqi_index: 76 }))).toMatchObject({ cell: 1, inside: 0.5 });
    expect(scalePlace(US_AQI, reading({ aqi_index: 9999 }))).toMatchObject({ cell: 5, inside: 1 });
  });

  it('turns around where less is worse', () => {
    expect(scalePlace(CROP_VHI, reading({ vhi_index: 35 }))).toMatchObject({
      cell: 1,
      inside: 0.5,
    });
  });

  it('stands in the middle of a class without numbers, and nowhere without a value', () => {
    const band = OUTLOOK_RISK.steps[1]?.band ?? '';
    expect(scalePlace(OUTLOOK_RISK, reading({ band }))).toMatchObject({ cell: 1, inside: 0.5 });
    expect(scalePlace(US_AQI, reading({}))).toBeNull();
  });
});
