import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { SourceReport } from '../../compiler/fetch/sources-runner.ts';
import { SOURCES } from '../../compiler/import/sources.ts';
import { removeFolders } from '../snapshot-folder.ts';
import { Agency, BROKEN_MOODS, type BrokenMood } from './agency.ts';
import { moodKey } from './agency-payloads.ts';
import { ALL_PLAYS, OTHER_HOSTS } from './all-plays.ts';
import { PlayedShop } from './played-shop.ts';

const agency = new Agency();
let shop: PlayedShop | null = null;
beforeAll(() => agency.open());
afterAll(() => agency.close());
afterAll(removeFolders);
beforeEach(() => {
  agency.moods.clear();
  agency.asked.length = 0;
  agency.retryAfter = '3600';
  for (const [host, reply] of Object.entries(OTHER_HOSTS)) agency.serve(host, reply);
});
afterEach(async () => {
  await shop?.close();
  shop = null;
});

/** Rows that were stored of each source. */
function rowsOf(reports: readonly SourceReport[]): Record<string, number> {
  return Object.fromEntries(
    reports.map(({ outcome, taken }) => [
      outcome.source,
      taken.reduce((sum, { rows }) => sum + rows, 0),
    ]),
  );
}

/** A shop that only remembers that it would publish. */
function recording(ids: readonly string[] = Object.keys(ALL_PLAYS)) {
  const published: number[] = [];
  const publish = async (): Promise<number> => published.push(1);
  shop = new PlayedShop(agency, { plays: ALL_PLAYS, ids, by: { publish } });
  return { shop, published };
}

describe('run --once with every source', () => {
  it('plays each source that can be fetched', () => {
    const fetchable = SOURCES.filter(({ fetch }) => fetch !== null).map(({ id }) => id);
    expect(Object.keys(ALL_PLAYS).sort()).toEqual(fetchable.sort());
  });
});

describe('one broken source among all', () => {
  const IDS = Object.keys(ALL_PLAYS);
  let well: Record<string, number>;
  beforeAll(async () => {
    for (const [host, reply] of Object.entries(OTHER_HOSTS)) agency.serve(host, reply);
    const { shop } = recording();
    well = rowsOf((await shop.once()).sources);
    await shop.close();
    expect(Object.values(well).every((rows) => rows > 0)).toBe(true);
  });

  async function breakOne(id: string, mood: BrokenMood, ids: readonly string[]) {
    const play = ALL_PLAYS[id];
    if (play === undefined) throw new RangeError(`Cannot break "${id}": it is not played`);
    agency.moods.set(moodKey(play), mood);
    const { shop, published } = recording(ids);
    const { exit, status, log, release, sources } = await shop.once();
    expect({ exit, release }).toEqual({ exit: 3, release: 1 });
    expect(published).toHaveLength(1);
    const rows = rowsOf(sources);
    const expected = Object.fromEntries(ids.map((one) => [one, well[one]]));
    expect({ ...rows, [id]: 0 }).toEqual({ ...expected, [id]: 0 });
    expect(rows[id]).toBeLessThan(well[id] ?? 0);
    for (const other of ids) {
      const own = status.sources[other];
      expect([other, own?.consecutive_failures]).toEqual([other, other === id ? 1 : 0]);
      expect(own?.last_error === null).toBe(other !== id);
      expect(own?.last_success === null).toBe(other === id);
    }
    const failed = log
      .split('\n')
      .flatMap((line, at, all) => (line.includes('FAILED') ? [all[at - 1]?.split(':')[0]] : []));
    expect(failed).toEqual([id]);
    expect(shop.status()).toEqual(status);
  }

  const rotated = BROKEN_MOODS.map((mood, at) => [IDS[(at * 5) % IDS.length] ?? '', mood] as const);
  it.each(rotated)('harms none of all the others while %s is %s', (id, mood) =>
    breakOne(id, mood, IDS),
  );

  // What a client refuses by size or time is the same for every source.
  const cheap = BROKEN_MOODS.filter((mood) => !['bomb', 'huge', 'slow'].includes(mood));
  const cases = IDS.flatMap((id) => cheap.map((mood) => [id, mood] as const));
  it.each(cases)('harms no neighbour while %s is %s, and is named', (id, mood) => {
    const at = IDS.indexOf(id);
    return breakOne(id, mood, [1, 2].map((step) => IDS[(at + step) % IDS.length] ?? '').concat(id));
  });
});
