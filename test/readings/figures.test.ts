import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BUILTIN, builtinRuler, signalOf } from '../../compiler/catalog/builtin.ts';
import { neutralFault } from '../../compiler/catalog/neutral-text.ts';
import { roundDecimal, subtractDecimal } from '../../compiler/format/decimal.ts';
import { isLit } from '../../compiler/products/shapes/bundle.ts';
import type { Signal } from '../../compiler/products/shapes/line.ts';
import type { RecordSource } from '../../compiler/products/shapes/record.ts';
import { classify, type Ruler, type RulerStep } from '../../compiler/products/shapes/rulers.ts';
import { summaryEn, summaryZh } from '../../compiler/publish/assemble/entity-record.ts';
import {
  bandOf,
  dataAgeHours,
  hoursBetween,
  isOfficial,
  rulerFor,
  snapshotDate,
  sourceAgreement,
  standardRuler,
} from '../../compiler/readings/figures.ts';
import { parseReading, type Reading } from '../../compiler/readings/reading.ts';
import { builtinEntry } from '../builtin-rows.ts';
import { reading } from '../snapshot-folder.ts';

const CROP_VHI = builtinRuler('vegetation-health');
const FLIGHT_CEILING = builtinRuler('flight-ceiling');
const { beside: _ceiling, ...FLIGHT_VISIBILITY } = builtinRuler('flight-visibility');
const FORMATION_CHANCE = builtinRuler('formation-chance');
const PM25 = builtinEntry('airquality.pm25').signal.rulers ?? [];
const SAFFIR_SIMPSON = builtinRuler('saffir-simpson');
const SEA_STATE = builtinRuler('sea-state');
const SOIL_MOISTURE_USDM = builtinRuler('soil-moisture-drought');
const US_AQI = builtinRuler('us-aqi');

const [PM25_OLD, PM25_NEW] = PM25 as [Ruler, Ruler];
const signal = (id: string) => signalOf(id) as Signal;
const item = (current: object, more: object = {}) => reading('x', current, more) as Reading;

/** Both sides of every official edge: value, then its class. */
const EDGES: readonly (readonly [string, Ruler, readonly (readonly [number, string])[]])[] = [
  [
    'US AQI',
    US_AQI,
    [
      [0, 'good'],
      [50, 'good'],
      [51, 'moderate'],
      [100, 'moderate'],
      [101, 'unhealthy-sensitive'],
      [150, 'unhealthy-sensitive'],
      [151, 'unhealthy'],
      [200, 'unhealthy'],
      [201, 'very-unhealthy'],
      [300, 'very-unhealthy'],
      [301, 'hazardous'],
      [999, 'hazardous'],
    ],
  ],
  [
    'PM2.5 before 2024-05-06',
    PM25_OLD,
    [
      [0, 'good'],
      [12, 'good'],
      [12.1, 'moderate'],
      [35.4, 'moderate'],
      [35.5, 'unhealthy-sensitive'],
      [55.4, 'unhealthy-sensitive'],
      [55.5, 'unhealthy'],
      [150.4, 'unhealthy'],
      [150.5, 'very-unhealthy'],
      [250.4, 'very-unhealthy'],
      [250.5, 'hazardous'],
    ],
  ],
  [
    'PM2.5 since 2024-05-06',
    PM25_NEW,
    [
      [9, 'good'],
      [9.1, 'moderate'],
      [35.4, 'moderate'],
      [35.5, 'unhealthy-sensitive'],
      [55.4, 'unhealthy-sensitive'],
      [55.5, 'unhealthy'],
      [125.4, 'unhealthy'],
      [125.5, 'very-unhealthy'],
      [225.4, 'very-unhealthy'],
      [225.5, 'hazardous'],
    ],
  ],
  [
    'US Drought Monitor percentiles',
    SOIL_MOISTURE_USDM,
    [
      [100, 'none'],
      [30.1, 'none'],
      [30, 'D0-abnormally-dry'],
      [20.1, 'D0-abnormally-dry'],
      [20, 'D1-moderate'],
      [10.1, 'D1-moderate'],
      [10, 'D2-severe'],
      [5.1, 'D2-severe'],
      [5, 'D3-extreme'],
      [2.1, 'D3-extreme'],
      [2, 'D4-exceptional'],
      [0, 'D4-exceptional'],
    ],
  ],
  [
    'vegetation health',
    CROP_VHI,
    [
      [100, 'no-stress'],
      [40, 'no-stress'],
      [39.9, 'stress'],
      [30, 'stress'],
      [29.9, 'moderate-stress'],
      [20, 'moderate-stress'],
      [19.9, 'severe-stress'],
      [10, 'severe-stress'],
      [9.9, 'extreme-stress'],
      [0, 'extreme-stress'],
    ],
  ],
  [
    'sea state, an edge belongs to the lower code',
    SEA_STATE,
    [
      [0, 'glassy'],
      [0.01, 'rippled'],
      [0.1, 'rippled'],
      [0.11, 'smooth'],
      [0.5, 'smooth'],
      [0.51, 'slight'],
      [1.25, 'slight'],
      [1.26, 'moderate'],
      [2.5, 'moderate'],
      [2.51, 'rough'],
      [4, 'rough'],
      [4.01, 'very-rough'],
      [6, 'very-rough'],
      [6.01, 'high'],
      [9, 'high'],
      [9.01, 'very-high'],
      [14, 'very-high'],
      [14.01, 'phenomenal'],
    ],
  ],
  [
    'Saffir-Simpson',
    SAFFIR_SIMPSON,
    [
      [0, 'none'],
      [25, 'depression'],
      [33, 'depression'],
      [34, 'tropical-storm'],
      [63, 'tropical-storm'],
      [64, 'cat1-2'],
      [95, 'cat1-2'],
      [96, 'major'],
      [165, 'major'],
    ],
  ],
  [
    'NHC formation chance',
    FORMATION_CHANCE,
    [
      [0, 'low'],
      [39.9, 'low'],
      [40, 'medium'],
      [60, 'medium'],
      [60.1, 'high'],
      [100, 'high'],
    ],
  ],
  [
    'flight categories by visibility',
    FLIGHT_VISIBILITY,
    [
      [10, 'vfr_clear'],
      [5.1, 'vfr_clear'],
      [5, 'mvfr'],
      [3, 'mvfr'],
      [2.99, 'ifr'],
      [1, 'ifr'],
      [0.99, 'lifr'],
      [0, 'lifr'],
    ],
  ],
  [
    'flight categories by ceiling',
    FLIGHT_CEILING,
    [
      [25_000, 'vfr_clear'],
      [3001, 'vfr_clear'],
      [3000, 'mvfr'],
      [1000, 'mvfr'],
      [999, 'ifr'],
      [500, 'ifr'],
      [499, 'lifr'],
      [0, 'lifr'],
    ],
  ],
];

describe('classify()', () => {
  it.each(EDGES)('knows both sides of every edge of %s', (_, ruler, rows) => {
    for (const [value, band] of rows) {
      expect(`${value} ${classify(ruler, value).band}`).toBe(`${value} ${band}`);
    }
    expect(new Set(rows.map(([, band]) => band)).size).toBe(ruler.steps.length);
  });

  it.each(EDGES)('classes by the decimals that people read, exactly, on %s', (_, ruler) => {
    const worse = ruler.direction === 'up' ? 1 : -1;
    const beyond = (value: number, { at, edge = ruler.edge }: RulerStep): boolean => {
      const past = worse * subtractDecimal(value, at);
      return edge === 'worse' ? past >= 0 : past > 0;
    };
    const edges = ruler.steps.map((step) => step.at).filter(Number.isFinite);
    const near = fc
      .tuple(
        fc.constantFrom(...edges),
        fc.integer({ min: -30, max: 30 }),
        fc.integer({ min: 0, max: 9 }),
      )
      .map(([edge, steps, places]) => edge + steps / 10 ** places);
    fc.assert(
      fc.property(near, (value) => {
        const [mildest, ...others] = ruler.steps;
        const expected = others.findLast((step) => beyond(value, step)) ?? mildest;
        expect(classify(ruler, value).band).toBe(expected?.band);
      }),
      { numRuns: 300 },
    );
  });

  it('puts what lies before the first class into it', () => {
    expect(classify(US_AQI, -5).band).toBe('good');
  });

  it('refuses a ruler without classes', () => {
    expect(() => classify({ ...US_AQI, steps: [] }, 1)).toThrow(RangeError);
  });
});

describe('rulerFor()', () => {
  it.each([
    ['2024-05-05T23:59:59Z', PM25_OLD],
    ['2024-05-06T00:00:00Z', PM25_NEW],
    ['2019-01-01T00:00:00Z', PM25_OLD],
  ])('classes a PM2.5 reading of %s by the table of its own day', (observed_at, ruler) => {
    expect(rulerFor(signal('airquality.pm25'), item({}, { observed_at }))).toBe(ruler);
  });

  it('has none where no agency publishes one', () => {
    expect(rulerFor(signal('crypto.spot'), item({ price_usd: 1 }))).toBeNull();
    expect(rulerFor(signal('hydrology.river-level'), item({ stage_ft: 1 }))).toBeNull();
    expect(rulerFor(signal('hydrology.river-level'), item({}, { thresholds: {} }))).toBeNull();
  });
});

describe('standardRuler()', () => {
  it('places a stage of 15.0 ft at an action stage of 10.0 ft at 150 %', () => {
    const thresholds = { action: 10, minor: 12, moderate: 16, major: 20 };
    const placed = standardRuler(
      signal('hydrology.river-level'),
      item({ stage_ft: 15 }, { thresholds }),
    );
    expect(placed).toMatchObject({
      band: 'minor',
      official_category: 'minor',
      pct_to_action: 150,
      distance_to_action: -5,
      unit: 'ft',
      normalized_index: 55,
    });
    expect(placed?.thresholds).toEqual(
      Object.entries(thresholds).map(([band, at]) => ({ band, at })),
    );
  });

  it.each([
    ['Environment Agency', 'Environment Agency, as stored with the reading'],
    [null, 'as stored with the reading, which names no agency'],
    [undefined, 'as stored with the reading, which names no agency'],
  ])('says of thresholds of the reading that they are of %s', (agency, words) => {
    const more = agency === undefined ? {} : { thresholds_agency: agency };
    const given = item({ stage_ft: 15 }, { thresholds: { action: 10 }, ...more });
    const river = signal('hydrology.river-level');
    expect(standardRuler(river, given)?.provenance).toBe(`thresholds of x; ${words}`);
    expect(isOfficial(river, given)).toBe(agency === 'Environment Agency');
    const placed = { ruler: standardRuler(river, given), season: null };
    const spoken =
      agency === 'Environment Agency' ? '; official class "action"' : '; class "action"';
    expect(summaryEn(river, given, placed)).toContain(spoken);
    expect(summaryZh(river, given, placed)?.includes('官方')).toBe(agency === 'Environment Agency');
    expect(JSON.stringify(standardRuler(river, given))).not.toContain('National Weather Service');
  });

  it('says of an official scale of the table that it is official, whatever a reading claims', () => {
    const given = item({ aqi_index: 120 }, { thresholds_agency: 'somebody' });
    const placed = standardRuler(signal('airquality.aqi'), given);
    expect(placed?.provenance).toContain('US EPA');
    expect(isOfficial(signal('airquality.aqi'), given)).toBe(true);
  });

  it.each([
    [9.99, 'below-action'],
    [10, 'action'],
    [11.99, 'action'],
    [12, 'minor'],
    [16, 'moderate'],
    [20, 'major'],
    [-3, 'below-action'],
  ])('classes a stage of %d ft as %s', (stage_ft, band) => {
    const thresholds = { action: 10, minor: 12, moderate: 16, major: 20 };
    const placed = standardRuler(
      signal('hydrology.river-level'),
      item({ stage_ft }, { thresholds }),
    );
    expect(placed?.band).toBe(band);
  });

  it('measures the way to action downwards where less is worse', () => {
    const placed = standardRuler(signal('agriculture.crop-vhi'), item({ vhi_index: 50 }));
    expect(placed).toMatchObject({ distance_to_action: 10, pct_to_action: 80 });
    const zero = standardRuler(signal('agriculture.crop-vhi'), item({ vhi_index: 0 }));
    expect(zero).toMatchObject({ distance_to_action: -40, pct_to_action: null });
  });

  it('is null without a number', () => {
    for (const aqi_index of [null, 'n/a', true]) {
      expect(standardRuler(signal('airquality.aqi'), item({ aqi_index }))).toBeNull();
    }
  });

  it.each(EDGES)('keeps the index of %s between 0 and 100 and never falling', (name, ruler) => {
    const byName = {
      ...signal('airquality.aqi'),
      rulers: [ruler],
      metrics: [ruler.metric] as const,
    };
    const sign = ruler.direction === 'up' ? 1 : -1;
    const step = ruler === SEA_STATE ? 0.05 : ruler === FLIGHT_CEILING ? 40 : 0.75;
    const values = Array.from({ length: 400 }, (_, at) => at * step);
    const indexes = values
      .sort((a, b) => sign * (a - b))
      .map(
        (value) => standardRuler(byName, item({ [ruler.metric]: value }))?.normalized_index ?? -1,
      );
    expect(indexes, name).toEqual([...indexes].sort((a, b) => a - b));
    expect(Math.min(...indexes)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...indexes)).toBeLessThanOrEqual(100);
  });
});

describe('the flight category', () => {
  const weather = signal('nas.aviation_wx');
  const placed = (visibility_mi: number | null, more: object = {}) => {
    return standardRuler(weather, item({ visibility_mi, ...more }));
  };

  it.each([
    [10, null, 'vfr_clear mi'],
    [10, 3001, 'vfr_clear mi'],
    [10, 3000, 'mvfr ft'],
    [4, 3000, 'mvfr mi'],
    [4, 900, 'ifr ft'],
    [0.5, 900, 'lifr mi'],
    [0.5, null, 'lifr mi'],
    [3, 499, 'lifr ft'],
  ])('of %s mi and %s ft is %s: the worse of the two', (visibility_mi, ceiling_ft, class_) => {
    const { band, unit } = placed(visibility_mi, { ceiling_ft }) ?? {};
    expect(`${band} ${unit}`).toBe(class_);
    expect(bandOf(weather, item({ visibility_mi, ceiling_ft }))).toBe(band);
  });

  it('shows the limits of the metric that decides, and the way to instrument rules', () => {
    expect(placed(10, { ceiling_ft: 1500 })).toEqual({
      band: 'mvfr',
      official_category: 'mvfr',
      thresholds: [
        { band: 'vfr_clear', at: 12_000 },
        { band: 'mvfr', at: 3000 },
        { band: 'ifr', at: 1000 },
        { band: 'lifr', at: 500 },
      ],
      distance_to_action: 500,
      pct_to_action: 66.7,
      normalized_index: 43.8,
      unit: 'ft',
      provenance: expect.stringMatching(/^Flight categories by ceiling; FAA .* NWS$/),
    });
  });

  it('is unknown where sky or visibility was not looked at, and has then the class of the source', () => {
    expect(placed(10)).toBeNull();
    expect(placed(null, { ceiling_ft: 400 })).toBeNull();
    expect(bandOf(weather, item({ visibility_mi: 10, band: null }))).toBeNull();
    expect(bandOf(weather, item({ visibility_mi: 10, band: 'mvfr' }))).toBe('mvfr');
  });

  it('has no place for thunder and high wind, which are a class of ours', () => {
    const band = 'convective_or_high_wind';
    expect(placed(10, { ceiling_ft: 400, band })).toBeNull();
    expect(bandOf(weather, item({ visibility_mi: 10, ceiling_ft: 400, band }))).toBe(band);
  });
});

describe('a scale of classes', () => {
  const status = signal('drought.status');

  it.each([
    ['none', 0, 2],
    ['D0-abnormally-dry', 16.7, 1],
    ['D1-moderate', 33.3, 0],
    ['D4-exceptional', 83.3, -3],
  ])('places %s by its own number', (band, normalized_index, distance_to_action) => {
    const placed = standardRuler(status, item({ dsci_index: 200, band }));
    expect(placed).toMatchObject({ band, normalized_index, distance_to_action, unit: 'class' });
    expect(placed?.pct_to_action).toBeNull();
    expect(bandOf(status, item({ dsci_index: 200, band }))).toBe(band);
  });

  it('never makes a class of the index', () => {
    for (const band of [null, undefined, 2]) {
      const given = item({ dsci_index: 200, ...(band === undefined ? {} : { band }) });
      expect(standardRuler(status, given)?.band ?? null).toBe(band === 2 ? 'D2-severe' : null);
    }
    expect(rulerFor(status, item({ dsci_index: 500, band: 'severe' }))).toBeNull();
  });

  it('knows the risk levels of the SPC since there are five of them', () => {
    const outlook = signal('severe-convection.forecast-risk-env');
    const on = (day: string) =>
      item({ outlook_category_index: 2, band: 'slight' }, { observed_at: `${day}T16:30:00Z` });
    expect(standardRuler(outlook, on('2014-10-22'))).toMatchObject({
      band: 'slight',
      distance_to_action: null,
      pct_to_action: null,
      thresholds: expect.arrayContaining([{ band: 'high', at: 5 }]),
    });
    expect(standardRuler(outlook, on('2014-10-21'))).toBeNull();
    expect(bandOf(outlook, on('2014-10-21'))).toBe('slight');
    // Nothing drawn is no thunder, and that has no class.
    expect(bandOf(outlook, item({ outlook_category_index: null, band: null }))).toBeNull();
    expect(bandOf(outlook, item({ outlook_category_index: 0 }))).toBeNull();
  });
});

describe('the formation chance', () => {
  const outlook = signal('hurricane.formation-outlook');

  it('of a basin without any disturbance is on no scale', () => {
    expect(standardRuler(outlook, item({ formation_7d_pct: 0, band: 'none' }))).toBeNull();
    expect(bandOf(outlook, item({ formation_7d_pct: 0, band: 'none' }))).toBe('none');
    expect(bandOf(outlook, item({ formation_7d_pct: 0, band: 'low' }))).toBe('low');
  });
});

describe('the flood stage alone', () => {
  const river = signal('hydrology.river-level');
  const more = { thresholds: { flood: 10 }, thresholds_agency: 'National Weather Service' };

  it.each([
    [9.9, 'below-flood', false],
    [10, 'flood', true],
    [21.3, 'flood', true],
  ])(
    'classes a stage of %d ft as %s, and never says how bad the flood is',
    (stage_ft, band, lit) => {
      const placed = standardRuler(river, item({ stage_ft }, more));
      expect(placed).toMatchObject({ band, distance_to_action: subtractDecimal(10, stage_ft) });
      expect(isLit(river, band)).toBe(lit);
    },
  );

  it('gives way to minor where both are known, and is no worse than it', () => {
    const both = { thresholds: { flood: 10, minor: 10, moderate: 13 } };
    expect(bandOf(river, item({ stage_ft: 10 }, both))).toBe('minor');
    expect(bandOf(river, item({ stage_ft: 13 }, both))).toBe('moderate');
    const line = (thresholds: object) =>
      parseReading(
        { ...reading('06714000', { stage_ft: 1 }), thresholds },
        {},
        builtinEntry(river.id),
      );
    expect(line(both.thresholds)).toHaveProperty('ok');
    expect(line({ flood: 10, minor: 9 })).toHaveProperty('faults.0.field', 'thresholds.minor');
  });
});

describe('every ruler of the tables', () => {
  const all = BUILTIN.signals.flatMap(({ id, rulers = [] }) =>
    rulers.map((ruler) => ({ id, ruler })),
  );

  it.each(all)('of $id says what it rests on, and advises nothing', ({ ruler }) => {
    expect(ruler.provenance).toMatch(/EPA|Drought Monitor|NOAA|WMO|FAA/);
    expect(neutralFault(`${ruler.scale}; ${ruler.provenance}`)).toBeNull();
    expect(neutralFault(`${ruler.scale}; you should act`)).not.toBeNull();
  });
});

describe('bandOf()', () => {
  it.each<[string, object, string | null]>([
    ['airquality.aqi', { aqi_index: 51, band: 'good' }, 'moderate'],
    ['airquality.aqi', { aqi_index: null, band: 'good' }, 'good'],
    ['airquality.aqi', { aqi_index: null }, null],
    ['nas.ground_ops', { avg_delay_min: 1, band: 'gdp' }, 'gdp'],
    ['crypto.spot', { price_usd: 1, band: 3 }, null],
  ])('of %s at %j is %s: the official class first', (id, current, band) => {
    expect(bandOf(signal(id), item(current))).toBe(band);
    const official = standardRuler(signal(id), item(current))?.band;
    if (official !== undefined) expect(official).toBe(band);
  });
});

const AT = '2026-11-20T10:00:00Z';
const source = (value: RecordSource['value'], more: Partial<RecordSource> = {}): RecordSource => ({
  name: 'a',
  weight: 1,
  independent: true,
  as_of: AT,
  ...(value === undefined ? {} : { value }),
  ...more,
});

describe('sourceAgreement()', () => {
  it.each([
    [[10, 10], 0],
    [[9, 11], 0.1],
    [[-9, -11], 0.1],
    [[1, 2, 3], 0.4082],
  ])('of independent values %j is %d', (values, cv) => {
    expect(sourceAgreement(values.map((value) => source(value)))).toBe(cv);
  });

  it.each([
    ['no source', []],
    ['one source', [source(1)]],
    ['a second one that is not independent', [source(1), source(2, { independent: false })]],
    ['a second one that relays', [source(1), source(2, { relay_of: 'a' })]],
    ['another time', [source(1), source(2, { as_of: '2026-11-20T10:00:01Z' })]],
    [
      'no time',
      [source(1, { as_of: undefined as never }), source(2, { as_of: undefined as never })],
    ],
    ['a value that is no number', [source(1), source('2')]],
    ['no value', [source(1), source(undefined)]],
    ['null', [source(1), source(null)]],
    ['a mean of zero', [source(1), source(-1)]],
  ])('is null for %s', (_, sources) => {
    expect(sourceAgreement(sources)).toBeNull();
  });

  it('leaves a relay aside when two others are independent', () => {
    expect(sourceAgreement([source(9), source(11), source(500, { relay_of: 'a' })])).toBe(0.1);
  });
});

const OBSERVED = '2026-01-01T00:00:00Z';
const later = (hours: number, ms = 0) =>
  new Date(Date.parse(OBSERVED) + hours * 3_600_000 + ms).toISOString();
const collected = (observed_at: string, collected_at: string) =>
  reading('x', {}, { observed_at, collected_at }) as Reading;

describe('snapshotDate()', () => {
  it.each([
    ['2026-11-20T00:00:00Z', '2026-11-20T00:00:00Z'],
    ['2026-11-20T23:59:59.999Z', '2026-11-20T00:00:00Z'],
    ['2024-02-29T12:00:00Z', '2024-02-29T00:00:00Z'],
  ])('puts %s on its UTC day', (at, day) => {
    expect(snapshotDate(collected(OBSERVED, at))).toBe(day);
  });
});

describe('hoursBetween(), dataAgeHours()', () => {
  it('round to one decimal and never fall below zero', () => {
    expect(hoursBetween(OBSERVED, later(1, 9 * 60_000))).toBe(1.2);
    expect(hoursBetween(later(1), OBSERVED)).toBe(0);
    expect(dataAgeHours(collected(OBSERVED, later(0, 15 * 60_000 + 12_000)))).toBe(0.3);
  });
  it('round halves up, as on paper', () => {
    const spans = fc.oneof(
      fc.nat(10_000_000_000_000),
      fc.nat(10_000_000).map((tenths) => tenths * 360_000 + 180_000),
    );
    fc.assert(
      fc.property(spans, (ms) => {
        const span = hoursBetween('1970-01-01T00:00:00Z', new Date(ms).toISOString());
        expect(span).toBe(roundDecimal(ms / 3_600_000, 1));
      }),
    );
  });
});
