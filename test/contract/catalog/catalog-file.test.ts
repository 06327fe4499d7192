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

describe('formatFaults()', () => {
  it('finds none in a file of the format', () => {
    expect(formatFaults({ file: 'tides.json', value: TIDES })).toEqual([]);
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
