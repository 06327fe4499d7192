import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BUILTIN_FILES } from '../../../compiler/contract/catalog/builtin-files.ts';
import {
  catalogJsonSchema,
  catalogSchemaText,
  formatFaults,
  pointerOf,
} from '../../../compiler/contract/catalog/catalog-file.ts';

const FOLDER = 'compiler/contract/catalog/builtin';
const TIDES = {
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

/** TIDES with one member replaced; undefined takes it away. */
function broken(pointer: string, value: unknown): unknown {
  const copy = structuredClone(TIDES) as unknown;
  const names = pointer.slice(1).split('/');
  const last = names.pop() ?? '';
  const parent = names.reduce((at, name) => (at as Record<string, unknown>)[name], copy);
  const holder = parent as Record<string, unknown>;
  if (value === undefined) delete holder[last];
  else holder[last] = value;
  return copy;
}

/** What is changed, to what, where the fault is said to be, and in which words. */
const FAULTS: readonly (readonly [string, unknown, string, string])[] = [
  ['/format', 'signalpress-catalog/2', '/format', 'did you mean "signalpress-catalog/1"?'],
  ['/extends', undefined, '/extends', 'missing; write one of builtin'],
  ['/extends', 'buildin', '/extends', 'did you mean "builtin"?'],
  ['/linez', [], '', 'unknown member "linez"; did you mean "lines"?'],
  ['/lines/0/titel', 'x', '/lines/0', 'unknown member "titel"; did you mean "title"?'],
  ['/lines/0/title', undefined, '/lines/0/title', 'missing; add it'],
  ['/lines/0/id', 'Tides', '/lines/0/id', 'lower-case'],
  ['/lines/0/signals/0/id', 'level', '/lines/0/signals/0/id', 'genus.species'],
  ['/lines/0/signals/0/cadence', 'hourley', '/lines/0/signals/0/cadence', '"hourly"'],
  ['/lines/0/signals/0/metrics', [], '/lines/0/signals/0/metrics/0', 'missing; add it'],
  ['/lines/0/signals/0/metrics/0', 'levelM', '/lines/0/signals/0/metrics/0', 'lower snake case'],
  ['/lines/0/entities/0', 'pier one', '/lines/0/entities/0', 'printable ASCII'],
  ['/lines/0/entities/1/latitude', 91, '/lines/0/entities/1/latitude', '<=90'],
  ['/lines/0/entities/1/lattitude', 5, '/lines/0/entities/1', 'did you mean "latitude"?'],
  ['/rulers/harbour-stage/direction', 'upp', '/rulers/harbour-stage/direction', '"up"'],
  ['/rulers/harbour-stage/steps/1/at', '3.2', '/rulers/harbour-stage/steps/1/at', 'number'],
  ['/prices/bundle', 0.25, '/prices/bundle', 'write a price as a text, such as "0.05"'],
  ['/prices/bundle', '0.0000001', '/prices/bundle', 'at most 6 decimals'],
  ['/prices/bundle', '0.00', '/prices/bundle', 'above 0'],
  ['/prices/bundle', '-1', '/prices/bundle', 'above 0'],
  ['/prices/bundle', '1e2', '/prices/bundle', 'a decimal number of USD'],
  ['/rulers/harbour-stage/since', '2026-02-30', '/rulers/harbour-stage/since', 'date'],
];

describe('formatFaults()', () => {
  it('finds none in a file of the format', () => {
    expect(formatFaults({ file: 'tides.json', value: TIDES })).toEqual([]);
  });

  it.each(FAULTS)('of %s changed to %j names %s', (member, value, ...[pointer, words]) => {
    const found = formatFaults({ file: 'tides.json', value: broken(member, value) });
    expect(found).toEqual([
      { file: 'tides.json', pointer, reason: expect.stringContaining(words) },
    ]);
  });

  it('names all faults at once', () => {
    const value = { ...TIDES, format: 'x', lines: [{ id: 'A' }, 7] };
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
    const value = { ...TIDES, $schema: '../catalog.schema.json' };
    expect(formatFaults({ file: 'a.json', value })).toEqual([]);
    expect(formatFaults({ file: 'a.json', value: { ...TIDES, $schema: 7 } })).toHaveLength(1);
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
