import { firstWhere } from './lists.ts';
// Neighbouring filings of a list settle a question alone when no filing beside them can: what lies before the first of
// them is certainly behind the cutoff, what lies after the last of them is older than what they settle it by.

import type { Cutoff } from './cutoff.ts';
import type { FilingFacts } from './filing.ts';
import type { FilingList, ListHead, ListStretch } from './filing-lists.ts';
import { DAY_MS } from './iso-time.ts';
import {
  dayStart,
  isOriginal,
  type Listings,
  type SettlementQuestion,
  sideOf,
} from './settle-filings.ts';

type ListBounds = Pick<ListHead, 'count' | 'lead_days'>;

/** The filings of a list that settle a question: as few as prove that no other one counts. */
export function settlingStretch<Filing extends FilingFacts>(
  list: Pick<FilingList<Filing>, 'filings'> & { readonly head: ListBounds },
  question: SettlementQuestion,
): ListStretch<Filing> {
  const { filings, head } = list;
  const near = firstNear(list, question.cutoff);
  const answer = filings.findIndex(
    ([first], at) => at >= near && isOriginal(first, question) && isBefore(first, question.cutoff),
  );
  if (answer < 0) {
    const later = filings.findLastIndex(([first]) => isOriginal(first, question));
    // The last original is the first one behind the cutoff; it matters where none lies nearer.
    const index = later < 0 ? 0 : Math.min(later, Math.max(0, near - 1));
    return { index, filings: filings.slice(index, head.count) };
  }
  const [{ filing_date }] = filings[answer] as Listings<Filing>;
  const older = filings.findIndex(([first], at) => at > answer && first.filing_date < filing_date);
  const index = Math.max(0, near - 1);
  return { index, filings: filings.slice(index, older < 0 ? head.count : older + 1) };
}

/** The first filing that is not certainly behind the cutoff. */
function firstNear<Filing extends FilingFacts>(
  { filings, head }: Pick<FilingList<Filing>, 'filings'> & { readonly head: ListBounds },
  cutoff: Cutoff,
): number {
  return firstWhere(filings.length, (at) => {
    const [first] = filings[at] as Listings<Filing>;
    return !isBehind(first, head, cutoff);
  });
}

/** What a stretch lacks to settle a question; null if no filing outside it can matter. */
export function stretchFault<Filing extends FilingFacts>(
  stretch: ListStretch<Filing>,
  bounds: ListBounds,
  question: SettlementQuestion,
): string | null {
  const firsts = stretch.filings.flatMap(([first]) => first ?? []);
  const [newest] = firsts;
  if (newest === undefined) return 'it holds no filing';
  const isStart = stretch.index === 0;
  if (!isStart && !isBehind(newest, bounds, question.cutoff)) return 'newer filings may count';
  const originals = firsts.filter((filing) => isOriginal(filing, question));
  const answer = originals.find((filing) => isBefore(filing, question.cutoff));
  const isEnd = stretch.index + firsts.length === bounds.count;
  if (!isEnd && !isOlder(firsts.at(-1), answer)) return 'older filings may count';
  const isFirstKnown = answer !== undefined || isStart || originals.length > 0;
  return isFirstKnown ? null : 'the first filing behind the cutoff may be another one';
}

function isOlder(oldest: FilingFacts | undefined, answer: FilingFacts | undefined): boolean {
  if (oldest === undefined || answer === undefined) return false;
  return oldest.filing_date < answer.filing_date;
}

function isBefore(filing: FilingFacts, cutoff: Cutoff): boolean {
  return sideOf(filing, cutoff) === 'before';
}

/** Whether a filing and every newer one of its list lie behind the cutoff: newer ones have a later filing day or the same. */
function isBehind(
  { filing_date }: FilingFacts,
  { lead_days }: ListBounds,
  cutoff: Cutoff,
): boolean {
  if (cutoff.basis === 'filing_date') return filing_date > cutoff.date;
  return dayStart(filing_date) - lead_days * DAY_MS > Date.parse(cutoff.at);
}
