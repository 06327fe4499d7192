import { z } from 'zod';
import { FRESHNESS_THRESHOLDS, UPDATE_STATES } from './freshness.ts';
import { lifecycleSchema, positionSchema, provenanceSchema, recordSchema } from './record.ts';
import { RECORD_HASH } from './record-hash.ts';
import { releaseEntrySchema } from './release-entry.ts';
import { CANDIDATES_MAX } from './resolve-bodies.ts';

const dateTime = z.iso.datetime();
const hash = z.string().regex(RECORD_HASH);
const count = z.int().min(0);
const facts = z.record(z.string(), z.unknown());
const path = z.string().regex(/^\//);
const freshnessWord = z.enum(['fresh', 'recent', 'stale']);
const freshnessCounts = z.strictObject({ fresh: count, recent: count, stale: count });
const updateState = z.enum(UPDATE_STATES);

/** `/gauge/sample`: one whole record, as it is sold. */
export const sampleSchema = z.strictObject({
  sample: recordSchema.required({ _citation: true }),
});

/** `/gauge/raw`: the bare record, unsigned, without rulers and statistics. */
export const rawSchema = recordSchema
  .omit({
    tier: true,
    source_agreement_cv: true,
    standard_ruler: true,
    stat_ruler: true,
    strata: true,
    decision_points: true,
    summary_en: true,
    summary_zh: true,
    record_hash_verifiable: true,
    ots_status: true,
    last_fact: true,
    unverified: true,
    _proof: true,
    _citation: true,
  })
  .strict();

/** `/gauge/history-preview`: the last snapshots, oldest first. */
export const historyPreviewSchema = z.strictObject({
  nature: z.string(),
  signal_id: z.string(),
  entity: z.string(),
  entity_name: z.string().nullable(),
  count,
  rows: z.array(
    z.strictObject({
      snapshot_date: dateTime,
      observed_at: dateTime,
      data_age_hours: z.number(),
      current: facts,
      record_hash: hash,
    }),
  ),
});

const coverageEntity = z.strictObject({
  entity: z.string(),
  entity_name: z.string().nullable(),
  observed_at: dateTime,
  age_hours_now: z.number().min(0),
  freshness: freshnessWord,
  dead_source: z.string().optional(),
  update_status: updateState,
});

/**
 * `/gauge/coverage`: the members after `latest_observed_at` are left out of the compact form; only a page has `page`,
 * `pages` and `next`.
 */
export const coverageSchema = z.strictObject({
  nature: z.string(),
  note: z.string(),
  totals: z.strictObject({
    signal_ids: count,
    industries: count,
    distinct_entities: count,
    freshness: freshnessCounts,
  }),
  signals: z.array(
    z.strictObject({
      signal_id: z.string(),
      industry: z.string(),
      entities_count: count,
      freshness_counts: freshnessCounts,
      update_status: updateState,
      latest_observed_at: dateTime.nullable(),
      measures: z.string().optional(),
      cadence: z.enum(Object.keys(FRESHNESS_THRESHOLDS)).optional(),
      sells_now: z.boolean().optional(),
      entities: z.array(coverageEntity).optional(),
    }),
  ),
  page: z.int().min(1).optional(),
  pages: count.optional(),
  next: path.nullable().optional(),
  cache_ttl_s: count,
  cache_policy: z.string(),
  cache_note: z.string(),
  freshness_rule: z.string(),
  update_status_rule: z.string(),
  freshness_thresholds: z.record(
    z.string(),
    z.strictObject({
      fresh_hours: z.number(),
      recent_hours: z.number(),
      dead_source_hours: z.number(),
    }),
  ),
});

/** `/gauge/catalog`: legal pairs, page by page; a signal too long for one page goes on in the next. */
export const catalogSchema = z.strictObject({
  signals: z.array(
    z.strictObject({
      signal_id: z.string(),
      industry: z.string(),
      /** Paths of the paid operations that have an answer about this signal now. */
      sells: z.array(path),
      /** Those that are free of this signal; absent where none is. */
      free: z.array(path).optional(),
      entities: z.array(
        z.strictObject({
          entity: z.string(),
          name: z.string().nullable(),
          entity_name: z.string().nullable(),
          ...positionSchema,
        }),
      ),
    }),
  ),
  page: z.int().min(1),
  pages: count,
  total_signals: count,
  total_pairs: count,
  next: path.nullable(),
  all: path,
});

/** `/gauge/preview`: beside these members one list of ids for each bundle, named after its path. */
export const previewSchema = z
  .object({
    nature: z.string(),
    as_of: dateTime,
    counts: z.record(z.string(), count),
    prices: z.array(
      z.strictObject({
        path,
        price_usd: z.string(),
        price_atomic: z.string(),
        price_by_signal: z.record(z.string(), z.string()).optional(),
        required: z.array(z.string()),
        summary: z.string(),
      }),
    ),
    left_out: z.string().exactOptional(),
    catalog: path,
    coverage: path,
    sample: path,
  })
  .catchall(z.array(z.string()));

/** `/gauge/search`: what a question leads to, best first; without results, why not. */
export const searchSchema = z.strictObject({
  q: z.string(),
  results: z.array(
    z.strictObject({
      id: z.string(),
      title: z.string(),
      answers: z.string(),
      price_usd: z.string(),
      request: path,
    }),
  ),
  unknown: z.array(z.string()).exactOptional(),
  hint: z.string().exactOptional(),
});

/** `/gauge/verify` and `/v/:record_hash`. */
export const verificationSchema = z.strictObject({
  endpoint: z.literal('gauge/verify'),
  hash: z.string(),
  found: z.boolean(),
  verified: z.boolean(),
  recomputed_hash: hash.nullable(),
  is_issuer_record: z.boolean(),
  is_truth_bear_record: z.boolean(),
  record_status: z.strictObject({ state: z.enum(['current', 'superseded', 'not_found']) }),
  signal_id: z.string().nullable(),
  entity: z.string().nullable(),
  observed_at: z.string().nullable(),
  source_ref: z.string().nullable(),
  scope: z.string().nullable(),
  note: z.string(),
  ots_status: z.string().nullable(),
  ambiguous: z.literal(true).optional(),
  matches: count.optional(),
  statement: z.string(),
});

/** `/merkle/spec`: archival text. */
export const merkleSpecSchema = z.strictObject({
  nature: z.string(),
  retired: z.literal(true),
  text: z.string(),
  instead: path,
  proof: path,
});

/** `/gauge/lifecycle` of one subject; `also` lists other lines that follow the same id. */
export const lifecycleBodySchema = z.strictObject({
  nature: z.string(),
  dim: z.literal('lifecycle'),
  signal_id: z.string(),
  entity: z.string(),
  entity_name: z.string().nullable(),
  observed_at: dateTime,
  lifecycle: lifecycleSchema.nullable(),
  also: z
    .array(
      z.strictObject({
        signal_id: z.string(),
        observed_at: dateTime,
        lifecycle: lifecycleSchema.nullable(),
        record_hash: hash,
      }),
    )
    .optional(),
  record_hash: hash,
  provenance: provenanceSchema,
  grade: z.string().nullable(),
  scope: z.string().nullable(),
  _proof: recordSchema.shape._proof,
  _citation: recordSchema.shape._citation,
});

const hex = z.string().regex(/^[0-9a-f]{64}$/);
const digits = z.string().regex(/^sha256:[0-9a-f]{8,64}$/);

const words = {
  ots_state: z.enum(['unstamped', 'pending', 'confirmed']),
  bitcoin_height: count.nullable(),
  bitcoin_block: hex.nullable(),
  stamped_at: z.iso.datetime().nullable(),
  ots_proof: z.string().nullable(),
  ots_note: z.string(),
};
const inclusion = {
  batch: z.string(),
  index: count,
  inclusion_proof: z.array(hex),
  root: hash,
  entry: releaseEntrySchema,
  entry_index: count,
  entry_proof: z.array(hex),
  log_root: hex,
  checkpoint: z.string(),
};
const batch = {
  batch: z.string(),
  day: z.iso.date(),
  sequence: z.int().min(1),
  as_of: dateTime,
  count,
  root: hash,
  entry_index: count,
};
const lookUp = { endpoint: z.literal('gauge/anchor'), hash: digits };

/** `/gauge/anchor`: the releases of the log, or what it says of one hash. */
export const anchorSchema = z.union([
  z.strictObject({
    endpoint: z.literal('gauge/anchor'),
    day: z.iso.date().optional(),
    log: z.strictObject({ size: count, checkpoint: z.string(), files: z.string() }),
    total: count,
    shown: count,
    batches: z.array(z.strictObject({ ...batch, ...words })),
    note: z.string(),
  }),
  z.strictObject({
    ...lookUp,
    found: z.literal(true),
    ...inclusion,
    ...words,
    note: z.string(),
  }),
  z.strictObject({
    ...lookUp,
    found: z.literal(false),
    ambiguous: z.literal(true).optional(),
    matches: count.optional(),
    note: z.string(),
  }),
]);

/** `/proof/:record_hash`: what a hash is taken of, its place in the log, the timestamp of that; the core only of a reading that is free. */
export const proofSchema = z.strictObject({
  endpoint: z.literal('proof'),
  hash: digits,
  found: z.boolean(),
  kind: z.enum(['reading', 'row', 'citation']).optional(),
  record_status: z.strictObject({ state: z.enum(['current', 'superseded', 'not_found']) }),
  signal_id: z.string().nullable().optional(),
  entity: z.string().nullable().optional(),
  observed_at: z.string().nullable().optional(),
  hash_core: z.record(z.string(), z.unknown()).nullable(),
  hash_core_members: z.array(z.string()).nullable(),
  recompute: z.string().optional(),
  inclusion: z.strictObject(inclusion).nullable(),
  anchor: z.strictObject(words).nullable(),
  ambiguous: z.literal(true).optional(),
  note: z.string(),
});

const phase = z.enum(['free', 'half_price', 'full_price']);

/** An accepted token; the members after its contract belong to tokens other than USDC. */
const paidAsset = z.strictObject({
  network: z.string(),
  caip2: z.string(),
  asset: z.string(),
  asset_symbol: z.string().optional(),
  decimals: z.int().optional(),
});

/** `/gauge/channels`: the ways to pay and to connect; the card channel adds members where it is configured. */
export const channelsSchema = z.strictObject({
  warning: z.string().optional(),
  x402: z.strictObject({
    available: z.boolean(),
    test_only: z.boolean(),
    versions: z.array(z.int()),
    /** Of x402 version 2, beside `bazaar`. */
    extensions: z.array(z.string()),
    scheme: z.literal('exact'),
    networks: z.array(z.string()),
    asset: z.string(),
    asset_symbol: z.string(),
    /** Where payments are taken on several networks or in several tokens. */
    assets: z.array(paidAsset).optional(),
    payTo: z.string(),
    smart_accounts: z.boolean(),
    how_to: z.string(),
  }),
  mcp: z.strictObject({ url: z.url(), transport: z.string(), available: z.boolean() }),
  subscription: z.strictObject({
    configured: z.boolean(),
    available: z.boolean(),
    /** Where tokens are sold; absent where none are. */
    path: path.optional(),
    use: z.string().optional(),
  }),
  fiat: z.looseObject({ configured: z.boolean(), available: z.boolean() }),
  human_track: z
    .strictObject({
      phases: z.array(z.strictObject({ phase, until: z.iso.date().nullable() })),
      phase_today: phase,
      note: z.string(),
    })
    .optional(),
});

const described = {
  path,
  method: z.enum(['GET', 'POST']),
  price_usd: z.string(),
  price_atomic: z.string().regex(/^[0-9]+$/),
  price_by_signal: z.record(z.string(), z.string()).optional(),
  price_range_usd: z.strictObject({ min: z.string(), max: z.string() }).optional(),
  description: z.string(),
  input_required: z.array(z.string()),
  input_example_request: path,
  params: z.record(z.string(), z.looseObject({ type: z.string() })),
  returns: z.string(),
  sells_now: z.boolean(),
};
const shown = { output_example: z.record(z.string(), z.unknown()).optional() };

/** `/manifest`: every operation with its price, parameters and a request that answers; other platforms have their own form. */
export const manifestSchema = z.strictObject({
  x402Version: z.literal(1),
  count: z.int(),
  note: z.string(),
  entries: z.array(z.strictObject({ ...described, ...shown })),
  files: z.array(z.strictObject({ path, summary: z.string() })),
});

/** `/manifest?platform=mcp`: the tools as `tools/list` names them. */
export const toolListSchema = z.strictObject({
  tools: z.array(
    z.looseObject({
      name: z.string(),
      description: z.string(),
      inputSchema: z.looseObject({ type: z.literal('object') }),
    }),
  ),
});

/** `/manifest?platform=a2a`: the members of the agent card that a reader needs to find a skill. */
export const agentCardSchema = z.looseObject({
  name: z.string(),
  version: z.string(),
  supportedInterfaces: z.array(z.looseObject({ url: z.url(), protocolBinding: z.string() })),
  skills: z.array(
    z.looseObject({ id: z.string(), description: z.string(), examples: z.array(z.url()) }),
  ),
});

const { params, ...withoutParams } = described;

/** `/.well-known/x402`: the paid operations as crawlers read them. */
export const paymentManifestSchema = z.strictObject({
  version: z.literal(1),
  x402Version: z.literal(1),
  /** Of version 2, beside `bazaar`. */
  extensions: z.array(z.string()),
  resources: z.array(z.url()),
  items: z.array(
    z.strictObject({
      resource: z.url(),
      type: z.literal('http'),
      x402Version: z.literal(1),
      accepts: z.array(z.looseObject({ scheme: z.literal('exact') })),
      ...withoutParams,
    }),
  ),
  openapi: z.url(),
  manifest: z.url(),
});

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
  verdict: z.enum([
    'verified',
    'partly_verified',
    'issuer_unknown',
    'failed',
    'unsigned',
    'unproven',
  ]),
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
