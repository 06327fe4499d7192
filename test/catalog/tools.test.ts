import { describe, expect, it } from 'vitest';
import { BUILTIN } from '../../compiler/catalog/builtin.ts';
import { type Catalog, catalogOf } from '../../compiler/catalog/catalog.ts';
import { toolsOf } from '../../compiler/catalog/tools.ts';
import { builtinOperation } from '../builtin-rows.ts';
import { TIDE_FILE, TIDES } from '../tide-catalog.ts';

/** Keywords that mean the same in draft-07 and 2020-12. */
const SHARED: readonly string[] = [
  ...['type', 'properties', 'required', 'additionalProperties', 'enum', 'description', 'anyOf'],
];

/** Keywords of a schema and of all schemas inside it. */
function keywords(schema: object): string[] {
  return Object.entries(schema).flatMap(([keyword, value]) => {
    if (keyword === 'properties')
      return [keyword, ...Object.values(value as object).flatMap(keywords)];
    return [keyword];
  });
}

describe('toolsOf()', () => {
  it('are the three of the specification, the search and the quote, with their arguments', () => {
    const shape = toolsOf(BUILTIN).map(({ name, inputSchema }) => [
      name,
      Object.keys(inputSchema.properties),
      inputSchema.required,
    ]);
    expect(shape).toEqual([
      ['search', ['query'], ['query']],
      ['quote', ['request'], ['request']],
      ['verify_citation', ['record_hash'], ['record_hash']],
      ['find_signal', ['query', 'industry', 'signal_id', 'entity', 'full', 'page'], []],
      ['get_official_record', ['signal_id', 'entity', 'dim'], ['signal_id', 'entity']],
    ]);
  });

  it.each(toolsOf(BUILTIN))('$name has schemas that old and new validators read alike', (tool) => {
    for (const schema of [tool.inputSchema, tool.outputSchema]) {
      expect(schema.type).toBe('object');
      expect(keywords(schema).filter((keyword) => !SHARED.includes(keyword))).toEqual([]);
    }
    expect(keywords({ $schema: '', properties: { a: { const: 1 } } })).toEqual([
      '$schema',
      'properties',
      'const',
    ]);
  });

  it.each(toolsOf(BUILTIN))(
    '$name only reads, may be repeated, and says that it is free',
    (tool) => {
      expect(tool.annotations).toMatchObject({ readOnlyHint: true, idempotentHint: true });
      expect(tool.description).toMatch(/^Free/);
    },
  );

  it('take products and price from the table', () => {
    const { params, priceUsd } = builtinOperation('/gauge');
    const record = toolsOf(BUILTIN).find((tool) => tool.name === 'get_official_record');
    expect(record?.inputSchema.properties.dim?.enum).toEqual(params.dim?.enum);
    expect(record?.description).toContain(`${priceUsd} USD`);
  });

  it('offer a record at the price of the catalogue, or none where none is sold', () => {
    const names = (catalog: Catalog) => toolsOf(catalog).map(({ name }) => name);
    expect(toolsOf(TIDES).at(-1)?.description).toContain('from 0.02 USD');
    const always = ['search', 'quote', 'verify_citation', 'find_signal'];
    expect(names(TIDES)).toEqual([...always, 'get_official_record']);
    const priceless = catalogOf([{ ...TIDE_FILE, prices: {} }]);
    expect(names(priceless)).toEqual(always);
    const silent = catalogOf([{ ...TIDE_FILE, leftOut: ['/gauge/search'] }]);
    expect(names(silent)).not.toContain('search');
    const find = toolsOf(silent).find(({ name }) => name === 'find_signal');
    expect(Object.keys(find?.inputSchema.properties ?? {})).not.toContain('query');
  });
});
