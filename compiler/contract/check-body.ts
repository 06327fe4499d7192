import { z } from 'zod';
import { CANDIDATES_MAX } from './resolve-bodies.ts';

/** Citations that one body of `POST /verify` may carry: those of the longest settlement answer, each costs a signature check. */
export const CHECKED_CITATIONS_MAX = CANDIDATES_MAX + 2;
/** Single findings that an answer of `POST /verify` lists, failed ones first. */
export const CHECK_DETAILS_MAX = 100;

const status = z.enum(['pass', 'fail', 'not_applicable']);
const check = z.strictObject({ status, detail: z.string() });

/** `POST /verify`: what holds of a record or body that the caller sent. */
export const checkSchema = z.strictObject({
  endpoint: z.literal('verify'),
  /**
   * As `signalpress verify --issuer <this issuer>` says it: `unsigned` if nothing contradicts itself but not all of it
   * is signed, `partly_verified` if nothing signs the content. A body of another issuer is at best `issuer_unknown`, as for
   * the command without --issuer.
   */
  verdict: z.enum(['verified', 'partly_verified', 'issuer_unknown', 'failed', 'unsigned']),
  issuer: z.string().nullable(),
  is_issuer_record: z.boolean(),
  checks: z.strictObject({
    hash: check,
    signature: check,
    content: check,
    /** Whether this service's log holds every record hash of the body; the verdict does not depend on it. */
    inclusion: z.strictObject({
      status: z.enum(['pass', 'fail', 'not_applicable', 'undetermined']),
      detail: z.string(),
    }),
    /** Whether the body answers the request that was sent with it as `expect`; absent where none was. */
    expect: check.exactOptional(),
  }),
  /** What the body is about, as its issuer signed it; no age, for that needs the reader's own clock. Null for what does not hold. */
  about: z
    .strictObject({
      subject: z.string().nullable(),
      fact: z.string(),
      answers: z.string().nullable(),
      unsigned: z.strictObject({ market_or_event: z.string() }).nullable(),
      observed_at: z.string().nullable(),
      time_of: z.enum(['reading', 'oldest', 'newest_row', 'coverage']),
      retrieved_at: z.string(),
    })
    .nullable(),
  details: z.array(
    z.strictObject({ check: z.string(), where: z.string(), status, detail: z.string() }),
  ),
  details_count: z.int(),
  statement: z.string(),
});
export type CheckBody = z.infer<typeof checkSchema>;
