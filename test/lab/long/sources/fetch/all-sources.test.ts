import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { REGISTER } from '../../../../../compiler/catalog/register.ts';
import type { SourceReport } from '../../../../../compiler/sources/fetch/sources-runner.ts';
import type { Gatekeeper } from '../../../../../gatekeeper/start.ts';
import { startGate } from '../../../../gate.ts';
import { makeFolder, removeFolders } from '../../../../snapshot-folder.ts';
import { Agency, BROKEN_MOODS, type BrokenMood } from '../../../../sources/fetch/agency.ts';
import { moodKey } from '../../../../sources/fetch/agency-payloads.ts';
import { ALL_PLAYS, OTHER_HOSTS } from '../../../../sources/fetch/all-plays.ts';
import { digestsOf } from '../../../../sources/fetch/digests-of.ts';
import { PlayedShop } from '../../../../sources/fetch/played-shop.ts';

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

function gateOver({ data, clock }: PlayedShop): Promise<Gatekeeper> {
  return startGate({ data, state: makeFolder(), test_payments: '1' }, { clock: () => clock.ms });
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
    const fetchable = REGISTER.filter(({ addresses }) => Object.keys(addresses).length > 0).map(
      ({ id }) => id,
    );
    expect(Object.keys(ALL_PLAYS).sort()).toEqual(fetchable.sort());
  });
});

describe('a shop that every source feeds', () => {
  it('goes from an empty folder to a gatekeeper that sells what agencies said, and changes nothing twice in a row', async () => {
    shop = new PlayedShop(agency, { plays: ALL_PLAYS });
    const { exit, release } = await shop.once();
    expect({ exit, release }).toEqual({ exit: 0, release: 1 });
    await changesNothing(shop);
    const gate = await gateOver(shop);
    try {
      const target = 'gauge?signal_id=hydrology.river-level&entity=07010000';
      const asked = await fetch(`${gate.url}/${target}`);
      expect(asked.status).toBe(402);
      expect(JSON.stringify(await asked.json())).toContain('07010000');
      const unknown = await fetch(`${gate.url}/${target.replace('07010000', '07010001')}`);
      expect(unknown.status).toBe(422);
      const preview = await fetch(`${gate.url}/gauge/preview`);
      expect(preview.status).toBe(200);
      const history = `${gate.url}/gauge/history-preview?signal_id=hydrology.river-level&entity=07010000`;
      const free = await fetch(history);
      expect(free.status).toBe(200);
      expect(JSON.stringify(await free.json())).toContain('07010000');
    } finally {
      await gate.close();
    }
  });

  async function changesNothing(shop: PlayedShop): Promise<void> {
    const before = [digestsOf(shop.snapshots), digestsOf(shop.data)];
    expect(Object.keys(before[1] ?? {}).length).toBeGreaterThan(100);
    const asked = agency.asked.length;
    shop.clock.ms += 60_000;
    expect(await shop.once()).toMatchObject({ exit: 0, release: null, log: '' });
    expect([digestsOf(shop.snapshots), digestsOf(shop.data)]).toEqual(before);
    expect(agency.asked).toHaveLength(asked);
  }
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
    const failed = log.split('\n').flatMap((line, at, all) => {
      const head = all.slice(0, at).findLast((one) => !one.startsWith(' '));
      return line.includes('FAILED') ? [head?.split(':')[0]] : [];
    });
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
