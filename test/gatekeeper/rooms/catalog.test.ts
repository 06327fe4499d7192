import { describe, expect, it } from 'vitest';
import { SIGNALS } from '../../../compiler/contract/catalog/builtin.ts';
import { CATALOG_PATH, formatCatalogRow } from '../../../compiler/contract/release.ts';
import type { Service } from '../../../gatekeeper/answers/service.ts';
import { catalog } from '../../../gatekeeper/rooms/catalog.ts';
import { FREE_BYTES_MAX } from '../../../gatekeeper/rooms/json-content.ts';
import { jsonOf, question, tinyService } from '../tiny-service.ts';

async function listed(query: string, { release }: Service): Promise<Record<string, unknown>> {
  return jsonOf(await catalog(question(`/gauge/catalog${query}`), release));
}

/** 60 signals with 30 entities each: four pages. */
async function largeService(): Promise<Service> {
  const lines = SIGNALS.slice(0, 60).flatMap(({ id }) =>
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
    expect(seen).toEqual(SIGNALS.slice(0, 60).map(({ id }) => id));
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
