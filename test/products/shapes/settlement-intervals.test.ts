import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { HashedFiling } from '../../../compiler/products/shapes/filing.ts';
import {
  filingLists,
  isLookalike,
  listName,
  storedForms,
} from '../../../compiler/products/shapes/filing-lists.ts';
import { settleFilings } from '../../../compiler/products/shapes/settle-filings.ts';
import {
  type Basis,
  cutoffOrder,
  endOfLook,
  settledIntervals,
} from '../../../compiler/products/shapes/settlement-intervals.ts';
import { settlementNote } from '../../../compiler/products/shapes/settlement-note.ts';
import { CASE } from '../../settlement-cases.ts';

const LOOKED = '2026-11-20T11:00:00Z';
const WHOLE = { collected_at: LOOKED, covered_from: null, gaps: [] };

function filing(
  serial: number,
  [form, filing_date]: readonly [string, string],
  more: Partial<HashedFiling> = {},
): HashedFiling {
  return {
    accession: `0000123456-26-${String(serial).padStart(6, '0')}`,
    form,
    items: [],
    event_time: null,
    filing_date,
    disclosure_time: `${filing_date}T15:00:00Z`,
    acceptance_basis: 'utc',
    snapshot_date: '2026-11-20T00:00:00Z',
    source: 'sec-edgar',
    source_ref: null,
    source_tier: 'T1',
    record_hash: `sha256:${String(serial).padStart(64, '0')}`,
    ...more,
  };
}

/** Bounds, status and answer of each interval of the first list. */
function intervals(filings: readonly HashedFiling[], basis: Basis, coverage: object = {}) {
  const [list] = filingLists(filings);
  if (list === undefined) throw new Error('no list');
  return settledIntervals(list, { ...WHOLE, ...coverage }, basis).map((one) => [
    one.valid_from,
    one.valid_until,
    one.settlement.resolution_status,
    one.settlement.filed_by_cutoff,
  ]);
}

const A = filing(1, ['10-K', '2026-02-01']);
const B = filing(2, ['10-K', '2026-03-01']);

describe('settledIntervals()', () => {
  it('answers by filing day and by acceptance, from the beginning to the last look', () => {
    expect(intervals([A, B], 'filing_date')).toEqual([
      ['0001-01-01', '2026-02-01', 'resolved', false],
      ['2026-02-01', '2026-03-01', 'resolved', true],
      ['2026-03-01', '2026-11-20', 'resolved', true],
    ]);
    expect(intervals([A, B], 'acceptance_time')).toEqual([
      ['0001-01-01T00:00:00Z', '2026-02-01T15:00:00Z', 'resolved', false],
      ['2026-02-01T15:00:00Z', '2026-03-01T15:00:00Z', 'resolved', true],
      ['2026-03-01T15:00:00Z', LOOKED, 'resolved', true],
    ]);
  });

  it('gives amendments, same-day ties and contradictions intervals of their own', () => {
    const amended = filing(3, ['10-K/A', '2026-02-10']);
    expect(intervals([A, amended, B], 'filing_date').slice(1)).toEqual([
      ['2026-02-01', '2026-02-10', 'resolved', true],
      ['2026-02-10', '2026-03-01', 'ambiguous', true],
      ['2026-03-01', '2026-11-20', 'resolved', true],
    ]);
    const twin = filing(4, ['10-K', '2026-02-01'], { disclosure_time: '2026-02-01T16:00:00Z' });
    expect(intervals([A, twin], 'acceptance_time').slice(1)).toEqual([
      ['2026-02-01T15:00:00Z', '2026-02-01T16:00:00Z', 'resolved', true],
      ['2026-02-01T16:00:00Z', LOOKED, 'ambiguous', true],
    ]);
    const other = { source: 'other', source_tier: 'T2', filing_date: '2026-02-02' };
    expect(intervals([A, { ...A, ...other }, B], 'filing_date')).toEqual([
      ['0001-01-01', '2026-03-01', 'conflicting', null],
      ['2026-03-01', '2026-11-20', 'resolved', true],
    ]);
    expect(intervals([A, B], 'filing_date').map(([, , status]) => status)).not.toContain(
      'conflicting',
    );
  });

  it('says not filed only as far back as the list is whole, and before a gap', () => {
    expect(intervals([A], 'filing_date', { covered_from: '2026-01-01' })[0]).toEqual([
      '0001-01-01',
      '2026-02-01',
      'no_authoritative_source',
      null,
    ]);
    const gaps = [{ from: '2026-01-10', to: '2026-01-12' }];
    expect(intervals([A], 'filing_date', { gaps }).slice(0, 2)).toEqual([
      ['0001-01-01', '2026-01-10', 'resolved', false],
      ['2026-01-10', '2026-02-01', 'no_authoritative_source', null],
    ]);
  });

  it('leaves open on which side of an instant a filing of no known hour lies', () => {
    const dayOnly = filing(5, ['10-K', '2026-02-10'], { disclosure_time: null });
    expect(intervals([dayOnly], 'acceptance_time')).toEqual([
      ['0001-01-01T00:00:00Z', '2026-02-03T00:00:00Z', 'resolved', false],
      ['2026-02-03T00:00:00Z', '2026-02-11T04:59:59Z', 'ambiguous', null],
      ['2026-02-11T04:59:59Z', LOOKED, 'resolved', true],
    ]);
    expect(intervals([dayOnly], 'filing_date').map(([, , status]) => status)).not.toContain(
      'ambiguous',
    );
  });

  it('ends at the look: a day that was not over is not answered, and no filing of it either', () => {
    const today = filing(6, ['10-K', '2026-11-20'], { disclosure_time: '2026-11-20T10:00:00Z' });
    expect(intervals([today], 'filing_date')).toEqual([
      ['0001-01-01', '2026-11-20', 'resolved', false],
    ]);
    expect(intervals([today], 'acceptance_time')).toEqual([
      ['0001-01-01T00:00:00Z', '2026-11-20T10:00:00Z', 'resolved', false],
      ['2026-11-20T10:00:00Z', LOOKED, 'resolved', true],
    ]);
    expect(endOfLook('2026-11-21T04:59:59Z', 'filing_date')).toBe('2026-11-20');
    expect(endOfLook('2026-11-21T04:59:59.5Z', 'filing_date')).toBe('2026-11-21');
    expect(endOfLook('2026-11-21T05:00:00Z', 'filing_date')).toBe('2026-11-21');
  });

  it('I37: keeps what is over when the list is looked at again, and when a filing ends the newest', () => {
    const [list] = filingLists([A, B]);
    const [longer] = filingLists([A, B, filing(7, ['10-K', '2026-11-20'])]);
    if (list === undefined || longer === undefined) throw new Error('no list');
    for (const basis of ['filing_date', 'acceptance_time'] as const) {
      const first = settledIntervals(list, WHOLE, basis);
      const again = { ...WHOLE, collected_at: '2026-11-23T11:00:00Z' };
      const looked = settledIntervals(list, again, basis);
      expect(looked.slice(0, -1)).toEqual(first.slice(0, -1));
      expect(looked.at(-1)?.valid_until).not.toBe(first.at(-1)?.valid_until);
      const grown = settledIntervals(longer, again, basis);
      expect(grown.slice(0, 2)).toEqual(first.slice(0, 2));
      expect(grown.slice(0, -1).every(({ restsOn }) => restsOn !== null)).toBe(true);
      expect(grown.at(-1)?.restsOn).toBeNull();
    }
  });

  it('I53: gives every cutoff the answer that the rule gives it, in intervals without a hole', () => {
    let asked = 0;
    fc.assert(
      fc.property(CASE, ({ filings, coverage, question }) => {
        const { cutoff, form, eventClass } = question;
        const name = listName(form, eventClass);
        const list = filingLists(filings).find(
          (one) => one.form === name.form && one.event_class === name.event_class,
        );
        if (list === undefined) return;
        const found = settledIntervals(list, coverage, cutoff.basis);
        for (const [at, { valid_until }] of found.entries()) {
          const end = endOfLook(coverage.collected_at, cutoff.basis);
          expect(valid_until).toBe(found[at + 1]?.valid_from ?? end);
        }
        const own = found.filter(
          (one) =>
            cutoffOrder(cutoff, one.valid_from) >= 0 && cutoffOrder(cutoff, one.valid_until) < 0,
        );
        const isAnswered = Date.parse(cutoff.at) < Date.parse(coverage.collected_at);
        expect(own).toHaveLength(Number(isAnswered));
        const [interval] = own;
        if (interval === undefined) return;
        asked += 1;
        const settlement = settleFilings(filings, coverage, { ...question, form: name.form });
        expect(interval.settlement).toEqual(settlement);
        const about = { form: name.form, eventClass, cutoff };
        expect(interval.note).toBe(settlementNote({ question: about, coverage, settlement }));
      }),
      { numRuns: 3000, seed: 7 },
    );
    expect(asked).toBeGreaterThan(500);
  });
});

describe('isLookalike()', () => {
  it.each(['10K', '1O-K', '10-K.', 'F0RM 10-K'])(
    'I53: finds "%s", which reads like 10-K',
    (form) => {
      expect(isLookalike(form, [])).toBe(true);
    },
  );

  it.each(['10-K', '10-K/A', 'ARS', 'SCHEDULE 13D'])('and not "%s"', (form) => {
    expect(isLookalike(form, [])).toBe(false);
  });
});

describe('storedForms()', () => {
  it('names a form that only its amendments stand for by those', () => {
    expect(storedForms(filingLists([filing(8, ['6-K/A', '2026-02-01'])]))).toEqual(['6-K/A']);
    expect(storedForms(filingLists([A]))).toEqual(['10-K']);
  });
});
