import { hash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { BUILTIN, LINES, signalOf } from '../../../compiler/catalog/builtin.ts';
import * as catalog from '../../../compiler/catalog/catalog.ts';
import {
  historyOf,
  type KeyHistory,
  type SeenKeys,
  seenKey,
  seenKeysFault,
  seenKeysOf,
  seenKeysSchema,
} from '../../../compiler/format/key-history.ts';
import { isLit, legsLit } from '../../../compiler/products/shapes/bundle.ts';
import type { Line, Place } from '../../../compiler/products/shapes/line.ts';
import { atomicAmount, priceOf, usdAmount } from '../../../compiler/products/shapes/price.ts';
import { EARTHQUAKE_BOXES } from '../../../compiler/sources/agencies/earthquake-events.ts';
import { inBox } from '../../../compiler/sources/kit/regions.ts';
import { builtinOperation } from '../../builtin-rows.ts';
import { FIRST, rooted } from '../../seeded-keys.ts';
import { DID, didOfSeed, revocation, rotation } from '../../verify/monitor/lying-service.ts';

const placesOf = (line: string) => catalog.placesOf(BUILTIN, line);

/** Closed lines whose entities are no places. */
const WITHOUT_PLACE = ['drug-detail'];
const CLOSED: readonly Line[] = LINES.filter((line: Line) => !line.open);
const EVERY: readonly (readonly [string, Place])[] = CLOSED.flatMap((line) => [
  ...placesOf(line.id),
]);

describe('placesOf()', () => {
  test('knows every entity of a closed line, and every river gauge', () => {
    for (const line of CLOSED) {
      const gauges = Object.values(line.entityOf ?? {}).flatMap((map) => Object.values(map));
      const wanted = WITHOUT_PLACE.includes(line.id) ? [] : [...line.entities, ...gauges];
      expect([...placesOf(line.id).keys()].sort()).toEqual([...new Set(wanted)].sort());
    }
  });

  test('names an entity by its line, and nobody of another line', () => {
    expect(placesOf('environment').get('us-stlouis')?.name).toBe('St. Louis, MO');
    expect(placesOf('wildfire').get('us-california')?.name).not.toBe(
      placesOf('drought').get('us-california')?.name,
    );
    expect(placesOf('agriculture').get('us-stlouis')).toBeUndefined();
  });

  test('has none for a line without places, nor for a name of the prototype', () => {
    for (const id of ['crypto', 'no-such-line', 'constructor', '__proto__']) {
      expect(placesOf(id).size).toBe(0);
    }
  });

  test('gives degrees of four decimals at most, none of them at zero', () => {
    for (const [entity, { latitude, longitude }] of EVERY) {
      expect(Math.abs(latitude), entity).toBeLessThanOrEqual(90);
      expect(Math.abs(longitude), entity).toBeLessThanOrEqual(180);
      for (const degrees of [latitude, longitude]) {
        expect(degrees, entity).not.toBe(0);
        expect(Number(degrees.toFixed(4)), entity).toBe(degrees);
      }
    }
  });

  test('gives zones that exist, wherever a line counts days', () => {
    for (const id of ['environment', 'agriculture', 'grid', 'wildfire', 'nas', 'border-wait']) {
      for (const [entity, place] of placesOf(id)) expect(place.zone, entity).toBeDefined();
    }
    for (const [, { zone }] of EVERY) {
      if (zone !== undefined) expect(() => offsetHours(zone)).not.toThrow();
    }
    expect(() => offsetHours('America/Springfield')).toThrow(RangeError);
  });

  test('gives a zone whose clock fits the longitude', () => {
    for (const [entity, { zone, longitude }] of EVERY) {
      if (zone === undefined) continue;
      // A sign or a pair of degrees in the wrong order is farther off than any of these clocks.
      expect(Math.abs(offsetHours(zone) - longitude / 15), entity).toBeLessThan(2);
    }
  });

  test('puts a seismic region inside the box that its quakes are counted in', () => {
    for (const [region, { latitude, longitude }] of placesOf('earthquake')) {
      const box = EARTHQUAKE_BOXES[region];
      expect(box !== undefined && inBox(box, longitude, latitude), region).toBe(true);
      expect(box !== undefined && inBox(box, latitude, longitude), region).toBe(false);
    }
  });

  test('names no two places of a line alike', () => {
    for (const { id } of CLOSED) {
      const names = [...placesOf(id).values()].map((place) => place.name);
      expect(new Set(names).size).toBe(names.length);
    }
  });
});

/** Hours that a zone's clock is ahead of UTC in January 2026. */
function offsetHours(zone: string): number {
  const noon = new Date('2026-01-15T12:00:00Z');
  const parts = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
  const text = parts.formatToParts(noon).find((part) => part.type === 'timeZoneName')?.value ?? '';
  const found = /^GMT(?:([+-])(\d\d):(\d\d))?$/.exec(text);
  if (found === null) throw new RangeError(`no offset in "${text}"`);
  const [, sign, hours, minutes] = found;
  const ahead = Number(hours ?? 0) + Number(minutes ?? 0) / 60;
  return sign === '-' ? -ahead : ahead;
}

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

const sha256 = (bytes: Uint8Array): string => hash('sha256', bytes, 'hex');
const seenOf = (list: KeyHistory): SeenKeys => seenKeysSchema.parse(seenKeysOf(list, sha256));
const faultOf = (list: KeyHistory, seen: SeenKeys) => seenKeysFault(list, seen, sha256);

const ROTATED = rotation(7, 9);
const STOLEN = revocation(7);
const KNOWN = historyOf(DID, [ROTATED], [STOLEN]);

describe('seenKeysFault()', () => {
  it('I26: takes the same list, and one that says more', () => {
    const seen = seenOf(KNOWN);
    const more = historyOf(DID, [ROTATED, rotation(9, 11)], [revocation(9), STOLEN]);
    for (const list of [KNOWN, more]) expect(faultOf(list, seen)).toBeNull();
  });

  it.each<[string, KeyHistory, string]>([
    ['a revocation', historyOf(DID, [ROTATED], []), 'lacks a statement that was seen'],
    ['a key', historyOf(DID, [], [STOLEN]), `does not name "${didOfSeed(9)}" where it stood`],
    [
      'the time of a rotation',
      historyOf(DID, [{ ...ROTATED, overlap_until: '2099-01-01T00:00:00Z' }], [STOLEN]),
      'lacks a statement that was seen',
    ],
    ['the first key', historyOf(didOfSeed(9), [], []), 'does not begin with'],
  ])('I26: finds a list that forgot %s', (_, list, words) => {
    expect(faultOf(list, seenOf(KNOWN))).toContain(words);
  });

  it('I26: finds a list that forgot its root, and knows nothing of statements that were not kept', () => {
    const below = rooted(FIRST);
    expect(faultOf(below, seenOf(below))).toBeNull();
    expect(faultOf(historyOf(DID, [], []), seenOf(below))).toContain('lacks version 1 of the root');
    const { statements: _, ...earlier } = seenOf(KNOWN);
    const forgetful = historyOf(DID, [ROTATED], []);
    expect(faultOf(forgetful, seenKeysSchema.parse(earlier))).toBeNull();
    expect(faultOf(forgetful, seenKey(DID))).toBeNull();
  });
});

const ATOMIC: Readonly<Record<string, string>> = {
  '0.005': '5000',
  '0.01': '10000',
  '0.02': '20000',
  '0.03': '30000',
  '0.09': '90000',
  '0.10': '100000',
  '0.25': '250000',
  '0.35': '350000',
  '9.90': '9900000',
};

describe('atomicAmount()', () => {
  it.each(Object.entries(ATOMIC))('converts %s USD to %s', (usd, atomic) => {
    expect(atomicAmount(usd)).toBe(atomic);
    expect(usdAmount(atomic)).toBe(usd);
  });

  it.each(['', '.5', '1.', '01', '-1', '+1', '1e3', '0.0000001', '1,5', ' 1', '1\n', '0x1', 'NaN'])(
    'refuses %j',
    (usd) => {
      expect(() => atomicAmount(usd)).toThrow(RangeError);
    },
  );

  it('is exact where doubles are not', () => {
    expect(atomicAmount('9007199254.740993')).toBe('9007199254740993');
  });
});

describe('priceOf()', () => {
  it('is what the table says of an operation that is sold', () => {
    expect(priceOf(builtinOperation('/gauge'))).toBe('0.01');
  });

  it('throws for a free one instead of pricing it', () => {
    expect(() => priceOf(builtinOperation('/gauge/preview'))).toThrow(
      'Cannot price "/gauge/preview": it is free',
    );
  });
});

describe('usdAmount()', () => {
  it.each(['', '-1', '1.5', 'x', '1'.repeat(31)])('refuses %j', (atomic) => {
    expect(() => usdAmount(atomic)).toThrow(RangeError);
  });

  it('is undone by atomicAmount for every amount', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 16n - 1n), (amount) => {
        expect(atomicAmount(usdAmount(amount.toString()))).toBe(amount.toString());
      }),
    );
  });
});
