import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signalOf } from '../../../compiler/catalog/builtin.ts';
import { hashCore } from '../../../compiler/format/record-hash.ts';
import { CATALOG_PATH, parseCatalogRow } from '../../../compiler/format/release.ts';
import type { JsonValue } from '../../../compiler/format/strict-json.ts';
import { censusBody, censusEntry } from '../../../compiler/products/census.ts';
import type { FilerLine } from '../../../compiler/products/shapes/filing-index.ts';
import type { Signal } from '../../../compiler/products/shapes/line.ts';
import { filePath } from '../../../compiler/products/shapes/path.ts';
import {
  bundleSchema,
  censusBodySchema,
  recordSchema,
} from '../../../compiler/products/shapes/record.ts';
import { legReading } from '../../../compiler/publish/assemble/assembly.ts';
import { coreFields } from '../../../compiler/publish/assemble/entity-record.ts';
import { writeFilingPreviews } from '../../../compiler/publish/assemble/filings.ts';
import type { Reading } from '../../../compiler/readings/reading.ts';
import type { Press } from '../../../compiler/release/press.ts';
import { verifyBody } from '../../../compiler/verify/verify-body.ts';
import { builtinEntry, builtinOperation } from '../../builtin-rows.ts';
import { GROWTH_MAX, growth } from '../../grown-of.ts';
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

describe('last fact', () => {
  const at = (day: number) => ({ observed_at: `2026-11-${day}T10:00:00Z` });
  const heat = (entity: string, values: readonly (number | null)[]) =>
    values.map((tmax_c, index) => reading(entity, { tmax_c }, at(20 - values.length + 1 + index)));
  let folder = '';

  beforeAll(async () => {
    const made = await compileFolder(
      writeSnapshots({
        '2026-11-20/agriculture.heat.ndjson': ndjson([
          ...heat('us-iowa', [30, 31, null, null]),
          ...heat('us-kansas', [null]),
          ...heat('us-illinois', [null, 5]),
        ]),
        '2026-11-20/agriculture.crop-vhi.ndjson': ndjson([
          reading('us-iowa', { vhi_index: 41 }, { observed_at: '2026-08-20T10:00:00Z' }),
          reading('us-kansas', { vhi_index: 41 }, at(19)),
          reading('us-nebraska', { vhi_index: 41 }, { observed_at: '2026-08-20T10:00:00Z' }),
        ]),
        '2026-11-20/agriculture.drought.ndjson': ndjson([
          reading('us-kansas', { soil_moisture_percentile_pct: 20 }, at(18)),
        ]),
      }),
    );
    folder = made.folder;
  });
  const record = (signal: string, entity: string) =>
    recordSchema.parse(readJson(folder, `record/agriculture.${signal}/${entity}.json`));
  const bundle = (entity: string) =>
    bundleSchema.parse(readJson(folder, `bundle/agriculture/${entity}.json`));

  describe('last_fact of a record', () => {
    it('is the newest reading with a value, where the latest has none', () => {
      expect(record('heat', 'us-iowa')).toMatchObject({
        current: { tmax_c: null },
        last_fact: { observed_at: '2026-11-18T10:00:00Z', current: { tmax_c: 31 } },
      });
    });

    it('is absent where the latest has a value, and where none ever had', () => {
      expect(record('heat', 'us-illinois')).not.toHaveProperty('last_fact');
      expect(record('heat', 'us-kansas')).not.toHaveProperty('last_fact');
    });
  });

  describe('last_fact of a bundle', () => {
    it('is the newest reading of another leg, where it is later than the degraded one', () => {
      const { last_fact, leg_availability } = bundle('us-iowa');
      expect(leg_availability?.degraded.map((leg) => leg.signal_id)).toEqual([
        'agriculture.drought',
        'agriculture.crop-vhi',
      ]);
      expect(last_fact).toMatchObject({
        leg: 'heat',
        signal_id: 'agriculture.heat',
        observed_at: '2026-11-20T10:00:00Z',
      });
      expect(last_fact?.record_hash).toBe(record('heat', 'us-iowa').record_hash);
    });

    it('is absent where no leg is degraded, and where every leg with a reading is', () => {
      expect(bundle('us-kansas')).not.toHaveProperty('leg_availability');
      expect(bundle('us-kansas')).not.toHaveProperty('last_fact');
      expect(bundle('us-nebraska').leg_availability?.available).toBe(1);
    });
  });

  describe('members that stand only where they apply', () => {
    it('say of a record without a source tier that it is unverified, and of no other', async () => {
      const untiered = reading('btc', { price_usd: 1 }, { source_tier: null });
      const { folder: other } = await compileFolder(
        writeSnapshots({
          '2026-11-20/crypto.spot.ndjson': ndjson([untiered, reading('eth', { price_usd: 1 })]),
        }),
      );
      expect(readJson(other, 'record/crypto.spot/btc.json').unverified).toBe(true);
      expect(readJson(other, 'record/crypto.spot/eth.json')).not.toHaveProperty('unverified');
    });
  });
});

const row = (current: object, entity_name: string | undefined) => ({
  entity: 'us-denver',
  observed_at: '2026-11-20T10:00:00Z',
  collected_at: '2026-11-20T11:00:00Z',
  current,
  sources: [{ name: 'test source', weight: 1, independent: true }],
  source_ref: null,
  source_tier: null,
  ...(entity_name === undefined ? {} : { entity_name }),
});

/** Names of the city in its bundle and in its add-on; `names` are those of the index, of the particles and of the river gauge. */
async function namesOf(...names: readonly (string | undefined)[]): Promise<unknown[]> {
  const [aqi, pm25, river] = names;
  const gauge = { ...row({ stage_ft: 3 }, river), entity: '06714000' };
  const files: SnapshotFiles = {
    '2026-11-20/airquality.aqi.ndjson': ndjson([row({ aqi_index: 30 }, aqi)]),
    '2026-11-20/airquality.pm25.ndjson': ndjson([row({ pm25_ugm3: 4 }, pm25)]),
    '2026-11-20/hydrology.river-level.ndjson': ndjson([gauge]),
  };
  const { folder } = await compileFolder(writeSnapshots(files));
  const paths = ['bundle/environment/us-denver.json', 'air/us-denver.json'];
  return paths.map((path) => readJson(folder, path).name);
}

describe('nameAmong()', () => {
  it('names a joined body after the first leg that names its subject', async () => {
    expect(await namesOf('Denver', 'City of Denver', 'South Platte')).toEqual(['Denver', 'Denver']);
  });

  it('never takes the name of another subject, but that of the tables', async () => {
    for (const river of [undefined, 'South Platte']) {
      expect(await namesOf(undefined, undefined, river)).toEqual(['Denver, CO', 'Denver, CO']);
    }
  });

  it('names nobody whom neither a source nor the tables name', async () => {
    const filer = { ...row({ nt_24mo_count: 0 }, undefined), entity: 'EXMPL' };
    const files = { '2026-11-20/filing.delinquency.ndjson': ndjson([filer]) };
    const { folder } = await compileFolder(writeSnapshots(files));
    const path = filePath(builtinOperation('/gauge/filing-company'), { entity: 'EXMPL' }) ?? '';
    expect(readJson(folder, path).name).toBeNull();
  });
});

const BTC = signalOf('crypto.spot') as Signal;
const HASH = `sha256:${'0'.repeat(64)}`;
describe('a compiled census', () => {
  type Body = { readonly [name: string]: JsonValue };
  let body: Body;
  let did = '';
  beforeAll(async () => {
    const rows = [
      reading('eth', { price_usd: 2 }, { entity_name: 'Ether' }),
      reading('btc', { price_usd: 1 }, { observed_at: '2026-11-18T10:00:00Z' }),
      reading('sol', { price_usd: 3, band: 'calm' }, { observed_at: '2026-11-20T10:30:00Z' }),
    ];
    const { folder, release } = await compileFolder(
      writeSnapshots({ '2026-11-20/crypto.spot.ndjson': ndjson(rows) }),
    );
    body = readJson(folder, 'census/crypto.spot.json');
    did = release.issuer_did;
  });
  const verdict = (altered: object) =>
    verifyBody(altered as JsonValue, { trust: [did], isStored: true }).verdict;

  it('has every entity by its id, as fresh as the oldest row, with a short lineage', () => {
    const { rows, count, observed_at, provenance } = censusBodySchema.parse(body);
    expect(rows.map((row) => [row.entity, row.entity_name, row.band])).toEqual([
      ['btc', null, null],
      ['eth', 'Ether', null],
      ['sol', null, 'calm'],
    ]);
    expect([count, observed_at]).toEqual([3, '2026-11-18T10:00:00Z']);
    expect(provenance.oldest_leg_as_of).toBe('2026-11-18T10:00:00Z');
    expect(provenance.data_as_of).toBe('2026-11-20T10:30:00Z');
    expect(provenance.data_lineage.map((link) => link.observed_at)).toEqual([
      '2026-11-18T10:00:00Z',
      '2026-11-20T10:30:00Z',
    ]);
    expect(provenance.lineage_note).toMatch(/oldest row/);
  });

  it('verifies from itself alone, and each row hash is recomputed', () => {
    const report = verifyBody(body, { trust: [did], isStored: true });
    expect(report.verdict).toBe('verified');
    const recomputed = report.checks.filter(
      (each) => each.check === 'record_hash' && each.status === 'pass',
    );
    expect(recomputed.map((each) => each.where)).toEqual(
      [0, 1, 2].map((at) => `rows.${at}.record_hash`),
    );
  });

  it('is refused with a row altered, dropped, swapped or added', () => {
    const rows = body.rows as unknown as object[];
    const altered = { ...rows[0], current: { price_usd: 9 } };
    for (const other of [
      rows.with(0, altered),
      rows.slice(1),
      [...rows].reverse(),
      [...rows, rows[0]],
    ]) {
      expect(verdict({ ...body, rows: other })).toBe('failed');
    }
  });
});

describe('censusBody()', () => {
  const entry = (entity: string) => {
    const stored = reading(entity, { price_usd: 1 }) as Reading;
    const looked_at = '2026-11-20T11:00:00Z';
    const leg = legReading(builtinEntry('crypto.spot'), {
      reading: stored,
      record_hash: HASH,
      looked_at,
    });
    const { entity_name, current, record_hash } = leg;
    return censusEntry({ ...coreFields(BTC, stored), entity_name, current, record_hash }, leg);
  };

  it('I39: costs as much for each row, however many there are', () => {
    const all = (size: number) => {
      const entities = Array.from({ length: size }, (_, at) => entry(`e${at}`));
      return () => censusBody(BTC, entities);
    };
    expect(growth(1250, all)).toBeLessThan(GROWTH_MAX);
  });

  it('refuses to count nothing', () => {
    expect(() => censusBody(BTC, [])).toThrow(RangeError);
  });
});

const PREVIEW_FILERS_MAX = 500;

/** The two previews of so many filers, by the path of the operation. */
function previewsOf(count: number): Map<string, object> {
  const filers = Array.from(
    { length: count },
    (_, at): FilerLine => ({
      cik: String(at).padStart(10, '0'),
      name: `Filer ${at}`,
      tickers: [],
      forms: ['10-K'],
      collected_at: '2026-11-20T11:00:00Z',
      covered_from: null,
      gaps: [],
    }),
  );
  const bodies = new Map<string, object>();
  const press: Pick<Press, 'put'> = { put: (path, _, body) => void bodies.set(path, body) };
  writeFilingPreviews(filers, press as Press);
  return bodies;
}

describe('writeFilingPreviews()', () => {
  it.each([
    [PREVIEW_FILERS_MAX, PREVIEW_FILERS_MAX],
    [PREVIEW_FILERS_MAX + 1, PREVIEW_FILERS_MAX],
  ])('I43: counts all of %i filers and lists %i', (count, listed) => {
    const bodies = previewsOf(count);
    expect([...bodies.keys()]).toEqual(['/resolve/preview', '/resolve/proposer/preview']);
    for (const body of bodies.values()) {
      expect(body).toMatchObject({ filers_count: count });
      expect(body).toHaveProperty('filers.length', listed);
    }
  });
});
