import { describe, expect, it, vi } from 'vitest';
import { type Catalog, catalogOf } from '../../compiler/contract/catalog/catalog.ts';
import { defined } from '../../compiler/contract/defined.ts';
import { CATALOG_PATH, formatCatalogRow } from '../../compiler/contract/release.ts';
import { searchIndexFiles } from '../../compiler/stages/describe/search-index.ts';
import type { Service } from '../../gatekeeper/answers/service.ts';
import type { ReleaseIndex } from '../../gatekeeper/release/release-index.ts';
import { CatalogTable } from '../../gatekeeper/rooms/catalog.ts';
import { QUESTION_COST } from '../../gatekeeper/search/search.ts';
import { tinyService } from '../gatekeeper/tiny-service.ts';
import { type AskSearch, askSearch } from './ask-search.ts';

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

async function searchOver(signalsALine: number): Promise<AskSearch> {
  const catalog = hubCatalog(signalsALine);
  const table = tableOf(catalog);
  const files = new Map<string, string | Buffer>([
    ...searchIndexFiles({ catalog, table, entries: [] }),
    [CATALOG_PATH, table],
  ]);
  const release = {
    catalog,
    offers: new Map(),
    has: () => true,
    body: async (path: string) => ({ bytes: Buffer.from(defined(files.get(path), path)) }),
  };
  const service: Service = {
    ...(await tinyService()),
    release: release as unknown as ReleaseIndex,
  };
  return askSearch(service);
}

describe('what a search costs', () => {
  it('I54: parses few of the readings of a place that has 10,000, and charges those it looked at', async () => {
    const ask = await searchOver(500);
    await ask('hamburg');
    const parsed = vi.spyOn(CatalogTable.prototype, 'row');
    const { body, units } = await ask.measured('hamburg harbour');
    expect(body.results[0]?.request).toContain(`entity=${HUB}`);
    expect(parsed.mock.calls.length).toBeLessThanOrEqual(50 * LINES);
    expect(units).toBeGreaterThanOrEqual(QUESTION_COST + 100);
    parsed.mockRestore();
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
