import { describe, expect, it, vi } from 'vitest';
import { BUILTIN, signalOf } from '../../../compiler/catalog/builtin.ts';
import { CATALOG_PATH, formatCatalogRow } from '../../../compiler/format/release.ts';
import { coverageSchema } from '../../../compiler/products/shapes/free-body-schemas.ts';
import { FRESHNESS_THRESHOLDS, freshness } from '../../../compiler/products/shapes/freshness.ts';
import type { Answered, Service } from '../../../gatekeeper/heart/answers/service.ts';
import { RowList } from '../../../gatekeeper/rooms/catalog.ts';
import { coverage } from '../../../gatekeeper/rooms/coverage.ts';
import { FREE_BYTES_MAX } from '../../../gatekeeper/rooms/json-content.ts';
import { TINY_NOW } from '../tiny-release.ts';
import { jsonOf, question, tinyService } from '../tiny-service.ts';

const COVERAGE_ROWS_MAX = 5000;
const COVERAGE_TTL_S = 60;

async function covered(query: string, service: Service): Promise<Record<string, unknown>> {
  return jsonOf(await coverage(question(`/gauge/coverage${query}`), service));
}

interface Covered {
  readonly update_status: string;
  readonly entities?: readonly { readonly update_status: string }[];
}

describe('coverage()', () => {
  it('counts every line and its freshness', async () => {
    const body = await covered('?summary=1', await tinyService());
    expect(body).toMatchObject({
      totals: {
        signal_ids: 3,
        industries: 2,
        distinct_entities: 4,
        freshness: { fresh: 4, recent: 0, stale: 0 },
      },
      cache_ttl_s: COVERAGE_TTL_S,
      freshness_thresholds: { daily: { fresh_hours: 24 } },
    });
    expect(body.signals).toHaveLength(BUILTIN.signals.length);
    expect(JSON.stringify(body).length).toBeLessThan(50_000);
  });

  it('adds per line what it measures and its readings, unless summary=1', async () => {
    const service = await tinyService();
    const [full] = (await covered('?signal_id=airquality.aqi', service)).signals as object[];
    expect(full).toMatchObject({
      measures: 'US air quality index',
      cadence: 'hourly',
      sells_now: true,
      update_status: 'on_schedule',
      latest_observed_at: '2026-11-21T10:45:00Z',
      entities: [{ entity: 'us-chicago', freshness: 'fresh', age_hours_now: 1.3 }, {}],
    });
    const [compact] = (await covered('?signal_id=airquality.aqi&summary=1', service))
      .signals as object[];
    expect(compact).not.toHaveProperty('entities');
  });

  it('sells no reading: neither band nor hash nor value is in it', async () => {
    const text = JSON.stringify(await covered('', await tinyService()));
    expect(text).not.toMatch(/sha256|"band"|aqi_index/);
  });

  it.each([
    ['?industry=filings', 3],
    ['?entity=US-Denver', 1],
    ['?signal_id=airquality.aqi&entity=us-chicago', 1],
    ['?industry=nothing', 0],
    ['?signal_id=no.such', 0],
    ['?entity=nobody', 0],
  ])('answers 200 for the filter %s', async (query, count) => {
    expect((await covered(query, await tinyService())).signals).toHaveLength(count);
  });

  it('computes freshness again after its time to live, and only then', async () => {
    const service = await tinyService();
    const at = async (now: number): Promise<unknown> =>
      (await covered('', { ...service, clock: () => now })).totals;
    const before = await at(TINY_NOW);
    const DAYS = 10 * 86_400_000;
    expect(await at(TINY_NOW + COVERAGE_TTL_S * 1000 - 1)).toEqual(before);
    expect(await at(TINY_NOW + DAYS)).toMatchObject({ freshness: { stale: 3 } });
  });

  it('counts as the one rule of freshness does, at the thresholds and beside them', async () => {
    const { fresh_hours, recent_hours } = FRESHNESS_THRESHOLDS.hourly;
    const edges = [0, fresh_hours, recent_hours, 10_000].flatMap((hours) =>
      [-1, 0, 1].map((ms) => TINY_NOW - hours * 3_600_000 + ms),
    );
    const lines = edges.map((at, index) =>
      formatCatalogRow({
        signal_id: 'crypto.spot',
        entity: `e${index}`,
        entity_name: null,
        observed_at: new Date(at).toISOString(),
        band: null,
        record_hash: `sha256:${'0'.repeat(64)}`,
        last_looked_at: '2026-11-21T11:00:00Z',
      }),
    );
    const files = new Map([[CATALOG_PATH, Buffer.from(lines.join(''))]]);
    const body = await covered('?signal_id=crypto.spot', await tinyService({ files }));
    const { cadence } = signalOf('crypto.spot') as { cadence: 'hourly' };
    const words = edges.map(
      (at) => freshness(cadence, new Date(at).toISOString(), TINY_NOW).freshness,
    );
    const counts = { fresh: 0, recent: 0, stale: 0 };
    for (const word of words) counts[word] += 1;
    expect(counts).toEqual({ fresh: 5, recent: 3, stale: 4 });
    expect(body.totals).toMatchObject({ freshness: counts });
    expect(body.signals).toMatchObject([{ freshness_counts: counts }]);
  });

  it('judges the publication of every entity now, and of a signal the least punctual', async () => {
    const hoursAgo = (hours: number) => new Date(TINY_NOW - hours * 3_600_000).toISOString();
    const line = (entity: string, observed: number, looked: number) =>
      formatCatalogRow({
        signal_id: 'crypto.spot',
        entity,
        entity_name: null,
        observed_at: hoursAgo(observed),
        band: null,
        record_hash: `sha256:${'0'.repeat(64)}`,
        last_looked_at: hoursAgo(looked),
      });
    const states = async (later: number, ...lines: readonly string[]) => {
      const files = new Map([[CATALOG_PATH, Buffer.from(lines.join(''))]]);
      const clock = () => TINY_NOW + later;
      const service = { ...(await tinyService({ files })), clock };
      const [signal] = (await covered('?signal_id=crypto.spot', service)).signals as Covered[];
      return [signal?.update_status, ...(signal?.entities ?? []).map((one) => one.update_status)];
    };
    const [punctual, late] = [line('a', 3, 0.5), line('b', 30, 1)];
    const [old, seen] = [line('c', 70_000, 70_000), line('d', 2, 1.9)];
    expect(await states(0, punctual)).toEqual(['on_schedule', 'on_schedule']);
    expect(await states(1, punctual)).toEqual(['unknown', 'unknown']);
    expect(await states(0, punctual, late)).toEqual(['overdue', 'on_schedule', 'overdue']);
    const hour = 3_600_000;
    expect(await states(2 * hour, late, seen)).toEqual(['overdue', 'overdue', 'unknown']);
    expect(await states(2 * hour + 1, late)).toEqual(['unknown', 'unknown']);
    expect(await states(0, old, seen)).toEqual(['unknown', 'unknown', 'on_schedule']);
  });

  it('leaves readings out beyond its bound and says how to get them', async () => {
    const row = {
      signal_id: 'crypto.spot',
      entity_name: null,
      observed_at: '2026-11-21T10:45:00Z',
      band: null,
      record_hash: `sha256:${'0'.repeat(64)}`,
      last_looked_at: '2026-11-21T11:00:00Z',
    };
    const lines = Array.from({ length: COVERAGE_ROWS_MAX + 1 }, (_, at) =>
      formatCatalogRow({ ...row, entity: `e${at}` }),
    );
    const files = new Map([[CATALOG_PATH, Buffer.from(lines.join(''))]]);
    const body = await covered('?signal_id=crypto.spot', await tinyService({ files }));
    expect(body.note).toMatch(/left out/);
    expect(body.signals).toMatchObject([{ entities_count: COVERAGE_ROWS_MAX + 1 }]);
    expect(body.signals).not.toHaveProperty('0.entities');
  });

  it('stays under one megabyte whatever the names are, and says what it left out', async () => {
    const lines = Array.from({ length: COVERAGE_ROWS_MAX }, (_, at) =>
      formatCatalogRow({
        signal_id: 'crypto.spot',
        entity: `e${at}`,
        entity_name: 'n'.repeat(2000),
        observed_at: '2026-11-21T10:45:00Z',
        band: null,
        record_hash: `sha256:${'0'.repeat(64)}`,
        last_looked_at: '2026-11-21T11:00:00Z',
      }),
    );
    const files = new Map([[CATALOG_PATH, Buffer.from(lines.join(''))]]);
    const body = await covered('?signal_id=crypto.spot', await tinyService({ files }));
    expect(JSON.stringify(body).length).toBeLessThanOrEqual(FREE_BYTES_MAX);
    expect(body.note).toMatch(/left out/);
  });
});

describe('coverage() by page', () => {
  interface Page {
    readonly note: string;
    readonly totals: object;
    readonly signals: readonly {
      readonly signal_id: string;
      readonly entities_count: number;
      readonly entities?: readonly { readonly entity: string }[];
    }[];
    readonly page: number;
    readonly pages: number;
    readonly next: string | null;
  }

  /** Every page from one on, as `next` leads. */
  async function pagesFrom(first: string, service: Service): Promise<Page[]> {
    const pages: Page[] = [];
    for (let at: string | null = first; at !== null && pages.length < 1000; ) {
      const answered = jsonOf(await coverage(question(at), service));
      pages.push(coverageSchema.parse(answered) as unknown as Page);
      at = pages.at(-1)?.next ?? null;
    }
    return pages;
  }

  const pairs = (pages: readonly Pick<Page, 'signals'>[]): string[] =>
    pages.flatMap(({ signals }) =>
      signals.flatMap(({ signal_id, entities = [] }) =>
        entities.map(({ entity }) => `${signal_id} ${entity}`),
      ),
    );

  it('lists every reading once, 100 a page, and tells the same counts on each', async () => {
    const service = await manyService(23);
    const whole = coverageSchema.parse(await covered('', service));
    const pages = await pagesFrom('/gauge/coverage?page=1', service);
    expect(pages.length).toBe(Math.ceil((23 * BUILTIN.signals.length) / 100));
    expect(pairs(pages)).toEqual(pairs([whole as unknown as Page]));
    for (const [at, one] of pages.entries()) {
      expect(one).toMatchObject({ page: at + 1, pages: pages.length, totals: whole.totals });
      expect(pairs([one]).length).toBeLessThanOrEqual(100);
    }
    expect(whole).not.toHaveProperty('page');
  });

  it('cuts one long signal, and lists readings that the whole answer leaves out', async () => {
    const service = await manyService(60);
    expect(await covered('', service)).toMatchObject({ note: /page by page from page=1/ });
    const [id = ''] = BUILTIN.signals.map((one) => one.id);
    const long = await manyService(250);
    const pages = await pagesFrom(`/gauge/coverage?signal_id=${id}&page=1`, long);
    expect(pages.map((one) => pairs([one]).length)).toEqual([100, 100, 50]);
    expect(pages.map(({ signals }) => signals[0]?.entities_count)).toEqual([250, 250, 250]);
    expect(pairs(await pagesFrom('/gauge/coverage?page=1', service))).toHaveLength(
      60 * BUILTIN.signals.length,
    );
  });

  it('counts the signals of a compact page, and those without a reading', async () => {
    const service = await tinyService();
    const compact = await pagesFrom('/gauge/coverage?summary=1&page=1', service);
    expect(compact.map(({ signals }) => signals.length)).toEqual([
      100,
      BUILTIN.signals.length - 100,
    ]);
    const full = await pagesFrom('/gauge/coverage?page=1', service);
    expect(full.flatMap(({ signals }) => signals)).toHaveLength(BUILTIN.signals.length);
    expect(pairs(full)).toHaveLength(4);
  });

  it('is empty beyond the last page, which nobody can fill the memory with', async () => {
    const service = await tinyService();
    const beyond = (await covered('?page=77', service)) as unknown as Page;
    expect(beyond).toMatchObject({ page: 77, signals: [], next: null });
    const first = await coverage(question('/gauge/coverage?page=77'), service);
    const again = await coverage(question('/gauge/coverage?page=77'), service);
    expect(bodyOf(again)).not.toBe(bodyOf(first));
    const page = await coverage(question('/gauge/coverage?page=1'), service);
    expect(bodyOf(await coverage(question('/gauge/coverage?page=1'), service))).toBe(bodyOf(page));
  });

  it('I54: charges the readings of one entity that are parsed', async () => {
    let units = 0;
    const spend = (more: number): void => {
      units += more;
    };
    const asked = { ...question('/gauge/coverage?entity=entity-1&page=1'), spend };
    const service = await manyService(2);
    await coverage(asked, service);
    expect(units).toBeCloseTo(BUILTIN.signals.length / 25);
    await coverage(asked, service);
    expect(units).toBeCloseTo(BUILTIN.signals.length / 25);
  });
});

function bodyOf(answered: Answered): unknown {
  return answered.kind === 'content' ? answered.content.body : null;
}

/** Every signal of the table with 200 entities: a catalogue larger than the full one. */
async function fullService(): Promise<Service> {
  return manyService(200);
}

/** Every signal of the table with so many entities. */
async function manyService(entities: number): Promise<Service> {
  const lines = BUILTIN.signals.flatMap(({ id }) =>
    Array.from({ length: entities }, (_, at) =>
      formatCatalogRow({
        signal_id: id,
        entity: `entity-${at}`,
        entity_name: `Name of entity ${at}`,
        observed_at: '2026-11-21T10:45:00Z',
        band: null,
        record_hash: `sha256:${'0'.repeat(64)}`,
        last_looked_at: '2026-11-21T11:00:00Z',
      }),
    ),
  );
  const files = new Map([[CATALOG_PATH, Buffer.from(lines.join(''))]]);
  return tinyService({ files });
}

describe('coverage() of one release', () => {
  it('I39: sorts the readings of a signal once, not for each answer', async () => {
    const service = await tinyService();
    const sorts = async (minute: number): Promise<number> => {
      const sorting = vi.spyOn(RowList.prototype, 'sortedBy');
      const clock = () => TINY_NOW + minute * COVERAGE_TTL_S * 1000;
      const answered = await coverage(question('/gauge/coverage'), { ...service, clock });
      const rows = sorting.mock.calls.length;
      sorting.mockRestore();
      expect(JSON.stringify(jsonOf(answered))).toContain('us-chicago');
      return rows;
    };
    expect(await sorts(0)).toBeGreaterThan(0);
    expect(await sorts(1)).toBe(0);
  });
});

describe('coverage() of the full catalogue', () => {
  it('is under 80 KB with summary=1', async () => {
    const service = await fullService();
    const body = await coverage(question('/gauge/coverage?summary=1'), service);
    expect(JSON.stringify(jsonOf(body)).length).toBeLessThan(80_000);
  });
});
