import { describe, expect, it } from 'vitest';
import { BUILTIN, signalOf } from '../../compiler/catalog/builtin.ts';
import { parseHeader, parseReading } from '../../compiler/readings/reading.ts';
import { builtinEntry, entitiesOf } from '../builtin-rows.ts';
import { reading } from '../snapshot-folder.ts';

const SIGNAL = 'hydrology.river-level';
const GOOD = reading('07010000', { stage_ft: 13.6 });

function faultsOf(change: object, signal = SIGNAL, current: object = GOOD.current) {
  const outcome = parseReading({ ...GOOD, current, ...change }, {}, builtinEntry(signal));
  const faults = 'faults' in outcome ? outcome.faults : [];
  return [...new Set(faults.map(({ code, field }) => `${code} ${field}`))];
}

const EVIDENCE = {
  sha256: 'e7'.repeat(32),
  url: 'https://waterservices.usgs.gov/nwis/iv/?sites=07010000',
  fetched_at: '2026-11-20T11:00:00Z',
  importer: 'usgs-nwis',
  importer_version: 1,
};

describe('parseReading()', () => {
  it.each([
    ['sha256', `sha256:${'e7'.repeat(32)}`],
    ['sha256', 'E7'.repeat(32)],
    ['url', 'javascript:alert(1)'],
    ['url', null],
    ['fetched_at', '2026-11-20'],
    ['importer', 'USGS NWIS'],
    ['importer_version', 0],
    ['importer_version', '1'],
    ['importer_version', undefined],
    ['path', '/tmp/payload.json'],
  ])('refuses evidence whose %s is %j', (name, value) => {
    const where = name === 'path' ? 'evidence' : `evidence.${name}`;
    expect(faultsOf({ evidence: { ...EVIDENCE, [name]: value } })).toEqual([`bad_field ${where}`]);
  });

  it('accepts a reading with everything that may be stored', () => {
    const full = {
      entity_name: 'Mississippi River at St. Louis, MO',
      thresholds: { action: 28, minor: 30, moderate: 35, major: 40 },
      grade: 'provisional',
      scope: null,
      validation_status: 'provisional',
      qualifiers: ['P'],
      uncertainty: '0.01 ft',
      current: { stage_ft: 13.6, band: 'below-action', flags: ['a', 1, true, null] },
      evidence: EVIDENCE,
    };
    expect(faultsOf(full)).toEqual([]);
    expect(faultsOf({ current: { stage_ft: null } })).toEqual([]);
    expect(faultsOf({ source_ref: null, source_tier: null })).toEqual([]);
    expect(faultsOf({ source_ref: 'http://example.org:8080/a?b=c#d' })).toEqual([]);
  });

  const LIFE = { state: 'dead', birth_at: null, end_at: null, death_type: null, context: null };
  it.each([
    ['banana', false],
    ['2025', false],
    ['2025-02-30', false],
    ['0000-12-31', false],
    ['2025-03-02T00:00:00', false],
    ['2025-03-02T00:00:00+01:00', false],
    ['', false],
    ['2025-03-02', true],
    ['2025-03-02T00:00:00Z', true],
    [null, true],
  ])('takes "%s" for the birth and the end of a life: %s', (time, isTaken) => {
    for (const name of ['birth_at', 'end_at']) {
      const lifecycle = { ...LIFE, [name]: time };
      const faults = faultsOf({ lifecycle });
      expect(faults).toEqual(isTaken ? [] : [`bad_field lifecycle.${name}`]);
    }
  });

  it.each([
    ['bad_field entity', { entity: '' }],
    ['bad_field entity', { entity: 'two words' }],
    ['bad_field entity', { entity: 'caf\u00e9' }],
    ['bad_field entity', { entity: 'x'.repeat(121) }],
    ['bad_field entity', { entity: 'X'.repeat(80) }],
    ['bad_field observed_at', { observed_at: '2026-11-20' }],
    ['bad_field observed_at', { observed_at: '2026-11-20T10:45:00+01:00' }],
    ['bad_field observed_at', { observed_at: '2026-02-30T10:45:00Z' }],
    ['bad_field observed_at', { observed_at: '2026-11-20T10:45:00' }],
    ['bad_field observed_at', { observed_at: '2026-11-20T10:45Z' }],
    ['bad_field observed_at', { observed_at: '2026-11-20T11:00:01Z' }],
    ['bad_field collected_at', { collected_at: 1_763_632_800 }],
    ['bad_field current', { current: null }],
    ['bad_field current.stage_ft', { current: {} }],
    ['bad_field current.stage_ft', { current: { discharge_cfs: 1 } }],
    ['bad_field current.Stage_ft', { current: { stage_ft: 1, Stage_ft: 1 } }],
    ['bad_field current.deep', { current: { stage_ft: 1, deep: { a: 1 } } }],
    ['bad_field current.provenance', { current: { stage_ft: 1, provenance: 'x' } }],
    ['bad_field current.period', { current: { stage_ft: 1, period: 5 } }],
    ['bad_field current.band', { current: { stage_ft: 1, band: 'wet' } }],
    ['bad_field current.band', { current: { stage_ft: 1, band: 3 } }],
    ['foreign_unit current.stage_m', { current: { stage_m: 4.1 } }],
    ['foreign_unit current.stage_m', { current: { stage_ft: 13.6, stage_m: 4.1 } }],
    ['bad_field sources', { sources: [] }],
    ['bad_field sources.0.weight', { sources: [{ name: 'a', independent: true }] }],
    ['bad_field sources.0', { sources: [{ name: 'a', weight: 1, independent: true, x: 1 }] }],
    ['bad_field source_ref', { source_ref: 'not an address' }],
    ['bad_field source_ref', { source_ref: 'javascript:alert(1)' }],
    ['bad_field source_ref', { source_ref: 'data:text/html,x' }],
    ['bad_field source_ref', { source_ref: 'ftp://example.org/' }],
    ['bad_field source_ref', { source_ref: ' https://example.org/' }],
    ['bad_field source_ref', { source_ref: 'https:example.org' }],
    ['bad_field source_tier', { source_tier: 'T3' }],
    ['bad_field thresholds.action', { thresholds: { action: '28' } }],
    ['bad_field thresholds.bankfull', { thresholds: { bankfull: 28 } }],
    ['bad_field thresholds.minor', { thresholds: { action: 30, minor: 28 } }],
    ['bad_field line', { unit: 'ft' }],
    ['bad_field line', { header: {} }],
  ])('refuses with %s: %j', (fault, change) => {
    expect(faultsOf(change)).toEqual([fault]);
  });

  it.each([
    ['unknown_entity entity', 'nas.ground_ops', { entity: 'xxx' }, { avg_delay_min: 1 }],
    ['bad_field entity', 'filing.insider', { entity: 'aapl' }, { form4_90d_count: 1 }],
    [
      'bad_field thresholds.action',
      'airquality.aqi',
      { entity: 'us-denver', thresholds: { action: 1 } },
      { aqi_index: 1 },
    ],
    [
      'bad_field lifecycle.state',
      'stablecoin.lifecycle',
      { lifecycle: { ...LIFE, state: 'zombie' } },
      { state: null },
    ],
    ['bad_field current.state', 'stablecoin.lifecycle', {}, { state: 'zombie' }],
    ['bad_field current.state', 'stablecoin.lifecycle', {}, { state: 3 }],
    ['bad_field current.state', 'stablecoin.lifecycle', { lifecycle: LIFE }, { state: 'ended' }],
    ['bad_field current.band', 'crypto.spot', {}, { price_usd: 1, band: 3 }],
    ['bad_field current.band', 'crypto.spot', {}, { price_usd: 1, band: true }],
  ] as const)('refuses %s for %s', (...[fault, signal, change, current]) => {
    expect(faultsOf(change, signal, current)).toEqual([fault]);
  });

  it.each([-999, -999.9, -9999, -999_999])(
    'refuses the no-data code %d in a declared metric, and no other negative value',
    (code) => {
      const stated = (current: object, signal = SIGNAL, entity = '07010000') => {
        const outcome = parseReading({ ...GOOD, entity, current }, {}, builtinEntry(signal));
        return 'faults' in outcome ? outcome.faults : [];
      };
      expect(stated({ stage_ft: code })).toEqual([
        {
          code: 'bad_field',
          field: 'current.stage_ft',
          message: `${code} is a no-data code; store null`,
        },
      ]);
      expect(stated({ vhi_index: code }, 'agriculture.crop-vhi', 'ua-ukraine')).toHaveLength(1);
      const second = { max_mag: 2, count_m25_count: code };
      const [fault] = stated(second, 'earthquake.current_activity', 'california-san-andreas');
      expect(fault?.field).toBe('current.count_m25_count');
      for (const value of [code - 0.5, -1, -0.2, 0, null]) {
        expect(stated({ stage_ft: value })).toEqual([]);
      }
      expect(stated({ stage_ft: 1, datum_note: code })).toEqual([]);
    },
  );

  it.each([
    ['airquality.aqi', 'aqi_index', 0, null, '0 and up'],
    ['airquality.pm25', 'pm25_ugm3', 0, null, '0 and up'],
    ['agriculture.crop-vhi', 'vhi_index', 0, 100, '0 to 100'],
    ['agriculture.drought', 'soil_moisture_percentile_pct', 0, 100, '0 to 100'],
    ['drought.onset-pressure', 'eddi_percentile_pct', 0, 100, '0 to 100'],
    ['drought.status', 'dsci_index', 0, 500, '0 to 500'],
    ['shipping.sea-state', 'wave_height_m', 0, null, '0 and up'],
    ['shipping.route-disruption', 'wave_height_m', 0, null, '0 and up'],
  ] as const)('takes of %s only %s from %d to %s', (...[signal, metric, from, to, text]) => {
    const legal = entitiesOf(signal);
    const entity = legal === 'open' ? 'any' : (legal[0] ?? '');
    const stated = (value: unknown) => {
      const outcome = parseReading(
        { ...GOOD, entity, current: { [metric]: value } },
        {},
        builtinEntry(signal),
      );
      return 'faults' in outcome ? outcome.faults : [];
    };
    for (const value of [from, from + 0.5, to ?? 1e6, null]) {
      expect(stated(value)).toEqual([]);
    }
    for (const value of [from - 0.1, -1, ...(to === null ? [] : [to + 0.1])]) {
      expect(stated(value)).toEqual([
        {
          code: 'bad_field',
          field: `current.${metric}`,
          message: `${value} is outside ${text}; correct it, or store null`,
        },
      ]);
    }
  });

  const FIGURES = BUILTIN.signals.flatMap(({ id, metrics }) =>
    metrics.filter((metric) => metric !== 'state').map((metric) => ({ id, metric })),
  );
  const figureFaults = (id: string, metric: string, value: unknown) => {
    const legal = entitiesOf(id);
    const [main = ''] = signalOf(id)?.metrics ?? [];
    const entity = legal === 'open' ? 'ANY' : (legal[0] ?? '');
    const outcome = parseReading(
      { ...GOOD, entity, current: { [main]: null, [metric]: value } },
      {},
      builtinEntry(id),
    );
    return 'faults' in outcome ? outcome.faults : [];
  };

  it.each([
    ['33.6', '"33.6" is text; write 33.6 without quotes'],
    [' -1e3 ', '" -1e3 " is text; write -1000 without quotes'],
    ['high', '"high" is not a number; store a number or null'],
    ['', '"" is not a number; store a number or null'],
    ['33.6 ft', '"33.6 ft" is not a number; store a number or null'],
    ['1,234', '"1,234" is not a number; store a number or null'],
    [true, 'true is not a number; store a number or null'],
    [false, 'false is not a number; store a number or null'],
    [[33.6], 'a list is not a number; store a number or null'],
  ])('I55: takes %j for no figure of any signal, and says what to write', (value, message) => {
    expect(FIGURES.length).toBeGreaterThan(150);
    for (const { id, metric } of FIGURES) {
      const field = `current.${metric}`;
      expect(figureFaults(id, metric, value)).toEqual([{ code: 'bad_field', field, message }]);
    }
  });

  it('takes a number or null for every figure', () => {
    for (const { id, metric } of FIGURES) {
      expect([id, figureFaults(id, metric, 1), figureFaults(id, metric, null)]).toEqual([
        id,
        [],
        [],
      ]);
    }
  });

  it('takes no text under a further name that ends in a unit, and text under any other', () => {
    for (const name of ['depth_ft', 'share_pct', 'loss_usd', 'crews_count', 'gust_kt']) {
      expect(faultsOf({ current: { stage_ft: 1, [name]: '3' } })).toEqual([
        `bad_field current.${name}`,
      ]);
      expect(faultsOf({ current: { stage_ft: 1, [name]: 3 } })).toEqual([]);
    }
    const words = {
      status: 'Lanes Closed',
      latest_items: '2.02',
      is_open: true,
      flags: ['a', '1'],
    };
    expect(faultsOf({ current: { stage_ft: 1, ...words } })).toEqual([]);
    const context = { loss_usd: '5000', note: 'the 3rd of its kind' };
    expect(faultsOf({ lifecycle: { ...LIFE, context } })).toEqual([
      'bad_field lifecycle.context.loss_usd',
    ]);
    expect(faultsOf({ lifecycle: { ...LIFE, context: { ...context, loss_usd: 5000 } } })).toEqual(
      [],
    );
  });

  it('takes no text for what a source says of a figure, and a word only of a state', () => {
    const from = (value: unknown) => ({ sources: [{ ...GOOD.sources[0], value }] });
    for (const value of ['13.6', 'high', '']) {
      expect(faultsOf(from(value))).toEqual(['bad_field sources.0.value']);
    }
    for (const value of [13.6, -1, null]) expect(faultsOf(from(value))).toEqual([]);
    const state = { state: 'dead' };
    expect(faultsOf(from('dead'), 'stablecoin.lifecycle', state)).toEqual([]);
    expect(faultsOf(from('1'), 'stablecoin.lifecycle', state)).toEqual([
      'bad_field sources.0.value',
    ]);
  });

  it('tells what to write for a threshold or a weight that is text', () => {
    expect(
      parseReading({ ...GOOD, thresholds: { action: '28' } }, {}, builtinEntry(SIGNAL)),
    ).toMatchObject({
      faults: [{ field: 'thresholds.action', message: '"28" is text; write 28 without quotes' }],
    });
    const sources = [{ name: 'a', weight: '1', independent: true }];
    expect(parseReading({ ...GOOD, sources }, {}, builtinEntry(SIGNAL))).toMatchObject({
      faults: [{ field: 'sources.0.weight', message: '"1" is text; write 1 without quotes' }],
    });
  });

  it.each(['filings_8k_30d_count', 'storm_count', 'd1_pct'])(
    'lets a second figure %s go below 0 only where its unit can',
    (metric) => {
      const row = BUILTIN.signals.find(({ metrics }) => metrics.slice(1).includes(metric));
      const faults = figureFaults(row?.id ?? '', metric, -1);
      expect(faults.map(({ field }) => field)).toEqual(
        metric.endsWith('_count') ? [`current.${metric}`] : [],
      );
    },
  );

  const ADVICE = 'you should buy now';
  it.each([
    ['entity_name', { entity_name: ADVICE }],
    ['grade', { grade: 'buy' }],
    ['scope', { scope: 'prices will rise after this' }],
    ['validation_status', { validation_status: ADVICE }],
    ['uncertainty', { uncertainty: 'likely small' }],
    ['thresholds_agency', { thresholds_agency: ADVICE }],
    ['qualifiers.1', { qualifiers: ['P', ADVICE] }],
    ['sources.0.name', { sources: [{ ...GOOD.sources[0], name: ADVICE }] }],
    ['sources.0.role', { sources: [{ ...GOOD.sources[0], role: ADVICE }] }],
    ['sources.0.relay_of', { sources: [{ ...GOOD.sources[0], relay_of: ADVICE }] }],
    ['lifecycle.death_type', { lifecycle: { ...LIFE, death_type: ADVICE } }],
    ['lifecycle.context.note', { lifecycle: { ...LIFE, context: { note: ADVICE } } }],
    ['current.note', { current: { stage_ft: 1, note: ADVICE } }],
    ['current.notes.1', { current: { stage_ft: 1, notes: ['high water', ADVICE] } }],
  ])('refuses advice in %s, of a line and of a header', (field, change) => {
    expect(faultsOf(change)).toEqual([`bad_field ${field}`]);
    expect(parseHeader(change, builtinEntry(SIGNAL))).toMatchObject({
      faults: [{ field: `header.${field}` }],
    });
    const plain = JSON.parse(
      JSON.stringify(change).replace(
        /you should buy now|buy|likely small|prices will rise[^"]*/,
        'x',
      ),
    );
    expect(faultsOf(plain)).toEqual([]);
    expect(parseHeader(plain, builtinEntry(SIGNAL))).toHaveProperty('ok');
  });

  it('looks for advice in no id and in no address', () => {
    const source_ref = 'https://example.org/buy/forecast';
    expect(
      faultsOf({ entity: 'buy', source_ref, current: { stage_ft: 1, page: source_ref } }),
    ).toEqual([]);
  });

  it('names every field that is missing, unless the header has it', () => {
    const { entity, current } = GOOD;
    const { entity: _, current: __, ...header } = GOOD;
    const bare = parseReading({ entity, current }, {}, builtinEntry(SIGNAL));
    expect('faults' in bare && bare.faults.map((fault) => fault.field)).toEqual([
      'observed_at',
      'collected_at',
      'sources',
      'source_ref',
      'source_tier',
    ]);
    expect(parseReading({ entity, current }, header, builtinEntry(SIGNAL))).toEqual({ ok: GOOD });
  });

  it('lets the line win over the header', () => {
    const outcome = parseReading(
      GOOD,
      { entity: 'other', source_tier: 'T2' },
      builtinEntry(SIGNAL),
    );
    expect('ok' in outcome && [outcome.ok.entity, outcome.ok.source_tier]).toEqual([
      '07010000',
      'T1',
    ]);
  });

  it.each([null, 1, 'x', [], true])('refuses %j in place of an object', (value) => {
    expect(parseReading(value, {}, builtinEntry(SIGNAL))).toHaveProperty('faults');
  });
});

describe('parseHeader()', () => {
  const RIVER = builtinEntry(SIGNAL);

  it('reads the members of a header', () => {
    expect(parseHeader({ source_tier: 'T1' }, RIVER)).toEqual({ ok: { source_tier: 'T1' } });
  });

  it('takes no text for a figure of all lines', () => {
    const faults = (stage_ft: unknown) => parseHeader({ current: { stage_ft } }, RIVER);
    expect(faults('13.6')).toMatchObject({ faults: [{ field: 'header.current.stage_ft' }] });
    expect(faults(13.6)).toHaveProperty('ok');
  });

  it.each([{ unit: 'ft' }, null, { source_tier: 'T9' }])('refuses %j', (value) => {
    expect(parseHeader(value, RIVER)).toHaveProperty('faults');
  });
});
