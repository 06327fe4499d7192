import { hash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { HashedFiling } from '../../compiler/contract/filing.ts';
import {
  besideHashes,
  filingLists,
  listKey,
  listName,
  provenList,
  standsInList,
} from '../../compiler/contract/filing-lists.ts';
import { settlingStretch, stretchFault } from '../../compiler/contract/list-stretch.ts';
import { settleFilings } from '../../compiler/contract/settle-filings.ts';
import { CASE, type Case } from '../settlement-cases.ts';

const sha256 = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer');

/** The list of a case, proven; null where nothing of it is stored. */
function listOf({ filings, question }: Case) {
  const name = listKey(listName(question.form, question.eventClass));
  const list = filingLists(filings).find((each) => listKey(each) === name);
  return list === undefined ? null : provenList(list, sha256);
}

const settled = (filings: readonly HashedFiling[], { coverage, question }: Case) =>
  settleFilings(filings, coverage, question);

describe('settlingStretch()', () => {
  it('I53: holds all that settles a question: its answer is that of all filings of the filer', () => {
    fc.assert(
      fc.property(CASE, (given) => {
        const list = listOf(given);
        const whole = settled(given.filings, given);
        if (list === null) {
          expect(settled([], given)).toEqual(whole);
          return;
        }
        const stretch = settlingStretch(list, given.question);
        expect(settled(stretch.filings.flat(), given)).toEqual(whole);
        expect(stretchFault(stretch, list.head, given.question)).toBe(null);
        const beside = besideHashes(list, stretch, sha256);
        expect(standsInList({ ...stretch, beside }, list.head, sha256)).toBe(true);
      }),
      { numRuns: 3000 },
    );
  });

  it('I53: is refused with fewer filings, unless those settle the question alike', () => {
    let refused = 0;
    fc.assert(
      fc.property(CASE, (given) => {
        const list = listOf(given);
        if (list === null) return;
        const { index, filings } = settlingStretch(list, given.question);
        const shorter = [
          { index: index + 1, filings: filings.slice(1) },
          { index, filings: filings.slice(0, -1) },
        ];
        for (const stretch of shorter) {
          const fault = stretchFault(stretch, list.head, given.question);
          if (fault === null) {
            expect(settled(stretch.filings.flat(), given)).toEqual(settled(given.filings, given));
          } else refused += 1;
        }
      }),
      { numRuns: 3000 },
    );
    expect(refused).toBeGreaterThan(100);
  });

  it('I39: stays short in a list of thousands', () => {
    const filings = Array.from({ length: 5000 }, (_, at) => {
      const day = new Date(Date.UTC(2006, 0, 1 + at)).toISOString().slice(0, 10);
      return {
        accession: `0000123456-06-${String(at).padStart(6, '0')}`,
        form: '4',
        items: [],
        event_time: null,
        filing_date: day,
        disclosure_time: `${day}T15:00:00Z`,
        acceptance_basis: 'utc',
        snapshot_date: '2026-11-20T00:00:00Z',
        source: 'sec-edgar',
        source_ref: null,
        source_tier: 'T1',
        record_hash: `sha256:${String(at).padStart(64, '0')}`,
      } as const;
    });
    const coverage = { collected_at: '2026-11-20T11:00:00Z', covered_from: null, gaps: [] };
    const cutoff = { basis: 'acceptance_time', at: '2012-06-01T12:00:00Z' } as const;
    const given = { filings, coverage, question: { form: '4', eventClass: null, cutoff } };
    const list = listOf(given);
    if (list === null) throw new Error('no list');
    const stretch = settlingStretch(list, given.question);
    expect(stretch.filings.length).toBeLessThan(5);
    expect(besideHashes(list, stretch, sha256).length).toBeLessThan(26);
    expect(settled(stretch.filings.flat(), given)).toEqual(settled(filings, given));
  });
});

describe('standsInList()', () => {
  it('I53: refuses filings that are moved, swapped, left out or doubled', () => {
    let tried = 0;
    fc.assert(
      fc.property(CASE, (given) => {
        const list = listOf(given);
        if (list === null || list.filings.length < 3) return;
        tried += 1;
        const stretch = { index: 1, filings: list.filings.slice(1) };
        const beside = besideHashes(list, stretch, sha256);
        const stands = (more: object, head = list.head): boolean =>
          standsInList({ ...stretch, beside, ...more }, head, sha256);
        expect(stands({})).toBe(true);
        const [first = [], second = []] = stretch.filings;
        const lies = [
          { index: 0 },
          { index: 2 },
          { index: -1 },
          { filings: [second, first, ...stretch.filings.slice(2)] },
          { filings: stretch.filings.slice(1) },
          { filings: [first, ...stretch.filings] },
          { filings: [] },
          { beside: [] },
          { beside: [...beside, ...beside] },
        ];
        expect(lies.map((lie) => stands(lie))).toEqual(lies.map(() => false));
        expect(stands({}, { ...list.head, count: list.head.count + 1 })).toBe(false);
      }),
      { numRuns: 3000 },
    );
    expect(tried).toBeGreaterThan(20);
  });
});
