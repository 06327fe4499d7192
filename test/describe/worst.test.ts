import { describe, expect, it } from 'vitest';
import { BUILTIN } from '../../compiler/catalog/builtin.ts';
import { SITE_WORST_MAX, type SiteSignal } from '../../compiler/catalog/site.ts';
import { spokenOf } from '../../compiler/catalog/units.ts';
import { chartsSection, nowSection, worldOf } from '../../compiler/describe/home.ts';
import { classesAbove, previewOf, worstOf, worstPath } from '../../compiler/describe/worst.ts';
import { defined } from '../../compiler/format/errors.ts';
import type { CatalogRow } from '../../compiler/format/release.ts';
import { endpointAt } from '../../compiler/products/products.ts';
import { knownFilePath } from '../../compiler/products/shapes/path.ts';
import { HOSTILE_NAMES } from '../hostile-names.ts';

const AQI = 'airquality.aqi';
const entry = defined(BUILTIN.entryById.get(AQI), 'the signal');

/** A shelf with the free last seven of some entities, which counts what is read. */
function shelfOf(past: Readonly<Record<string, readonly number[]>>, names: readonly string[] = []) {
  const files = new Map<string, unknown>();
  const rows: CatalogRow[] = [];
  for (const [at, [entity, values]] of Object.entries(past).entries()) {
    const read = values.map((aqi_index, day) => ({
      observed_at: `2026-11-2${day}T10:00:00Z`,
      current: { aqi_index },
    }));
    const entity_name = names[at] ?? null;
    const path = knownFilePath(endpointAt('/gauge/history-preview'), { signal_id: AQI, entity });
    files.set(path, { entity_name, rows: read });
    const newest = defined(read.at(-1), 'the newest');
    const scale = defined(entry.signal.rulers?.at(-1), 'the scale');
    rows.push({
      signal_id: AQI,
      entity,
      entity_name,
      observed_at: newest.observed_at,
      band: scale.steps.findLast((step) => step.at <= newest.current.aqi_index)?.band ?? null,
      record_hash: `sha256:${'0'.repeat(64)}`,
      last_looked_at: newest.observed_at,
    });
  }
  const asked: string[] = [];
  const shelf = {
    has: (path: string) => files.has(path),
    under: () => [],
    read: (path: string) => {
      asked.push(path);
      return Buffer.from(JSON.stringify(files.get(path)));
    },
  };
  return { shelf, rows, asked, files };
}

describe('classesAbove()', () => {
  const river = spokenOf(defined(BUILTIN.entryById.get('hydrology.river-level'), 'the signal'));
  const stands = (band: string | null) =>
    classesAbove(river, { observed_at: '2026-11-20T10:00:00Z', current: { stage_ft: 1, band } });

  it('counts from the action stage of a gauge that has thresholds of its own', () => {
    expect(['action', 'minor', 'major'].map(stands)).toEqual([0, 2, 4]);
  });

  it('is below it where a gauge is, whatever its lowest threshold is, and nothing without a class', () => {
    expect([stands('below-action'), stands('below-minor'), stands(null)]).toEqual([-1, -1, null]);
    expect(stands('of-no-list')).toBeNull();
  });
});

describe('worstOf()', () => {
  it('names who reaches the action class, the worst first, and since when', () => {
    const { shelf, rows } = shelfOf({
      good: [20, 30, 40],
      edge: [20, 100, 101],
      worst: [20, 310, 320],
      always: [160, 170, 180],
    });
    const worst = worstOf(entry, rows, shelf);
    expect(worst?.total).toBe(3);
    expect(worst?.rows.map(({ entity, above }) => [entity, above])).toEqual([
      ['worst', 3],
      ['always', 1],
      ['edge', 0],
      ['good', -2],
    ]);
    expect(worst?.rows.map(({ since, is_at_least }) => [since?.slice(0, 10), is_at_least])).toEqual(
      [
        ['2026-11-21', false],
        ['2026-11-20', true],
        ['2026-11-22', false],
        [undefined, false],
      ],
    );
  });

  it('orders a class by how far the value is beyond its threshold, beyond the last one too', () => {
    const past = { near: [101], far: [149], half: [125], least: [310], most: [480] };
    const { shelf, rows } = shelfOf(past);
    const names = (list: readonly CatalogRow[]) =>
      worstOf(entry, list, shelf)?.rows.map(({ entity }) => entity);
    expect(names(rows)).toEqual(['most', 'least', 'far', 'half', 'near']);
    // A later time of what is nearer changes nothing; of equal values the newest comes first.
    const later = shelfOf({ near: [1, 101], far: [149], same: [149] });
    expect(worstOf(entry, later.rows, later.shelf)?.rows.map(({ entity }) => entity)).toEqual([
      'far',
      'same',
      'near',
    ]);
  });

  it('reads the past of those alone that it names', () => {
    const past = Array.from({ length: 500 }, (_, at) => [`e${at}`, [at]] as const);
    const { shelf, rows, asked } = shelfOf(Object.fromEntries(past));
    expect(worstOf(entry, rows, shelf)?.rows).toHaveLength(SITE_WORST_MAX);
    expect(asked).toHaveLength(SITE_WORST_MAX);
  });

  it('comes to the same in whatever order the readings come', () => {
    const { shelf, rows } = shelfOf({ a: [160], b: [160], c: [320], d: [10] });
    expect(worstOf(entry, [...rows].reverse(), shelf)).toEqual(worstOf(entry, rows, shelf));
  });

  it('lists nobody on a scale that no agency and no document stand for', () => {
    const { shelf, rows } = shelfOf({ worst: [320] });
    const rulers = entry.signal.rulers?.map(({ agency: _, ...ruler }) => ruler) ?? [];
    const unofficial = { ...entry, signal: { ...entry.signal, rulers } };
    expect(worstOf(unofficial, rows, shelf)).toBeNull();
    const reading = { observed_at: '2026-11-20T10:00:00Z', current: { aqi_index: 320 } };
    expect(classesAbove(spokenOf(unofficial), reading)).toBeNull();
    expect(classesAbove(spokenOf(entry), reading)).toBe(3);
  });

  it('takes no class for one that stands on no scale', () => {
    const reading = { observed_at: '2026-11-20T10:00:00Z', current: { band: 'invented' } };
    expect(classesAbove(spokenOf(entry), reading)).toBeNull();
  });
});

describe('the home page', () => {
  const signal = {
    ...spokenOf(entry),
    signal_id: AQI,
    line: entry.line.id,
    map: null,
  } as unknown as SiteSignal;

  function worldWith(past: Readonly<Record<string, readonly number[]>>, names?: readonly string[]) {
    const { shelf, rows, files } = shelfOf(past, names);
    files.set(worstPath(AQI), worstOf(entry, rows, shelf));
    return worldOf({ shelf, catalog: BUILTIN, signals: [signal], pair: null });
  }

  it('lists what stands above and says how many more there are', () => {
    const past = Array.from({ length: 20 }, (_, at) => [`e${at}`, [200 + at]] as const);
    const text = nowSection(worldWith(Object.fromEntries(past)), [signal]).toString();
    expect(text.match(/<li>/g)).toHaveLength(SITE_WORST_MAX);
    expect(text).toContain('And 8 more');
    expect(text).toContain('since at least 20 Nov 2026, 10:00 UTC');
  });

  it('says in words that nothing stands above, and lists none of what is below', () => {
    const text = nowSection(worldWith({ good: [20] }), [signal]).toString();
    expect(text).toContain('Nothing stands above its action level');
    expect(text).not.toContain('<li>');
  });

  it('shows hostile names as text', () => {
    const names = [...HOSTILE_NAMES];
    const past = Object.fromEntries(names.map((_, at) => [`e${at}`, [320]]));
    const world = worldWith(past, names);
    expect(world.rows).toHaveLength(SITE_WORST_MAX);
    for (const made of [nowSection(world, [signal]), chartsSection(world)]) {
      expect(made.toString()).not.toMatch(/<(?:script|img src=x|svg onload|style)|[\p{Cf}\p{Cs}]/u);
    }
  });

  it('reads nothing of a list that is not there', () => {
    const { shelf } = shelfOf({});
    const world = worldOf({ shelf, catalog: BUILTIN, signals: [signal], pair: null });
    expect(world.rows).toEqual([]);
    expect(previewOf(shelf, { signal_id: AQI, entity: 'nobody' })).toBeNull();
  });
});
