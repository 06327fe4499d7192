import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { signalOf } from '../../../compiler/catalog/builtin.ts';
import type { Signal } from '../../../compiler/products/shapes/line.ts';
import { bandOf, standardRuler } from '../../../compiler/readings/figures.ts';
import type { Reading } from '../../../compiler/readings/reading.ts';
import { flightCategory } from '../../../compiler/sources/agencies/aviationweather.ts';
import type { Imported } from '../../../compiler/sources/kit/payload.ts';
import { mergeBatch } from '../../../compiler/sources/merge-batch.ts';
import {
  compileFolder,
  reading,
  readJson,
  removeFolders,
  writeSnapshots,
} from '../../snapshot-folder.ts';
import { PAYLOADS, readAs } from './recorded.ts';

// An importer gives a reading its class, and the tables class it by the official scale. Both must say the same.

const signal = (id: string) => signalOf(id) as Signal;

/** Readings of a payload that stand on an official scale: entity, class of the importer, and of the scale. */
function placedOf({ readings }: Imported): [string, unknown, string | null][] {
  return [...readings].flatMap(([id, list]) =>
    list
      .filter((item) => standardRuler(signal(id), item) !== null)
      .map((item): [string, unknown, string | null] => {
        return [`${id} ${item.entity}`, item.current.band, bandOf(signal(id), item)];
      }),
  );
}

describe('flightCategory()', () => {
  const CLASSES = { VFR: 'vfr_clear', MVFR: 'mvfr', IFR: 'ifr', LIFR: 'lifr' } as const;
  const miles = fc.oneof(fc.constantFrom(0.25, 1, 3, 5, 10), fc.double({ min: 0, max: 12 }));
  const feet = fc.oneof(
    fc.constantFrom(0, 500, 1000, 3000, null, undefined),
    fc.integer({ min: 0, max: 40_000 }),
  );

  it('draws the lines where the ruler has them', () => {
    const weather = signal('nas.aviation_wx');
    const check = (visibility_mi: number, ceiling: number | null | undefined): void => {
      const category = flightCategory({
        visibility: { miles: visibility_mi, bound: 'exact' },
        ceiling,
      });
      const sky = ceiling === undefined ? {} : { ceiling_ft: ceiling };
      const item = reading('atl', { visibility_mi, ...sky }) as Reading;
      expect(bandOf(weather, item)).toBe(category === null ? null : CLASSES[category]);
    };
    fc.assert(fc.property(miles, feet, check), { numRuns: 500 });
  });
});

/** Source, recorded answer, address and time of its fetch, and the classes of what stands on a scale. */
const ANSWERS: readonly (readonly [
  string,
  string,
  string,
  string,
  Readonly<Record<string, string>>,
])[] = [
  [
    'aviationweather',
    'aviationweather/metar_KATL_2026-10-01T0252Z.json',
    'https://aviationweather.gov/api/data/metar?ids=KATL',
    '2026-10-01T02:57:00Z',
    { 'nas.aviation_wx atl': 'vfr_clear' },
  ],
  [
    'nhc',
    'nhc/CurrentStorms_2026-08-02.json',
    'https://www.nhc.noaa.gov/CurrentStorms.json',
    '2026-08-02T04:00:00Z',
    { 'hurricane.active-storms epacific': 'tropical-storm' },
  ],
  [
    'airnow',
    'airnow/observation_current_central-LA_2020-12-20T15.json',
    'https://www.airnowapi.org/aq/observation/latLong/current/?format=application/json&latitude=34.0522&longitude=-118.2437&distance=25',
    '2020-12-21T00:10:00Z',
    { 'airquality.aqi us-losangeles': 'good' },
  ],
  [
    'nws-river-flood',
    'nws-river-flood/flw_chs_jams1_2020-02-16.txt',
    'https://api.weather.gov/products/1',
    '2026-11-20T00:00:00Z',
    { 'hydrology.river-level JAMS1': 'flood' },
  ],
];

describe.each(PAYLOADS)('recorded answers: $name', ({ recorded }) => {
  it.each(ANSWERS)('%s: %s stands where its agency says', (...row) => {
    const [source, file, url, fetched_at, classes] = row;
    const placed = placedOf(readAs(source, recorded(file), { url, fetched_at }));
    expect(Object.fromEntries(placed.map(([subject, , band]) => [subject, band]))).toEqual(classes);
    for (const [subject, own, band] of placed) {
      if (typeof own === 'string') expect([subject, own]).toEqual([subject, band]);
    }
  });

  it('spc: a map of risk levels is classed since there are five of them', () => {
    const url = 'https://www.spc.noaa.gov/products/outlook/day1otlk_cat.nolyr.geojson';
    const read = (name: string) =>
      readAs('spc', recorded(`spc/${name}`), { url, fetched_at: '2026-11-20T00:00:00Z' });
    const placed = placedOf(read('ptsdy1_2026-04-17_mdt.txt'));
    expect(placed.length).toBeGreaterThan(3);
    expect(placed.map(([, , band]) => band)).toContain('moderate');
    expect(placed.filter(([, own, band]) => own !== band)).toEqual([]);
    const old = read('ptsdy1_1999-05-03_mdt.txt');
    expect(old.readings.get('severe-convection.forecast-risk-env')?.length).toBeGreaterThan(3);
    expect(placedOf(old)).toEqual([]);
  });
});

afterAll(removeFolders);

const SIGNAL = 'hydrology.river-level';
const AGENCY = 'National Weather Service';

/** The record of a gauge whose importer supplies heights; the gauge beside it has none. */
async function recordWith(more: object) {
  const rows = [
    reading('06714000', { stage_ft: 12.5 }, more),
    reading('07010000', { stage_ft: 20 }),
  ] as unknown as Reading[];
  const imported: Imported = { readings: new Map([[SIGNAL, rows]]), skipped: [], remarks: [] };
  const files: Record<string, string> = {};
  const disk = {
    read: () => null,
    write: (path: string, text: string) => {
      files[path] = text;
    },
  };
  mergeBatch(imported, '2026-11-20T11:00:00Z', disk);
  const { folder } = await compileFolder(writeSnapshots(files));
  const at = (entity: string) => readJson(folder, `record/${SIGNAL}/${entity}.json`);
  return { own: at('06714000').standard_ruler, other: at('07010000').standard_ruler };
}

describe('heights that an importer supplies', () => {
  it('become the ruler of that gauge alone, in the name of their agency', async () => {
    const thresholds = { action: 9, minor: 10, moderate: 12, major: 14 };
    const { own, other } = await recordWith({ thresholds, thresholds_agency: AGENCY });
    expect(own).toMatchObject({
      band: 'moderate',
      distance_to_action: -3.5,
      provenance: `thresholds of South Platte River at Denver, CO; ${AGENCY}, as stored with the reading`,
    });
    expect(other).toBeNull();
  });

  it('say no more than flood where only the flood stage is known', async () => {
    const { own } = await recordWith({ thresholds: { flood: 10 }, thresholds_agency: AGENCY });
    expect(own).toMatchObject({ band: 'flood', thresholds: [{ band: 'flood', at: 10 }] });
  });

  it('are refused where a worse class begins below a milder one', async () => {
    const thresholds = { flood: 10, moderate: 8 };
    await expect(recordWith({ thresholds, thresholds_agency: AGENCY })).rejects.toThrow(
      /thresholds\.moderate/,
    );
  });
});
