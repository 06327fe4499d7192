import { describe, expect, it } from 'vitest';
import { freshnessBasis } from '../../../compiler/contract/freshness.ts';
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
