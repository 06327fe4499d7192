import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Release } from '../../../../../compiler/format/release.ts';
import { sourceOf } from '../../../../../compiler/sources/sources.ts';
import { removeFolders } from '../../../../snapshot-folder.ts';
import { Agency, BROKEN_MOODS } from '../../../../sources/fetch/agency.ts';
import { gaugeFeatures, PLAYS } from '../../../../sources/fetch/agency-payloads.ts';
import { digestsOf, PlayedShop } from '../../../../sources/fetch/played-shop.ts';

const agency = new Agency();
let shop: PlayedShop;

beforeAll(() => agency.open());
afterAll(() => agency.close());
afterAll(removeFolders);
beforeEach(() => {
  agency.moods.clear();
  agency.asked.length = 0;
  agency.retryAfter = '3600';
  shop = new PlayedShop(agency);
});
afterEach(() => shop.close());

/** A shop whose releases are only counted, for tests of when it asks. */
function counting(): PlayedShop {
  let releases = 0;
  const publish = async (): Promise<number> => {
    releases += 1;
    return releases;
  };
  return new PlayedShop(agency, { by: { publish } });
}

/** What the current release counts. */
function countsOf(data: string): Release['counts'] {
  return JSON.parse(readFileSync(join(data, 'current', 'release.json'), 'utf8')).counts;
}

/** What the played payloads feed. */
const PLAYED = new Set([
  'earthquake.current_activity',
  'earthquake.impact_realized',
  'earthquake.swarm_rate',
  'filing.delinquency',
  'filing.insider',
  'filing.material-events',
  'filing.submission',
  'hydrology.river-level',
]);

describe('a step of run', () => {
  it('goes from an empty folder to a published release', async () => {
    const { exit, status, release, log } = await shop.once();
    expect({ exit, release }).toEqual({ exit: 0, release: 1 });
    expect(log).toContain('Release 1 is published');
    expect(countsOf(shop.data).readings).toBeGreaterThan(50);
    for (const id of shop.ids) {
      expect(status.sources[id]).toMatchObject({
        last_success: '2026-11-20T11:07:00Z',
        last_change: '2026-11-20T11:07:00Z',
        next_due: '2026-11-20T12:07:00Z',
        consecutive_failures: 0,
        last_error: null,
      });
    }
    expect(shop.status()).toEqual(status);
  });

  it('changes nothing when it is done twice in a row, and asks nobody', async () => {
    await shop.once();
    const before = [digestsOf(shop.snapshots), digestsOf(shop.data)];
    const asked = agency.asked.length;
    shop.clock.ms += 60_000;
    expect(await shop.once()).toMatchObject({ exit: 0, release: null, log: '' });
    expect([digestsOf(shop.snapshots), digestsOf(shop.data)]).toEqual(before);
    expect(agency.asked).toHaveLength(asked);
  });

  it('changes no batch, payload or release when everything is asked again within the hour', async () => {
    await shop.once();
    const stored = () => {
      const all = Object.entries(digestsOf(shop.snapshots));
      return all.filter(([name]) => !/(looks\.json|status\.(json|prom))$/.test(name));
    };
    const before = [stored(), digestsOf(shop.data)];
    shop.clock.ms += 600_000;
    const { release, exit } = await shop.once({ isForced: true });
    expect({ release, exit }).toEqual({ release: null, exit: 0 });
    expect([stored(), digestsOf(shop.data)]).toEqual(before);
    expect(agency.asked.slice(3).map(({ status }) => status)).toEqual([304, 304, 304]);
  });

  it('publishes what the next hour brings', async () => {
    await shop.once();
    shop.clock.ms += 3_600_000;
    expect(await shop.once()).toMatchObject({ exit: 0, release: 2 });
    expect(countsOf(shop.data).revisions).toBe(0);
  });

  it('lets a job of cron begin a little early, and not much', async () => {
    shop = counting();
    await shop.once();
    shop.clock.ms += 3_600_000 - 240_000;
    expect((await shop.once()).release).toBe(2);
    shop.clock.ms += 3_600_000 - 420_000;
    expect((await shop.once()).release).toBeNull();
  });

  /** Signals of the batch of a step, as its release would hold them. */
  const signalsOf = (folder: string) =>
    readdirSync(join(folder, '2026-11-20T11Z')).map((name) => name.replace('.ndjson', ''));
  const feedsOf = (ids: readonly string[]) =>
    ids.flatMap((id) => sourceOf(id).feeds).filter((signal) => PLAYED.has(signal));

  it.each(Object.keys(PLAYS))(
    'publishes the others while %s is down, and it once it is back',
    async (id) => {
      agency.moods.set(PLAYS[id]?.host ?? '', 'down');
      const { exit, status, release } = await shop.once();
      expect({ exit, release }).toEqual({ exit: 3, release: 1 });
      const before = countsOf(shop.data).readings;
      expect(before).toBeGreaterThan(0);
      agency.moods.clear();
      shop.clock.ms = Date.parse(status.sources[id]?.next_due ?? '');
      expect(await shop.once()).toMatchObject({ exit: 0, release: 2 });
      expect(countsOf(shop.data).readings).toBeGreaterThan(before);
    },
  );

  const cases = Object.keys(PLAYS).flatMap((id) => BROKEN_MOODS.map((mood) => [id, mood] as const));
  it.each(cases)('publishes the others while %s is %s, and names it', async (id, mood) => {
    await shop.close();
    const published: string[][] = [];
    const publish = async () => published.push(signalsOf(shop.snapshots));
    shop = new PlayedShop(agency, { by: { publish } });
    agency.moods.set(PLAYS[id]?.host ?? '', mood);
    const { exit, status, log, release } = await shop.once();
    expect({ exit, release }).toEqual({ exit: 3, release: 1 });
    const others = shop.ids.filter((other) => other !== id);
    expect(published.map((signals) => signals.sort())).toEqual([feedsOf(others).sort()]);
    for (const other of shop.ids) {
      const own = status.sources[other];
      expect(own?.consecutive_failures).toBe(other === id ? 1 : 0);
      expect(own?.last_error === null).toBe(other !== id);
      expect(own?.last_success === null).toBe(other === id);
    }
    const failed = log
      .split('\n')
      .flatMap((line, at, all) => (line.includes('FAILED') ? [all[at - 1]?.split(':')[0]] : []));
    expect(failed).toEqual([id]);
    expect(shop.status().sources[id]?.last_error).toBe(status.sources[id]?.last_error);
  });

  it('says 1 when every source fails', async () => {
    for (const { host } of Object.values(PLAYS)) agency.moods.set(host, 'down');
    const { exit, release, status } = await shop.once();
    expect({ exit, release }).toEqual({ exit: 1, release: null });
    expect(status.compile.last_error).toContain('no snapshots found');
    expect(existsSync(join(shop.data, 'current'))).toBe(false);
  });

  it('waits longer after each failure, and as long as the agency asks', async () => {
    shop = counting();
    const id = 'usgs-nwis';
    agency.moods.set(PLAYS[id]?.host ?? '', 'refusing');
    const waits: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      const at = shop.clock.ms;
      const { status } = await shop.once();
      const due = Date.parse(status.sources[id]?.next_due ?? '');
      waits.push(Math.round((due - at) / 60_000));
      expect(status.sources[id]?.consecutive_failures).toBe(round + 1);
      shop.clock.ms = due;
    }
    expect(waits).toEqual([10, 20, 40, 60, 60]);
    agency.moods.set(PLAYS[id]?.host ?? '', 'busy');
    agency.retryAfter = '36000';
    const at = shop.clock.ms;
    const due = Date.parse((await shop.once()).status.sources[id]?.next_due ?? '');
    expect(due - at).toBeGreaterThanOrEqual(36_000_000);
  });

  it.each(['Fri, 31 Dec 9999 23:59:59 GMT', '99999999'])(
    'waits a week at most, also where an agency says Retry-After: %s',
    async (retryAfter) => {
      shop = counting();
      const id = 'usgs-nwis';
      agency.moods.set(PLAYS[id]?.host ?? '', 'busy');
      agency.retryAfter = retryAfter;
      const at = shop.clock.ms;
      const due = Date.parse((await shop.once()).status.sources[id]?.next_due ?? '');
      expect(due - at).toBeGreaterThanOrEqual(7 * 86_400_000);
      agency.moods.clear();
      shop.clock.ms = due;
      expect(await shop.once()).toMatchObject({ exit: 0 });
      expect(due - at).toBeLessThan(8 * 86_400_000);
    },
  );

  it('imports what was archived before the process was killed', async () => {
    const killed = new PlayedShop(agency, {
      by: { publish: () => Promise.reject(new Error('killed')) },
    });
    const { status } = await killed.once();
    expect(status.compile).toMatchObject({ is_due: true, last_error: 'killed' });
    // A batch and the status were never written: the archive is all there is.
    const { archive, snapshots } = killed;
    cpSync(join(snapshots, 'archive'), join(shop.snapshots, 'archive'), { recursive: true });
    rmSync(shop.statusFile);
    for (const { host } of Object.values(PLAYS)) agency.moods.set(host, 'down');
    expect(archive.fetches()).toHaveLength(3);
    const { release } = await shop.once();
    expect(release).toBe(1);
    expect(digestsOf(join(shop.snapshots, '2026-11-20T11Z'))).toEqual(
      digestsOf(join(snapshots, '2026-11-20T11Z')),
    );
    await killed.close();
  });

  it('counts the unreadable entries of what a killed process had fetched, until it is fetched again', async () => {
    const killed = counting();
    const stages = { '2026-11-20T10:00:00Z': 3, '2026-11-20T11:00:00Z': 4 };
    const good = gaugeFeatures('07010000', stages)
      .replace('"a1"', '"b2"')
      .replace('"00065"', '"00060"')
      .replace('"ft"', '"ft^3/s"');
    const serve = (body: string) =>
      agency.serve('api.waterdata.usgs.gov', { body, type: 'application/json' });
    serve(good.replace('"value":"3"', '"value":[3]'));
    const unread = (one: PlayedShop) => one.status().sources['usgs-nwis']?.unread;
    await killed.once();
    const count = unread(killed);
    expect(count).toBeGreaterThan(0);
    cpSync(join(killed.snapshots, 'archive'), join(shop.snapshots, 'archive'), { recursive: true });
    rmSync(shop.statusFile);
    for (const { host } of Object.values(PLAYS)) agency.moods.set(host, 'down');
    await shop.once();
    expect(unread(shop)).toBe(count);
    agency.moods.clear();
    serve(good);
    shop.clock.ms += 3_600_000;
    await shop.once();
    expect(unread(shop)).toBe(0);
    await killed.close();
  });

  it('tries again to publish what could not be published, though nothing new came', async () => {
    let isFull = true;
    const full = new PlayedShop(agency, {
      by: {
        publish: () => (isFull ? Promise.reject(new Error('no space left')) : Promise.resolve(7)),
      },
    });
    const failed = await full.once();
    expect(failed).toMatchObject({ exit: 1, release: null });
    expect(failed.log).toContain('Nothing was published: no space left');
    expect(full.runner.nextWake(failed.status)).toBe(full.clock.ms + 300_000);
    isFull = false;
    full.clock.ms += 60_000;
    const done = await full.once();
    expect(done).toMatchObject({ exit: 0, release: 7 });
    expect(done.status.compile).toMatchObject({ is_due: false, last_error: null, release: 7 });
    await full.close();
  });

  it('finishes the request that is under way when it is told to end, and blames nobody', async () => {
    const stop = new AbortController();
    const ended = new PlayedShop(agency, { by: { signal: stop.signal } });
    agency.serve('earthquake.usgs.gov', (path) => {
      stop.abort();
      return PLAYS['usgs-earthquakes']?.reply(ended.clock.ms, path) ?? null;
    });
    const { status, release } = await ended.once();
    expect(release).toBe(1);
    const states = Object.values(status.sources);
    expect(states.every(({ last_error }) => last_error === null)).toBe(true);
    await ended.close();
  });

  it('refuses a status file that something else wrote', async () => {
    await shop.once();
    writeFileSync(shop.statusFile, '{"version":2}');
    await expect(shop.once()).rejects.toThrow('move it away, and it is made again');
  });
});
