import { describe, expect, it } from 'vitest';
import { trustServiceRowSchema } from '../../../compiler/stages/intake/roster-rows.ts';
import { serviceRow } from '../../roster-rows.ts';

/** Members that a row with these changes is refused for. */
function faults(more: object, day = '2026-11-20'): string[] {
  const issues = trustServiceRowSchema.safeParse(serviceRow('a.example', day, more)).error?.issues;
  return (issues ?? []).map((issue) => issue.path.join('.'));
}
const payers = (...counts: (number | null)[]) =>
  counts.map((unique_payers_30d, n) => ({ url: `https://a.example/${n}`, unique_payers_30d }));

describe('trustServiceRowSchema', () => {
  it('takes a row of each model', () => {
    expect(faults({})).toEqual([]);
    expect(faults({}, '2026-08-15')).toEqual([]);
  });

  it('wants all of demand since its day and none of it before', () => {
    expect(faults({ demand_class: undefined })).toEqual(['demand_class']);
    expect(faults({ demand_depth: undefined })).toEqual(['demand_depth']);
    expect(faults({ demand_class: 'REAL' }, '2026-08-15')).toEqual(['demand_class']);
    expect(faults({ calls_30d: null }, '2026-08-15')).toEqual(['calls_30d']);
  });

  it('takes the largest count of an endpoint for the payers, never the sum', () => {
    expect(faults({ unique_payers_30d: 7, endpoint_payers: payers(7, 5, null) })).toEqual([]);
    expect(faults({ unique_payers_30d: 12, endpoint_payers: payers(7, 5) })).toEqual([
      'unique_payers_30d',
    ]);
    expect(faults({ unique_payers_30d: null, endpoint_payers: payers(null) })).toEqual([]);
    expect(faults({ unique_payers_30d: 0, endpoint_payers: payers(null) })).toHaveLength(1);
  });

  it('wants the classes of endpoints to add up', () => {
    expect(faults({ endpoints: 4 })).toEqual(['endpoints_by_class']);
    expect(faults({ endpoints: null })).toEqual([]);
    expect(faults({ endpoints_by_class: null })).toEqual([]);
  });

  it.each([
    { demand_class: 'GREAT' },
    { demand_depth: 'WIDE' },
    { unique_payers_30d: -1 },
    { unique_payers_30d: 1.5 },
    { host: 'A.example' },
    { host: 'localhost' },
    { host: '../etc' },
    { first_endpoint: 'javascript:alert(1)' },
    { host: `${'a'.repeat(190)}.example` },
    { capture_date: '2026-02-30' },
    { observed_at: '2026-11-20T06:00:00+02:00' },
    { observed_at: '2026-11-20T08:00:00Z' },
    { capture_date: '2026-11-21' },
    { lifecycle: { state: 'dead' } },
    { tier: 'gold' },
  ])('refuses %j', (more) => {
    expect(faults(more)).not.toEqual([]);
  });
});
