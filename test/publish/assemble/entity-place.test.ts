import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hashCore } from '../../../compiler/format/record-hash.ts';
import { CATALOG_PATH, parseCatalogRow } from '../../../compiler/format/release.ts';
import { recordSchema } from '../../../compiler/products/shapes/record.ts';
import { verifyBody } from '../../../compiler/verify/verify-body.ts';
import {
  compileFolder,
  filesBelow,
  ndjson,
  reading,
  readJson,
  removeFolders,
  type SnapshotFiles,
  writeSnapshots,
} from '../../snapshot-folder.ts';

const DENVER = { latitude: 39.7392, longitude: -104.9903 };
const FILES: SnapshotFiles = {
  '2026-11-20/airquality.aqi.ndjson': ndjson([
    reading('us-denver', { aqi_index: 30 }),
    reading('us-chicago', { aqi_index: 31 }, { entity_name: 'Chicago Loop' }),
    reading('us-phoenix', { aqi_index: 32 }, { entity_name: null }),
  ]),
  '2026-11-20/hydrology.river-level.ndjson': ndjson([
    reading('06714000', { stage_ft: 3 }),
    reading('99999999', { stage_ft: 4 }),
  ]),
  '2026-11-20/drug-detail.status.ndjson': ndjson([
    reading('potassium-chloride', { packages_count: 3, unavailable_count: 0 }),
  ]),
};

let folder = '';
let did = '';
beforeAll(async () => {
  const { folder: made, release } = await compileFolder(writeSnapshots(FILES));
  folder = made;
  did = release.issuer_did;
});
afterAll(removeFolders);

const placeOf = (path: string): unknown[] => {
  const { entity_name, latitude, longitude } = readJson(folder, path);
  return [entity_name, latitude, longitude];
};

describe('the record of an entity', () => {
  it.each([
    ['airquality.aqi/us-denver', 'Denver, CO', DENVER.latitude, DENVER.longitude],
    ['airquality.aqi/us-phoenix', 'Phoenix, AZ', 33.4484, -112.074],
    ['hydrology.river-level/06714000', 'South Platte River at Denver, CO', 39.7597, -105.0036],
  ])('of %s says what the tables know of it', (path, ...place) => {
    expect(placeOf(`record/${path}.json`)).toEqual(place);
  });

  it('keeps the name that its source gives', () => {
    expect(placeOf('record/airquality.aqi/us-chicago.json')).toEqual([
      'Chicago Loop',
      41.8781,
      -87.6298,
    ]);
  });

  it.each([
    ['hydrology.river-level/99999999', null],
    ['drug-detail.status/potassium-chloride', 'Potassium chloride'],
  ])('of %s has no position where the tables have none', (path, name) => {
    const record = readJson(folder, `record/${path}.json`);
    expect(record.entity_name).toBe(name);
    expect(record).not.toHaveProperty('latitude');
    expect(record).not.toHaveProperty('longitude');
  });

  it('signs the position, and leaves it out of the record hash', () => {
    const record = recordSchema.parse(readJson(folder, 'record/airquality.aqi/us-denver.json'));
    const { entity_name, latitude, longitude, ...less } = record;
    expect(hashCore(less)).toEqual(hashCore(record));
    const verdict = (body: object) => {
      return verifyBody(JSON.parse(JSON.stringify(body)), { trust: [did], isStored: true }).verdict;
    };
    expect(verdict(record)).toBe('verified');
    expect(verdict({ ...record, latitude: 39.7393 })).toBe('failed');
    expect(verdict({ ...less, entity_name })).toBe('failed');
    expect(verdict({ ...record, entity_name: 'Aurora, CO' })).toBe('failed');
  });

  it('is spoken of by its name in every text', () => {
    const record = readJson(folder, 'record/airquality.aqi/us-denver.json');
    expect(record._citation).toMatchObject({ claim: 'US air quality index at Denver, CO' });
    expect(record.summary_en).toMatch(/^Denver, CO, US air quality index: 30/);
    expect(JSON.stringify(readJson(folder, 'bundle/environment/us-denver.json'))).toContain(
      'stage at a gauge at South Platte River at Denver, CO read 3 ft',
    );
  });
});

describe('what repeats a record', () => {
  it('gives a census row the position, and none where there is none', () => {
    const rowsOf = (signal: string) => {
      const { rows } = readJson(folder, `census/${signal}.json`) as { rows: object[] };
      return rows;
    };
    expect(rowsOf('airquality.aqi')[1]).toMatchObject({ entity_name: 'Denver, CO', ...DENVER });
    const [, unknown] = rowsOf('hydrology.river-level');
    expect(unknown).toMatchObject({ entity: '99999999', entity_name: null });
    expect(unknown).not.toHaveProperty('latitude');
  });

  it('gives the bare record the position', () => {
    expect(readJson(folder, 'free/raw/hydrology.river-level/06714000.json')).toMatchObject({
      entity_name: 'South Platte River at Denver, CO',
      latitude: 39.7597,
    });
  });

  it('lists the name in the catalog', () => {
    const lines = (filesBelow(folder).get(CATALOG_PATH) ?? '').trimEnd().split('\n');
    const names = new Map(
      lines.map(parseCatalogRow).map(({ entity, entity_name }) => [entity, entity_name]),
    );
    expect(names.get('us-denver')).toBe('Denver, CO');
    expect(names.get('99999999')).toBeNull();
  });
});

describe('recordSchema', () => {
  it('refuses a place that is not on earth', () => {
    const record = readJson(folder, 'record/airquality.aqi/us-denver.json');
    expect(recordSchema.safeParse(record).success).toBe(true);
    for (const wrong of [{ latitude: 90.1 }, { longitude: -180.1 }, { latitude: '39.7' }]) {
      expect(recordSchema.safeParse({ ...record, ...wrong }).success).toBe(false);
    }
  });
});
