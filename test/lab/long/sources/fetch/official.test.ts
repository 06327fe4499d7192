import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { removeFolders } from '../../../../snapshot-folder.ts';
import { Agency } from '../../../../sources/fetch/agency.ts';
import { PlayedShop } from '../../../../sources/fetch/played-shop.ts';
import { OWN_PAYLOADS } from '../../../../sources/kit/recorded.ts';

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
