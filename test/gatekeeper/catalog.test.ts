import { describe, expect, it } from 'vitest';
import { SIGNALS } from '../../compiler/contract/lines.ts';
import { CATALOG_PATH, formatCatalogRow } from '../../compiler/contract/release.ts';
import { catalog } from '../../gatekeeper/catalog.ts';
import type { Service } from '../../gatekeeper/service.ts';
import { jsonOf, question, tinyService } from './tiny-service.ts';

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
        update_state: 'unknown',
      }),
    ),
  );
  return tinyService({ files: new Map([[CATALOG_PATH, Buffer.from(lines.join(''))]]) });
}

describe('catalog()', () => {
  it('lists legal pairs by signal', async () => {
    const body = await listed('?signal_id=airquality.aqi', await tinyService());
    expect(body.signals).toEqual([
      {
        signal_id: 'airquality.aqi',
        industry: 'environment',
        entities: ['us-chicago', 'us-denver'].map((entity) => {
          return { entity, name: `Name of ${entity}`, entity_name: `Name of ${entity}` };
        }),
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

  it('is empty for a release without a list', async () => {
    const body = await listed('', await tinyService({ files: new Map() }));
    expect(body).toMatchObject({ signals: [], next: null, total_pairs: 0 });
  });
});
