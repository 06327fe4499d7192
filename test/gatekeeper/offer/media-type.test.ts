import { describe, expect, it } from 'vitest';
import { mediaTypeOf } from '../../../gatekeeper/offer/shown.ts';
import { builtinOperation } from '../../builtin-rows.ts';

const SERIES = builtinOperation('/gauge/history-series');

describe('mediaTypeOf()', () => {
  it.each([
    '/gauge/history-series?format=csv',
    '/gauge/history-series?entity=a&format=csv&signal_id=b',
  ])('%s is a table', (target) => {
    expect(mediaTypeOf(SERIES, target)).toBe('text/csv');
  });

  it.each([
    '/gauge/history-series?format=csvs',
    '/gauge/history-series?entity=format%3Dcsv',
    '/gauge/history-series?xformat=csv',
    '/gauge/history-series',
  ])('%s is JSON', (target) => {
    expect(mediaTypeOf(SERIES, target)).toBe('application/json');
  });

  it('is JSON for every other operation', () => {
    expect(mediaTypeOf(builtinOperation('/gauge/region'), '/gauge/region?format=csv')).toBe(
      'application/json',
    );
  });
});
