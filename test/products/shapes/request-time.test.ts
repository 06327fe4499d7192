import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../compiler/format/strict-json.ts';
import { freshnessBasis, freshnessRule } from '../../../compiler/products/shapes/freshness.ts';
import {
  answeredAt,
  atRequest,
  deliveredText,
  nestedProvenance,
  requestTimeMembers,
  withRequestTime,
} from '../../../compiler/products/shapes/request-time.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');
const words = '"answered_at":"2026-11-21T12:00:00Z","age_hours_now":1.5,"freshness":"fresh",';
const said = { answered_at: '2026-11-21T12:00:00Z' };

function provenance(observedAt: string | null, cadence: 'hourly' | 'daily' = 'hourly') {
  return {
    served_from: 'stored "snapshot" \\ of "provenance":{',
    data_as_of: observedAt,
    oldest_leg_as_of: observedAt,
    data_age_hours: 1,
    at_request: atRequest(),
    freshness_basis: freshnessBasis(cadence),
    data_lineage: [],
  };
}

function timed(body: JsonObject, now = NOW): JsonObject {
  return withRequestTime(body, now);
}

describe('withRequestTime()', () => {
  it('fills the members into a body, into the record of a sample, and into each reading of a city', () => {
    const old = { provenance: nestedProvenance(provenance('2026-11-01T00:00:00Z', 'daily')) };
    const body = { a: 1, provenance: provenance('2026-11-21T10:30:00Z'), readings: [old, 'x'] };
    const filled = {
      a: 1,
      provenance: { ...body.provenance, ...said, age_hours_now: 1.5, freshness: 'fresh' },
      readings: [
        { provenance: { age_hours_now: 492, freshness: 'stale', ...old.provenance } },
        'x',
      ],
    };
    expect(timed(body)).toEqual(filled);
    expect(timed({ sample: body })).toEqual({ sample: filled });
  });

  it('says dead_source past the threshold and not before', () => {
    const body = { provenance: provenance('2026-11-14T12:00:00Z') };
    expect(timed(body)).not.toHaveProperty('provenance.dead_source');
    expect(timed(body, NOW + 999)).not.toHaveProperty('provenance.dead_source');
    expect(timed(body, NOW + 1000)).toHaveProperty('provenance.dead_source');
  });

  it('never shows a negative age', () => {
    const body = { provenance: provenance('2026-11-21T13:00:00Z') };
    expect(timed(body)).toMatchObject({ provenance: { age_hours_now: 0, freshness: 'fresh' } });
  });

  it('gives each leg its own word, and the bundle that of the worst leg, which it names', () => {
    const leg = (position: number, observed_at: string, cadence: 'hourly' | 'daily') => ({
      leg: 'a leg é',
      position,
      observed_at,
      data_age_hours: 0.3,
      freshness_basis: freshnessBasis(cadence),
      current: { freshness: 'x', note: '"freshness_basis":"cadence=hourly' },
    });
    const body = {
      legs: {
        'crop-vhi': leg(1, '2026-11-20T12:00:00Z', 'daily'),
        active_fire: leg(2, '2026-11-20T11:00:00Z', 'hourly'),
      },
      provenance: {
        served_from: 'stored snapshot',
        data_as_of: '2026-11-20T12:00:00Z',
        oldest_leg_as_of: '2026-11-20T11:00:00Z',
        data_age_hours: 1e21,
        freshness_rule: freshnessRule(2, 'legs'),
        at_request: atRequest('freshness_leg', 'legs[].freshness'),
        freshness_basis: freshnessBasis('hourly'),
      },
    };
    expect(timed(body)).toEqual({
      legs: {
        'crop-vhi': { ...body.legs['crop-vhi'], freshness: 'fresh' },
        active_fire: { ...body.legs.active_fire, freshness: 'stale' },
      },
      provenance: {
        ...body.provenance,
        ...said,
        age_hours_now: 25,
        freshness: 'stale',
        freshness_leg: 'active_fire',
      },
    });
    const alone = { ...body, legs: { only: body.legs.active_fire } };
    expect(timed(alone)).not.toHaveProperty('provenance.freshness');
  });

  it('judges the publication of a record beside what it follows from', () => {
    const record = {
      observed_at: '2026-11-21T10:00:00Z',
      official_cadence: 'hourly',
      last_looked_at: '2026-11-21T11:00:00Z',
      data_age_hours: 1,
      provenance: { at_request: ['update_status'] },
    };
    expect(timed(record)).toEqual({
      ...record,
      update_status: {
        state: 'on_schedule',
        official_cadence: 'hourly',
        overdue_days: null,
        text: 'on schedule (hourly); last official reading 2026-11-21T10:00:00Z, last looked at 2026-11-21T11:00:00Z',
      },
    });
    expect(timed(record, NOW + 3_601_000)).toMatchObject({ update_status: { state: 'unknown' } });
    const { observed_at, ...rest } = record;
    expect(timed(rest)).toEqual(rest);
    expect(timed({ ...rest, observed_at })).toHaveProperty('update_status');
    expect(timed({ ...record, official_cadence: 'often' })).not.toHaveProperty('update_status');
  });

  it('sets each member in front of the one that it follows from, and changes nothing else', () => {
    const body = { z: 1, provenance: provenance('2026-11-21T10:30:00Z'), a: 'é' };
    const stored = JSON.stringify(body);
    const basis = '"freshness_basis"';
    expect(deliveredText(stored, NOW)).toBe(stored.replace(basis, `${words}${basis}`));
  });

  it('says the second that an instant is in, and its words of that second', () => {
    const body = { provenance: provenance('2026-11-21T08:59:59.500Z') };
    expect(timed(body, NOW - 1)).toMatchObject({
      provenance: { answered_at: '2026-11-21T11:59:59Z', freshness: 'fresh' },
    });
    expect(timed(body, NOW)).toMatchObject({ provenance: { freshness: 'recent' } });
  });

  it('writes what is listed and nothing else', () => {
    const { at_request, ...unlisted } = provenance('2026-11-21T10:30:00Z');
    for (const body of [
      { provenance: unlisted },
      { provenance: { ...unlisted, at_request: [] } },
      { provenance: 'official scale' },
      { text: '"provenance":{"oldest_leg_as_of":"2026-11-21T10:30:00Z"' },
      { current: { provenance: { ...unlisted, at_request } } },
    ]) {
      expect(JSON.stringify(timed(body))).toBe(JSON.stringify(body));
    }
  });

  it('keeps a member that is named like one of every object', () => {
    const stored = `{"__proto__":{"a":1},${JSON.stringify({ provenance: provenance('2026-11-21T10:30:00Z') }).slice(1)}`;
    expect(deliveredText(stored, NOW)).toMatch(/^\{"__proto__":\{"a":1\},"provenance":/);
  });

  it('keeps every other byte of what JSON.stringify wrote, whatever the numbers and names', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.dictionary(fc.string(), fc.double()), (value, figures) => {
        const body = { value, provenance: provenance('2026-11-21T10:30:00Z'), figures };
        const stored = JSON.stringify(body);
        expect(deliveredText(stored, NOW).replace(words, '')).toBe(stored);
      }),
    );
  });
});

describe('requestTimeMembers()', () => {
  const members = (more: object) =>
    requestTimeMembers({ provenance: { ...provenance('2026-11-21T10:30:00Z'), ...more } }, NOW);

  it.each<[string, object, string[]]>([
    [
      'another basis',
      { freshness_basis: 'cadence=hourly; fresh<=9h' },
      ['age_hours_now', 'freshness'],
    ],
    ['another rule', { freshness_rule: 'the best leg' }, ['age_hours_now', 'freshness']],
    ['no time', { oldest_leg_as_of: null }, ['age_hours_now', 'freshness']],
    [
      'a time of another spelling',
      { oldest_leg_as_of: '2026-11-21' },
      ['age_hours_now', 'freshness'],
    ],
    ['legs that it has not', { at_request: atRequest('legs[].freshness') }, ['legs[].freshness']],
    ['a state of no source', { at_request: atRequest('update_status') }, ['update_status']],
    ['a name that nobody knows', { at_request: ['mood'] }, ['mood']],
  ])('names what is listed and follows from nothing: %s', (_, more, lacking) => {
    expect(members(more).lacking).toEqual(lacking);
  });

  it('lacks nothing where a source is alive', () => {
    expect(members({})).toMatchObject({ lacking: [], own: {}, legs: {} });
  });
});

describe('answeredAt()', () => {
  it('is read out of whole seconds alone', () => {
    const read = (answered_at: string | number) => answeredAt({ provenance: { answered_at } });
    expect(read('2026-11-21T12:00:00Z')).toBe(NOW);
    for (const odd of [
      '2026-11-21T12:00:00.000Z',
      '2026-11-21T12:00:00.5Z',
      '2026-11-21',
      'now',
      1,
    ])
      expect(read(odd)).toBeNaN();
    expect(answeredAt({})).toBeNaN();
  });
});
