import { z } from 'zod';
import { citationSchema, proofTextSchema } from './citation.ts';
import { FILING_COLLECTION, FILING_SOURCE_CLASS } from './filing.ts';
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

/** Filings of a list that one answer carries; a question that needs more of them is not sold. */
export const LIST_FILINGS_MAX = 1000;

/** One stored filing as it is delivered: facts, hash core and a citation of its own. */
export const filingRowSchema = z.strictObject({
  nature: z.string(),
  entity_name: z.string(),
  ...facts,
  is_amendment: z.boolean(),
  evidence_url: z.string().nullable(),
  grade: z.string().nullable(),
  record_hash: hash,
  _hash_core: hashCore,
  _citation: citationSchema,
});
export type FilingRow = z.infer<typeof filingRowSchema>;

const HEX_HASH = /^[0-9a-f]{64}$/;
const gap = z.strictObject({ from: day, to: day });

/** What is stored of one filer, signed: it speaks where no filing does. */
export const filerCoverageSchema = z.strictObject({
  nature: z.string(),
  entity: cik,
  entity_name: z.string(),
  tickers: z.array(z.string()),
  observed_at: instant,
  covered_from: day.nullable(),
  /** Filing days of which some filings could not be read. */
  gaps: z.array(gap),
  covers: z.string(),
  filings_count: z.int(),
  /** Every list that is stored, by form and item: what is not here was never stored. */
  lists: z.array(
    z.strictObject({
      form: z.string(),
      event_class: z.string().nullable(),
      count: z.int().min(1),
      amendments: z.int().min(0),
      lead_days: z.int().min(0),
      root: z.string().regex(HEX_HASH),
    }),
  ),
  source: z.string(),
  source_ref: z.string().nullable(),
  source_tier: tier,
  grade: z.string().nullable(),
  _citation: citationSchema,
});
export type FilerCoverage = z.infer<typeof filerCoverageSchema>;

/** Neighbouring filings of one list of the coverage, with what leads from them to its root. */
export const listStretchSchema = z.strictObject({
  /** Position of the first of them; the newest filing of the list is 0. */
  index: z.int().min(0),
  /** A filing each, as every source lists it. */
  filings: z
    .array(z.array(z.strictObject({ record_hash: hash, _hash_core: hashCore })).min(1))
    .min(1)
    .max(LIST_FILINGS_MAX),
  beside: z.array(z.string().regex(HEX_HASH)),
});

const question = {
  nature: z.literal(SETTLEMENT_NATURE),
  entity: z.string(),
  cik,
  entity_name: z.string(),
  form: z.string(),
  event_class: z.string().nullable(),
  source_class: z.literal(FILING_SOURCE_CLASS),
  market_or_event: z.string().nullable(),
  cutoff: z.string(),
  cutoff_time: instant,
  cutoff_basis: z.enum(['filing_date', 'acceptance_time']),
};

const evidence = {
  /** Null where the filer has no list of the form and item. */
  list: listStretchSchema.nullable(),
  coverage: filerCoverageSchema,
};

/** `/resolve`: the filing record at a cutoff, with everything that the answer follows from. */
export const resolveBodySchema = z.strictObject({
  ...question,
  resolution_status: z.enum(['resolved', 'no_authoritative_source', 'ambiguous', 'conflicting']),
  filed_by_cutoff: z.boolean().nullable(),
  event_time: day.nullable(),
  disclosure_time: instant.nullable(),
  disclosure_date: day.nullable(),
  note: z.string(),
  candidate_count: z.int(),
  candidate_sources: z.array(filingRowSchema).max(CANDIDATES_MAX),
  ...evidence,
  _proof: proofTextSchema.optional(),
  _citation: citationSchema,
});
export type ResolveBody = z.infer<typeof resolveBodySchema>;

/** `/resolve/proposer`: the same answer for a proposer; `confidence` is 1 or 0 and never a probability. */
export const proposerBodySchema = z.strictObject({
  ...question,
  answer: z.boolean().nullable(),
  confidence: z.union([z.literal(0), z.literal(1)]),
  timestamp: instant.nullable(),
  evidence_url: z.string().nullable(),
  source_tier: tier,
  note: z.string(),
  /** The filing that the answer cites; null where it cites what is stored of the filer. */
  evidence: filingRowSchema.nullable(),
  ...evidence,
  _proof: proofTextSchema.optional(),
  _citation: citationSchema,
});
export type ProposerBody = z.infer<typeof proposerBodySchema>;

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
