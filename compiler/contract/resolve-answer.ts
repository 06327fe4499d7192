import { FILING_SOURCE_CLASS, type HashedFiling } from './filing.ts';
import {
  CANDIDATES_MAX,
  type ProposerBody,
  type ResolveBody,
  SETTLEMENT_NATURE,
} from './resolve-bodies.ts';
import { type Settled, settlementNote } from './settlement-note.ts';

/** How a question was asked. */
export interface AskedAs {
  /** The filer, as the request names it. */
  readonly entity: string;
  /** As the request writes it. */
  readonly cutoff: string;
  readonly market_or_event: string | null;
  readonly cik: string;
  readonly entity_name: string;
}

/** An answer without what it delivers as it is stored: its computed members, and the filings whose stored bodies it quotes. */
interface ComputedAnswer {
  readonly members: object;
  readonly quoted: readonly HashedFiling[];
}

/** What `/resolve` answers. */
export function resolveAnswer(asked: AskedAs, settled: Settled<HashedFiling>): ComputedAnswer {
  return {
    members: { ...echo(asked, settled), ...resolveMembers(settled) },
    quoted: settled.settlement.candidates.slice(0, CANDIDATES_MAX),
  };
}

/** What `/resolve/proposer` answers. */
export function proposerAnswer(asked: AskedAs, settled: Settled<HashedFiling>): ComputedAnswer {
  const { selected } = settled.settlement;
  return {
    members: { ...echo(asked, settled), ...proposerMembers(settled) },
    quoted: selected === null ? [] : [selected],
  };
}

/** The question, with parameters that do not affect the answer echoed as they were sent. */
function echo(asked: AskedAs, { question }: Settled): object {
  return {
    nature: SETTLEMENT_NATURE,
    entity: asked.entity,
    cik: asked.cik,
    entity_name: asked.entity_name,
    form: question.form,
    event_class: question.eventClass,
    source_class: FILING_SOURCE_CLASS,
    market_or_event: asked.market_or_event,
    cutoff: asked.cutoff,
    cutoff_time: question.cutoff.at,
    cutoff_basis: question.cutoff.basis,
  };
}

/** What `/resolve` says of the settlement. */
export function resolveMembers(
  settled: Settled,
): Pick<
  ResolveBody,
  | 'resolution_status'
  | 'filed_by_cutoff'
  | 'event_time'
  | 'disclosure_time'
  | 'disclosure_date'
  | 'note'
  | 'candidate_count'
> {
  const { resolution_status, filed_by_cutoff, selected, candidates } = settled.settlement;
  return {
    resolution_status,
    filed_by_cutoff,
    event_time: selected?.event_time ?? null,
    disclosure_time: selected?.disclosure_time ?? null,
    disclosure_date: selected?.filing_date ?? null,
    note: settlementNote(settled),
    candidate_count: candidates.length,
  };
}

function proposerMembers(
  settled: Settled<HashedFiling>,
): Pick<
  ProposerBody,
  'answer' | 'confidence' | 'timestamp' | 'evidence_url' | 'source_tier' | 'note'
> {
  const { resolution_status, filed_by_cutoff, selected } = settled.settlement;
  const certain = resolution_status === 'resolved' && filed_by_cutoff !== null;
  return {
    answer: filed_by_cutoff,
    confidence: certain ? 1 : 0,
    timestamp: selected?.disclosure_time ?? null,
    evidence_url: selected?.source_ref ?? null,
    source_tier: selected?.source_tier ?? null,
    note: settlementNote(settled),
  };
}
