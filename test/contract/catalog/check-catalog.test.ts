import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type CatalogFile, formatFaults } from '../../../compiler/contract/catalog/catalog-file.ts';
import { catalogFaults } from '../../../compiler/contract/catalog/check-catalog.ts';

const FOLDER = 'compiler/contract/catalog/builtin';
const STEPS = [
  { band: 'normal', at: 0 },
  { band: 'high', at: 2.5 },
  { band: 'flood', at: 3.2 },
];
const HARBOUR = {
  scale: 'Harbour stages',
  metric: 'level_m',
  unit: 'm',
  direction: 'up',
  edge: 'worse',
  actionBand: 'flood',
  steps: STEPS,
  provenance: 'Harbour Authority, Notice 4',
};
const LEG = { measures: 'days', metrics: ['late_days'], bands: ['none', 'some'] };

/** Two files of one catalogue: rulers, and a line with three stations that reads the sea at buoys of its own. */
const FILES = {
  'rulers.json': {
    format: 'signalpress-catalog/1',
    extends: null,
    rulers: {
      harbour: { ...HARBOUR, beside: 'surge' },
      surge: { ...HARBOUR, metric: 'surge_cm', actionBand: null },
    },
    prices: { '/gauge': '0.02', '/gauge/tide-region': '0.5', bundle: '0.25' },
  },
  'tides.json': {
    format: 'signalpress-catalog/1',
    extends: null,
    lines: [
      {
        id: 'tides',
        industry: 'ports',
        title: 'tide gauges',
        signals: [
          {
            id: 'tides.level',
            measures: 'water level',
            cadence: 'hourly',
            metrics: ['level_m', 'surge_cm'],
            range: { from: -5, to: 20 },
            rulers: ['harbour'],
          },
          {
            id: 'tides.waves',
            measures: 'wave height',
            cadence: 'hourly',
            metrics: ['height_m'],
            bands: ['calm', 'rough'],
            entities: 'open',
          },
        ],
        bundle: {
          path: '/gauge/tide-region',
          param: 'entity',
          legs: [
            { name: 'sea', signals: ['tides.waves'] },
            { name: 'harbour', signals: ['tides.level'] },
          ],
        },
        entities: [
          'pier-one',
          {
            id: 'quay-two',
            name: 'Quay Two',
            latitude: 54.1,
            longitude: 7.9,
            zone: 'Europe/Berlin',
          },
          { id: 'lock-three', name: 'Lock Three' },
        ],
        places: [{ id: 'buoy-9', name: 'Buoy 9', latitude: 54.3, longitude: 7.1 }],
        entityOf: [{ signals: ['tides.waves'], entities: { 'pier-one': 'buoy-9' } }],
      },
      {
        id: 'berth',
        industry: 'ports',
        title: 'berths',
        entities: ['berth-one'],
        lifecycle: {
          path: '/gauge/berth-region',
          terms: ['withdrawn'],
          legs: [
            { name: 'delay', ...LEG },
            { name: 'spread', ...LEG },
          ],
        },
      },
    ],
  },
};

type Edit = (files: typeof FILES) => void;

/** Faults of the catalogue after an edit, as `file pointer reason`. */
function faultsAfter(edit: Edit): string[] {
  const files: typeof FILES = JSON.parse(JSON.stringify(FILES));
  edit(files);
  const named = Object.entries(files).map(([file, value]) => ({ file, value }));
  // Only what the format allows is a matter of this check.
  expect(named.flatMap(formatFaults)).toEqual([]);
  const checked = named.map(({ file, value }) => ({ file, value: value as CatalogFile }));
  return catalogFaults(checked).map(({ file, pointer, reason }) => `${file} ${pointer} ${reason}`);
}

/** The lines of the second file, to be edited in any way. */
// biome-ignore lint/suspicious/noExplicitAny: an edit breaks what the types promise
const lines = (files: typeof FILES): any[] => files['tides.json'].lines;
// biome-ignore lint/suspicious/noExplicitAny: an edit breaks what the types promise
const rulers = (files: typeof FILES): any => files['rulers.json'].rulers;
const prices = (files: typeof FILES): Record<string, string> => files['rulers.json'].prices;

const BROKEN: readonly (readonly [string, Edit, string])[] = [
  [
    'a second ruler',
    (files) => Object.assign(files['tides.json'], { rulers: { surge: HARBOUR } }),
    'tides.json /rulers/surge a second ruler "surge"',
  ],
  [
    'a second line',
    (files) =>
      lines(files).push({
        ...lines(files)[1],
        lifecycle: { ...lines(files)[1].lifecycle, path: '/gauge/x' },
      }),
    'tides.json /lines/2/id a second line "berth"',
  ],
  [
    'a second signal',
    (files) => Object.assign(lines(files)[0].signals[1], { id: 'tides.level' }),
    'tides.json /lines/0/signals/1/id a second signal "tides.level"',
  ],
  [
    'a leg named like a signal of every life-cycle line',
    (files) => Object.assign(lines(files)[1].lifecycle.legs[0], { name: 'lifecycle' }),
    'tides.json /lines/1/lifecycle/legs/0/name a second signal "berth.lifecycle"',
  ],
  [
    'a second bundle at a path',
    (files) => Object.assign(lines(files)[1].lifecycle, { path: '/gauge/tide-region' }),
    'tides.json /lines/1/lifecycle/path a second bundle "/gauge/tide-region"',
  ],
  [
    'a second entity',
    (files) => Object.assign(lines(files)[0].places[0], { id: 'pier-one' }),
    'tides.json /lines/0/places/0 a second entity "pier-one"',
  ],
  [
    'a second metric',
    (files) => lines(files)[0].signals[1].metrics.push('height_m'),
    'tides.json /lines/0/signals/1/metrics/1 a second metric "height_m"',
  ],
  [
    'files that extend different catalogues',
    (files) => Object.assign(files['tides.json'], { extends: 'builtin' }),
    'tides.json /extends differs from "rulers.json"',
  ],
  [
    'steps out of order',
    (files) => Object.assign(rulers(files).surge.steps[2], { at: 1 }),
    'rulers.json /rulers/surge/steps/2/at 1 comes after 2.5; steps rise',
  ],
  [
    'steps that fall the wrong way',
    (files) => Object.assign(rulers(files).surge, { direction: 'down' }),
    'rulers.json /rulers/surge/steps/1/at 2.5 comes after 0; steps fall',
  ],
  [
    'an action class that is no step',
    (files) => Object.assign(rulers(files).surge, { actionBand: 'flod' }),
    'rulers.json /rulers/surge/actionBand "flod" is no step; did you mean "flood"?',
  ],
  [
    'two steps of one class',
    (files) => Object.assign(rulers(files).surge.steps[1], { band: 'flood' }),
    'rulers.json /rulers/surge/steps/2/band a second step "flood"',
  ],
  [
    'a scale beside that nobody defines',
    (files) => Object.assign(rulers(files).harbour, { beside: 'surg' }),
    'rulers.json /rulers/harbour/beside no ruler "surg" is in the catalogue; did you mean "surge"?',
  ],
  [
    'scales beside each other in a circle',
    (files) => Object.assign(rulers(files).surge, { beside: 'harbour' }),
    'rulers.json /rulers/harbour/beside "surge" has one beside it too',
  ],
  [
    'scales of other classes beside each other',
    (files) => rulers(files).surge.steps.pop(),
    'rulers.json /rulers/harbour/beside "surge" has other classes',
  ],
  [
    'a ruler that nobody defines',
    (files) => Object.assign(lines(files)[0].signals[0], { rulers: ['harbor'] }),
    'tides.json /lines/0/signals/0/rulers/0 no ruler "harbor" is in the catalogue; did you mean "harbour"?',
  ],
  [
    'a ruler about another metric',
    (files) => Object.assign(rulers(files).harbour, { metric: 'depth_m' }),
    'tides.json /lines/0/signals/0/rulers/0 is about "depth_m", which is no metric of the signal',
  ],
  [
    'bands that lack a class of the ruler',
    (files) => Object.assign(lines(files)[0].signals[0], { bands: ['normal', 'flood'] }),
    'tides.json /lines/0/signals/0/rulers/0 has classes that "bands" lacks: high',
  ],
  [
    'rulers beside thresholds of readings',
    (files) => Object.assign(lines(files)[0].signals[0], { ownThresholds: ['flood'] }),
    'tides.json /lines/0/signals/0/ownThresholds a signal has rulers or thresholds',
  ],
  [
    'limits upside down',
    (files) => Object.assign(lines(files)[0].signals[0].range, { to: -6 }),
    'tides.json /lines/0/signals/0/range/to -6 is not above -5',
  ],
  [
    'a metric without a unit',
    (files) => Object.assign(lines(files)[0].signals[1], { metrics: ['height'] }),
    'tides.json /lines/0/signals/1/metrics/0 "height" ends in no known unit',
  ],
  [
    'a life-cycle leg without a unit',
    (files) => Object.assign(lines(files)[1].lifecycle.legs[1], { metrics: ['delay'] }),
    'tides.json /lines/1/lifecycle/legs/1/metrics/0 "delay" ends in no known unit',
  ],
  [
    'half a position',
    (files) => delete lines(files)[0].places[0].longitude,
    'tides.json /lines/0/places/0 has one of latitude and longitude',
  ],
  [
    'a zone that does not exist',
    (files) => Object.assign(lines(files)[0].entities[1], { zone: 'Europe/Hamburg' }),
    'tides.json /lines/0/entities/1/zone "Europe/Hamburg" is no time zone',
  ],
  [
    'lower case where the line says upper case',
    (files) => Object.assign(lines(files)[1], { upperCase: true }),
    'tides.json /lines/1/entities/0 "berth-one" is not upper case',
  ],
  [
    'neither signals nor a life cycle',
    (files) => delete lines(files)[1].lifecycle,
    'tides.json /lines/1 needs either "signals" or "lifecycle"',
  ],
  [
    'a bundle beside a life cycle',
    (files) => Object.assign(lines(files)[1], { bundle: { path: '/gauge/y', param: 'entity' } }),
    'tides.json /lines/1/bundle a line with "lifecycle" has one already',
  ],
  [
    'a leg of another line',
    (files) => Object.assign(lines(files)[0].bundle.legs[0], { signals: ['tides.wave'] }),
    'tides.json /lines/0/bundle/legs/0/signals/0 not a signal of this line; did you mean "tides.waves"?',
  ],
  [
    'a signal in two legs',
    (files) => Object.assign(lines(files)[0].bundle.legs[0], { signals: ['tides.level'] }),
    'tides.json /lines/0/bundle/legs/1/signals/0 a second leg of "tides.level"',
  ],
  [
    'another entity for a signal of another line',
    (files) => Object.assign(lines(files)[0].entityOf[0], { signals: ['tides.wavs'] }),
    'tides.json /lines/0/entityOf/0/signals/0 not a signal of this line; did you mean "tides.waves"?',
  ],
  [
    'another entity for one that is not listed',
    (files) => Object.assign(lines(files)[0].entityOf[0], { entities: { 'pier-on': 'buoy-9' } }),
    'tides.json /lines/0/entityOf/0/entities/pier-on not an entity of this line; did you mean "pier-one"?',
  ],
  [
    'a price of an operation that nobody knows',
    (files) => Object.assign(prices(files), { '/gauge/rulers': '0.01' }),
    'rulers.json /prices/~1gauge~1rulers no operation "/gauge/rulers" is in the catalogue; did you mean "/gauge/ruler"?',
  ],
  [
    'a price of a misspelt bundle',
    (files) => Object.assign(prices(files), { '/gauge/tides-region': '0.01' }),
    'rulers.json /prices/~1gauge~1tides-region no operation "/gauge/tides-region" is in the catalogue; did you mean "/gauge/tide-region"?',
  ],
  [
    'a price of what is free',
    (files) => Object.assign(prices(files), { '/gauge/catalog': '0.01' }),
    'rulers.json /prices/~1gauge~1catalog "/gauge/catalog" is free; remove its price',
  ],
  [
    'a second price',
    (files) => Object.assign(files['tides.json'], { prices: { '/gauge': '0.03' } }),
    'tides.json /prices/~1gauge a second price of "/gauge"',
  ],
  [
    'a bundle without a price',
    (files) => delete prices(files).bundle,
    'tides.json /lines/1/lifecycle/path "/gauge/berth-region" has no price; add it to "prices", or "bundle"',
  ],
  [
    'a bundle at the path of another operation',
    (files) => Object.assign(lines(files)[0].bundle, { path: '/gauge/japan-region' }),
    'tides.json /lines/0/bundle/path "/gauge/japan-region" is an operation of its own',
  ],
];

describe('catalogFaults()', () => {
  it('finds none where everything fits', () => {
    expect(faultsAfter(() => undefined)).toEqual([]);
  });

  it('finds none in the built-in catalogue', () => {
    const files = readdirSync(FOLDER).map((file) => {
      const value: CatalogFile = JSON.parse(readFileSync(join(FOLDER, file), 'utf8'));
      return { file, value };
    });
    expect(catalogFaults(files)).toEqual([]);
  });

  it.each(BROKEN)('names the place of %s', (_, edit, fault) => {
    expect(faultsAfter(edit)).toContainEqual(expect.stringContaining(fault));
  });

  it('asks for no price of a bundle where the built-in prices are taken over', () => {
    const edit: Edit = (files) => {
      for (const file of Object.values(files)) Object.assign(file, { extends: 'builtin' });
      delete prices(files).bundle;
    };
    expect(faultsAfter(edit)).toEqual([]);
  });

  it('names all faults at once', () => {
    const all = faultsAfter((files) => {
      Object.assign(rulers(files).surge, { actionBand: 'flod' });
      Object.assign(lines(files)[0].signals[1], { metrics: ['height'] });
      delete lines(files)[0].places[0].longitude;
    });
    expect(all).toHaveLength(3);
  });
});
