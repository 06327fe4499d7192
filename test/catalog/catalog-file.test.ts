import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BUILTIN } from '../../compiler/catalog/builtin.ts';
import { BUILTIN_FILES } from '../../compiler/catalog/builtin-files.ts';
import { catalogOf } from '../../compiler/catalog/catalog.ts';
import {
  type CatalogFile,
  catalogJsonSchema,
  catalogSchemaText,
  formatFaults,
  pointerOf,
} from '../../compiler/catalog/catalog-file.ts';
import { catalogFaults } from '../../compiler/catalog/check-catalog.ts';
import { TABLE } from '../../compiler/products/products.ts';
import type { TableRow } from '../../compiler/products/shapes/product.ts';
import { type Edit, editedFiles } from '../harbour-catalog.ts';
import { TIDE_FILE, TIDES } from '../tide-shop.ts';

const FOLDER = 'compiler/catalog/builtin';
const PLAIN_TIDES = {
  format: 'signalpress-catalog/1',
  extends: null,
  rulers: {
    'harbour-stage': {
      scale: 'Harbour stages',
      metric: 'level_m',
      unit: 'm',
      direction: 'up',
      edge: 'worse',
      actionBand: 'flood',
      steps: [
        { band: 'normal', at: 0 },
        { band: 'flood', at: 3.2 },
      ],
      provenance: 'Harbour Authority, Notice 4',
    },
  },
  lines: [
    {
      id: 'tides',
      industry: 'ports',
      title: 'tide gauges',
      signals: [
        {
          id: 'tides.level',
          measures: 'water level at a tide gauge',
          cadence: 'hourly',
          metrics: ['level_m'],
          rulers: ['harbour-stage'],
        },
      ],
      entities: ['pier-one', { id: 'quay-two', name: 'Quay Two', latitude: 54.1, longitude: 7.9 }],
    },
  ],
  prices: { bundle: '0.25' },
};

describe('formatFaults()', () => {
  it('finds none in a file of the format', () => {
    expect(formatFaults({ file: 'tides.json', value: PLAIN_TIDES })).toEqual([]);
  });

  it('names all faults at once', () => {
    const value = { ...PLAIN_TIDES, format: 'x', lines: [{ id: 'A' }, 7] };
    const pointers = formatFaults({ file: 'a.json', value }).map((fault) => fault.pointer);
    expect(pointers).toEqual(expect.arrayContaining(['/format', '/lines/0/id', '/lines/1']));
    expect(pointers.length).toBeGreaterThan(5);
  });
});

describe('BUILTIN_FILES', () => {
  it('holds every file of its folder, and each has the format', () => {
    const names = readdirSync(FOLDER);
    const stored = names.map((name): unknown =>
      JSON.parse(readFileSync(join(FOLDER, name), 'utf8')),
    );
    expect(BUILTIN_FILES).toHaveLength(names.length);
    for (const [at, value] of stored.entries()) {
      expect(BUILTIN_FILES).toContainEqual(value);
      expect(formatFaults({ file: names[at] ?? '', value })).toEqual([]);
    }
  });
});

describe('pointerOf()', () => {
  it('escapes what RFC 6901 escapes', () => {
    expect(pointerOf(['a/b', 'm~n', 0])).toBe('/a~1b/m~0n/0');
    expect(pointerOf([])).toBe('');
  });
});

describe('catalogJsonSchema()', () => {
  it('refuses unknown members and names those that are required', () => {
    expect(catalogJsonSchema()).toMatchObject({
      type: 'object',
      additionalProperties: false,
      required: ['format', 'extends'],
      properties: {
        lines: { type: 'array' },
        extends: { anyOf: [{ const: 'builtin' }, { type: 'null' }] },
      },
    });
  });

  it('is the file that is published; "signalpress lines --schema" prints it', () => {
    expect(readFileSync('snapshots/catalog.schema.json', 'utf8')).toBe(catalogSchemaText());
  });

  it('describes every member, so that an editor can show what to write', () => {
    const { silent, described } = members(catalogJsonSchema());
    expect(silent).toEqual([]);
    expect(described).toBeGreaterThan(60);
    expect(members({ properties: { id: { type: 'string' } } }).silent).toEqual(['id']);
  });

  it('lets a file name its schema', () => {
    const value = { ...PLAIN_TIDES, $schema: '../catalog.schema.json' };
    expect(formatFaults({ file: 'a.json', value })).toEqual([]);
    expect(formatFaults({ file: 'a.json', value: { ...PLAIN_TIDES, $schema: 7 } })).toHaveLength(1);
  });
});

/** Names of the members below a schema that have no description, and how many have one. */
function members(schema: unknown): { silent: string[]; described: number } {
  if (typeof schema !== 'object' || schema === null) return { silent: [], described: 0 };
  const own = 'properties' in schema ? Object.entries(schema.properties as object) : [];
  const silent = own.filter(([, member]) => member.description === undefined);
  const below = Object.values(schema).map(members);
  return {
    silent: [...silent.map(([name]) => name), ...below.flatMap((each) => each.silent)],
    described: below.reduce((sum, each) => sum + each.described, own.length - silent.length),
  };
}

// `broken-catalogs.test.ts` has a row for each fault.

/** Places of the faults after some edits. */
function faultsAfter(edits: readonly Edit[]): string[] {
  const files = Object.entries(editedFiles(edits)).map(([file, text]) => {
    return { file, value: JSON.parse(text) as CatalogFile };
  });
  // Only what the format allows is a matter of this check.
  expect(files.flatMap(formatFaults)).toEqual([]);
  return catalogFaults(files).map(({ file, pointer }) => `${file} ${pointer}`);
}

describe('catalogFaults()', () => {
  it('finds none where everything fits', () => {
    expect(faultsAfter([])).toEqual([]);
  });

  it('finds none in the built-in catalogue', () => {
    const files = readdirSync(FOLDER).map((file) => {
      const value: CatalogFile = JSON.parse(readFileSync(join(FOLDER, file), 'utf8'));
      return { file, value };
    });
    expect(catalogFaults(files)).toEqual([]);
  });

  it('asks for no price of a bundle where the built-in prices are taken over', () => {
    const unpriced: Edit = ['harbour.json', '/prices/bundle', undefined];
    expect(faultsAfter([unpriced])).toEqual(['tides.json /lines/1/lifecycle/path']);
    const both = ['harbour.json', 'tides.json'].map((file): Edit => [file, '/extends', 'builtin']);
    expect(faultsAfter([unpriced, ...both])).toEqual([]);
  });

  it('names all faults at once', () => {
    const all = faultsAfter([
      ['harbour.json', '/rulers/surge/actionBand', 'flod'],
      ['tides.json', '/lines/0/signals/1/metrics/0', 'height'],
      ['tides.json', '/lines/0/places/0/longitude', undefined],
    ]);
    expect(all).toHaveLength(3);
  });
});

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
