import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { BUILTIN, builtinRuler } from '../../compiler/catalog/builtin.ts';
import type { SiteMapRow, SitePoint } from '../../compiler/catalog/site.ts';
import { hashOfSubtrees, inclusionRanges, nodeHash } from '../../compiler/format/merkle.ts';
import { frameDays, logPath, pointOn, rangeText } from '../../compiler/page/shapes.ts';
import { isLit } from '../../compiler/products/shapes/bundle.ts';
import type { Ruler } from '../../compiler/products/shapes/rulers.ts';
import { bandFor, isLitBand, scaleFor, shadeOf } from '../../compiler/products/shapes/say.ts';
import { builtinEntry } from '../builtin-rows.ts';

const SHADES = 6;
const _CROP_VHI = builtinRuler('vegetation-health');
const FLOOD_STAGE_BANDS = builtinEntry('hydrology.river-level').signal.bands ?? [];
const _OUTLOOK_RISK = builtinRuler('convective-outlook');
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
    for (const signal of BUILTIN.signals) {
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

const points = (...days: readonly number[]): SitePoint[] =>
  days.map((day) => [`2026-11-${String(day).padStart(2, '0')}T10:00:00Z`, day]);
const row = (...days: readonly number[]): SiteMapRow => ['x', null, 1, 2, points(...days)];

describe('the slider of the map', () => {
  it('stops on the newest seven days of all entities', () => {
    const days = frameDays([row(1, 3, 5), row(2, 4, 6, 8), row(3, 7)]);
    expect(days).toHaveLength(7);
    expect([days[0], days.at(-1)]).toEqual(['2026-11-02', '2026-11-08']);
    expect(frameDays([])).toEqual([]);
  });

  it('shows the newest reading up to a day, and none where the free ones begin later', () => {
    const free = points(3, 5);
    expect(pointOn(free, '2026-11-04')?.[1]).toBe(3);
    expect(pointOn(free, '2026-11-05')?.[1]).toBe(5);
    expect(pointOn(free, '2026-11-02')).toBeNull();
  });
});

const sha256 = (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest();
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** The root of the entries `start` up to `end`, each of which is its own number as one byte. */
function rootOf(start: number, end: number): Uint8Array {
  if (end - start === 1) return sha256(Uint8Array.of(0, start));
  let half = 1;
  while (half * 2 < end - start) half *= 2;
  return nodeHash(rootOf(start, start + half), rootOf(start + half, end), sha256);
}

describe('logPath()', () => {
  it.each([
    [0, 1],
    [0, 2],
    [6, 7],
    [3, 13],
    [12, 13],
    [100, 200],
  ])('leads from entry %i of %i to the root', (index, size) => {
    const proof = inclusionRanges(index, size).map(({ start, end }) => hex(rootOf(start, end)));
    const steps = logPath(index, size, proof);
    let node = rootOf(index, index + 1);
    for (const { side, siblingHash } of steps) {
      const sibling = Buffer.from(siblingHash, 'hex');
      node = side === 'left' ? nodeHash(sibling, node, sha256) : nodeHash(node, sibling, sha256);
    }
    expect(hex(node)).toBe(hex(rootOf(0, size)));
    expect(steps.at(-1)?.joined ?? { start: 0, end: 1 }).toEqual({ start: 0, end: size });
    expect(hashOfSubtrees([rootOf(0, size)], sha256)).toEqual(rootOf(0, size));
  });

  it.each([
    [5, 5],
    [-1, 5],
    [1, 4],
  ])('draws nothing for a proof that is not of this tree: %i of %i', (index, size) => {
    expect(logPath(index, size, ['aa'])).toEqual([]);
  });

  it('names ranges', () => {
    expect([rangeText({ start: 4, end: 5 }), rangeText({ start: 0, end: 8192 })]).toEqual([
      'hash 5',
      'hashes 1 to 8,192',
    ]);
  });
});
