import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { freshnessBasis, freshnessRule } from '../../../compiler/contract/freshness.ts';
import { splicePoints, spliceRequestTime } from '../../../gatekeeper/release/request-time.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');

function provenance(observedAt: string | null, cadence: 'hourly' | 'daily' = 'hourly'): object {
  return {
    served_from: 'stored "snapshot" \\ of "provenance":{',
    data_as_of: observedAt,
    oldest_leg_as_of: observedAt,
    data_age_hours: 1,
    freshness_basis: freshnessBasis(cadence),
    data_lineage: [],
  };
}

function spliced(body: object, now = NOW): unknown {
  const bytes = Buffer.from(JSON.stringify(body));
  return JSON.parse(spliceRequestTime(bytes, splicePoints(bytes), now).toString('utf8'));
}

describe('spliceRequestTime()', () => {
  it('fills the fields into every provenance object, each from its own members', () => {
    const body = {
      a: 1,
      provenance: provenance('2026-11-21T10:30:00Z'),
      legs: [{ provenance: provenance('2026-11-01T00:00:00Z', 'daily') }],
    };
    expect(spliced(body)).toEqual({
      a: 1,
      provenance: { age_hours_now: 1.5, freshness: 'fresh', ...body.provenance },
      legs: [
        { provenance: { age_hours_now: 492, freshness: 'stale', ...body.legs[0]?.provenance } },
      ],
    });
  });

  it('says dead_source past the threshold and not before', () => {
    const body = { provenance: provenance('2026-11-14T12:00:00Z') };
    expect(spliced(body)).not.toHaveProperty('provenance.dead_source');
    expect(spliced(body, NOW + 1)).toHaveProperty('provenance.dead_source');
  });

  it('never shows a negative age', () => {
    const body = { provenance: provenance('2026-11-21T13:00:00Z') };
    expect(spliced(body)).toMatchObject({ provenance: { age_hours_now: 0, freshness: 'fresh' } });
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
        freshness_basis: freshnessBasis('hourly'),
      },
    };
    expect(spliced(body)).toEqual({
      legs: {
        'crop-vhi': { ...body.legs['crop-vhi'], freshness: 'fresh' },
        active_fire: { ...body.legs.active_fire, freshness: 'stale' },
      },
      provenance: {
        ...body.provenance,
        age_hours_now: 25,
        freshness: 'stale',
        freshness_leg: 'active_fire',
      },
    });
    const alone = { ...body, legs: { only: body.legs.active_fire } };
    expect(spliced(alone)).not.toHaveProperty('provenance.freshness');
  });

  it('judges the publication of a record beside what it follows from', () => {
    const record = {
      observed_at: '2026-11-21T10:00:00Z',
      official_cadence: 'hourly',
      last_looked_at: '2026-11-21T11:00:00Z',
      data_age_hours: 1,
    };
    expect(spliced(record)).toEqual({
      ...record,
      update_status: {
        state: 'on_schedule',
        official_cadence: 'hourly',
        overdue_days: null,
        text: 'on schedule (hourly); last official reading 2026-11-21T10:00:00Z, last looked at 2026-11-21T11:00:00Z',
      },
    });
    expect(spliced(record, NOW + 3_600_001)).toMatchObject({ update_status: { state: 'unknown' } });
    const { observed_at, ...rest } = record;
    expect(spliced({ ...rest, observed_at })).toEqual({ ...rest, observed_at });
    expect(spliced({ ...record, official_cadence: 'often' })).not.toHaveProperty('update_status');
  });

  it('changes nothing else: without the fields the bytes are those of the release', () => {
    const body = { z: 1, provenance: provenance('2026-11-21T10:30:00Z'), a: 'é' };
    const bytes = Buffer.from(JSON.stringify(body));
    const out = spliceRequestTime(bytes, splicePoints(bytes), NOW).toString('utf8');
    expect(out.replace('"age_hours_now":1.5,"freshness":"fresh",', '')).toBe(
      bytes.toString('utf8'),
    );
  });

  it('leaves a body alone that has no age basis', () => {
    for (const body of [
      { provenance: provenance(null) },
      { provenance: 'official scale' },
      { text: '"provenance":{"oldest_leg_as_of":"2026-11-21T10:30:00Z"' },
    ]) {
      const bytes = Buffer.from(JSON.stringify(body));
      expect(spliceRequestTime(bytes, splicePoints(bytes), NOW)).toBe(bytes);
    }
  });

  it('does not borrow members from the next provenance object', () => {
    const body = [
      { provenance: { served_from: 'x' } },
      { provenance: provenance('2026-11-21T10:30:00Z') },
    ];
    expect(spliced(body)).toMatchObject([{ provenance: { served_from: 'x' } }, { provenance: {} }]);
    expect(spliced(body)).not.toHaveProperty('0.provenance.freshness');
    expect(spliced(body)).toHaveProperty('1.provenance.freshness');
  });
});

describe('splicePoints()', () => {
  it('holds no text of the body beside the few words that it keeps', () => {
    const COUNT = 2000;
    const body = { padding: 'x'.repeat(2000), provenance: provenance('2026-11-21T10:30:00Z') };
    const bytes = Buffer.from(JSON.stringify(body));
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    collect();
    const before = process.memoryUsage().heapUsed;
    const kept = Array.from({ length: COUNT }, () => splicePoints(bytes));
    collect();
    expect((process.memoryUsage().heapUsed - before) / COUNT).toBeLessThan(1000);
    expect(kept.at(-1)).toHaveLength(1);
  });
});
