import { describe, expect, it } from 'vitest';
import { BUILTIN } from '../../../compiler/contract/catalog/builtin.ts';
import { documentRowSchema } from '../../../compiler/stages/intake/collection-rows.ts';
import { articleRow, legsRow } from '../../roster-rows.ts';

function faults(row: object): string[] {
  return (documentRowSchema(BUILTIN).safeParse(row).error?.issues ?? []).map((issue) =>
    issue.path.join('.'),
  );
}
const [leg] = legsRow('/gauge/taiwan-region').legs;

describe('documentRowSchema()', () => {
  it.each([
    legsRow('/gauge/taiwan-region'),
    legsRow('/gauge/chokepoint-region', { loc: 'anywhere at all' }),
    legsRow('/shadow/region-plus', { loc: 'us-denver', topic: 'energy' }),
    articleRow('/pay/tier2'),
    articleRow('/shadow/signal-plus', {
      signal_id: 'airquality.aqi',
      entity: 'us-denver',
      topic: 'energy',
    }),
    articleRow('/pay/tier3', {}, { text: null, rows: [] }),
  ])('takes $form of $operation', (row) => {
    expect(faults(row)).toEqual([]);
  });

  it.each([
    [articleRow('/gauge/taiwan-region'), 'form'],
    [legsRow('/pay/tier2'), 'form'],
    [articleRow('/gauge'), 'operation'],
    [legsRow('/gauge/chokepoint-region'), 'params'],
    [legsRow('/gauge/taiwan-region', { loc: 'x' }), 'params'],
    [legsRow('/shadow/region-plus', { loc: 'nowhere', topic: 'energy' }), 'params'],
    [articleRow('/shadow/chatter', { topic: 'x'.repeat(300) }), 'params'],
    [articleRow('/shadow/chatter', { topic: '' }), 'params'],
    [legsRow('/gauge/taiwan-region', {}, { legs: [] }), 'legs'],
    [legsRow('/gauge/taiwan-region', {}, { legs: [leg, leg] }), 'legs'],
    [
      legsRow('/gauge/taiwan-region', {}, { legs: [{ ...leg, signal_id: 'airquality.aqi' }] }),
      'legs',
    ],
    [
      legsRow(
        '/gauge/taiwan-region',
        {},
        {
          legs: [{ ...leg, observed_at: '2026-11-20T00:00:00Z' }],
        },
      ),
      'legs',
    ],
    [articleRow('/pay/tier2', {}, { cadence: 'sometimes' }), 'cadence'],
    [articleRow('/pay/tier2', {}, { rows: [{ provenance: 1 }] }), 'rows.0.provenance'],
    [articleRow('/pay/tier2', {}, { rows: [{ office_a_pct: '4.1' }] }), 'rows.0.office_a_pct'],
    [
      legsRow('/gauge/taiwan-region', {}, { legs: [{ ...leg, current: { notices_count: '3' } }] }),
      'legs.0.current.notices_count',
    ],
  ])('refuses $operation #%#', (row, field) => {
    expect(faults(row)).toContain(field);
  });
});
