import { describe, expect, it } from 'vitest';
import { BUILTIN, signalOf } from '../../../compiler/catalog/builtin.ts';
import { isLit, legsLit } from '../../../compiler/products/shapes/bundle.ts';

const RIVER = signalOf('hydrology.river-level');

describe('isLit()', () => {
  it('is false for the mildest class of every signal, and true for all others', () => {
    const banded = BUILTIN.signals.filter(({ bands }) => bands !== undefined);
    expect(banded.length).toBeGreaterThan(20);
    for (const signal of banded) {
      const { id, bands = [] } = signal;
      expect([id, ...bands.map((band) => isLit(signal, band))]).toEqual([
        id,
        false,
        ...bands.slice(1).map(() => true),
      ]);
    }
  });

  it('is false below the lowest threshold of a gauge, whichever that is', () => {
    expect(isLit(RIVER, 'below-minor')).toBe(false);
    expect(isLit(RIVER, 'minor')).toBe(true);
    expect(isLit(RIVER, 'below-flood')).toBe(false);
    expect(isLit(RIVER, 'flood')).toBe(true);
    expect(isLit(RIVER, 'below-nothing')).toBeNull();
  });

  it.each([
    ['airquality.aqi', null],
    ['airquality.aqi', 'no such class'],
    ['precipitation.daily', 'heavy'],
    ['no.such-signal', 'good'],
  ])('is null for %s of class %s', (id, band) => {
    expect(isLit(signalOf(id), band)).toBeNull();
  });
});

describe('legsLit()', () => {
  it('counts and names the legs that are lit among all of the chain', () => {
    const legs = { a: { lit: true }, b: { lit: false }, c: { lit: null }, d: { lit: true } };
    expect(legsLit(legs, 5)).toEqual({ count: 2, of: 5, names: ['a', 'd'] });
    expect(legsLit({ a: { lit: null } }, 3)).toEqual({ count: 0, of: 3, names: [] });
  });
});
