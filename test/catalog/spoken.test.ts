import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BUILTIN } from '../../compiler/catalog/builtin.ts';
import { placesOf } from '../../compiler/catalog/catalog.ts';
import { spokenOf } from '../../compiler/catalog/units.ts';
import { newShop } from '../../compiler/cli/init-command.ts';
import { defined } from '../../compiler/format/errors.ts';
import type { SignalEntry } from '../../compiler/products/shapes/line.ts';
import {
  isOfficial,
  type Said,
  type Spoken,
  say,
  sayAge,
  sayChange,
  sayTime,
  scaleFor,
} from '../../compiler/products/shapes/say.ts';
import { loadCatalog } from '../../compiler/readings/load-catalog.ts';
import { builtinEntry } from '../builtin-rows.ts';

const AT = '2026-11-20T10:45:00Z';
type Current = Readonly<Record<string, number | string | null>>;
const saidOf = (id: string, current: Current, spoken = spokenOf(builtinEntry(id))): Said =>
  say(spoken, { entity: 'an-id', entity_name: 'Somewhere', observed_at: AT, current });

/** Numbers that stand without a unit, after the word that says what they are. */
const COUNTED = /\b(?:percentile|magnitude|intensity|number|index of \w+ is|coverage of \w+ is) $/;

/** A number with its noun and verb; a window of days or hours is none. */
const AGREEMENT =
  /(?<!\b(?:of|in) |[\d.,])(-?\d[\d,.]*) (?!or )(?:[a-z]+ ){1,2}(is|are|was|were)\b/g;

/** What is wrong with a reading in words, by kind. It looks at the data, and not at the sentences that were chosen. */
function faultsOf(
  { value, standing, whole }: Said,
  { spoken, current }: { readonly spoken: Spoken; readonly current: Current },
): string[] {
  const main = defined(spoken.metrics[0], 'the main metric');
  const held = current[main.name] ?? null;
  const scale = scaleFor(spoken, { observed_at: AT, current });
  const isForeign = (ids: readonly string[]): boolean => ids.some((id) => whole.includes(id));
  const numbers = [...value.matchAll(/-?\d[\d,]*(?:\.\d+)?/g)].filter(([text]) => {
    return Object.values(current).some((one) => one?.toLocaleString('en') === text);
  });
  const isBare = numbers.some(({ 0: text, index }) => {
    const [before, after] = [value.slice(0, index), value.slice(index + text.length)];
    return /^(?:[.,;]? ?$|[.;])/.test(after) && !COUNTED.test(before);
  });
  const isMany = (text = ''): boolean => Number(text.replaceAll(',', '')) !== 1;
  const agreement = [...value.matchAll(AGREEMENT)];
  return [
    ...(/_/.test(whole) ? ['underscore'] : []),
    ...(isForeign([
      'an-id',
      ...spoken.metrics.map(({ name }) => name).filter((name) => /_/.test(name)),
    ])
      ? ['id']
      : []),
    ...(/\b(?:null|undefined|NaN)\b|\[object|[{}]/.test(whole) ? ['null'] : []),
    ...(isBare && main.unit !== '' ? ['bare number'] : []),
    ...(held === null && !/\b[Nn]o\b/.test(value) ? ['contradiction'] : []),
    ...(held !== null && /\b(?:not? [a-z]+ is|no value is) given/i.test(value)
      ? ['contradiction']
      : []),
    ...(agreement.some(([, text, verb]) => isMany(text) !== /are|were/.test(verb ?? ''))
      ? ['contradiction']
      : []),
    ...(/\b(?:rose|grew|back) by\b/.test(value) && held === 0 ? ['contradiction'] : []),
    ...(/Official class/.test(standing) && (scale === null || !isOfficial(scale))
      ? ['contradiction']
      : []),
  ];
}

/** What readings of a signal may hold: each value with each class, and none. */
function readingsOf({ signal, line }: SignalEntry): Current[] {
  const { metrics, bands = [], unitOf, range } = signal;
  const numbers = metrics.filter((name) => unitOf[name] !== undefined);
  const least = Math.max(
    ...numbers.map((name) => unitOf[name]?.range?.from ?? -3),
    range?.from ?? -3,
  );
  const values = [0, 1, 2.5, 1234, -3, null].filter((value) => value === null || value >= least);
  const states = metrics[0] === 'state' ? (line.states ?? []).map((state) => ({ state })) : [{}];
  const classes = [{}, ...bands.map((band) => ({ band }))];
  return states.flatMap((state) =>
    values.flatMap((value) => {
      const held = Object.fromEntries(numbers.map((name) => [name, value]));
      return classes.map((band) => ({ ...state, ...held, ...band }));
    }),
  );
}

function faultsIn(entries: Iterable<SignalEntry>): { signals: number; faults: string[] } {
  let signals = 0;
  const faults: string[] = [];
  for (const entry of entries) {
    signals += 1;
    const spoken = spokenOf(entry);
    for (const current of readingsOf(entry)) {
      const said = say(spoken, {
        entity: 'an-id',
        entity_name: 'Somewhere',
        observed_at: AT,
        current,
      });
      const found = faultsOf(said, { spoken, current });
      if (found.length > 0) faults.push(`${entry.signal.id} ${found}: ${said.whole}`);
    }
  }
  return { signals, faults };
}

describe('say()', () => {
  it('says every reading of the built-in catalogue in true words', () => {
    expect(faultsIn(BUILTIN.entryById.values())).toEqual({ signals: 122, faults: [] });
  });

  it('says every reading of a shop that begins in true words', () => {
    const folder = mkdtempSync(join(tmpdir(), 'say-'));
    newShop({ folder, line: 'harbour', extended: null, nowMs: Date.parse(AT) });
    const { catalog } = loadCatalog(join(folder, 'snapshots'));
    rmSync(folder, { recursive: true });
    expect(faultsIn(catalog.entryById.values())).toEqual({ signals: 2, faults: [] });
    const level = spokenOf(defined(catalog.entryById.get('harbour.level'), 'the level'));
    expect(saidOf('', { level_m: 3.4 }, level).standing).toBe(
      'Class: flood, on a scale that is not official.',
    );
  });

  const RIVER = builtinEntry('hydrology.river-level');
  const planted: readonly (readonly [kind: string, words: object, current: Current])[] = [
    ['underscore', { says: ['The river_level at {name} is {stage_ft}.'] }, { stage_ft: 2 }],
    ['id', { says: ['{name} reads {stage_ft} as stage_ft.'] }, { stage_ft: 2 }],
    ['null', { says: ['{name} reads {stage_ft}, felt null.'] }, { stage_ft: 2 }],
    ['null', { says: ['{name} reads {stage_ft} {broken.'] }, { stage_ft: 2 }],
    ['bare number', { says: ['river stage at {name} {stage_ft#}'] }, { stage_ft: 9 }],
    ['contradiction', { none: 'The river at {name} is low.' }, { stage_ft: null }],
    ['contradiction', { says: ['{stage_ft#} gauges are at {name}.'] }, { stage_ft: 1 }],
    ['contradiction', { says: ['The river at {name} rose by {stage_ft}.'] }, { stage_ft: 0 }],
  ];
  it.each(planted)('is found out: %s %j', (kind, words, current) => {
    const spoken = spokenOf({ ...RIVER, signal: { ...RIVER.signal, words } });
    expect(faultsOf(saidOf('', current, spoken), { spoken, current })).toContain(kind);
  });

  it('is found out where an invented ruler is called official', () => {
    const spoken = spokenOf(builtinEntry('hurricane.active-storms'));
    const current = { max_wind_kt: 70, storm_count: 1 };
    const said = saidOf('', current, spoken);
    expect(faultsOf(said, { spoken, current })).toEqual([]);
    const lie = { ...said, standing: said.standing.replace('Class', 'Official class') };
    expect(faultsOf(lie, { spoken, current })).toEqual(['contradiction']);
  });
});

describe('what was untrue or nonsense', () => {
  it('is said of storms, drugs, prices and shaking as it is', () => {
    expect(saidOf('hurricane.active-storms', { max_wind_kt: 0, storm_count: 0 }).value).toBe(
      'No tropical cyclones are active in Somewhere.',
    );
    expect(saidOf('hurricane.active-storms', { max_wind_kt: 90, storm_count: 1 }).value).toBe(
      '1 tropical cyclone is active in Somewhere. The strongest has winds of 90 kt.',
    );
    const drug = { packages_count: 9, band: 'in-shortage', unavailable_count: 2 };
    expect(saidOf('drug-detail.status', drug).whole).toBe(
      'The shortage list has 9 packages of Somewhere. 2 of them are unavailable. ' +
        'Class: in shortage, on no official scale. Observed 20 Nov 2026, 10:45 UTC.',
    );
    expect(saidOf('energy.gas-price', { gas_usd_therm: 1.946, gasoline_usd_gal: 3.1 }).value).toBe(
      'Utility gas for Somewhere costs 1.946 USD per therm. Gasoline costs 3.1 USD per gallon.',
    );
    const shaking = { intensity_mmi: null, felt_reports_count: null };
    expect(saidOf('earthquake.impact_realized', shaking).value).toBe(
      'No intensity of shaking is given for Somewhere.',
    );
  });

  it.each([
    ['earthquake.swarm_rate', { count_24h_count: 0 }, 'Somewhere had no quakes in 24 hours.'],
    ['drought.impact-cascade', { impact_reports_count: 0 }, 'No impacts of drought were reported'],
    [
      'filing.insider',
      { form4_90d_count: 3, form4_30d_count: 0 },
      'None of them are of the last 30',
    ],
    ['filing.insider', { form4_90d_count: 3, form4_30d_count: 1 }, '1 of them is of the last 30'],
    ['ai-tool.industry-timeline', { ends_365d_count: 0 }, 'servers, no ends were counted'],
    [
      'border-wait.lane-wait',
      { wait_standard_min: null, lanes_open_count: 0 },
      'given. No lanes are',
    ],
    ['climate-policy.distress-events', { distress_events_90d_count: 1 }, 'had 1 distress event in'],
    ['esg-fund.holdings-cascade', { excluded_holdings_pct: 0 }, '0% of the holdings of Somewhere'],
    ['wildfire.active-fire', { detections_24h_count: 7 }, 'made 7 detections of fire in Somewhere'],
    ['border-wait.commercial-delay', { wait_commercial_min: 0 }, 'Trucks wait 0 min at Somewhere.'],
  ] as const)('says a count of %s as people do: %j', (id, current, words) => {
    expect(saidOf(id, current).value).toContain(words);
  });

  it('leaves a 0 that counts no noun, and what is no count', () => {
    const spoken = spokenOf(builtinEntry('filing.insider'));
    const saying = (...says: readonly string[]): string =>
      saidOf('', { form4_90d_count: 0, form4_30d_count: 3 }, { ...spoken, says }).value;
    expect(saying('{name}, reports: {form4_90d_count}.')).toBe('Somewhere, reports: 0.');
    expect(saying('The number of {name} {form4_90d_count} is low.')).toContain('0 is low.');
    expect(saying('{form4_30d_count} reports.', '{form4_90d_count} notes.')).toBe(
      '3 reports. No notes.',
    );
  });

  it('does not say what all of a line did under the name of one', () => {
    const said = saidOf('esg-fund.industry-timeline', { ends_365d_count: 3, births_365d_count: 1 });
    expect(said.topic).toBe('all ESG funds: ends and births in 365 days');
    expect(said.whole).toMatch(
      /^Among all ESG funds, 3 ends were counted in 365 days\. 1 birth was/,
    );
    expect(said.whole).not.toContain('Somewhere');
    // What is about one of them names it.
    expect(saidOf('esg-fund.holdings-cascade', { excluded_holdings_pct: 4 }).value).toContain(
      'Somewhere',
    );
  });

  const state = spokenOf(builtinEntry('esg-fund.lifecycle'));
  const river = spokenOf(builtinEntry('hydrology.river-level'));
  const rows = (...values: readonly Current[]) =>
    values.map((current, day) => ({ observed_at: `2026-11-1${day}T00:00:00Z`, current }));
  it.each([
    [state, [{ state: 'operating' }, { state: 'at_risk' }], 'It was operating 24 hours before.'],
    [state, [{ state: 'ended' }, { state: 'ended' }], 'The same as 24 hours before.'],
    [river, [{ stage_ft: 3 }, { stage_ft: null }, { stage_ft: 4 }], 'Up from 3 ft 2 days before.'],
    [river, [{ stage_ft: 3 }, { stage_ft: null }], 'The last value was 3 ft, 24 hours before.'],
    [river, [{ stage_ft: null }, { stage_ft: 3 }], 'No earlier reading here has a value.'],
    [river, [{ stage_ft: 3 }], 'There is no earlier reading to compare with.'],
  ] as const)('compares with the last value before', (spoken, values, text) => {
    expect(sayChange(spoken, rows(...values))).toBe(text);
  });

  it('calls nothing fresh that has no value', () => {
    const now = Date.parse(AT) + 3_600_000;
    expect(sayAge(river, AT, { now, hasValue: true }).text).toBe('fresh, 60 minutes old');
    expect(sayAge(river, AT, { now, hasValue: false }).text).toBe('no value, 60 minutes old');
  });

  it.each([
    ['2026-10-01T00:00:00Z', 'monthly', 'October 2026'],
    ['2026-10-31T00:00:00Z', 'monthly', 'October 2026'],
    ['2026-10-12T00:00:00Z', 'monthly', '12 Oct 2026'],
    ['2026-09-30T00:00:00Z', 'quarterly', 'quarter 3 of 2026'],
    ['2026-08-31T00:00:00Z', 'quarterly', '31 Aug 2026'],
    ['2025-12-31T00:00:00Z', 'yearly', '2025'],
    ['2026-11-20T00:00:00Z', 'daily', '20 Nov 2026'],
    ['2026-11-20T00:00:00Z', 'hourly', '20 Nov 2026, 00:00 UTC'],
  ] as const)('says %s of a %s source as %s', (iso, cadence, text) => {
    expect(sayTime(iso, cadence)).toBe(text);
  });

  it('tells the time of a place beside UTC', () => {
    expect(sayTime(AT, 'hourly', 'America/Chicago')).toBe(
      '20 Nov 2026, 10:45 UTC (04:45 local time)',
    );
    expect(sayTime('2026-11-20T02:00:00Z', 'hourly', 'America/Chicago')).toBe(
      '20 Nov 2026, 02:00 UTC (19 Nov 2026, 20:00 local time)',
    );
    expect(sayTime(AT, 'hourly', 'Atlantic/Reykjavik')).toBe('20 Nov 2026, 10:45 UTC');
  });
});

describe('rows of the built-in catalogue', () => {
  it('give a measuring place the zone that its longitude is in', () => {
    for (const line of ['environment', 'nas', 'border-wait', 'grid', 'agriculture', 'wildfire']) {
      for (const [entity, { longitude, zone }] of placesOf(BUILTIN, line)) {
        const timeZone = defined(zone, `the zone of ${entity}`);
        const at = new Date(AT);
        const clock = at.toLocaleString('sv', { timeZone }).replace(' ', 'T');
        const hours = (Date.parse(`${clock}Z`) - at.getTime()) / 3_600_000;
        expect([entity, Math.abs(hours - longitude / 15) < 3]).toEqual([entity, true]);
      }
    }
  });

  it('call a metric with a window by it', () => {
    for (const entry of BUILTIN.entryById.values()) {
      for (const { name, label } of spokenOf(entry).metrics) {
        const [, window] = /_(\d+)(?:d|h|mo)_/.exec(name) ?? [];
        expect(`${name}: ${label}`).toContain(window ?? name);
        expect(label).not.toMatch(/_/);
      }
    }
  });
});
