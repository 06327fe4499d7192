import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HOUR_MS, isoTime } from '../../../../../compiler/format/iso-time.ts';
import { replay } from '../../../../../compiler/publish/evidence/replay.ts';
import { ArchiveImport } from '../../../../../compiler/sources/fetch/archive-import.ts';
import { runLoop } from '../../../../../compiler/sources/fetch/fetch-cli.ts';
import type { BatchDisk } from '../../../../../compiler/sources/merge-batch.ts';
import { removeFolders } from '../../../../snapshot-folder.ts';
import { Agency, type Mood } from '../../../../sources/fetch/agency.ts';
import { gaugeAnswer } from '../../../../sources/fetch/agency-payloads.ts';
import { PlayedShop } from '../../../../sources/fetch/played-shop.ts';

const START = '2026-11-20T11:07:00Z';
/** Each mood comes up five times. */
const DAYS = 4;
const HOST = 'api.waterdata.usgs.gov';
const SITES = ['07010000', '07020500'];
/** What goes wrong, hour after hour; an agency that is well again has all of the last day. */
const MOODS: readonly Mood[] = [
  ...([
    'well',
    'well',
    'gzip',
    'down',
    'well',
    'page',
    'skewed',
    'well',
    'cut',
    'well',
    'busy',
  ] as const),
  ...(['well', 'other-format', 'well', 'redirect', 'moved', 'half-json', 'well', 'bomb'] as const),
];

/** Stage of a site at the start of an hour, as it is told from some minute of that hour on: each third one is revised. */
function stageAt(site: string, hour: number, now: number): number {
  const hundredths = 1000 + ((hour * 7 + Number(site)) % 23) * 10;
  const isRevised = hour % 3 === 0 && now >= hour * HOUR_MS + 40 * 60_000;
  return (isRevised ? hundredths + 5 : hundredths) / 100;
}

/** The last day of both sites. */
function dayAt(now: number): string {
  const last = Math.floor(now / HOUR_MS);
  const hours = Array.from({ length: 24 }, (_, at) => last - 23 + at);
  const stages = SITES.map((site) => {
    const points = hours.map(
      (hour) => [isoTime(hour * HOUR_MS), stageAt(site, hour, now)] as const,
    );
    return [site, Object.fromEntries(points)] as const;
  });
  return gaugeAnswer(Object.fromEntries(stages));
}

const agency = new Agency();
beforeAll(() => agency.open());
afterAll(() => agency.close());
afterAll(removeFolders);

describe('four days of run', () => {
  it('stores every reading as the agency said it last, whatever happened, and can do it again from the archive', async () => {
    let releases = 0;
    const publish = async (): Promise<number> => {
      releases += 1;
      return releases;
    };
    const shop = new PlayedShop(agency, {
      start: START,
      ids: ['usgs-nwis', 'usgs-earthquakes'],
      everyMs: 45 * 60_000,
      entities: { 'usgs-nwis': SITES },
      by: { publish, errorText: String },
    });
    const { clock } = shop;
    agency.retryAfter = '600';
    agency.serve(HOST, () => {
      const hour = Math.floor(clock.ms / HOUR_MS);
      agency.moods.set(HOST, MOODS[hour % MOODS.length] ?? 'well');
      return { body: dayAt(clock.ms), type: 'application/json' };
    });
    const end = Date.parse(START) + DAYS * 24 * HOUR_MS;
    const stop = new AbortController();
    let [steps, failures] = [0, 0];
    let began: string | null = null;
    await runLoop(shop.runner, {
      clock,
      signal: stop.signal,
      onStep: ({ sources, status }) => {
        steps += 1;
        began ??= status.sources['usgs-nwis']?.last_success ?? null;
        if (sources.some(({ failure }) => failure !== null)) failures += 1;
        // It ends on a day on which the agency is well.
        if (clock.ms >= end && agency.moods.get(HOST) === 'well') stop.abort();
      },
      onFault: (error) => {
        throw error;
      },
    });
    expect(steps).toBeGreaterThan(115);
    expect(failures).toBeGreaterThan(28);
    expect(releases).toBeGreaterThan(85);

    expect(began).not.toBeNull();
    const stored = storedStages(shop.snapshots);
    expect(stored.size).toBeGreaterThan(SITES.length * DAYS * 23);
    const first = Math.floor(Date.parse(began ?? '') / HOUR_MS) - 23;
    const last = Math.floor(clock.ms / HOUR_MS);
    for (const site of SITES) {
      for (let hour = first; hour < last - 1; hour += 1) {
        const key = `${site} ${isoTime(hour * HOUR_MS)}`;
        expect([key, stored.get(key)]).toEqual([key, stageAt(site, hour, clock.ms)]);
      }
    }

    const { release } = await shop.compile();
    expect(release.counts.entities).toBeGreaterThan(SITES.length);
    expect(revisedIn(shop.snapshots)).toBeGreaterThan(17);

    const files = new Map<string, string>();
    const disk: BatchDisk = {
      read: (path) => files.get(path) ?? null,
      write: (path, text) => files.set(path, text),
    };
    const again = new ArchiveImport({ archive: shop.archive, disk });
    for (const archived of shop.archive.fetches()) {
      try {
        again.take(archived);
      } catch {
        // What could not be imported then cannot be imported now.
      }
    }
    again.settle(clock.ms);
    expect([...files].sort()).toEqual(batchFiles(shop.snapshots));
    const { archive, snapshots } = shop;
    const replayed = replay({ snapshots, archive });
    expect(replayed).toMatchObject({ differs: [], unshown: [], damaged: [] });
    expect(replayed.equal).toBe(files.size);
    await shop.close();
  });
});

function batchFiles(folder: string): (readonly [string, string])[] {
  const batches = readdirSync(folder).filter((name) => name.startsWith('2026-'));
  return batches
    .flatMap((batch) => readdirSync(join(folder, batch)).map((name) => `${batch}/${name}`))
    .sort()
    .map((path) => [path, readFileSync(join(folder, path), 'utf8')] as const);
}

/** How many stages a later batch tells otherwise. */
function revisedIn(folder: string): number {
  let revised = 0;
  const last = new Map<string, number>();
  for (const [key, stage] of reportedStages(folder)) {
    if ((last.get(key) ?? stage) !== stage) revised += 1;
    last.set(key, stage);
  }
  return revised;
}

/** The last stage of each site and time, as the batches tell it. */
function storedStages(folder: string): Map<string, number> {
  return new Map(reportedStages(folder));
}

function reportedStages(folder: string): (readonly [string, number])[] {
  const stages: (readonly [string, number])[] = [];
  for (const [path, text] of batchFiles(folder)) {
    if (!path.endsWith('hydrology.river-level.ndjson')) continue;
    for (const line of text.trimEnd().split('\n').slice(1)) {
      const { entity, observed_at, current } = JSON.parse(line);
      stages.push([`${entity} ${observed_at}`, current.stage_ft]);
    }
  }
  return stages;
}
