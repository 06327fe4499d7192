import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleSchema, recordSchema } from '../../../compiler/products/shapes/record.ts';
import {
  compileFolder,
  ndjson,
  reading,
  readJson,
  removeFolders,
  writeSnapshots,
} from '../../snapshot-folder.ts';

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
afterAll(removeFolders);

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
