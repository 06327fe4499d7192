import { z } from 'zod';
import { citationSchema, proofTextSchema } from './citation.ts';
import { FILING_COLLECTION, FILING_SOURCE_CLASS } from './filing.ts';
import { canonicalTarget } from './path.ts';
import { RECORD_HASH } from './record-hash.ts';

/** What both operations say of themselves. */
export const SETTLEMENT_NATURE =
  'The filing record at a cutoff; describes filings, never adjudicates the event; no forecast, no advice';

/** Filings that one answer lists; `candidate_count` tells how many there are. */
export const CANDIDATES_MAX = 10;

const instant = z.iso.datetime();
const day = z.iso.date();
const cik = z.string().regex(/^\d{10}$/);
const tier = z.string().nullable();
const basis = z.enum(['utc', 'new-york', 'undetermined']);

const facts = {
  hash_core_version: z.literal(3),
  entity: cik,
  accession: z.string(),
  form: z.string(),
  items: z.array(z.string()),
  event_time: day.nullable(),
  filing_date: day,
  disclosure_time: instant.nullable(),
  acceptance_basis: basis,
  observed_at: instant,
  snapshot_date: instant,
  source: z.string(),
  source_ref: z.string().nullable(),
  source_tier: tier,
};

const hashCore = z.strictObject({ row: z.literal(FILING_COLLECTION), ...facts });
const hash = z.string().regex(RECORD_HASH);

/** One stored filing: its facts as they are hashed, and what is said of it beside them. */
export const filingRowSchema = z.strictObject({
  ...facts,
  is_amendment: z.boolean(),
  evidence_url: z.string().nullable(),
  grade: z.string().nullable(),
  /** When it was first collected as it is. */
  retrieved_at: instant,
  record_hash: hash,
  _hash_core: hashCore,
});
export type FilingRow = z.infer<typeof filingRowSchema>;

const gap = z.strictObject({ from: day, to: day });
/** A day or an instant, as the basis of the answer says. */
const bound = z.union([day, instant]);

/**
 * What both operations sign of the cutoffs that an answer holds for: one filer, one form, one item or none, and cutoffs from
 * `valid_from` on, before `valid_until`.
 */
const scope = {
  nature: z.literal(SETTLEMENT_NATURE),
  entity: cik,
  entity_name: z.string(),
  /** Names that the filer may be asked for by. */
  tickers: z.array(z.string()),
  /** Null for every form. */
  form: z.string().nullable(),
  event_class: z.string().nullable(),
  /** Items that have answers of their own, where this one is about all other items; null for any other answer. */
  other_than: z.array(z.string()).nullable(),
  source_class: z.literal(FILING_SOURCE_CLASS),
  /** Which cutoffs it holds for: days, instants, or with null both. */
  basis: z.enum(['filing_date', 'acceptance_time']).nullable(),
  valid_from: bound,
  valid_until: bound.nullable(),
  /** The days that it holds for, where it holds for both. */
  valid_days: z.strictObject({ from: day, until: day.nullable() }).nullable(),
  /** When the list of filings was looked at, as far as the answer rests on it. */
  observed_at: instant,
};

/** What the service gives back of the request: nobody signs it. */
const echoes = { cutoff_time: instant, market_or_event: z.string().nullable() };
const seal = { _proof: proofTextSchema.optional(), _citation: citationSchema };

const resolveMembers = {
  resolution_status: z.enum(['resolved', 'no_authoritative_source', 'ambiguous', 'conflicting']),
  filed_by_cutoff: z.boolean().nullable(),
  event_time: day.nullable(),
  disclosure_time: instant.nullable(),
  disclosure_date: day.nullable(),
  note: z.string(),
  candidate_count: z.int(),
  candidate_sources: z.array(filingRowSchema).max(CANDIDATES_MAX),
};

/** `/resolve`: the filing record at a cutoff. */
export const resolveBodySchema = z.strictObject({
  ...scope,
  ...resolveMembers,
  ...echoes,
  ...seal,
});
export type ResolveBody = z.infer<typeof resolveBodySchema>;

const proposerMembers = {
  answer: z.boolean().nullable(),
  confidence: z.union([z.literal(0), z.literal(1)]),
  timestamp: instant.nullable(),
  evidence_url: z.string().nullable(),
  source_tier: tier,
  note: z.string(),
  /** The filing that the answer is about; null where no filing is. */
  evidence: filingRowSchema.nullable(),
};

/** `/resolve/proposer`: the same answer for a proposer; `confidence` is 1 or 0 and never a probability. */
export const proposerBodySchema = z.strictObject({
  ...scope,
  ...proposerMembers,
  ...echoes,
  ...seal,
});
export type ProposerBody = z.infer<typeof proposerBodySchema>;

type Unsigned = keyof typeof echoes | keyof typeof seal;
/** Bodies as they are signed. */
export type SignedResolve = Omit<ResolveBody, Unsigned>;
export type SignedProposer = Omit<ProposerBody, Unsigned>;
export type SettlementScope = z.infer<z.ZodObject<typeof scope>>;

/** The request that an answer is cited under: its first cutoff stands for all of them. */
export function settlementTarget(path: string, scope: SettlementScope): string {
  const { entity, form, event_class, other_than, valid_from: cutoff } = scope;
  const item = other_than === null ? event_class : 'other';
  return canonicalTarget(path, {
    cutoff,
    entity,
    ...(form === null ? {} : { form }),
    ...(item === null ? {} : { event_class: item }),
  });
}

/** `/resolve/preview` and `/resolve/proposer/preview`: who and what may be asked for, and the rules. */
export const resolvePreviewSchema = z.strictObject({
  nature: z.string(),
  filers_count: z.int(),
  filers: z.array(
    z.strictObject({
      entity: z.string(),
      cik,
      entity_name: z.string(),
      tickers: z.array(z.string()),
      forms: z.array(z.string()),
      collected_at: instant,
      covered_from: day.nullable(),
      gaps: z.array(gap),
    }),
  ),
  source_classes: z.array(z.literal(FILING_SOURCE_CLASS)),
  cutoff_rule: z.string(),
  answer_rule: z.string(),
  none_rule: z.string(),
  confidence_rule: z.string().optional(),
  example_request: z.string().nullable(),
});
