import { describe, expect, test } from 'vitest';
import { BUILTIN, LINES } from '../../../compiler/catalog/builtin.ts';
import * as catalog from '../../../compiler/catalog/catalog.ts';
import type { Line, Place } from '../../../compiler/products/shapes/line.ts';
import { EARTHQUAKE_BOXES } from '../../../compiler/sources/agencies/earthquake-events.ts';
import { inBox } from '../../../compiler/sources/kit/regions.ts';

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
