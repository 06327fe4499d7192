import type { FilingFacts } from './filing.ts';
import {
  type FilingCoverage,
  isOriginal,
  type ListGap,
  reachesBack,
  type Settlement,
  type SettlementQuestion,
  sideOf,
} from './settle-filings.ts';

/** A settled question: what it is about, what the list covers, and what followed. */
export interface Settled<Filing extends FilingFacts = FilingFacts> {
  readonly question: SettlementQuestion;
  readonly coverage: FilingCoverage;
  readonly settlement: Settlement<Filing>;
}

/**
 * The record in plain sentences, each a fact of the list; no opinion on the event. They hold for every cutoff of an interval,
 * so none of them names one.
 */
export function settlementNote(settled: Settled): string {
  return [...verdictOf(settled), ...limitsOf(settled)].join(' ');
}

function verdictOf(settled: Settled): string[] {
  const { question, settlement } = settled;
  const { resolution_status, filed_by_cutoff, selected, candidates } = settlement;
  if (selected === null) return [nothing(settled)];
  switch (resolution_status) {
    case 'conflicting':
      return [
        `The ${candidates.length} listings of filing ${selected.accession} do not tell the same facts, so nothing is settled.`,
      ];
    case 'ambiguous':
      return filed_by_cutoff === true
        ? besideOthers(settled, selected)
        : unsettled(settled, selected);
    case 'resolved':
    case 'no_authoritative_source':
      return filed_by_cutoff === true
        ? [newest(question, selected)]
        : [nothing(settled), firstBehind(selected)];
  }
}

function kindOf({ form, eventClass }: SettlementQuestion): string {
  return eventClass === null ? `form ${form}` : `form ${form} with item ${eventClass}`;
}

function amendmentsOf({ eventClass }: SettlementQuestion): string {
  return eventClass === null ? 'Amendments' : `Amendments with item ${eventClass}`;
}

function named({ form, accession, filing_date }: FilingFacts): string {
  return `${form} ${accession} of the filing day ${filing_date}`;
}

const WHOLE = 'it is whole until then';
const UNSURE = 'which does not mean that none was filed';

function nothing({ question, settlement }: Settled): string {
  const held = `The stored list holds no ${kindOf(question)} until the cutoff`;
  return settlement.filed_by_cutoff === false ? `${held}; ${WHOLE}.` : `${held}, ${UNSURE}.`;
}

function firstBehind({ form, accession, filing_date }: FilingFacts): string {
  return `The first filing day of one after that is ${filing_date}, of ${form} ${accession}.`;
}

function newest(question: SettlementQuestion, selected: FilingFacts): string {
  return `By filing day, the newest ${kindOf(question)} that the stored list holds until the cutoff is ${named(selected)}.`;
}

function besideOthers({ question, settlement }: Settled, selected: FilingFacts): string[] {
  const others = settlement.candidates.filter(({ accession }) => accession !== selected.accession);
  const { known, unclear, amendments } = countsOf(others, question);
  const oneOf = `The stored list holds ${known + 1} filings of ${kindOf(question)} of the newest filing day until the cutoff; one of them is ${named(selected)}.`;
  return [
    known === 0 ? newest(question, selected) : oneOf,
    ...sentence(
      unclear,
      `That does not count ${unclear} of its filing day or a later one of which the hour is not known, so that they may lie on either side of the cutoff.`,
    ),
    ...sentence(
      amendments,
      `${amendmentsOf(question)} of its filing day or a later one that lie before the cutoff or may do so: ${amendments}.`,
    ),
  ];
}

/** Nothing certainly lies before the cutoff, but something stored may. */
function unsettled({ question, settlement }: Settled, selected: FilingFacts): string[] {
  const { unclear, amendments } = countsOf(settlement.candidates, question);
  return [
    `The stored list holds no ${kindOf(question)} that certainly lies before the cutoff or on it.`,
    ...sentence(
      unclear,
      `Filings of it of which the hour is not known, so that they may lie on either side of the cutoff: ${unclear}.`,
    ),
    ...sentence(
      amendments,
      `${amendmentsOf(question)} that lie before the cutoff or may do so: ${amendments}.`,
    ),
    `One of these is ${named(selected)}.`,
  ];
}

function sentence(count: number, text: string): string[] {
  return count === 0 ? [] : [text];
}

/** What filings are, each counted once however many sources list it. */
function countsOf(
  candidates: readonly FilingFacts[],
  question: SettlementQuestion,
): {
  /** Originals of which the side is known. */
  known: number;
  /** Originals that may lie on either side of the cutoff. */
  unclear: number;
  amendments: number;
} {
  const firsts = new Map([...candidates].reverse().map((filing) => [filing.accession, filing]));
  const originals = [...firsts.values()].filter((filing) => isOriginal(filing, question));
  const unclear = originals.filter((filing) => sideOf(filing, question.cutoff) === 'unclear');
  return {
    known: originals.length - unclear.length,
    unclear: unclear.length,
    amendments: firsts.size - originals.length,
  };
}

/** What the list cannot know, as far as it touches the answer. */
function limitsOf({ question, coverage, settlement }: Settled): string[] {
  const { covered_from, gaps } = coverage;
  const { selected } = settlement;
  const isEarly = covered_from !== null && (selected?.filing_date ?? '') < covered_from;
  return [
    ...sentence(Number(isEarly), reachOf(covered_from)),
    ...gaps.filter((gap) => reachesBack(gap, question.cutoff)).map(gapText),
  ];
}

function reachOf(coveredFrom: string | null): string {
  return `The list reaches back to the filing day ${coveredFrom}; older filings are not all stored.`;
}

function gapText({ from, to }: ListGap): string {
  return `The list is incomplete from the filing day ${from} to ${to}.`;
}

/** Of a form, or of its items but for those that are stored: no filing of that is. */
export function nothingNote(
  form: string,
  stored: readonly string[] | null,
  { covered_from, gaps }: FilingCoverage,
): string {
  const items =
    stored?.length === 0 ? ' that names an item' : ` with another item than ${stored?.join(', ')}`;
  const held = `The stored list holds no form ${form}${stored === null ? '' : items} until the cutoff`;
  if (covered_from === null && gaps.length === 0) return `${held}; ${WHOLE}.`;
  const reach = sentence(Number(covered_from !== null), reachOf(covered_from));
  return [`${held}, ${UNSURE}.`, ...reach, ...gaps.map(gapText)].join(' ');
}

/** Of cutoffs that nobody has looked at. */
export function laterNote(lookedAt: string): string {
  return `The list of filings was last looked at at ${lookedAt}; of a later cutoff it says nothing.`;
}
