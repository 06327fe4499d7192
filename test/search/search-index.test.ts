import { describe, expect, it } from 'vitest';
import { type Catalog, catalogOf } from '../../compiler/catalog/catalog.ts';
import {
  formatTermRow,
  parseTermRow,
  posting,
  SEARCH_TERMS_PATH,
  searchWords,
  type TermRow,
} from '../../compiler/catalog/search-index.ts';
import { searchIndexFiles } from '../../compiler/describe/search-index.ts';
import { defined } from '../../compiler/format/errors.ts';
import { CATALOG_PATH, formatCatalogRow } from '../../compiler/format/release.ts';
import type { Service } from '../../gatekeeper/heart/answers/service.ts';
import type { ReleaseIndex } from '../../gatekeeper/heart/release/release-index.ts';
import { TermTable } from '../../gatekeeper/heart/words/open-words.ts';
import { QUESTION_COST } from '../../gatekeeper/heart/words/resolve-words.ts';
import { OwnValues } from '../../gatekeeper/wire/maps.ts';
import { tinyService } from '../gatekeeper/tiny-service.ts';
import { type AskSearch, askSearch } from './ask-search.ts';

const HEAD = JSON.stringify({ topics: 2, documents: 9, lines: [['a', 2]] });

function row(term: string, ...postings: readonly number[]): TermRow {
  return { term, topics: 0, places: postings.length, postings };
}

function tableOf(...terms: readonly string[]): TermTable {
  const rows = [...terms].sort().map((term, at) => formatTermRow(row(term, posting(at, 5))));
  return new TermTable(Buffer.from(`${HEAD}\n${rows.join('')}`));
}

describe('searchWords()', () => {
  it.each([
    ['Air quality in DENVER', ['air', 'quality', 'in', 'denver']],
    ['Türkiye, Paraná', ['turkiy', 'parana']],
    ['PM2.5', ['pm25']],
    ["Chicago O'Hare", ['chicago', 'ohar']],
    ['l’été à Orléans', ['ete', 'a', 'orlean']],
    ['東京の地震 M5.1', ['東京の地震', 'm51']],
    ['wildfires wildfire', ['wildfir', 'wildfir']],
    ['shipping ships', ['ship', 'ship']],
    ['cities city', ['city', 'city']],
    ['class classes', ['class', 'class']],
    ['speed spring', ['speed', 'spring']],
    ['hydrology.river-level 07010000', ['hydrology', 'river', 'level', '07010000']],
    ['…!?', []],
  ])('of "%s" are %j', (text, words) => {
    expect(searchWords(text)).toEqual(words);
  });

  it('are bounded in number and in length', () => {
    expect(searchWords('a '.repeat(5000))).toHaveLength(64);
    expect(searchWords('a'.repeat(5000))[0]).toHaveLength(40);
  });
});

describe('a row of the terms', () => {
  it.each([[row('denver', posting(3, 9), posting(4, 1), posting(100_000, 6))], [row('\u{1f32b}')]])(
    'is read as it was written: %j',
    (one) => {
      expect(parseTermRow(formatTermRow(one).slice(0, -1))).toEqual(one);
    },
  );
});

describe('TermTable', () => {
  const table = tableOf('denver', 'denmark', 'drought', 'köln', 'z');
  const terms = (rows: readonly TermRow[]): string[] => rows.map(({ term }) => term);

  it('finds a whole term, and no piece of one', () => {
    expect(table.find('drought')?.term).toBe('drought');
    expect(table.find('köln')?.term).toBe('köln');
    for (const none of ['drough', 'droughts', '', 'zz', HEAD.slice(0, 8)]) {
      expect(table.find(none)).toBeNull();
    }
  });

  it('finds what begins with a text, the shortest first', () => {
    expect(terms(table.beginningWith('den', 8))).toEqual(['denver', 'denmark']);
    expect(terms(table.beginningWith('den', 1))).toEqual(['denver']);
    expect(table.beginningWith('dex', 8)).toEqual([]);
    expect(terms(table.beginningWith('z', 8))).toEqual(['z']);
  });

  it.each([
    ['a letter more', 'ddenver'],
    ['a letter less', 'denvr'],
    ['another letter', 'denvir'],
  ])('finds a word with %s', (_, word) => {
    expect(terms(table.nearTo(word, 1, 8))).toEqual(['denver']);
  });

  it('does not find a word with more edits', () => {
    expect(table.nearTo('dnevr', 1, 8)).toEqual([]);
  });
});

/** Names of the two lines of a catalogue; only the first entity of the first line has another name. */
const NAMES = {
  rivers: ['Port Anna, CA', 'Anna Creek', 'Weir near Port Anna'],
  roads: ['Port Anna Road'],
};

it('a place is called by the short name of another one of its line that stands in its name', () => {
  const lines = Object.entries(NAMES).map(([id, names]) => ({
    id,
    industry: 'measuring',
    title: id,
    signals: [
      {
        id: `${id}.a`,
        measures: 'depth',
        cadence: 'hourly' as const,
        metrics: ['level_m'] as [string],
      },
    ],
    entities: names.map((name, at) => ({ id: `E${at}`, name })),
  }));
  const catalog = catalogOf([
    {
      format: 'signalpress-catalog/1',
      extends: null,
      prices: { '/gauge': '0.01', bundle: '0.2' },
      abbreviations: {},
      aliases: { 'rivers/E0': ['PAX'] },
      lines,
    },
  ]);
  const rows = lines.flatMap(({ signals, entities }) =>
    entities.map(({ id }) =>
      formatCatalogRow({
        signal_id: signals[0]?.id ?? '',
        entity: id,
        entity_name: null,
        observed_at: '2026-11-21T00:00:00Z',
        band: null,
        record_hash: `sha256:${'0'.repeat(64)}`,
        last_looked_at: '2026-11-21T00:00:00Z',
      }),
    ),
  );
  const files = searchIndexFiles({ catalog, table: Buffer.from(rows.join('')), entries: [] });
  const [, ...terms] = (files.get(SEARCH_TERMS_PATH) ?? '').split('\n').slice(0, -1);
  const having = (term: string): number | undefined =>
    terms.map(parseTermRow).find((row) => row.term === term)?.places;
  expect(having('pax')).toBe(2);
  expect(having('anna')).toBe(4);
});

describe('what a search costs', () => {
  const LINES = 20;

  const HUB = 'HUB-1';

  /** Lines of so many signals each, all of them read at the same place. */
  function hubCatalog(signalsALine: number): Catalog {
    const lines = Array.from({ length: LINES }, (_, line) => ({
      id: `line-${line}`,
      industry: 'measuring',
      title: `Gauges, network ${line}`,
      signals: Array.from({ length: signalsALine }, (_each, at) => ({
        id: `line-${line}.s${at}`,
        measures: `pressure of pump p${line}x${at}`,
        cadence: 'hourly' as const,
        metrics: ['level_m'] as [string],
      })),
      entities: [{ id: HUB, name: 'Hamburg harbour' }],
    }));
    const prices = { '/gauge': '0.01', bundle: '0.2' };
    return catalogOf([
      { format: 'signalpress-catalog/1', extends: null, prices, abbreviations: {}, lines },
    ]);
  }

  function tableOf(catalog: Catalog): Buffer {
    const rows = catalog.signals.map(({ id }) =>
      formatCatalogRow({
        signal_id: id,
        entity: HUB,
        entity_name: null,
        observed_at: '2026-11-21T00:00:00Z',
        band: null,
        record_hash: `sha256:${'0'.repeat(64)}`,
        last_looked_at: '2026-11-21T00:00:00Z',
      }),
    );
    return Buffer.from(rows.join(''));
  }

  /** How often it was asked whether a file is stored. */
  let looks = 0;

  async function searchOver(signalsALine: number): Promise<AskSearch> {
    const catalog = hubCatalog(signalsALine);
    const table = tableOf(catalog);
    const files = new Map<string, string | Buffer>([
      ...searchIndexFiles({ catalog, table, entries: [] }),
      [CATALOG_PATH, table],
    ]);
    const release = {
      catalog,
      offers: new Map([['/gauge', { sellsNow: true, request: '/gauge' }]]),
      own: new OwnValues(),
      has: (path: string) => {
        looks += 1;
        return path !== null;
      },
      body: async (path: string) => ({ bytes: Buffer.from(defined(files.get(path), path)) }),
    };
    const service: Service = {
      ...(await tinyService()),
      release: release as unknown as ReleaseIndex,
    };
    return askSearch(service);
  }

  it('I54: looks at few of the readings of a place that has 10,000', async () => {
    const ask = await searchOver(500);
    await ask('hamburg');
    looks = 0;
    const { body } = await ask.measured('hamburg harbour');
    expect(body.results[0]?.request).toContain(`entity=${HUB}`);
    expect(looks).toBeGreaterThan(0);
    expect(looks).toBeLessThanOrEqual(60 * LINES);
  });

  it('finds the one of them that the words are about', async () => {
    const ask = await searchOver(500);
    const { results } = await ask('pump p7x432 hamburg');
    expect(results[0]?.id).toBe(`line-7.s432/${HUB}`);
  });

  it('charges a place of few readings little', async () => {
    const ask = await searchOver(1);
    const { body, units } = await ask.measured('hamburg harbour');
    expect(body.results).toHaveLength(5);
    expect(units).toBeLessThan(QUESTION_COST + 1);
  });
});
