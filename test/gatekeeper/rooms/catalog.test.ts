import { describe, expect, it, vi } from 'vitest';
import { BUILTIN } from '../../../compiler/catalog/builtin.ts';
import {
  CATALOG_PATH,
  type CatalogRow,
  formatCatalogRow,
} from '../../../compiler/format/release.ts';
import type { Service } from '../../../gatekeeper/heart/answers/service.ts';
import { CatalogTable, catalog } from '../../../gatekeeper/rooms/catalog.ts';
import { FREE_BYTES_MAX } from '../../../gatekeeper/rooms/json-content.ts';
import { jsonOf, question, tinyService } from '../tiny-service.ts';

async function listed(query: string, { release }: Service): Promise<Record<string, unknown>> {
  return jsonOf(await catalog(question(`/gauge/catalog${query}`), release));
}

/** 60 signals with 30 entities each: four pages. */
async function largeService(): Promise<Service> {
  const lines = BUILTIN.signals.slice(0, 60).flatMap(({ id }) =>
    Array.from({ length: 30 }, (_, at) =>
      formatCatalogRow({
        signal_id: id,
        entity: `e${at}`,
        entity_name: null,
        observed_at: '2026-11-21T10:45:00Z',
        band: null,
        record_hash: `sha256:${'0'.repeat(64)}`,
        last_looked_at: '2026-11-21T11:00:00Z',
      }),
    ),
  );
  return tinyService({ files: new Map([[CATALOG_PATH, Buffer.from(lines.join(''))]]) });
}

/** One signal with names in a script of three bytes a character. */
async function longService(entities: readonly string[]): Promise<Service> {
  const lines = entities.map((entity) =>
    formatCatalogRow({
      signal_id: 'crypto.spot',
      entity,
      entity_name: '幣'.repeat(30),
      observed_at: '2026-11-21T10:45:00Z',
      band: null,
      record_hash: `sha256:${'0'.repeat(64)}`,
      last_looked_at: '2026-11-21T11:00:00Z',
    }),
  );
  return tinyService({ files: new Map([[CATALOG_PATH, Buffer.from(lines.join(''))]]) });
}

function listedAs(entity: string) {
  return { entity, name: `Name of ${entity}`, entity_name: `Name of ${entity}` };
}

describe('catalog()', () => {
  it('lists legal pairs by signal', async () => {
    const body = await listed('?signal_id=airquality.aqi', await tinyService());
    expect(body.signals).toEqual([
      {
        signal_id: 'airquality.aqi',
        industry: 'environment',
        sells: ['/gauge', '/gauge/ruler', '/gauge/region'],
        entities: [
          { ...listedAs('us-chicago'), latitude: 41.8781, longitude: -87.6298 },
          { ...listedAs('us-denver'), latitude: 39.7392, longitude: -104.9903 },
        ],
      },
    ]);
  });

  it.each([
    ['?industry=filings', 1],
    ['?signal_id=no.such', 0],
    ['?page=99', 0],
    ['?all=1', 3],
  ])('answers 200 for %s', async (query, count) => {
    expect((await listed(query, await tinyService())).signals).toHaveLength(count);
  });

  it('leads through all pages by next, each pair once, no signal torn apart', async () => {
    const service = await largeService();
    const seen: unknown[] = [];
    let query: string | null = '';
    while (query !== null) {
      const body: Record<string, unknown> = await listed(query, service);
      seen.push(...(body.signals as { signal_id: string }[]).map((row) => row.signal_id));
      query = body.next === null ? null : String(body.next).replace('/gauge/catalog', '');
    }
    expect(seen).toEqual(BUILTIN.signals.slice(0, 60).map(({ id }) => id));
    expect((await listed('', service)).pages).toBe(4);
    expect((await listed('?all=1', service)).signals).toHaveLength(60);
  });

  it.each(['?all=1', '?signal_id=crypto.spot', ''])(
    'keeps every answer of a very long list under one megabyte, and loses no pair, for "%s"',
    async (query) => {
      const entities = Array.from({ length: 20_000 }, (_, at) => `entity-${at}`).sort();
      const service = await longService(entities);
      const seen: string[] = [];
      let next: unknown = `/gauge/catalog${query}`;
      while (typeof next === 'string') {
        const answered = await catalog(question(next), service.release);
        const size = answered.kind === 'content' ? answered.content.body.length : Infinity;
        expect(size).toBeLessThanOrEqual(FREE_BYTES_MAX);
        const body = jsonOf(answered);
        for (const row of body.signals as { entities: { entity: string }[] }[]) {
          seen.push(...row.entities.map(({ entity }) => entity));
        }
        next = body.next;
      }
      expect(seen).toEqual(entities);
    },
  );

  it('is empty for a release without a list', async () => {
    const body = await listed('', await tinyService({ files: new Map() }));
    expect(body).toMatchObject({ signals: [], next: null, total_pairs: 0 });
  });
});

function row(signal_id: string, entity: string, hour: number): CatalogRow {
  const observed_at = new Date(Date.UTC(2026, 10, 20, hour)).toISOString();
  const rest = { entity_name: `Größe "${entity}"`, band: null, record_hash: 'sha256:00' };
  return { signal_id, entity, observed_at, last_looked_at: observed_at, ...rest };
}

const ROWS = [
  row('crypto.spot', 'BTC', 3),
  row('crypto.spot', 'btc', 1),
  row('crypto.spot', 'eth', 2),
  row('hydrology.streamflow', 'btc', 4),
];
const table = new CatalogTable(Buffer.from(ROWS.map(formatCatalogRow).join(''), 'utf8'));

describe('CatalogTable', () => {
  it('gives every row as it was written, and its signal without parsing it', () => {
    expect(table.size).toBe(ROWS.length);
    expect(ROWS.map((_, number) => table.row(number))).toEqual(ROWS);
    expect(table.signalOf(3)).toBe('hydrology.streamflow');
  });

  it('finds an entity in any spelling, in the order of the list', () => {
    expect(table.numbersOf('btc')).toEqual([0, 1, 3]);
    expect(table.numbersOf('eth')).toEqual([2]);
  });

  it('finds nothing of an entity that is not stored, and in an empty list', () => {
    expect(table.numbersOf('bt')).toEqual([]);
    expect(table.numbersOf('')).toEqual([]);
    const empty = new CatalogTable(Buffer.alloc(0));
    expect([empty.size, empty.numbersOf('btc')]).toEqual([0, []]);
  });

  it('finds each of many entities', () => {
    const many = Array.from({ length: 3000 }, (_, at) => row('crypto.spot', `e${at}`, 0));
    const large = new CatalogTable(Buffer.from(many.map(formatCatalogRow).join(''), 'utf8'));
    for (const [at, { entity }] of many.entries()) expect(large.numbersOf(entity)).toEqual([at]);
    expect(large.numbersOf('e3000')).toEqual([]);
  });

  it('I54: looks up an entity with 200,000 rows without a look at each for each', () => {
    const text = formatCatalogRow(row('crypto.spot', 'BTC', 0)).repeat(200_000);
    const large = new CatalogTable(Buffer.from(text, 'utf8'));
    const parsed = vi.spyOn(large, 'row');
    const begun = performance.now();
    const [first] = large.likelyOf('btc');
    expect(performance.now() - begun).toBeLessThan(5000);
    expect(first).toBe(0);
    expect(parsed).toHaveBeenCalledTimes(large.size);
    expect([...large.likelyOf('btc')]).toHaveLength(large.size);
    expect(parsed).toHaveBeenCalledTimes(large.size);
  });
});

describe('RowList', () => {
  const list = table.list([0, 1, 2]);

  it('counts places from either end and has none beyond', () => {
    expect([list.length, list.at(0), list.at(-1)]).toEqual([3, ROWS[0], ROWS[2]]);
    expect([list.at(3), list.at(-4)]).toEqual([undefined, undefined]);
  });

  it('sorts by a key and keeps the order of equal ones', () => {
    const byTime = list.sortedBy(({ observed_at }) => Date.parse(observed_at));
    expect([...byTime]).toEqual([ROWS[1], ROWS[2], ROWS[0]]);
    expect([...list.sortedBy(() => 0)]).toEqual([...list]);
  });
});
