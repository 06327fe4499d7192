import { describe, expect, it } from 'vitest';
import { FOUND_MAX, findUrl, type SiteFound } from '../../compiler/catalog/site.ts';
import { findFiles } from '../../compiler/describe/write-pieces.ts';
import { findIn, type PageSignal, piecesFor, signalIndex } from '../../compiler/page/page-data.ts';
import { HOSTILE_NAMES } from '../hostile-names.ts';

const PIECES_MAX = 8;
const HITS_MAX = 40;

const signal = (signal_id: string, measures: string): PageSignal => ({
  signal_id,
  industry: 'environment',
  line: 'environment',
  line_title: 'cities and their river',
  measures,
  title: measures,
  cadence: 'hourly',
  metrics: [{ name: 'value_index', label: 'value', unit: '' }],
  says: [],
  none: '',
  classes: {},
  zones: {},
  scales: [],
  bands: [],
  entities: 1,
  sells: [],
  offers: [],
  list: '',
  map: null,
  raw: false,
  sample: null,
});
const AQI = signal('airquality.aqi', 'US air quality index');
const RIVER = signal('hydrology.river-level', 'river stage at a gauge');
const index = signalIndex([AQI, RIVER]);

type Named = readonly [signal: string, entity: string, name: string | null];

/** Compiles the pieces and searches them as the page does. */
function search(query: string, entities: readonly Named[]) {
  const rows = entities.map(([signal_id, entity, entity_name]) => ({
    signal_id,
    entity,
    entity_name,
  }));
  const files = new Map(findFiles(rows as unknown as Parameters<typeof findFiles>[0]));
  const keys = (files.get('site/data/find.json') as { keys: readonly string[] }).keys;
  const pieces = piecesFor(query, keys, index);
  const found = pieces.map((key) => files.get(findUrl(key).slice(1)) as SiteFound);
  return { pieces, ...findIn(query, found, index) };
}
const CITIES: readonly Named[] = [
  ['airquality.aqi', 'us-denver', 'Denver, CO'],
  ['airquality.aqi', 'us-chicago', 'Chicago, IL'],
  ['hydrology.river-level', '06714000', 'South Platte River at Denver'],
  ['hydrology.river-level', '07010000', null],
];
const entitiesOf = (query: string) => search(query, CITIES).hits.map(({ entity }) => entity);

describe('the search', () => {
  it.each([
    ['denver', ['us-denver', '06714000']],
    ['DENV', ['us-denver', '06714000']],
    ['d', ['us-denver', '06714000']],
    ['0701', ['07010000']],
    ['denver aqi', ['us-denver']],
    ['aqi denver', ['us-denver']],
    ['river denver', ['06714000', 'us-denver']],
    ['stage denver', ['06714000']],
    ['platte', ['06714000']],
    ['us denver co', ['us-denver']],
  ])('finds by "%s"', (query, expected) => {
    expect(entitiesOf(query)).toEqual(expected);
  });

  it('finds what is measured, also without a name', () => {
    const { hits } = search('air quality', CITIES);
    expect(hits).toEqual([{ signal: AQI, entity: null, name: null }]);
  });

  it.each(['', ' ', '!!!', 'nowhere', 'denver nowhere', 'boston aqi'])(
    'finds nothing by "%s"',
    (query) => {
      expect(search(query, CITIES).hits).toEqual([]);
    },
  );

  it('puts whole words in front of beginnings', () => {
    const rows: readonly Named[] = [
      ['airquality.aqi', 'a', 'Denverton'],
      ['airquality.aqi', 'b', 'Denver'],
    ];
    expect(search('denver', rows).hits.map(({ name }) => name)).toEqual(['Denver', 'Denverton']);
  });

  it('finds one of very many that share a word, by another word', () => {
    const many = Array.from({ length: FOUND_MAX + 500 }, (_, at): Named => {
      return ['airquality.aqi', `station-${100_000 + at}`, null];
    });
    const last = many.at(-1)?.[1] ?? '';
    const all = search('station', many);
    expect([all.hits.length, all.isCut]).toEqual([HITS_MAX, true]);
    const one = search(last.replace('-', ' '), many);
    expect(one.hits.map(({ entity }) => entity)).toEqual([last]);
    expect(one.isCut).toBe(false);
    expect(one.pieces.length).toBeLessThanOrEqual(PIECES_MAX);
  });

  it('finds names of any form by their words, and never fails', () => {
    const rows = HOSTILE_NAMES.filter((name) => name !== '' && name.isWellFormed()).map(
      (name): Named => ['airquality.aqi', name, name],
    );
    expect(search('constructor', rows).hits[0]?.entity).toBe('constructor');
    expect(search('proto', rows).hits[0]?.entity).toBe('__proto__');
    for (const [, name] of rows) expect(() => search(name, CITIES)).not.toThrow();
  });
});
