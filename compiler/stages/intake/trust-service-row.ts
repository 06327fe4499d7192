import { z } from 'zod';
import { DEMAND_FIELDS, DEMAND_MODEL_SINCE, trustModel } from '../../contract/collections.ts';
import { DEMAND_CLASSES, DEMAND_DEPTHS } from '../../contract/roster-bodies.ts';
import { address } from './reading.ts';
import { captureFields, checkTimes, refusals, text, wholeNumber } from './row-origin.ts';
import { utcTime } from './times.ts';

const HOST =
  /^(?=.{1,190}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)+$/;

const endpoint = z.strictObject({ url: z.url(), unique_payers_30d: wholeNumber });

const rowSchema = z.strictObject({
  ...captureFields,
  host: z.string().regex(HOST, 'a host name in lower case, such as api.example.org'),
  name: text.nullable().optional(),
  score_total: z.number().nullable(),
  liveness_state: text.nullable(),
  liveness_streak: z.int().nullable(),
  baseline_delta: z.number().nullable(),
  first_endpoint: address.nullable(),
  calls_30d: wholeNumber.optional(),
  unique_payers_30d: wholeNumber.optional(),
  demand_class: z.enum(DEMAND_CLASSES).optional(),
  demand_depth: z.enum(DEMAND_DEPTHS).nullable().optional(),
  endpoints: wholeNumber.optional(),
  endpoints_by_class: z.partialRecord(z.enum(DEMAND_CLASSES), z.int().min(0)).nullable().optional(),
  last_called_at: utcTime.nullable().optional(),
  /** Payers of each endpoint, where the source gives them: only to check the lower bound with. */
  endpoint_payers: z.array(endpoint).max(10_000).optional(),
});
export type TrustServiceRow = z.infer<typeof rowSchema>;

type RefuseMember = (field: string, message: string) => void;

/** One x402 service on one capture day. */
export const trustServiceRowSchema = rowSchema.superRefine((row, context) => {
  const refuse = refusals(context);
  checkTimes(row, refuse);
  checkModel(row, refuse);
  checkPayers(row, refuse);
  checkEndpoints(row, refuse);
});

/** Demand is part of the rows since DEMAND_MODEL_SINCE, and of no row before. */
function checkModel(row: TrustServiceRow, refuse: RefuseMember): void {
  const demand = trustModel(row.capture_date) === 'demand-v1';
  for (const name of DEMAND_FIELDS) {
    if (demand && row[name] === undefined) {
      refuse(name, 'missing; rows of demand-v1 need it, or null if the source has none');
    }
    if (!demand && row[name] !== undefined) {
      refuse(name, `rows captured before ${DEMAND_MODEL_SINCE} have no demand; leave it out`);
    }
  }
}

/** A payer may use several endpoints, so only the largest count is sure, never their sum. */
function checkPayers(
  { unique_payers_30d: stated, endpoint_payers }: TrustServiceRow,
  refuse: RefuseMember,
) {
  if (endpoint_payers === undefined) return;
  const counts = endpoint_payers.flatMap((each) => each.unique_payers_30d ?? []);
  const largest = counts.length === 0 ? null : Math.max(...counts);
  if (stated === largest) return;
  const message = `${stated} is not ${largest}, the largest count of an endpoint; never store a sum`;
  refuse('unique_payers_30d', message);
}

function checkEndpoints(
  { endpoints, endpoints_by_class }: TrustServiceRow,
  refuse: RefuseMember,
): void {
  if (typeof endpoints !== 'number' || !endpoints_by_class) return;
  const sum = Object.values(endpoints_by_class).reduce((total, each) => total + each, 0);
  if (sum !== endpoints) {
    refuse('endpoints_by_class', `its counts make ${sum}, but endpoints is ${endpoints}`);
  }
}
