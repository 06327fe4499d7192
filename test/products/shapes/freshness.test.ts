import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type AgedPart,
  bodyFreshness,
  CADENCES,
  type Cadence,
  FRESHNESS_THRESHOLDS,
  freshness,
  freshnessBasis,
  freshnessRule,
  type Publication,
  parseFreshnessBasis,
  parseFreshnessRule,
  updateState,
  updateStatus,
} from '../../../compiler/products/shapes/freshness.ts';

const HOURS: readonly (readonly [Cadence, number, number, number])[] = [
  ['hourly', 3, 24, 168],
  ['daily', 24, 192, 1440],
  ['weekly', 192, 744, 4380],
  ['monthly', 1080, 2160, 8760],
  ['quarterly', 3000, 6600, 17520],
  ['yearly', 9000, 18000, 43800],
  ['as-events', 744, 8760, 17520],
];
const AT = '2026-01-01T00:00:00Z';
const hoursLater = (hours: number, ms = 0): number => Date.parse(AT) + hours * 3_600_000 + ms;

describe('freshness()', () => {
  it('knows the seven cadences and no other', () => {
    expect(CADENCES).toEqual(HOURS.map(([cadence]) => cadence));
    expect(Object.keys(FRESHNESS_THRESHOLDS)).toEqual([...CADENCES]);
  });

  it.each(HOURS)('changes at the thresholds of %s: %i, %i, %i hours', (cadence, ...hours) => {
    const [fresh, recent, dead] = hours;
    const word = (hours: number, ms: number) =>
      freshness(cadence, AT, hoursLater(hours, ms)).freshness;
    expect([word(0, 0), word(fresh, 0), word(fresh, 1)]).toEqual(['fresh', 'fresh', 'recent']);
    expect([word(recent, 0), word(recent, 1), word(dead, 1)]).toEqual(['recent', 'stale', 'stale']);
    expect(freshness(cadence, AT, hoursLater(dead))).not.toHaveProperty('dead_source');
    expect(freshness(cadence, AT, hoursLater(dead, 1)).dead_source).toContain(AT);
  });

  it('gives the age in hours with one decimal, never below zero', () => {
    expect(freshness('hourly', AT, hoursLater(1, 9 * 60_000)).age_hours_now).toBe(1.2);
    expect(freshness('hourly', AT, hoursLater(-5)).age_hours_now).toBe(0);
  });
});

describe('bodyFreshness()', () => {
  const NOW = hoursLater(5000);
  const part = (name: string, cadence: Cadence, age: number): AgedPart => ({
    name,
    cadence,
    observed_at: new Date(NOW - age * 3_600_000).toISOString(),
  });
  const joined = (...parts: readonly AgedPart[]) => {
    const [oldest] = [...parts].sort((a, b) => (a.observed_at < b.observed_at ? -1 : 1));
    return bodyFreshness(oldest as AgedPart, parts, NOW);
  };

  it('is that of the worst part, judged by its own cadence, with the age of the oldest', () => {
    expect(joined(part('price', 'monthly', 700), part('quakes', 'hourly', 30))).toEqual({
      age_hours_now: 700,
      freshness: 'stale',
      freshness_leg: 'quakes',
    });
    expect(joined(part('price', 'monthly', 700), part('quakes', 'hourly', 20))).toMatchObject({
      freshness: 'recent',
      freshness_leg: 'quakes',
    });
  });

  it('names the oldest of those that are as bad, and of one age the first by name', () => {
    const legs = [part('b', 'hourly', 30), part('c', 'hourly', 40), part('a', 'hourly', 40)];
    expect(joined(...legs)).toMatchObject({ freshness_leg: 'a' });
    expect(joined(...legs.slice(0, 2))).toMatchObject({ freshness_leg: 'c' });
    expect(joined(part('b', 'daily', 1), part('a', 'daily', 1))).toMatchObject({
      freshness: 'fresh',
      freshness_leg: 'a',
    });
  });

  it('puts a dead source before an older one that is only stale, and says so', () => {
    const dead = part('dead', 'hourly', 169);
    const stale = part('stale', 'daily', 1400);
    expect(joined(stale, dead)).toEqual({
      age_hours_now: 1400,
      freshness: 'stale',
      freshness_leg: 'dead',
      dead_source: `no official reading since ${dead.observed_at}`,
    });
    expect(joined(stale, part('late', 'hourly', 168))).not.toHaveProperty('dead_source');
  });

  it('does not depend on the order of the parts', () => {
    const aged = fc.record({
      name: fc.constantFrom('a', 'b', 'c', 'd'),
      cadence: fc.constantFrom(...CADENCES),
      age: fc.constantFrom(0, 3, 24, 25, 169, 193, 1441, 9000),
    });
    const some = fc.uniqueArray(aged, { selector: ({ name }) => name, minLength: 1 });
    fc.assert(
      fc.property(some, (ages) => {
        const parts = ages.map(({ name, cadence, age }) => part(name, cadence, age));
        expect(joined(...parts)).toEqual(joined(...parts.toReversed()));
        const rank = ['fresh', 'recent', 'stale'];
        const words = parts.map(({ cadence, observed_at }) =>
          rank.indexOf(freshness(cadence, observed_at, NOW).freshness),
        );
        expect(rank.indexOf(joined(...parts).freshness)).toBe(Math.max(...words));
      }),
    );
  });

  it('is that of the body itself where nothing is joined', () => {
    const own = part('', 'daily', 30);
    expect(bodyFreshness(own, [], NOW)).toEqual(freshness('daily', own.observed_at, NOW));
  });
});

describe('freshnessRule()', () => {
  it.each([
    [3, 'legs', 'the worst of 3 legs, each by its own freshness_basis'],
    [2, 'readings', 'the worst of 2 readings, each by its own freshness_basis'],
  ] as const)('says how many parts decide: %i %s', (count, of, text) => {
    expect(freshnessRule(count, of)).toBe(text);
    expect(parseFreshnessRule(text)).toBe(count);
  });

  it.each(['', 'the worst of 0 legs, each by its own freshness_basis', 'the worst of 3 legs', '…'])(
    'is not read out of %j',
    (text) => {
      expect(parseFreshnessRule(text)).toBeNull();
    },
  );
});

describe('freshnessBasis()', () => {
  it('spells cadence and thresholds as clients parse them', () => {
    expect(freshnessBasis('daily')).toBe(
      'cadence=daily; fresh<=24h; recent<=192h; dead_source>1440h; age_basis=request-time(now minus observed_at)',
    );
  });

  it.each(CADENCES)('can be read back for %s', (cadence) => {
    expect(parseFreshnessBasis(freshnessBasis(cadence))).toBe(cadence);
  });

  const bounds = '; fresh<=25h; recent<=192h; dead_source>1440h';
  it.each(['', 'cadence=often; x', 'cadence=daily', 'cadence=daily;', `cadence=daily${bounds}`])(
    'is not read out of %j',
    (text) => {
      expect(parseFreshnessBasis(text)).toBeNull();
    },
  );
});

const LOOK_HOURS_UNSCHEDULED = 744;
/** Hours after which the next reading is due, of every cadence with a schedule. */
const DUE_HOURS = {
  hourly: 3,
  daily: 48,
  weekly: 216,
  monthly: 1440,
  quarterly: 3600,
  yearly: 10_000,
} as const satisfies Record<Exclude<Cadence, 'as-events'>, number>;
const SCHEDULED = CADENCES.filter((cadence) => cadence !== 'as-events');
const instant = (hours: number, ms = 0) => Date.parse(AT) + hours * 3_600_000 + ms;
const seen = (official_cadence: Cadence, lookedHours: number): Publication => ({
  official_cadence,
  observed_at: AT,
  last_looked_at: new Date(instant(lookedHours)).toISOString(),
});

describe('updateStatus()', () => {
  it.each(SCHEDULED)('is on schedule up to the exact due time of %s, then unknown', (cadence) => {
    const due = DUE_HOURS[cadence];
    const of = seen(cadence, due);
    expect(updateStatus(of, instant(due))).toEqual({
      state: 'on_schedule',
      official_cadence: cadence,
      overdue_days: null,
      text: `on schedule (${cadence}); last official reading ${AT}, last looked at ${of.last_looked_at}`,
    });
    expect(updateStatus(of, instant(due, 1))).toMatchObject({
      state: 'unknown',
      overdue_days: null,
      text: expect.stringContaining(`since the next ${cadence} reading was due`),
    });
  });

  it.each(SCHEDULED)('is overdue where a look at a source of %s found nothing newer', (cadence) => {
    const due = DUE_HOURS[cadence];
    const of = seen(cadence, due + 1);
    expect(updateStatus(of, instant(due + 1))).toMatchObject({ state: 'overdue', overdue_days: 0 });
    expect(updateState(of, instant(2 * due + 1))).toBe('overdue');
    expect(updateStatus(of, instant(2 * due + 1, 1))).toMatchObject({
      state: 'unknown',
      overdue_days: null,
      text: expect.stringContaining(`nobody has looked for more than ${due} hours`),
    });
  });

  it('counts whole days from the due time to the request', () => {
    const due = DUE_HOURS.weekly ?? 0;
    const of = seen('weekly', due + 1);
    const days = (hours: number, ms = 0) => updateStatus(of, instant(due + hours, ms)).overdue_days;
    expect([days(24, -1), days(24), days(48, -1), days(48)]).toEqual([0, 1, 1, 2]);
  });

  it('does not call data of 2018 on schedule that nobody has looked at since', () => {
    for (const official_cadence of CADENCES) {
      const of = {
        official_cadence,
        observed_at: '2018-03-01T00:00:00Z',
        last_looked_at: '2018-03-01T01:00:00Z',
      };
      expect(updateState(of, Date.parse('2026-11-20T12:00:00Z')), official_cadence).toBe('unknown');
    }
  });

  it('never calls a source late that publishes as events occur, and knows nothing without a look', () => {
    const of = seen('as-events', 100_000);
    const known = 100_000 + LOOK_HOURS_UNSCHEDULED;
    expect(updateState(of, instant(known))).toBe('on_schedule');
    expect(updateState(of, instant(known, 1))).toBe('unknown');
  });
});
