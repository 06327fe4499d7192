// The answer to a settlement question changes only where a filing or a gap begins to lie before the cutoff. Between two
// such moments it is one answer, up to the last look at the filer's list.

import type { Cutoff } from '../../format/cutoff.ts';
import { DAY_MS, isoTime, newYorkDayEnd, newYorkWallClock } from '../../format/iso-time.ts';
import type { HashedFiling } from './filing.ts';
import type { FilingList } from './filing-lists.ts';
import {
  beforeFrom,
  dayStart,
  type FilingCoverage,
  gapFrom,
  isOriginal,
  type Listings,
  momentOf,
  nearFrom,
  type Settlement,
  settleFilings,
} from './settle-filings.ts';
import { settlementNote } from './settlement-note.ts';

/** How a cutoff is compared with filings: by filing day, or by the instant of acceptance. */
export type Basis = Cutoff['basis'];

/** Where each axis begins: no cutoff lies before it. */
export const FIRST_CUTOFF: Readonly<Record<Basis, string>> = {
  filing_date: '0001-01-01',
  acceptance_time: '0001-01-01T00:00:00Z',
};

/** Cutoffs with one answer: `valid_from` and later ones, before `valid_until`. */
export interface SettledInterval<Filing extends HashedFiling> {
  readonly valid_from: string;
  readonly valid_until: string;
  readonly settlement: Settlement<Filing>;
  readonly note: string;
  /** The filings that it follows from; null for the newest interval, which follows from the last look. */
  readonly restsOn: readonly Filing[] | null;
}

/** The first cutoff of an axis that a look at a list says nothing of: a filing day counts when all of it was over. */
export function endOfLook(lookedAt: string, basis: Basis): string {
  const at = Date.parse(lookedAt);
  if (basis === 'acceptance_time') return isoTime(at);
  const day = isoTime(newYorkWallClock(at)).slice(0, 10);
  const isOver = Date.parse(newYorkDayEnd(day)) < at;
  return isOver ? isoTime(dayStart(day) + DAY_MS).slice(0, 10) : day;
}

/** Below 0 for a cutoff that lies before a bound of its axis, 0 for one at it, else above. */
export function cutoffOrder(cutoff: Cutoff, bound: string): number {
  return momentOf(cutoff) - Date.parse(bound);
}

/** The moment of an axis as it is written: a day, or an instant. */
function written(moment: number, basis: Basis): string {
  return basis === 'filing_date' ? isoTime(moment).slice(0, 10) : isoTime(moment);
}

function cutoffAt(moment: number, basis: Basis): Cutoff {
  const text = written(moment, basis);
  if (basis === 'acceptance_time') return { basis, at: text };
  return { basis, date: text, at: newYorkDayEnd(text) };
}

/** An entry of a list with the moments from which on it may count, and certainly counts. */
interface Counting<Filing> {
  readonly listings: Listings<Filing>;
  readonly near: number;
  readonly before: number;
}

interface Start<Filing extends HashedFiling>
  extends Pick<SettledInterval<Filing>, 'settlement' | 'note'> {
  readonly from: number;
}

/** The answers of a list along one axis, oldest first and without a hole between them. */
export function settledIntervals<Filing extends HashedFiling>(
  list: FilingList<Filing>,
  coverage: FilingCoverage & { readonly collected_at: string },
  basis: Basis,
): SettledInterval<Filing>[] {
  const oldestFirst = [...list.filings].reverse();
  const counting = oldestFirst.map((listings): Counting<Filing> => {
    const [first] = listings;
    return { listings, near: nearFrom(first, basis), before: beforeFrom(first, basis) };
  });
  const end = Date.parse(endOfLook(coverage.collected_at, basis));
  const starts = startsOf({ list, coverage, basis }, counting, end);
  const begins = new Map<number, Filing[]>();
  for (const { listings, near, before } of counting) {
    for (const at of [near, before]) begins.set(at, [...(begins.get(at) ?? []), ...listings]);
  }
  return starts.map(({ from, settlement, note }, at) => {
    const next = starts[at + 1]?.from;
    const based = [...settlement.candidates, ...(begins.get(next ?? Number.NaN) ?? [])];
    return {
      valid_from: written(from, basis),
      valid_until: written(next ?? end, basis),
      settlement,
      note,
      restsOn: next === undefined ? null : based.length > 0 ? based : (oldestFirst[0] ?? []),
    };
  });
}

/** Where the answer changes, with the answer from there on. */
function startsOf<Filing extends HashedFiling>(
  about: { list: FilingList<Filing>; coverage: FilingCoverage; basis: Basis },
  counting: readonly Counting<Filing>[],
  end: number,
): Start<Filing>[] {
  const { list, coverage, basis } = about;
  const { form, event_class: eventClass } = list;
  const first = Date.parse(FIRST_CUTOFF[basis]);
  const moments = [
    first,
    ...counting.flatMap(({ near, before }) => [near, before]),
    ...coverage.gaps.map((gap) => Math.max(first, gapFrom(gap, basis))),
  ];
  const firstOriginal = counting.find(({ listings: [first] }) => isOriginal(first, { form }));
  const waiting = [...counting].sort((a, b) => b.near - a.near);
  let active: Counting<Filing>[] = [];
  let last = '';
  const starts: Start<Filing>[] = [];
  for (const from of [...new Set(moments)].sort((a, b) => a - b)) {
    if (from >= end) break;
    for (
      let next = waiting.at(-1);
      next !== undefined && next.near <= from;
      next = waiting.at(-1)
    ) {
      active.push(next);
      waiting.pop();
    }
    active = stillCounting(active, from, form);
    // Nothing counts yet: the first original that will is part of the answer.
    const near = active.length > 0 ? active : firstOriginal === undefined ? [] : [firstOriginal];
    const question = { form, eventClass, cutoff: cutoffAt(from, basis) };
    const filings = near.flatMap(({ listings }) => listings);
    const settlement = settleFilings(filings, coverage, question);
    const note = settlementNote({ question, coverage, settlement });
    const { resolution_status, filed_by_cutoff, candidates } = settlement;
    const hashes = candidates.map(({ record_hash }) => record_hash);
    const answer = JSON.stringify([resolution_status, filed_by_cutoff, hashes, note]);
    if (answer !== last) starts.push({ from, settlement, note });
    last = answer;
  }
  return starts;
}

/** What is older by filing day than the newest original before a cutoff counts neither for it nor for a later one. */
function stillCounting<Filing extends HashedFiling>(
  active: readonly Counting<Filing>[],
  at: number,
  form: string,
): Counting<Filing>[] {
  const newest = active
    .filter(({ before, listings: [first] }) => before <= at && isOriginal(first, { form }))
    .reduce(
      (day, { listings: [first] }) => (first.filing_date > day ? first.filing_date : day),
      '',
    );
  return active.filter(({ listings: [first] }) => first.filing_date >= newest);
}
