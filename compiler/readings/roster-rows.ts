import { z } from 'zod';
import { BUILTIN_UNITS } from '../catalog/units.ts';
import { DEMAND_FIELDS, DEMAND_MODEL_SINCE, trustModel } from '../products/collections.ts';
import { fitsSegment } from '../products/shapes/path.ts';
import { DEMAND_CLASSES, DEMAND_DEPTHS } from '../products/shapes/roster-bodies.ts';
import { day, figureFault, figureFaults, isNumberText, utcTime } from './field-rules.ts';
import { address, fieldsSchema, isAfter, label, scalar } from './reading.ts';

/** Where and when a stored row was read: the same members as of a reading, spelled the same. */
export const originFields = {
  ...fieldsSchema.pick({
    observed_at: true,
    collected_at: true,
    sources: true,
    source_ref: true,
    source_tier: true,
  }).shape,
  ...fieldsSchema
    .pick({ grade: true, scope: true, validation_status: true, uncertainty: true })
    .partial().shape,
};
const originSchema = z.strictObject(originFields);
export type RowOrigin = z.infer<typeof originSchema>;

const FACTS_MAX = 64;
/** Words that say something about a body wherever they stand. */
const RESERVED = ['provenance', 'record_hash', 'hash_core_version', '_citation', '_hash_core'];

export const text = label;
/** An id that is safe in a query and in a file name, and easy to read. */
export const rowId = z
  .string()
  .max(120)
  .regex(/^[A-Za-z0-9@][A-Za-z0-9._@/-]*$/, 'an id is made of letters, digits and . _ @ / -')
  .refine(fitsSegment, 'does not fit a file name; shorten it');
const wholeNumber = z.int().min(0).nullable();

const factName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, 'a name is lower snake case')
  .refine((name) => !RESERVED.includes(name), 'reserved name; choose another one');

/** Figures and words by name, as their source gives them; a name that ends in a built-in unit holds a figure. */
export const facts = z
  .record(factName, scalar)
  .superRefine((values, context) => {
    for (const { path, message } of figureFaults(values, BUILTIN_UNITS)) {
      context.addIssue({ code: 'custom', path: [...path], message });
    }
  })
  .refine((value) => Object.keys(value).length <= FACTS_MAX, `more than ${FACTS_MAX} members`);

/** What every row of a roster has beside its subject. */
const captureFields = {
  ...originFields,
  capture_date: day,
  /** Brought over from a collection that never hashed its rows: it stays without a hash. */
  imported: z.boolean().optional(),
  /** How the row came here, for people. */
  source_note: text.optional(),
  evidence: fieldsSchema.shape.evidence.optional(),
};
const captureSchema = z.strictObject(captureFields);
export type CaptureRow = z.infer<typeof captureSchema>;

export type Refuse = (field: string, message: string) => void;

/** Times that cannot be: nothing is observed or captured after it was collected. */
export function checkTimes(
  row: { observed_at: string; collected_at: string; capture_date?: string },
  refuse: Refuse,
): void {
  if (isAfter(row.observed_at, row.collected_at)) {
    refuse('observed_at', `"${row.observed_at}" is after collected_at; correct one of the two`);
  }
  const { capture_date: captured } = row;
  if (captured !== undefined && captured > row.collected_at.slice(0, 10)) {
    refuse(
      'capture_date',
      `"${captured}" is after the day of collected_at; correct one of the two`,
    );
  }
}

/** Reports what a check of a whole row finds, at the member that it names. */
export function refusals(context: z.RefinementCtx): Refuse {
  return (field, message) =>
    context.addIssue({ code: 'custom', path: field === '' ? [] : [field], message });
}

const HOST =
  /^(?=.{1,190}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)+$/;

const endpoint = z.strictObject({ url: z.url(), unique_payers_30d: wholeNumber });

const trustService = z.strictObject({
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
export type TrustServiceRow = z.infer<typeof trustService>;

/** One x402 service on one capture day. */
export const trustServiceRowSchema = trustService.superRefine((row, context) => {
  const refuse = refusals(context);
  checkTimes(row, refuse);
  checkModel(row, refuse);
  checkPayers(row, refuse);
  checkEndpoints(row, refuse);
});

/** Demand is part of the rows since DEMAND_MODEL_SINCE, and of no row before. */
function checkModel(row: TrustServiceRow, refuse: Refuse): void {
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
  refuse: Refuse,
) {
  if (endpoint_payers === undefined) return;
  const counts = endpoint_payers.flatMap((each) => each.unique_payers_30d ?? []);
  const largest = counts.length === 0 ? null : Math.max(...counts);
  if (stated === largest) return;
  const message = `${stated} is not ${largest}, the largest count of an endpoint; never store a sum`;
  refuse('unique_payers_30d', message);
}

function checkEndpoints({ endpoints, endpoints_by_class }: TrustServiceRow, refuse: Refuse): void {
  if (typeof endpoints !== 'number' || !endpoints_by_class) return;
  const sum = Object.values(endpoints_by_class).reduce((total, each) => total + each, 0);
  if (sum !== endpoints) {
    refuse('endpoints_by_class', `its counts make ${sum}, but endpoints is ${endpoints}`);
  }
}

const mcpServer = z.strictObject({
  ...captureFields,
  server_id: rowId,
  name: text.nullable().optional(),
  /** A word of the source. */
  status: text,
});
export type McpServerRow = z.infer<typeof mcpServer>;

/** One MCP server on one capture day. */
export const mcpServerRowSchema = mcpServer.superRefine((row, context) => {
  checkTimes(row, refusals(context));
});

const price = z.number().min(0).nullable();

const stableCoin = z.strictObject({
  ...captureFields,
  coin_id: rowId,
  symbol: z
    .string()
    .max(40)
    .regex(/^[A-Z0-9][A-Z0-9._+-]*$/, 'a symbol is upper case, without spaces'),
  name: text.nullable().optional(),
  current: facts,
});
export type StableCoinRow = z.infer<typeof stableCoin>;

/** What the roster reads out of `current`; other members are served as they are. */
const readSchema = z.looseObject({
  /** Price in units of the currency it is pegged to: 1 is on peg, whatever the currency is. */
  price_in_peg: price,
  market_cap_usd: price,
  peg: z.string().nullable(),
  lifespan_days: z.int().min(0).optional(),
});

/** One stablecoin on one capture day. */
export const stableCoinRowSchema = stableCoin.superRefine((row, context) => {
  checkTimes(row, refusals(context));
  for (const { path, message } of readSchema.safeParse(row.current).error?.issues ?? []) {
    context.addIssue({ code: 'custom', path: ['current', ...path], message });
  }
});

/** The figures that membership, flags and rank rest on; of a row that intake has accepted. */
export function coinFigures({ current }: StableCoinRow): z.infer<typeof readSchema> {
  return readSchema.parse(current);
}

/** A price, a supply or what a chain holds is a figure; of collateral and redemption a source may have a word only. */
const figures = facts.superRefine((values, context) => {
  for (const [name, value] of Object.entries(values)) {
    if (typeof value === 'string' && isNumberText(value)) {
      context.addIssue({ code: 'custom', path: [name], message: figureFault(value) });
    }
  }
});
const figure = z.union([z.number(), figures], {
  error: ({ input }) => (typeof input === 'string' ? figureFault(input) : undefined),
});
const described = z.union([
  z.number(),
  z
    .string()
    .max(200)
    .refine((text) => !isNumberText(text), { error: ({ input }) => figureFault(input) }),
  figures,
]);

const stablecoinDeath = z.strictObject({
  ...originFields,
  symbol: text,
  name: text,
  /** An algorithmic label, not an adjudication. */
  death_type: text,
  confirmed_dead_at: utcTime,
  pre_death_observed_at: utcTime,
  first_distress_at: utcTime.nullable(),
  lifespan_days: wholeNumber.optional(),
  pre_death_payload: z.strictObject({
    price: figure.nullable(),
    supply: figure.nullable(),
    collateral: described.nullable(),
    redemption: described.nullable(),
    per_chain: figure.nullable(),
  }),
  death_context: facts.nullable(),
  imported: z.boolean().optional(),
  source_note: text.optional(),
});
export type StablecoinDeathRow = z.infer<typeof stablecoinDeath>;

export const stablecoinDeathRowSchema = stablecoinDeath.superRefine((row, context) => {
  const refuse = refusals(context);
  checkTimes(row, refuse);
  const { confirmed_dead_at: dead } = row;
  if (isAfter(dead, row.collected_at)) {
    refuse('confirmed_dead_at', `"${dead}" is after collected_at; a death is never in the future`);
  }
  for (const name of ['pre_death_observed_at', 'first_distress_at'] as const) {
    const before = row[name];
    if (before !== null && isAfter(before, dead)) refuse(name, `"${before}" is after the death`);
  }
});
