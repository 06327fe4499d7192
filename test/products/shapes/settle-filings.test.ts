import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseCutoff } from '../../../compiler/format/cutoff.ts';
import { type FilingFacts, formFamily } from '../../../compiler/products/shapes/filing.ts';
import { settleFilings } from '../../../compiler/products/shapes/settle-filings.ts';

const WHOLE = { covered_from: null, gaps: [] };

function filing(
  serial: number,
  [form, filing_date]: readonly [string, string],
  more: object = {},
): FilingFacts {
  return {
    accession: `0000123456-26-${String(serial).padStart(6, '0')}`,
    form,
    items: [],
    event_time: null,
    filing_date,
    disclosure_time: `${filing_date}T15:00:00Z`,
    source: 'sec-edgar',
    source_tier: 'T1',
    ...more,
  };
}

function settle(
  filings: readonly FilingFacts[],
  cutoff: string,
  more: Record<string, unknown> = {},
) {
  const parsed = parseCutoff(cutoff);
  if (parsed === null) throw new Error('cutoff');
  const { form = '10-K', eventClass = null, coverage = WHOLE } = more as Record<string, never>;
  const settled = settleFilings(filings, coverage, { form, eventClass, cutoff: parsed });
  const { resolution_status, filed_by_cutoff, selected, candidates } = settled;
  return [
    resolution_status,
    filed_by_cutoff,
    selected?.accession.slice(-1) ?? null,
    candidates.length,
  ];
}

const A = filing(1, ['10-K', '2026-02-01']);
const LATE = filing(2, ['10-K', '2026-02-03'], { disclosure_time: '2026-02-03T01:30:00Z' });

describe('settleFilings()', () => {
  it('selects the newest filing at or before the cutoff', () => {
    expect(settle([A], '2026-02-01')).toEqual(['resolved', true, '1', 1]);
    expect(settle([A, LATE], '2026-11-01')).toEqual(['resolved', true, '2', 1]);
  });

  it('compares a bare date with the filing day and an instant with the acceptance', () => {
    expect(settle([LATE], '2026-02-02')).toEqual(['resolved', false, '2', 1]);
    expect(settle([LATE], '2026-02-02T23:59:59-05:00')).toEqual(['resolved', true, '2', 1]);
    expect(settle([LATE], '2026-02-03T01:30:00Z')).toEqual(['resolved', true, '2', 1]);
    expect(settle([LATE], '2026-02-03T01:29:59Z')).toEqual(['resolved', false, '2', 1]);
  });

  it('says no where the list is whole', () => {
    expect(settle([], '2026-11-19')).toEqual(['no_authoritative_source', false, null, 0]);
  });

  it.each([
    ['2025-12-31'],
    ['2026-01-01'],
    ['2026-03-01'],
    ['2026-01-01T03:00:00Z'],
    ['2026-03-01T03:00:00Z'],
  ])('never says no from a list that begins on a day, asked about %s', (cutoff) => {
    const coverage = { ...WHOLE, covered_from: '2026-01-01' };
    const later = filing(8, ['10-K', '2026-04-01']);
    const unknown = ['no_authoritative_source', null, null, 0];
    expect(settle([], cutoff, { coverage })).toEqual(unknown);
    expect(settle([later], cutoff, { coverage })).toEqual(unknown);
    expect(settle([later], cutoff)).toEqual(['resolved', false, '8', 1]);
    const before = filing(9, ['10-K', '2025-12-01']);
    expect(settle([before], cutoff, { coverage })).toEqual(['resolved', true, '9', 1]);
  });

  it('I55: never says no about a time that a gap may reach into, and keeps every yes', () => {
    const coverage = { ...WHOLE, gaps: [{ from: '2026-02-10', to: '2026-02-20' }] };
    const later = filing(8, ['10-K', '2026-04-01']);
    expect(settle([later], '2026-02-09', { coverage })).toEqual(['resolved', false, '8', 1]);
    const unknown = ['no_authoritative_source', null, null, 0];
    for (const cutoff of ['2026-02-10', '2026-03-01', '2026-02-03T00:00:00Z']) {
      expect(settle([later], cutoff, { coverage })).toEqual(unknown);
      expect(settle([], cutoff, { coverage })).toEqual(unknown);
    }
    const before = ['resolved', false, '8', 1];
    expect(settle([later], '2026-02-02T23:59:59Z', { coverage })).toEqual(before);
    expect(settle([A], '2026-03-01', { coverage })).toEqual(['resolved', true, '1', 1]);
  });

  it('is ambiguous where an amendment or a filing of the same day stands beside it', () => {
    const amended = filing(3, ['10-K/A', '2026-02-20']);
    expect(settle([A, amended], '2026-03-01')).toEqual(['ambiguous', true, '1', 2]);
    expect(settle([A, amended], '2026-02-19')).toEqual(['resolved', true, '1', 1]);
    expect(settle([amended], '2026-03-01')).toEqual(['ambiguous', null, '3', 1]);
    expect(settle([A, amended], '2026-03-01', { form: '10-K/A' })).toEqual([
      'resolved',
      true,
      '3',
      1,
    ]);
    const twin = filing(4, ['10-K', '2026-02-01']);
    expect(settle([A, twin], '2026-03-01')).toEqual(['ambiguous', true, '4', 2]);
  });

  it('leaves open what only a filing day cannot tell', () => {
    const dayOnly = filing(5, ['10-K', '2026-02-10'], { disclosure_time: null });
    expect(settle([dayOnly], '2026-02-10')).toEqual(['resolved', true, '5', 1]);
    expect(settle([dayOnly], '2026-02-10T12:00:00Z')).toEqual(['ambiguous', null, '5', 1]);
    expect(settle([dayOnly], '2026-02-11T05:00:00Z')).toEqual(['resolved', true, '5', 1]);
    expect(settle([dayOnly], '2026-02-02T00:00:00Z')).toEqual(['resolved', false, '5', 1]);
    expect(settle([A, dayOnly], '2026-02-10T12:00:00Z')).toEqual(['ambiguous', true, '1', 2]);
  });

  it('is conflicting where two sources tell different facts about one filing', () => {
    const other = { ...A, source: 'other', source_tier: 'T2' };
    expect(settle([A, other], '2026-03-01')).toEqual(['resolved', true, '1', 2]);
    const silent = { ...other, disclosure_time: null };
    expect(settle([A, silent], '2026-03-01')).toEqual(['resolved', true, '1', 2]);
    const shifted = { ...other, disclosure_time: '2026-02-01T10:00:00Z' };
    expect(settle([A, shifted], '2026-03-01')).toEqual(['conflicting', null, '1', 2]);
    expect(settle([A, { ...other, form: '10-Q' }], '2026-03-01')[0]).toBe('conflicting');
    expect(settle([A, { ...other, filing_date: '2026-02-02' }], '2026-01-01')[0]).toBe(
      'conflicting',
    );
  });

  it('finds renamed forms under both names and items of an 8-K', () => {
    const renamed = filing(6, ['SCHEDULE 13D', '2026-02-01']);
    expect(settle([renamed], '2026-03-01', { form: 'SC 13D' })[2]).toBe('6');
    expect(settle([renamed], '2026-03-01', { form: 'SCHEDULE 13D' })[2]).toBe('6');
    const event = filing(7, ['8-K', '2026-02-01'], { items: ['2.02', '9.01'] });
    expect(settle([event], '2026-03-01', { form: '8-K', eventClass: '2.02' })[1]).toBe(true);
    expect(settle([event], '2026-03-01', { form: '8-K', eventClass: '5.02' })[1]).toBe(false);
  });

  const DAY = fc
    .integer({ min: 0, max: 40 })
    .map((n) => new Date(Date.UTC(2026, 0, 1 + n)).toISOString().slice(0, 10));
  const ANY = fc.record({
    serial: fc.integer({ min: 1, max: 6 }),
    form: fc.constantFrom('10-K', '10-K/A', '10-Q'),
    day: DAY,
    known: fc.boolean(),
    source: fc.constantFrom('sec-edgar', 'other'),
  });
  const CUTOFF = fc.oneof(
    DAY,
    DAY.map((day) => `${day}T12:00:00Z`),
  );
  const listOf = (
    drawn: readonly { serial: number; form: string; day: string; known: boolean; source: string }[],
  ) =>
    drawn.map(({ serial, form, day, known, source }) =>
      filing(serial, [form, day], { source, ...(known ? {} : { disclosure_time: null }) }),
    );

  it('I37: does not depend on the order of filings, and follows from its candidates alone', () => {
    fc.assert(
      fc.property(fc.array(ANY, { maxLength: 8 }), CUTOFF, fc.boolean(), (drawn, cutoff, whole) => {
        const unique = new Map(listOf(drawn).map((one) => [one.accession + one.source, one]));
        const filings = [...unique.values()];
        const coverage = { ...WHOLE, covered_from: whole ? null : '2026-01-20' };
        const question = { form: '10-K', eventClass: null, cutoff: parseCutoff(cutoff) };
        if (question.cutoff === null) throw new Error('cutoff');
        const asked = { ...question, cutoff: question.cutoff };
        const settled = settleFilings(filings, coverage, asked);
        expect(settleFilings([...filings].reverse(), coverage, asked)).toEqual(settled);
        const again = settleFilings(settled.candidates, coverage, asked);
        expect(again.resolution_status).toBe(settled.resolution_status);
        expect(again.filed_by_cutoff).toBe(settled.filed_by_cutoff);
        expect(again.selected).toEqual(settled.selected);
        expect(again.candidates).toEqual(settled.candidates);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('formFamily()', () => {
  it.each([
    ['SCHEDULE 13D', 'SC 13D'],
    ['SCHEDULE 13G/A', 'SC 13G'],
    ['10-K/A', '10-K'],
    ['10-K', '10-K'],
  ])('puts %s with %s', (form, family) => {
    expect(formFamily(form)).toBe(family);
  });

  it.each(['__proto__', 'constructor', 'toString'])('leaves "%s" as it is', (form) => {
    expect(formFamily(form)).toBe(form);
  });
});
