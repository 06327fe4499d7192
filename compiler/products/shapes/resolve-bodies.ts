import { z } from 'zod';
import { sealed } from '../../format/citation.ts';
import { member, orNull } from '../../format/members.ts';
import { FILING_COLLECTION, FILING_SOURCE_CLASS } from './filing.ts';
import { canonicalTarget } from './path.ts';

/** What both operations say of themselves. */
export const SETTLEMENT_NATURE =
  'The filing record at a cutoff; describes filings, never adjudicates the event; no forecast, no advice';

/** Filings that one answer lists; `candidate_count` tells how many there are. */
export const CANDIDATES_MAX = 10;

const instant = z.iso.datetime();
const day = z.iso.date();
const cik = z
  .string()
  .regex(/^\d{10}$/)
  .meta({ examples: ['0000000001'] });
const basis = z.enum(['utc', 'new-york', 'undetermined']);

const facts = {
  hash_core_version: member.hash_core_version,
  entity: cik.describe('who or what is measured: its id'),
  accession: z.string().describe('number of the filing'),
  form: z.string().describe('form of the filing'),
  items: z.array(z.string()).describe('items of an 8-K'),
  event_time: day
    .nullable()
    .describe('day of the event or period as the filing states it; null without one'),
  filing_date: day.describe('filing day in New York'),
  disclosure_time: instant.nullable().describe('UTC date-time of acceptance; null where unknown'),
  acceptance_basis: basis.describe('how the acceptance time was stated'),
  observed_at: member.observed_at,
  snapshot_date: member.snapshot_date,
  source: z.string().describe('where it comes from'),
  source_ref: member.source_ref,
  source_tier: member.source_tier,
};

const hashCore = z.strictObject({
  row: z.literal(FILING_COLLECTION).describe('kind of row'),
  ...facts,
  items: facts.items.describe('one entry for each item'),
});

/** One stored filing: its facts as they are hashed, and what is said of it beside them. */
export const filingRowSchema = z.strictObject({
  ...facts,
  is_amendment: z
    .boolean()
    .meta({ description: 'whether it amends another filing', examples: [false] }),
  evidence_url: z.string().nullable().describe('official URL of the filing; null without one'),
  grade: orNull(member.grade),
  /** When it was first collected as it is. */
  retrieved_at: instant.describe('UTC date-time at which the snapshot was collected'),
  record_hash: member.record_hash,
  _hash_core: hashCore.describe('canonical pre-image of the record hash'),
});
export type FilingRow = z.infer<typeof filingRowSchema>;

const gap = z.strictObject({
  from: day.describe('first day or date-time'),
  to: day.describe('last day or date-time'),
});
/** A day or an instant, as the basis of the answer says. */
const bound = z.union([day, instant]);

/**
 * What both operations sign of the cutoffs that an answer holds for: one filer, one form, one item or none, and cutoffs from
 * `valid_from` on, before `valid_until`.
 */
const scope = {
  nature: z
    .literal(SETTLEMENT_NATURE)
    .describe('what the body is: descriptive, no forecast, no advice'),
  entity: facts.entity,
  entity_name: z.string().describe('name of the entity for people; null where none is known'),
  tickers: z.array(z.string()).describe('ticker symbols of the filer'),
  /** Null for every form. */
  form: z.string().nullable().describe('form of the filing'),
  event_class: z.string().nullable().describe('item of an 8-K; null for the whole form'),
  /** Items that have answers of their own, where this one is about all other items; null for any other answer. */
  other_than: z
    .array(z.string())
    .nullable()
    .describe('items that this answer is not about; null where it is about the form or one item'),
  source_class: z
    .literal(FILING_SOURCE_CLASS)
    .describe('source class; only securities filings exist'),
  /** Which cutoffs it holds for: days, instants, or with null both. */
  basis: z
    .enum(['filing_date', 'acceptance_time'])
    .nullable()
    .describe('whether cutoffs are compared with filing days or acceptance times; null for both'),
  valid_from: bound.describe('first cutoff that the answer holds for'),
  valid_until: bound
    .nullable()
    .describe('first later cutoff that it does not hold for; null for none'),
  /** The days that it holds for, where it holds for both. */
  valid_days: z
    .strictObject({
      from: day.describe('first day that the answer holds for'),
      until: day.nullable().describe('first later day that it does not hold for; null for none'),
    })
    .nullable()
    .describe('the same for cutoffs that are days, where it holds for both; else null'),
  /** When the list of filings was looked at, as far as the answer rests on it. */
  observed_at: member.observed_at,
};

/** What the service gives back of the request: nobody signs it. */
const echoes = {
  cutoff_time: instant.describe('UTC date-time of the cutoff that was asked for; not signed'),
  market_or_event: z.string().nullable().describe('the text that was sent along; not signed'),
};
const seal = { _proof: sealed._proof, _citation: sealed._citation.nonoptional() };

const resolveMembers = {
  resolution_status: z
    .enum(['resolved', 'no_authoritative_source', 'ambiguous', 'conflicting'])
    .describe('resolved, no_authoritative_source, ambiguous or conflicting'),
  filed_by_cutoff: z
    .boolean()
    .nullable()
    .describe('whether it was filed by the cutoff; null where nobody can tell'),
  event_time: facts.event_time,
  disclosure_time: facts.disclosure_time,
  disclosure_date: day.nullable().describe('filing day in New York; null where unknown'),
  note: member.note,
  candidate_count: z.int().describe('filings that fit'),
  candidate_sources: z.array(filingRowSchema).max(CANDIDATES_MAX).describe('the first of them'),
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
  answer: z.boolean().nullable().describe('yes, no, or null where nobody can tell'),
  confidence: z
    .union([z.literal(0), z.literal(1)])
    .describe('1 where there is an answer, else 0; no probability'),
  timestamp: instant
    .nullable()
    .describe('UTC date-time at which the filing was accepted; null where that is unknown'),
  evidence_url: filingRowSchema.shape.evidence_url,
  source_tier: member.source_tier,
  note: member.note,
  evidence: filingRowSchema.nullable().describe('what the statement was read from'),
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
  nature: member.nature,
  filers_count: z.int().describe('number of filers'),
  filers: z
    .array(
      z.strictObject({
        entity: member.entity,
        cik: cik.describe('number of the filer, ten digits'),
        entity_name: scope.entity_name,
        tickers: scope.tickers,
        forms: z.array(z.string()).describe('forms that are stored'),
        collected_at: instant.describe('UTC date-time at which the list was collected'),
        covered_from: day.nullable().describe('first filing day that is covered; null for none'),
        gaps: z.array(gap).describe('filing days of which some filings could not be read'),
      }),
    )
    .describe('one entry for each filer'),
  source_classes: z
    .array(z.literal(FILING_SOURCE_CLASS))
    .describe('source classes that can be asked for'),
  cutoff_rule: z.string().describe('how the cutoff is read'),
  answer_rule: z.string().describe('when the answer is yes or no'),
  none_rule: z.string().describe('when there is no answer'),
  confidence_rule: z
    .string()
    .optional()
    .meta({ description: 'what the confidence says', examples: ['invented confidence rule'] }),
  example_request: member.example_request,
});
