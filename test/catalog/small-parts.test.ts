import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { BUILTIN } from '../../compiler/catalog/builtin.ts';
import { type Catalog, catalogOf } from '../../compiler/catalog/catalog.ts';
import {
  FORMAT_DOCUMENTS,
  findStaticFile,
  STATIC_FILES,
} from '../../compiler/catalog/static-files.ts';
import { toolsOf } from '../../compiler/catalog/tools.ts';
import { runPaths, runsOf } from '../../compiler/format/hash-index.ts';
import { builtinOperation } from '../builtin-rows.ts';
import { TIDE_FILE, TIDES } from '../tide-shop.ts';

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

describe('findStaticFile()', () => {
  it('gives the path in the release, below a folder or as a whole', () => {
    expect(findStaticFile('/log/checkpoint')?.path).toBe('log/checkpoint');
    expect(findStaticFile('/log/tile/0/x001/000.p/7')).toMatchObject({
      path: 'log/tile/0/x001/000.p/7',
      row: { cache: 'immutable' },
    });
    expect(findStaticFile('/log/anchor/ab.ots')?.row.contentType).toBe('application/octet-stream');
    expect(findStaticFile('/log/anchor/ab.json')?.row.contentType).toBe('application/json');
  });

  it('gives the page at its own paths alone, and what it loads by the end of its name', () => {
    expect(findStaticFile('/')?.path).toBe('site/index.html');
    expect(findStaticFile('/site/')?.path).toBe('site/index.html');
    expect(findStaticFile('/site/assets/a.js')?.row.cache).toBe('immutable');
    expect(findStaticFile('/site/data/find/de.json')?.row.cache).toBe('release');
    expect(findStaticFile('/site/assets/a.js.gz')).toBeNull();
  });

  it('knows nothing of other paths', () => {
    const urls = [
      '/x',
      '/site',
      '/site/assets',
      '/site/index.html',
      '/log',
      '/log/',
      '/log/checkpoint/',
      '/log/anchor/ab',
      '/gauge',
      'log/vkey',
    ];
    for (const url of urls) expect([url, findStaticFile(url)]).toEqual([url, null]);
  });

  it('I52: gives nobody the look-up of hashes, which tells times that are sold', () => {
    for (const path of runsOf(70_000).flatMap(runPaths)) {
      expect(findStaticFile(`/${path}`)).toBeNull();
    }
  });

  it('takes no path from an operation, and no path of a release that is sold', () => {
    const own = ['catalog.json', 'files.txt', 'release.json'];
    const free = new Set(['log', 'well-known', 'free', 'site', ...own]);
    for (const { url, path } of STATIC_FILES) {
      expect(BUILTIN.operations.filter((row) => findStaticFile(row.path) !== null)).toEqual([]);
      expect(BUILTIN.operations.filter((row) => row.path === url)).toEqual([]);
      expect([path, free.has(path.split('/')[0] ?? '')]).toEqual([path, true]);
    }
  });

  it('gives away every document of the format, and the first one names the others', () => {
    const folder = new URL('../../compiler/format/', import.meta.url);
    const documents = readdirSync(folder).filter(
      (name) => name.endsWith('.md') && name !== 'README.md',
    );
    expect(FORMAT_DOCUMENTS.map(({ source }) => source).sort()).toEqual(documents.sort());
    const format = readFileSync(new URL('FORMAT.md', folder), 'utf8');
    for (const { source, url, path } of FORMAT_DOCUMENTS.slice(1)) {
      expect(format).toContain(source);
      expect(findStaticFile(url)).toMatchObject({ path, row: { cache: 'release' } });
    }
  });
});
