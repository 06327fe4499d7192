import { type FilingFacts, formFamily, isAmendment } from './filing.ts';
import type { ProposerBody, ResolveBody } from './resolve-bodies.ts';
import type { Settlement, SettlementQuestion } from './settle-filings.ts';

type Settled = Settlement<FilingFacts>;
type ResolveMembers = Pick<
  ResolveBody,
  | 'resolution_status'
  | 'filed_by_cutoff'
  | 'event_time'
  | 'disclosure_time'
  | 'disclosure_date'
  | 'note'
>;
type ProposerMembers = Pick<ProposerBody, 'answer' | 'confidence' | 'timestamp' | 'note'>;

/** What `/resolve` says in members of its own; everything else is echoed or delivered as stored. */
export function resolveMembers(settled: Settled, question: SettlementQuestion): ResolveMembers {
  const { resolution_status, filed_by_cutoff, selected } = settled;
  return {
    resolution_status,
    filed_by_cutoff,
    event_time: selected?.event_time ?? null,
    disclosure_time: selected?.disclosure_time ?? null,
    disclosure_date: selected?.filing_date ?? null,
    note: noteOf(settled, question),
  };
}

/** What `/resolve/proposer` says in members of its own. */
export function proposerMembers(settled: Settled, question: SettlementQuestion): ProposerMembers {
  const { resolution_status, filed_by_cutoff, selected } = settled;
  const certain = resolution_status === 'resolved' && filed_by_cutoff !== null;
  return {
    answer: filed_by_cutoff,
    confidence: certain ? 1 : 0,
    timestamp: selected?.disclosure_time ?? null,
    note: noteOf(settled, question),
  };
}

/** One plain sentence about the record; a fact of the list, no opinion on the event. */
function noteOf(settled: Settled, { form, cutoff }: SettlementQuestion): string {
  const { resolution_status, filed_by_cutoff, selected } = settled;
  const limit =
    cutoff.basis === 'filing_date' ? `the filing day ${cutoff.date}` : `the instant ${cutoff.at}`;
  if (selected === null) {
    return filed_by_cutoff === false
      ? `The stored list holds no ${form} until ${limit}, and it was collected after that.`
      : `No stored filing settles whether a ${form} was filed until ${limit}.`;
  }
  const named = `${selected.form} ${selected.accession}, filing day ${selected.filing_date}`;
  switch (resolution_status) {
    case 'conflicting':
      return `Sources tell different facts about ${named}; each listing is given.`;
    case 'ambiguous':
      return `${named}, is one of several filings that fit; ${reasonOf(settled, form)}.`;
    case 'resolved':
    case 'no_authoritative_source':
      return filed_by_cutoff === true
        ? `${named}, is the newest ${form} until ${limit}.`
        : `${named}, is the first ${form} behind ${limit}; the stored list holds none until then.`;
  }
}

function reasonOf({ candidates, selected }: Settled, form: string): string {
  const others = candidates.filter((filing) => filing.accession !== selected?.accession);
  if (others.some((filing) => isAmendment(filing.form) !== isAmendment(form))) {
    return 'an amendment stands beside it';
  }
  if (selected !== null && isAmendment(selected.form) !== isAmendment(form)) {
    return `it is an amendment, and no original ${formFamily(form)} is stored until then`;
  }
  if (others.some((filing) => filing.filing_date === selected?.filing_date)) {
    return 'another one has the same filing day';
  }
  return 'only the filing day is known of a filing near the cutoff';
}
