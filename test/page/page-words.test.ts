import { describe, expect, it } from 'vitest';
import { recordUrl } from '../../compiler/catalog/thing-urls.ts';
import { type PageRoute, parseRoute, routeHash } from '../../compiler/page/page-route.ts';
import { decodeSegment, fitsSegment } from '../../compiler/products/shapes/path.ts';
import { ageText, figure, plainWords, sayTime, shown } from '../../compiler/products/shapes/say.ts';
import { HOSTILE_NAMES } from '../hostile-names.ts';

describe('shown()', () => {
  it('writes out what would steer the page', () => {
    expect(shown('a\u202eb\u0000c\u2028')).toBe('a\\u{202e}b\\u{0}c\\u{2028}');
    expect(shown('<b>Zürich 日本</b>')).toBe('<b>Zürich 日本</b>');
  });

  it('cuts a wall of text', () => {
    expect(shown('x'.repeat(5000)).length).toBeLessThan(500);
  });
});

describe('words for people', () => {
  it.each([
    [0, '0 minutes'],
    [1 / 60, '1 minute'],
    [1, '60 minutes'],
    [5.2, '5 hours'],
    [56.9, '2 days'],
    [77_057, '9 years'],
  ])('%d hours are %s', (hours, text) => {
    expect(ageText(hours)).toBe(text);
  });

  it('rounds no digit away', () => {
    expect([figure(0.123456789), figure(-1234.5)]).toEqual(['0.123456789', '-1,234.5']);
  });

  it('reads times, and shows what is none', () => {
    expect(sayTime('2026-11-20T10:45:00Z')).toBe('20 Nov 2026, 10:45 UTC');
    expect(sayTime('soon')).toBe('soon');
  });

  it('spells classes', () => {
    expect(plainWords('unhealthy-sensitive')).toBe('unhealthy sensitive');
  });
});

const ROUTES: readonly (readonly [string, PageRoute])[] = [
  ['#/', { view: 'home' }],
  ['#/airquality.aqi', { view: 'signal', signal: 'airquality.aqi' }],
  ['#/map', { view: 'map', signal: null }],
  ['#/map/airquality.aqi', { view: 'map', signal: 'airquality.aqi' }],
  ['#/find/denver%20aqi', { view: 'find', query: 'denver aqi' }],
  ['#/hash/sha256%3Aab', { view: 'hash', hash: 'sha256:ab' }],
  ['#/bought', { view: 'bought' }],
];

describe('parseRoute() and routeHash()', () => {
  it.each(ROUTES)('%s there and back', (hash, route) => {
    expect(parseRoute(hash)).toEqual(route);
    expect(routeHash(route)).toBe(hash);
  });

  it('takes an empty address for the beginning', () => {
    expect([parseRoute(''), parseRoute('#')]).toEqual([{ view: 'home' }, { view: 'home' }]);
  });

  it.each([
    '#buy',
    '#/nothing',
    '#/bundle',
    '#/hash',
    '#/bought/x',
    '#/a.b/c/d/e',
    '#/a.b/%E0%A4%A',
    '#/%',
  ])('leaves %s to the browser', (hash) => {
    expect(parseRoute(hash)).toBeNull();
  });

  it.each([
    ['#/airquality.aqi/us-denver', '/r/airquality.aqi/us-denver'],
    ['#/bundle/environment', '/line/environment'],
    ['#/bundle/environment/us-denver', '/chain/environment/us-denver'],
  ])('leads from %s to the page that it has now', (hash, url) => {
    expect(parseRoute(hash)).toEqual({ view: 'moved', url });
  });

  it('leads to entities of any name', () => {
    for (const entity of HOSTILE_NAMES.filter(fitsSegment)) {
      const url = recordUrl('a.b', entity);
      expect(parseRoute(`#/a.b/${encodeURIComponent(entity)}`)).toEqual({ view: 'moved', url });
      expect(decodeSegment(url.slice('/r/a.b/'.length))).toBe(entity);
    }
  });

  it('leaves a name to the browser that no address holds', () => {
    expect(parseRoute(`#/a.b/${'x'.repeat(300)}`)).toBeNull();
  });
});
