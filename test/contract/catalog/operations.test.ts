import { describe, expect, it } from 'vitest';
import { BUILTIN } from '../../../compiler/contract/catalog/builtin.ts';
import { catalogOf } from '../../../compiler/contract/catalog/catalog.ts';
import type { CatalogFile } from '../../../compiler/contract/catalog/catalog-file.ts';
import { TABLE, type TableRow } from '../../../compiler/contract/endpoints.ts';
import { TIDE_FILE, TIDES } from '../../tide-catalog.ts';

/** What the catalogue of one line sells at, by path; free operations are left out. */
function sold(prices: Record<string, string>): Record<string, string | null> {
  const { operations } = catalogOf([{ ...TIDE_FILE, prices }]);
  const priced = operations.filter(({ priceUsd }) => priceUsd !== null);
  return Object.fromEntries(priced.map(({ path, priceUsd }) => [path, priceUsd]));
}

describe('operationsOf()', () => {
  it('offers what has a price, and what is free for all shops, in the order of the table', () => {
    const { operations, operationByPath } = TIDES;
    const paths = operations.map(({ path }) => path);
    // The raw readings are those of two signals of rivers, nobody sells a token, and no collection is sold.
    const isFree = ({ paid, token, path }: TableRow): boolean =>
      !paid && !token && path !== '/gauge/raw' && !/^\/(?!gauge\/).+\/preview$/.test(path);
    const free = TABLE.filter(isFree).map(({ path }) => path);
    expect(paths).toEqual(['/gauge', '/gauge/tide-region', ...free]);
    expect([...operationByPath.keys()]).toEqual(paths);
  });

  it('takes the signals of the catalogue as values, and the first ones as examples', () => {
    const { operationByPath } = TIDES;
    expect(operationByPath.get('/gauge')?.params.signal_id).toMatchObject({
      enum: ['tides.level', 'tides.waves'],
      examples: ['tides.level', 'tides.waves'],
    });
  });

  it('makes the bundle of a line at the price of bundles', () => {
    expect(TIDES.operationByPath.get('/gauge/tide-region')).toMatchObject({
      priceUsd: '0.4',
      tag: '[3-LEG]',
      params: { entity: { enum: ['PIER-ONE', 'QUAY-TWO'], required: true } },
      file: 'bundle/tides/{entity}.json',
      summary: 'tide gauges: level, then waves, in causal order',
    });
  });

  it('prefers the price of a path to that of all bundles', () => {
    expect(sold({ '/gauge/tide-region': '0.7', bundle: '0.4' })).toEqual({
      '/gauge/tide-region': '0.7',
    });
  });

  it('does not offer what has no price, nor what takes a city where there is none', () => {
    expect(sold({})).toEqual({});
    expect(sold({ '/gauge/air': '0.01', '/gauge/census': '0.1' })).toEqual({
      '/gauge/census': '0.1',
    });
  });

  it('takes prices of all files of a catalogue', () => {
    const more: CatalogFile = { ...TIDE_FILE, lines: [], prices: { '/gauge/ruler': '0.005' } };
    const { operationByPath } = catalogOf([TIDE_FILE, more]);
    expect(operationByPath.get('/gauge')?.priceUsd).toBe('0.02');
    expect(operationByPath.get('/gauge/ruler')?.priceUsd).toBe('0.005');
  });

  it('are no previews of collections of which nothing is sold', () => {
    const previews = (prices: Readonly<Record<string, string>>) =>
      catalogOf([{ ...TIDE_FILE, prices: { '/gauge': '0.02', bundle: '0.4', ...prices } }])
        .operations.map(({ path }): string => path)
        .filter((path) => path.endsWith('/preview'));
    expect(previews({})).toEqual(['/gauge/preview']);
    expect(previews({ '/trust/precheck': '0.1', '/stablecoin-deaths': '0.1' })).toEqual([
      '/gauge/preview',
      '/stablecoin-deaths/preview',
      '/trust/preview',
    ]);
    expect(previews({ '/resolve': '0.1' })).toEqual(['/gauge/preview', '/resolve/preview']);
    expect(BUILTIN.operations.filter(({ path }) => path.endsWith('/preview'))).toHaveLength(7);
  });
});
