import { z } from 'zod';
import { sealed } from '../../format/citation.ts';
import { INVENTED_HASH, member, orNull } from '../../format/members.ts';
import { releaseEntrySchema } from '../../format/release-entry.ts';
import { FRESHNESS_THRESHOLDS, UPDATE_STATES } from './freshness.ts';
import { disclosure, lifecycle, positionSchema, provenance, recordSchema } from './record.ts';
import { CANDIDATES_MAX } from './resolve-bodies.ts';

const dateTime = z.iso.datetime();
const count = z.int().min(0);
const path = z
  .string()
  .regex(/^\//)
  .meta({ examples: ['/gauge'] });
const freshnessCounts = z.strictObject({
  fresh: count.describe('number of fresh ones'),
  recent: count.describe('number of recent ones'),
  stale: count.describe('number of stale ones'),
});
const update_status = z
  .enum(UPDATE_STATES)
  .describe('whether the source publishes on time; no freshness');

/** `/gauge/sample`: one whole record, as it is sold. */
export const sampleSchema = z.strictObject({
  sample: recordSchema.required({ _citation: true }).describe('a whole record, or its path'),
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
  nature: member.nature,
  signal_id: member.signal_id,
  entity: member.entity,
  entity_name: member.entity_name,
  count: member.count,
  rows: z
    .array(
      z.strictObject({
        snapshot_date: member.snapshot_date,
        observed_at: member.observed_at,
        data_age_hours: member.data_age_hours,
        current: member.current,
        record_hash: member.record_hash,
      }),
    )
    .describe('the rows'),
});

const paging = {
  page: z.int().min(1).describe('this page, from 1'),
  pages: count.describe('number of pages'),
  next: path.nullable().describe('request for the next page; null on the last'),
};

const coverageEntity = z.strictObject({
  entity: member.entity,
  entity_name: member.entity_name,
  observed_at: member.observed_at,
  age_hours_now: member.age_hours_now,
  freshness: member.freshness,
  dead_source: member.dead_source.optional(),
  update_status,
});

/**
 * `/gauge/coverage`: the members after `latest_observed_at` are left out of the compact form; only a page has `page`,
 * `pages` and `next`.
 */
export const coverageSchema = z.strictObject({
  nature: member.nature,
  note: member.note,
  totals: z
    .strictObject({
      signal_ids: count.describe('number of signals'),
      industries: count.describe('number of industries'),
      distinct_entities: count.describe('number of entities'),
      freshness: freshnessCounts.describe('entities by freshness'),
    })
    .describe('sums over everything'),
  signals: z
    .array(
      z.strictObject({
        signal_id: member.signal_id,
        industry: member.industry,
        entities_count: count.describe('number of entities'),
        freshness_counts: freshnessCounts.describe('entities by freshness'),
        update_status,
        latest_observed_at: dateTime
          .nullable()
          .describe('UTC date-time of the newest observation; null without any'),
        measures: member.measures.optional(),
        cadence: z
          .enum(Object.keys(FRESHNESS_THRESHOLDS))
          .optional()
          .meta({ description: 'how often the source publishes', examples: ['hourly'] }),
        sells_now: z
          .boolean()
          .optional()
          .meta({ description: 'whether it is answered now', examples: [true] }),
        entities: z.array(coverageEntity).optional().describe('its entities'),
      }),
    )
    .describe('one entry for each signal'),
  page: paging.page.optional(),
  pages: paging.pages.optional(),
  next: paging.next.optional(),
  cache_ttl_s: count.describe('seconds for which the answer may be kept'),
  cache_policy: z.string().describe('how the answer is kept'),
  cache_note: z.string().describe('what may be kept'),
  freshness_rule: member.freshness_rule,
  update_status_rule: z.string().describe('how update_status follows'),
  freshness_thresholds: z
    .record(
      z.string(),
      z.strictObject({
        fresh_hours: z.number().describe('hours up to which a reading is fresh'),
        recent_hours: z.number().describe('hours up to which a reading is recent'),
        dead_source_hours: z
          .number()
          .describe('hours behind which the source seems to have stopped'),
      }),
    )
    .describe('limits of each cadence, in hours'),
});

/** `/gauge/catalog`: legal pairs, page by page; a signal too long for one page goes on in the next. */
export const catalogSchema = z.strictObject({
  signals: z
    .array(
      z.strictObject({
        signal_id: member.signal_id,
        industry: member.industry,
        sells: z.array(path).describe('paths of the paid operations that answer about it now'),
        free: z
          .array(path)
          .optional()
          .describe('paths of the operations that answer about it now and are free of it'),
        entities: z
          .array(
            z.strictObject({
              entity: member.entity,
              name: member.name,
              entity_name: member.entity_name,
              ...positionSchema,
            }),
          )
          .describe('its entities'),
      }),
    )
    .describe('one entry for each signal'),
  page: paging.page,
  pages: paging.pages,
  total_signals: count.describe('number of signals'),
  total_pairs: count.describe('number of pairs of signal and entity'),
  next: paging.next,
  all: path.describe('request for everything at once'),
});

const price_by_signal = z
  .record(z.string(), z.string())
  .optional()
  .describe('decimal price in US dollars of signals that cost something else, "0" for free');

/** `/gauge/preview`: beside these members one list of ids for each bundle, named after its path. */
export const previewSchema = z
  .object({
    nature: member.nature,
    as_of: member.as_of,
    counts: z.record(z.string(), count).describe('numbers by name'),
    prices: z
      .array(
        z.strictObject({
          path: path.describe('path of the operation'),
          price_usd: member.price_usd,
          price_atomic: z.string().describe('price in millionths of a dollar, an integer'),
          price_by_signal,
          required: z.array(z.string()).describe('names of required parameters'),
          summary: z.string().describe('one sentence'),
        }),
      )
      .describe('the price list'),
    left_out: z
      .string()
      .exactOptional()
      .describe('what this answer does not show, and where it is'),
    catalog: path.describe('path of the legal pairs'),
    coverage: path.describe('path of the coverage, or what is stored of the filer'),
    sample: path.describe('a whole record, or its path'),
  })
  .catchall(z.array(z.string()));

/** `/gauge/search`: what a question leads to, best first; without results, why not. */
export const searchSchema = z.strictObject({
  q: member.q,
  results: z
    .array(
      z.strictObject({
        id: z.string().describe('signal/entity, the id of a signal, a path, or a request'),
        title: z.string().describe('what it is about'),
        answers: z.string().describe('what an answer holds'),
        price_usd: member.price_usd,
        request: path.describe('the GET that asks for it'),
        open: z.array(z.string()).describe('words of the question that it does not answer'),
      }),
    )
    .describe('what answers the question, best first'),
  note: z.string().exactOptional().describe('why there is no result'),
});

const record_status = z
  .strictObject({
    state: z
      .enum(['current', 'superseded', 'not_found'])
      .describe('current, superseded or not_found'),
  })
  .describe('whether the hash is of the latest reading');
const observed_at = z
  .string()
  .nullable()
  .describe('UTC date-time of the observation; of many rows the oldest');
const ambiguous = z
  .literal(true)
  .optional()
  .describe('true where several hashes begin with the given digits');
const matches = count.optional().describe('entries that fit, or how many');

/** `/gauge/verify` and `/v/:record_hash`. */
export const verificationSchema = z.strictObject({
  endpoint: z.literal('gauge/verify').describe('which operation answered'),
  hash: z.string().describe('sha256:<64 hex>, or its first digits as they were asked for'),
  found: z.boolean().describe('whether it is stored'),
  verified: z.boolean().describe('whether the stored core gives this hash'),
  recomputed_hash: orNull(member.record_hash).describe(
    'sha256:<64 hex> made again from what is stored; null without it',
  ),
  is_issuer_record: z.boolean().describe('whether this issuer made it'),
  is_truth_bear_record: z.boolean().describe('the same under an older name'),
  record_status,
  signal_id: orNull(member.signal_id),
  entity: orNull(member.entity),
  observed_at,
  source_ref: member.source_ref,
  scope: orNull(member.scope),
  note: member.note,
  ots_status: z.string().nullable().describe('retired: pending or null'),
  ambiguous,
  matches,
  statement: z.string().describe('the finding as a plain sentence'),
});

/** `/merkle/spec`: archival text. */
export const merkleSpecSchema = z.strictObject({
  nature: member.nature,
  retired: z.literal(true).describe('always true'),
  text: z.string().describe('the text itself'),
  instead: path.describe('path to use in its place'),
  proof: path.describe('path of the proof of a hash'),
});

/** `/gauge/lifecycle` of one subject; `also` lists other lines that follow the same id. */
export const lifecycleBodySchema = z.strictObject({
  nature: member.nature,
  dim: z.literal('lifecycle').describe('which product of the reading this is'),
  signal_id: member.signal_id,
  entity: member.entity,
  entity_name: member.entity_name,
  observed_at: member.observed_at,
  lifecycle,
  also: z
    .array(
      z.strictObject({
        signal_id: member.signal_id,
        observed_at: member.observed_at,
        lifecycle,
        record_hash: member.record_hash,
      }),
    )
    .optional()
    .describe('other lines that follow the same subject'),
  record_hash: member.record_hash,
  provenance,
  ...disclosure,
  ...sealed,
});

const hex = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .meta({ examples: ['e7'.repeat(32)] });
const digits = z
  .string()
  .regex(/^sha256:[0-9a-f]{8,64}$/)
  .meta({
    description: 'sha256:<64 hex>, or its first digits as they were asked for',
    examples: [INVENTED_HASH],
  });

const words = {
  ots_state: z
    .enum(['unstamped', 'pending', 'confirmed'])
    .describe('state of the time stamp: unstamped, pending or confirmed'),
  bitcoin_height: count
    .nullable()
    .describe('height of the block that holds the stamp; null while pending'),
  bitcoin_block: hex.nullable().describe('64 hex digits of that block; null while pending'),
  stamped_at: dateTime
    .nullable()
    .describe('UTC date-time of the time stamp; null while there is none'),
  ots_proof: z
    .string()
    .nullable()
    .describe('where the proof of the time stamp is; null without one'),
  ots_note: z.string().describe('what the time stamp proves'),
};
const inclusion = {
  batch: z.string().describe('name of the release'),
  index: count.describe('position, from 0'),
  inclusion_proof: z
    .array(hex)
    .describe('64 hex digits of each sibling, from the leaf to entry.new.root'),
  root: member.root,
  entry: releaseEntrySchema.describe(
    'what the log says of the release that took the hash in; its canonical JSON is the entry',
  ),
  entry_index: count.describe('position of the entry in the log, from 0'),
  entry_proof: z.array(hex).describe('64 hex digits of each sibling, from the entry to log_root'),
  log_root: hex.describe('64 hex digits of the root of the log that the checkpoint signs'),
  checkpoint: z.string().describe('the signed note of the log'),
};
const batch = {
  batch: inclusion.batch,
  day: member.day,
  sequence: member.sequence,
  as_of: member.as_of,
  count: member.count,
  root: member.root,
  entry_index: inclusion.entry_index,
};
const lookUp = {
  endpoint: z.literal('gauge/anchor').describe('which operation answered'),
  hash: digits,
};

/** `/gauge/anchor`: the releases of the log, or what it says of one hash. */
export const anchorSchema = z.union([
  z.strictObject({
    endpoint: z.literal('gauge/anchor').describe('which operation answered'),
    day: member.day.optional(),
    log: z
      .strictObject({
        size: count.describe('entries of the log'),
        checkpoint: inclusion.checkpoint,
        files: z.string().describe('files that help to check what was bought, or their folder'),
      })
      .describe('the transparency log'),
    total: member.total,
    shown: count.describe('number of entries that are listed'),
    batches: z
      .array(z.strictObject({ ...batch, ...words }))
      .describe('releases of the log, newest first'),
    note: member.note,
  }),
  z.strictObject({
    ...lookUp,
    found: z.literal(true).describe('whether it is stored'),
    ...inclusion,
    ...words,
    note: member.note,
  }),
  z.strictObject({
    ...lookUp,
    found: z.literal(false).describe('whether it is stored'),
    ambiguous,
    matches,
    note: member.note,
  }),
]);

/** `/proof/:record_hash`: what a hash is taken of, its place in the log, the timestamp of that; the core only of a reading that is free. */
export const proofSchema = z.strictObject({
  endpoint: z.literal('proof').describe('which operation answered'),
  hash: digits,
  found: z.boolean().describe('whether it is stored'),
  kind: z
    .enum(['reading', 'row', 'citation'])
    .optional()
    .meta({
      description: 'what the hash is taken of: a reading, a row or a citation',
      examples: ['reading'],
    }),
  record_status,
  signal_id: orNull(member.signal_id).optional(),
  entity: orNull(member.entity).optional(),
  observed_at: observed_at.optional(),
  hash_core: z
    .record(z.string(), z.unknown())
    .nullable()
    .describe('members that the hash is taken of'),
  hash_core_members: z
    .array(z.string())
    .nullable()
    .describe('names of the members that the hash is taken of'),
  recompute: z.string().optional().describe('how to make the hash from a body that you hold'),
  inclusion: z.strictObject(inclusion).nullable().describe('place in the log, with its proof'),
  anchor: z.strictObject(words).nullable().describe('time stamp of the log; null without one'),
  ambiguous,
  note: member.note,
});

const available = z.boolean().describe('whether it can be used; of legs how many have a reading');
const configured = z.boolean().describe('whether the operator set it up');
const extensions = z
  .array(z.string())
  .describe('extensions of x402 version 2 that are on, beside bazaar');
const phase = z.enum(['free', 'half_price', 'full_price']);

/** An accepted token; the members after its contract belong to tokens other than USDC. */
const paidAsset = z.strictObject({
  network: z.string().describe('name of the network'),
  caip2: z.string().describe('CAIP-2 name of the network'),
  asset: z.string().describe('address of the token contract'),
  asset_symbol: z.string().optional().describe('symbol of the token'),
  decimals: z.int().optional().describe('decimal places of the token'),
});

/** `/gauge/channels`: the ways to pay and to connect; the card channel adds members where it is configured. */
export const channelsSchema = z.strictObject({
  warning: z.string().optional().describe('what has to be known before paying'),
  x402: z
    .strictObject({
      available,
      test_only: z.boolean().describe('whether payments are only pretended here'),
      versions: z.array(z.int()).describe('versions of x402'),
      extensions,
      scheme: z.literal('exact').describe('scheme of x402'),
      networks: z.array(z.string()).describe('names of the networks'),
      asset: paidAsset.shape.asset,
      asset_symbol: z.string().describe('symbol of the token'),
      assets: z
        .array(paidAsset)
        .optional()
        .describe('contract of each token on each network, where there are several'),
      payTo: z.string().describe('address that is paid'),
      smart_accounts: z
        .boolean()
        .describe('whether accounts with code (EIP-1271, ERC-6492, EIP-7702) can pay'),
      how_to: z.string().describe('how it is done'),
    })
    .describe('payment by x402'),
  mcp: z
    .strictObject({
      url: z.url().describe('URL'),
      transport: z.string().describe('how it is spoken to'),
      available,
    })
    .describe('the tool server'),
  subscription: z
    .strictObject({
      configured,
      available,
      /** Where tokens are sold; absent where none are. */
      path: path.optional().describe('path of the operation'),
      use: z.string().optional().describe('how it is used'),
    })
    .describe('the subscription token'),
  fiat: z
    .looseObject({
      configured,
      available,
    })
    .describe('payment by card'),
  human_track: z
    .strictObject({
      phases: z
        .array(
          z.strictObject({
            phase: phase.describe('free, half_price or full_price'),
            until: orNull(member.day).describe(
              'last day of the phase; null for the one without an end',
            ),
          }),
        )
        .describe('prices for people over time'),
      phase_today: phase.describe('the phase of today'),
      note: member.note,
    })
    .optional()
    .describe('prices for people'),
});

const described = {
  path: path.describe('path of the operation'),
  method: z.enum(['GET', 'POST']).describe('how it was computed or is asked for'),
  price_usd: member.price_usd,
  price_atomic: z
    .string()
    .regex(/^[0-9]+$/)
    .meta({ description: 'price in millionths of a dollar, an integer', examples: ['10000'] }),
  price_by_signal,
  price_range_usd: z
    .strictObject({
      min: z.string().describe('price of the cheapest basket in US dollars, a decimal'),
      max: z.string().describe('price of the dearest basket in US dollars, a decimal'),
    })
    .optional()
    .describe('decimal prices in US dollars between which the sum of a basket lies'),
  description: z.string().describe('description'),
  subjects: z
    .array(z.string())
    .optional()
    .describe('what it is about, in the words that people search by'),
  input_required: z.array(z.string()).describe('names of required parameters'),
  input_example_request: path.describe('a request that works'),
  params: z
    .record(z.string(), z.looseObject({ type: z.string().describe('kind') }))
    .describe('parameters by name'),
  returns: z
    .string()
    .meta({ description: 'media type of the answer', examples: ['application/json'] }),
  sells_now: z.boolean().meta({ description: 'whether it is answered now', examples: [true] }),
};
const shown = {
  output_example: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('main members of an answer'),
};

/** `/manifest`: every operation with its price, parameters and a request that answers; other platforms have their own form. */
export const manifestSchema = z.strictObject({
  x402Version: z.literal(1).describe('version of x402'),
  count: z.int().describe('number of entries'),
  note: member.note,
  entries: z
    .array(z.strictObject({ ...described, ...shown }))
    .describe('one entry for each operation'),
  files: z
    .array(
      z.strictObject({
        path: path.describe('path of the operation'),
        summary: z.string().describe('one sentence'),
      }),
    )
    .describe('files that help to check what was bought, or their folder'),
});

/** `/manifest?platform=mcp`: the tools as `tools/list` names them. */
export const toolListSchema = z.strictObject({
  tools: z
    .array(
      z.looseObject({
        name: z.string().describe('name for people'),
        description: z.string().describe('description'),
        inputSchema: z
          .looseObject({ type: z.literal('object').describe('kind') })
          .describe('JSON Schema of the arguments'),
      }),
    )
    .describe('tools of the tool server'),
});

/** `/manifest?platform=a2a`: the members of the agent card that a reader needs to find a skill. */
export const agentCardSchema = z.looseObject({
  name: z.string().describe('name for people'),
  version: z.string().describe('version'),
  supportedInterfaces: z
    .array(
      z.looseObject({
        url: z.url().describe('URL'),
        protocolBinding: z.string().describe('how it is spoken to'),
      }),
    )
    .describe('where the service is reached'),
  skills: z
    .array(
      z.looseObject({
        id: z.string().describe('id'),
        description: z.string().describe('description'),
        examples: z.array(z.url()).describe('requests that work'),
      }),
    )
    .describe('one entry for each operation that is sold'),
});

/** `/.well-known/x402`: the paid operations as directories read them. */
export const paymentManifestSchema = z.strictObject({
  version: z.literal(1).describe('version'),
  x402Version: z.literal(1).describe('version of x402'),
  service_name: z.string().describe('name for people'),
  icon_url: z.url().describe('picture of the service, PNG'),
  extensions,
  terms: z
    .array(z.looseObject({ scheme: z.literal('exact').describe('scheme of x402') }))
    .describe('how everything can be paid for; one entry for each way'),
  resources: z.array(z.url()).describe('URLs of what is sold'),
  items: z
    .array(
      z.strictObject({
        resource: z.url().describe('URL of what is sold'),
        method: described.method,
        price_usd: described.price_usd,
        price_by_signal: described.price_by_signal,
        price_range_usd: described.price_range_usd,
        description: described.description,
        input_example_request: described.input_example_request,
        tags: z.array(z.string()).describe('what it is about, in a few words'),
      }),
    )
    .describe('one entry for each item'),
  openapi: z.url().describe('URL of the OpenAPI document'),
  manifest: z.url().describe('URL of the manifest'),
});

/** Citations that one body of `POST /verify` may carry: those of the longest settlement answer, each costs a signature check. */
export const CHECKED_CITATIONS_MAX = CANDIDATES_MAX + 2;
/** Single findings that an answer of `POST /verify` lists, failed ones first. */
export const CHECK_DETAILS_MAX = 100;

const STATUS = 'state of the item, in the words of its kind';
const status = z.enum(['pass', 'fail', 'not_applicable']).describe(STATUS);
const detail = z.string().describe('the finding in words');
const check = z.strictObject({
  status,
  detail,
});

/** `POST /verify`: what holds of a record or body that the caller sent. */
export const checkSchema = z.strictObject({
  endpoint: z.literal('verify').describe('which operation answered'),
  /**
   * As `signalpress verify --issuer <this issuer>` says it: `unsigned` if nothing contradicts itself but not all of it
   * is signed, `partly_verified` if nothing signs the content. A body of another issuer is at best `issuer_unknown`, as for
   * the command without --issuer.
   */
  verdict: z
    .enum(['verified', 'partly_verified', 'issuer_unknown', 'failed', 'unsigned', 'unproven'])
    .describe('verified, partly_verified, issuer_unknown, failed or unsigned'),
  issuer: z.string().nullable().describe('name or DID of the issuer'),
  is_issuer_record: z.boolean().describe('whether this issuer made it'),
  checks: z
    .strictObject({
      hash: check.describe('whether record hashes can be made again'),
      signature: check.describe('whether the signatures hold'),
      content: check.describe('whether the signatures cover this content'),
      /** The verdict does not depend on it. */
      inclusion: z
        .strictObject({
          status: z.enum(['pass', 'fail', 'not_applicable', 'undetermined']).describe(STATUS),
          detail,
        })
        .describe('whether the log of this service holds every hash'),
      expect: check
        .exactOptional()
        .describe(
          'whether the body answers the request that was sent beside it; absent where none was',
        ),
    })
    .describe('what holds, by kind of check'),
  /** Null for what does not hold. */
  about: z
    .strictObject({
      subject: z.string().nullable().describe('what is stated'),
      fact: z.string().describe('the fact in words'),
      answers: z.string().nullable().describe('canonical path and query that the body answers'),
      observed_at: z.string().nullable().describe('UTC date-time of the observation'),
      time_of: z
        .enum(['reading', 'oldest', 'newest_row', 'coverage'])
        .describe('which time of the body that is'),
      retrieved_at: z.string().describe('UTC date-time at which the snapshot was collected'),
    })
    .nullable()
    .describe(
      'what a body that holds is about, as its issuer signed it; its age is for your own clock to say',
    ),
  details: z
    .array(
      z.strictObject({
        check: z.string().describe('kind of check'),
        where: z.string().describe('place in the body'),
        status,
        detail,
      }),
    )
    .describe('single findings, failed ones first'),
  details_count: z.int().describe('number of single findings'),
  statement: z.string().describe('the finding as a plain sentence'),
});
export type CheckBody = z.infer<typeof checkSchema>;
