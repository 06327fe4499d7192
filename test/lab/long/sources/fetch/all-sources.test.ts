import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { REGISTER } from '../../../../../compiler/catalog/register.ts';
import { HOUR_MS, isoTime } from '../../../../../compiler/format/iso-time.ts';
import { replay } from '../../../../../compiler/publish/evidence/replay.ts';
import { ArchiveImport } from '../../../../../compiler/sources/fetch/archive-import.ts';
import { runLoop } from '../../../../../compiler/sources/fetch/fetch-cli.ts';
import type { SourceReport } from '../../../../../compiler/sources/fetch/sources-runner.ts';
import type { BatchDisk } from '../../../../../compiler/sources/merge-batch.ts';
import type { Gatekeeper } from '../../../../../gatekeeper/start.ts';
import { startGate } from '../../../../gate.ts';
import { makeFolder, removeFolders } from '../../../../snapshot-folder.ts';
import {
  Agency,
  BROKEN_MOODS,
  type BrokenMood,
  type Mood,
} from '../../../../sources/fetch/agency.ts';
import { gaugeAnswer, moodKey } from '../../../../sources/fetch/agency-payloads.ts';
import { ALL_PLAYS, OTHER_HOSTS } from '../../../../sources/fetch/all-plays.ts';
import { digestsOf, PlayedShop } from '../../../../sources/fetch/played-shop.ts';
import { OWN_PAYLOADS } from '../../../../sources/kit/recorded.ts';

afterAll(removeFolders);

describe('all sources', () => {
  const agency = new Agency();
  let shop: PlayedShop | null = null;
  beforeAll(() => agency.open());
  afterAll(() => agency.close());
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

    const rotated = BROKEN_MOODS.map(
      (mood, at) => [IDS[(at * 5) % IDS.length] ?? '', mood] as const,
    );
    it.each(rotated)('harms none of all the others while %s is %s', (id, mood) =>
      breakOne(id, mood, IDS),
    );

    // What a client refuses by size or time is the same for every source.
    const cheap = BROKEN_MOODS.filter((mood) => !['bomb', 'huge', 'slow'].includes(mood));
    const cases = IDS.flatMap((id) => cheap.map((mood) => [id, mood] as const));
    it.each(cases)('harms no neighbour while %s is %s, and is named', (id, mood) => {
      const at = IDS.indexOf(id);
      return breakOne(
        id,
        mood,
        [1, 2].map((step) => IDS[(at + step) % IDS.length] ?? '').concat(id),
      );
    });
  });
});

/** Source, recorded answer, address, time of the fetch, media type. */
const ANSWERS: readonly (readonly [string, string, string, string, string])[] = [
  [
    'airnow',
    'airnow/observation_current_central-LA_2020-12-20T15.json',
    'https://www.airnowapi.org/aq/observation/latLong/current/?format=application/json&latitude=34.0522&longitude=-118.2437&distance=25',
    '2020-12-21T00:10:00Z',
    'application/json',
  ],
  [
    'aviationweather',
    'aviationweather/metar_KATL_2026-10-01T0252Z.json',
    'https://aviationweather.gov/api/data/metar?ids=KATL&format=json',
    '2026-10-01T02:57:00Z',
    'application/json',
  ],
  [
    'bls',
    'fred-bls/bls_timeseries_2015-01_2016-05.json',
    'https://api.bls.gov/publicAPI/v2/timeseries/data/',
    '2016-06-10T12:00:00Z',
    'application/json;charset=UTF-8',
  ],
  [
    'cbp-bwt',
    'cbp-bwt/bwtpublicmod_2022-07-01T0031Z.json',
    'https://bwt.cbp.gov/api/bwtpublicmod',
    '2022-07-01T00:31:59Z',
    'application/json',
  ],
  [
    'eia',
    'eia/fuel-type-data_AVRN_NG_2022-10-31.json',
    'https://api.eia.gov/v2/electricity/rto/fuel-type-data/data/?frequency=hourly&data[0]=value&facets[respondent][]=AVRN&facets[fueltype][]=NG',
    '2022-11-01T00:00:00Z',
    'application/json',
  ],
  [
    'faa-nas',
    'faa-nas/airport_status_2026-10-02T1146Z.xml',
    '',
    '2026-10-02T11:47:00Z',
    'application/xml',
  ],
  [
    'fred',
    'fred-bls/UNRATE_2000-01_2014-03.csv',
    'https://fred.stlouisfed.org/graph/fredgraph.csv?id=UNRATE',
    '2014-04-10T12:00:00Z',
    'application/csv',
  ],
  [
    'nasa-firms',
    'nasa-firms/MODIS_C6_1_24h_2022-02-26_27_wildfire-regions.csv',
    'https://firms.modaps.eosdis.nasa.gov/data/active_fire/modis-c6.1/csv/MODIS_C6_1_Global_24h.csv',
    '2022-02-27T23:00:00Z',
    'text/csv',
  ],
  ['nhc', 'nhc/CurrentStorms_2026-08-02.json', '', '2026-08-02T05:00:00Z', 'application/json'],
  [
    'noaa-star-vhi',
    'noaa-star-vhi/ukr_province24_vinnytsya_1981-2020.txt',
    'https://www.star.nesdis.noaa.gov/smcd/emb/vci/VH/get_TS_admin.php?country=UKR&provinceID=24&year1=1981&year2=2020&type=Mean',
    '2020-04-26T12:00:00Z',
    'text/html; charset=UTF-8',
  ],
  [
    'openfda',
    'openfda/drug_shortages_2026-09-26_first-records.json',
    '',
    '2026-09-26T12:00:00Z',
    'application/json',
  ],
  [
    'sec-edgar',
    'sec-edgar/submissions_TSLA_2026-03-05.json',
    'https://data.sec.gov/submissions/CIK0001318605.json',
    '2026-03-05T11:20:32Z',
    'application/json',
  ],
  [
    'spc',
    'spc/day1otlk_cat_2026-09-25_one-feature.geojson',
    '',
    '2026-09-25T17:00:00Z',
    'application/json',
  ],
  [
    'usdm',
    'usdm/county_statistics_17167_2025-08-26_09-30.json',
    'https://usdmdataservices.unl.edu/api/CountyStatistics/GetDroughtSeverityStatisticsByAreaPercent?aoi=17167&startdate=8/26/2025&enddate=9/30/2025&statisticsType=1',
    '2025-10-02T15:00:00Z',
    'application/json',
  ],
  [
    'usgs-earthquakes',
    'usgs-earthquake/feed_2.5_week_2016-04-12.json',
    'https://earthquake.usgs.gov/earthquakes/feed/v1.0/summary/2.5_week.geojson',
    '2016-04-12T21:51:00Z',
    'application/json',
  ],
  [
    'usgs-nwis',
    'usgs-nwis/iv_03336645_03336890_03336900_2026-09-15.json',
    'https://waterservices.usgs.gov/nwis/iv/?format=json&sites=03336645,03336890,03336900&parameterCd=00060,00065',
    '2026-09-15T11:00:00Z',
    'application/json',
  ],
];
/** These were recorded in part, or of a kind that is not imported. */
const REFUSED = ['eia', 'openfda', 'usdm'];
const ENTITIES: Readonly<Record<string, readonly string[]>> = { airnow: ['us-losangeles'] };

describe('run on recorded answers', () => {
  const { recorded } = OWN_PAYLOADS;
  const agency = new Agency();
  let shop: PlayedShop | null = null;
  beforeAll(() => agency.open());
  afterAll(async () => {
    await agency.close();
    removeFolders();
  });
  beforeEach(() => agency.moods.clear());
  afterEach(() => shop?.close());

  it.each(ANSWERS.filter(([id]) => !REFUSED.includes(id)))(
    'publishes %s',
    async (...[id, file, url, start, type]) => {
      shop = new PlayedShop(agency, {
        start,
        ids: [id],
        entities: ENTITIES,
        addresses: url === '' ? null : [url],
      });
      for (const host of shop.hosts) agency.serve(host, { body: recorded(file), type });
      const { exit, release, log } = await shop.once();
      expect({ exit, release, log }).toMatchObject({ exit: 0, release: 1 });
      shop.clock.ms += 60_000;
      expect(await shop.once({ isForced: true })).toMatchObject({ exit: 0, release: null });
      for (const host of shop.hosts) agency.moods.set(host, 'page');
      const broken = await shop.once({ isForced: true });
      expect(broken).toMatchObject({ exit: 1, release: null });
      expect(broken.status.sources[id]?.last_error).toContain('a page of markup');
    },
  );

  it.each(ANSWERS.filter(([id]) => REFUSED.includes(id)))(
    'keeps the answer of %s, which its importer refuses, and publishes nothing',
    async (...[id, file, url, start, type]) => {
      shop = new PlayedShop(agency, { start, ids: [id], addresses: url === '' ? null : [url] });
      for (const host of shop.hosts) agency.serve(host, { body: recorded(file), type });
      const { exit, release, status } = await shop.once();
      expect({ exit, release }).toEqual({ exit: 1, release: null });
      expect(status.sources[id]?.last_error).toContain('Cannot import');
      expect(shop.archive.fetches()).toHaveLength(1);
      expect([...shop.archive.looks(id).values()]).toMatchObject([{ refused: true }]);
    },
  );
});

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
