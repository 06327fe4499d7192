import type { HashedFiling } from './filing.ts';
import type { ProposerBody, ResolveBody } from './resolve-bodies.ts';
import { type Settled, settlementNote } from './settlement-note.ts';

type ResolveMembers = Pick<
  ResolveBody,
  | 'resolution_status'
  | 'filed_by_cutoff'
  | 'event_time'
  | 'disclosure_time'
  | 'disclosure_date'
  | 'note'
  | 'candidate_count'
>;
type ProposerMembers = Pick<
  ProposerBody,
  'answer' | 'confidence' | 'timestamp' | 'evidence_url' | 'source_tier' | 'note'
>;

/** What `/resolve` says in members of its own; everything else is echoed or delivered as stored. */
export function resolveMembers(settled: Settled): ResolveMembers {
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

/** What `/resolve/proposer` says in members of its own. */
export function proposerMembers(settled: Settled<HashedFiling>): ProposerMembers {
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
