import { z } from 'zod';
import { citationSchema } from './citation.ts';
import { FILING_COLLECTION, FILING_SOURCE_CLASS } from './filing.ts';
import { RECORD_HASH } from './record-hash.ts';

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

/** One stored filing as it is delivered: facts, hash core and a citation of its own. */
export const filingRowSchema = z.strictObject({
  nature: z.string(),
  entity_name: z.string(),
  ...facts,
  is_amendment: z.boolean(),
  evidence_url: z.string().nullable(),
  grade: z.string().nullable(),
  record_hash: z.string().regex(RECORD_HASH),
  _hash_core: z.strictObject({ row: z.literal(FILING_COLLECTION), ...facts }),
  _citation: citationSchema,
});
export type FilingRow = z.infer<typeof filingRowSchema>;

/** What is stored of one filer, signed: it speaks where no filing does. */
export const filerCoverageSchema = z.strictObject({
  nature: z.string(),
  entity: cik,
  entity_name: z.string(),
  tickers: z.array(z.string()),
  /** When the list was last collected. */
  observed_at: instant,
  covered_from: day.nullable(),
  covers: z.string(),
  filings_count: z.int(),
  forms: z.array(
    z.strictObject({
      form: z.string(),
      count: z.int(),
      first_filing_date: day,
      last_filing_date: day,
    }),
  ),
  source: z.string(),
  source_ref: z.string().nullable(),
  source_tier: tier,
  grade: z.string().nullable(),
  _citation: citationSchema,
});
export type FilerCoverage = z.infer<typeof filerCoverageSchema>;

const question = {
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

/** `/resolve`: the filing record at a cutoff, with everything that the answer follows from. */
export const resolveBodySchema = z.strictObject({
  nature: z.string(),
  ...question,
  resolution_status: z.enum(['resolved', 'no_authoritative_source', 'ambiguous', 'conflicting']),
  filed_by_cutoff: z.boolean().nullable(),
  event_time: day.nullable(),
  disclosure_time: instant.nullable(),
  disclosure_date: day.nullable(),
  note: z.string(),
  candidate_count: z.int(),
  candidate_sources: z.array(filingRowSchema).max(CANDIDATES_MAX),
  coverage: filerCoverageSchema,
  _citation: citationSchema,
});
export type ResolveBody = z.infer<typeof resolveBodySchema>;

/** `/resolve/proposer`: the same answer for a proposer; `confidence` is 1 or 0 and never a probability. */
export const proposerBodySchema = z.strictObject({
  nature: z.string(),
  ...question,
  answer: z.boolean().nullable(),
  confidence: z.union([z.literal(0), z.literal(1)]),
  timestamp: instant.nullable(),
  evidence_url: z.string().nullable(),
  source_tier: tier,
  note: z.string(),
  /** The filing that the answer cites, or what is stored of the filer where it cites none. */
  evidence: z.union([filingRowSchema, filerCoverageSchema]),
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
    }),
  ),
  source_classes: z.array(z.literal(FILING_SOURCE_CLASS)),
  cutoff_rule: z.string(),
  answer_rule: z.string(),
  none_rule: z.string(),
  confidence_rule: z.string().optional(),
  example_request: z.string().nullable(),
});
