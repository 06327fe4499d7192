import { describe, expect, it } from 'vitest';
import { builtinLine } from '../../../compiler/contract/catalog/builtin.ts';
import { signalOf } from '../../../compiler/contract/lines.ts';
import { inBox } from '../../../compiler/import/region-box.ts';
import {
  ACTIVITY_STEPS,
  activityBand,
  EARTHQUAKE_BOXES,
  IMPACT_STEPS,
  impactBand,
  regionScope,
  SWARM_STEPS,
  swarmBand,
} from '../../../compiler/import/sources/usgs-earthquakes/earthquake-regions.ts';

const EARTHQUAKE_REGIONS = builtinLine('earthquake').entities;

describe('EARTHQUAKE_BOXES', () => {
  it('has one box for every region of the line and no other', () => {
    expect(Object.keys(EARTHQUAKE_BOXES).sort()).toEqual([...EARTHQUAKE_REGIONS].sort());
    for (const box of Object.values(EARTHQUAKE_BOXES)) expect(box.south).toBeLessThan(box.north);
  });

  it('says in every scope that the box is ours', () => {
    for (const box of Object.values(EARTHQUAKE_BOXES)) expect(regionScope(box)).toContain('ours');
  });
});

describe('inBox()', () => {
  const pacific = { south: 50, north: 72, west: 170, east: -130 };

  it('takes both sides of longitude 180', () => {
    for (const longitude of [179.9, -179.9, 180, -180, 170, -130]) {
      expect(inBox(pacific, longitude, 55)).toBe(true);
    }
  });

  it('leaves out what lies beyond an edge', () => {
    expect(inBox(pacific, 169.9, 55)).toBe(false);
    expect(inBox(pacific, -129.9, 55)).toBe(false);
    expect(inBox(pacific, 0, 55)).toBe(false);
    expect(inBox(pacific, 180, 49.9)).toBe(false);
  });
});

describe('bands', () => {
  it('are all bands of the table', () => {
    const table = (id: string) => signalOf(`earthquake.${id}`)?.bands?.slice(1);
    expect(ACTIVITY_STEPS.map(({ band }) => band)).toEqual(table('current_activity'));
    expect(SWARM_STEPS.map(({ band }) => band)).toEqual(table('swarm_rate'));
    expect(IMPACT_STEPS.map(({ band }) => band)).toEqual(table('impact_realized'));
  });

  it('activityBand() begins a band at its edge', () => {
    expect([null, 2.4, 2.5, 4.5, 6, 7].map(activityBand)).toEqual([
      'quiet',
      'quiet',
      'minor',
      'notable',
      'strong',
      'major',
    ]);
  });

  it('swarmBand() says nothing of a few quakes', () => {
    expect(swarmBand(4, 24)).toBe('baseline');
    expect(swarmBand(11, 7.33)).toBe('swarm');
    expect(swarmBand(5, null)).toBe('swarm');
    expect(swarmBand(5, 1.4)).toBe('baseline');
  });

  it.each([
    ['M6.4, intensity 7.64, yellow', { intensity: 7.64, alert: 'yellow', felt: 900 }, 'severe'],
    ['M4.87, intensity 6.6, green', { intensity: 6.6, alert: 'green', felt: 2775 }, 'significant'],
    ['intensity 2.9, no alert run', { intensity: 2.9, alert: null, felt: 2 }, 'felt'],
    ['M7.8 at 3.07, green', { intensity: 3.07, alert: 'green', felt: 60 }, 'felt'],
    ['reports alone', { intensity: null, alert: null, felt: 1 }, 'felt'],
    ['an orange alert alone', { intensity: null, alert: 'orange', felt: 0 }, 'severe'],
    ['nothing', { intensity: null, alert: null, felt: 0 }, 'none'],
    ['no answer at all', { intensity: null, alert: null, felt: null }, 'none'],
    ['an intensity nobody reported', { intensity: 5, alert: null, felt: null }, 'moderate'],
  ])('impactBand() of %s', (_name, shaking, band) => {
    expect(impactBand(shaking)).toBe(band);
  });
});
