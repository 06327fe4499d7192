import { describe, expect, it } from 'vitest';
import { type PageRoute, parseRoute, routeHash } from '../../compiler/site/page-route.ts';
import { HOSTILE_NAMES } from '../hostile-names.ts';

const ROUTES: readonly (readonly [string, PageRoute])[] = [
  ['#/', { view: 'home' }],
  ['#/airquality.aqi/us-denver', { view: 'record', signal: 'airquality.aqi', entity: 'us-denver' }],
  ['#/airquality.aqi', { view: 'signal', signal: 'airquality.aqi' }],
  ['#/map', { view: 'map', signal: null }],
  ['#/map/airquality.aqi', { view: 'map', signal: 'airquality.aqi' }],
  ['#/bundle/environment', { view: 'bundle', line: 'environment', subject: null }],
  ['#/bundle/environment/us-denver', { view: 'bundle', line: 'environment', subject: 'us-denver' }],
  ['#/find/denver%20aqi', { view: 'find', query: 'denver aqi' }],
  ['#/hash/sha256%3Aab', { view: 'hash', hash: 'sha256:ab' }],
];

describe('parseRoute() and routeHash()', () => {
  it.each(ROUTES)('%s there and back', (hash, route) => {
    expect(parseRoute(hash)).toEqual(route);
    expect(routeHash(route)).toBe(hash);
  });

  it('takes an empty address for the beginning', () => {
    expect([parseRoute(''), parseRoute('#')]).toEqual([{ view: 'home' }, { view: 'home' }]);
  });

  it.each(['#buy', '#/nothing', '#/bundle', '#/hash', '#/a.b/c/d/e', '#/a.b/%E0%A4%A', '#/%'])(
    'leaves %s to the browser',
    (hash) => {
      expect(parseRoute(hash)).toBeNull();
    },
  );

  it('leads to entities of any name', () => {
    for (const entity of HOSTILE_NAMES.filter((name) => name !== '' && name.isWellFormed())) {
      const route: PageRoute = { view: 'record', signal: 'a.b', entity };
      expect(parseRoute(routeHash(route))).toEqual(route);
    }
  });
});
