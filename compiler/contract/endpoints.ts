import { builtinLine } from './catalog/builtin.ts';
import type { BundlePath, Line } from './catalog/line.ts';
import { LINES, SIGNALS } from './lines.ts';

/** One query parameter (or the one path parameter) of an operation. */
export interface Param {
  readonly type: 'string' | 'integer';
  readonly required: boolean;
  readonly description: string;
  readonly examples: readonly string[];
  /** The only legal values; any value otherwise. */
  readonly enum?: readonly string[];
  readonly min?: number;
  readonly max?: number;
  /** What an absent optional parameter means. */
  readonly default?: string;
  /** Alternative names that existing clients send. */
  readonly aliases?: readonly string[];
  readonly upperCase?: boolean;
  /** Value -> folder in front of the file path: another compiled form of the same product. */
  readonly variant?: Readonly<Record<string, string>>;
  /** Value -> path of the operation that answers instead, at that operation's price. */
  readonly redirect?: Readonly<Record<string, string>>;
}
export type Params = Readonly<Record<string, Param>>;

/** How the gatekeeper answers; one function per word. */
export type Answer =
  | 'file'
  | 'series'
  | 'coverage'
  | 'catalog'
  | 'preview'
  | 'search'
  | 'channels'
  | 'verify'
  | 'proof'
  | 'check'
  | 'resolve'
  | 'mint'
  | 'watch'
  | 'anchor'
  | 'manifest'
  | 'rpc'
  | 'gone';

/** Kind of product, shown first in every description. */
type Tag = '[SIGNAL+PROOF]' | '[BATCH+PROOF]' | '[3-LEG]' | '[FREE]' | '[TOKEN]';

/** One operation of the service: what is sold or given away, and how it is answered. */
export interface Endpoint<Path extends string = string> {
  readonly path: Path;
  readonly method: 'GET' | 'POST';
  /** Decimal USD, or null when free. */
  readonly priceUsd: string | null;
  /** True when a subscription token opens it. */
  readonly token: boolean;
  readonly tag: Tag;
  readonly params: Params;
  readonly answer: Answer;
  /** Template of the file in a release, `{param}` per segment; absent when computed. */
  readonly file?: string;
  readonly summary: string;
}

interface Row {
  readonly params?: Params;
  readonly answer?: Answer;
  readonly file?: string;
  readonly summary: string;
  readonly tag?: Tag;
  readonly method?: 'GET' | 'POST';
}

type ParamsOf<R> = R extends { readonly params: infer Given extends Params }
  ? Given
  : Record<never, Param>;

/** An operation whose type also knows whether it costs and the names of its parameters. */
type Known<P extends string, R extends Row, Price> = Omit<Endpoint<P>, 'priceUsd' | 'params'> & {
  readonly priceUsd: Price;
  readonly params: ParamsOf<R>;
};

function paid<const P extends string, R extends Row>(
  path: P,
  priceUsd: string,
  row: R,
): Known<P, R, string> {
  const tag = row.tag ?? '[SIGNAL+PROOF]';
  return endpoint(path, row, { priceUsd, token: false, tag }) as Known<P, R, string>;
}

function free<const P extends string, R extends Row>(path: P, row: R): Known<P, R, null> {
  const terms = { priceUsd: null, token: false, tag: '[FREE]' } as const;
  return endpoint(path, row, terms) as Known<P, R, null>;
}

function tokenGated<const P extends string, R extends Row>(path: P, row: R): Known<P, R, null> {
  const terms = { priceUsd: null, token: true, tag: '[TOKEN]' } as const;
  return endpoint(path, row, terms) as Known<P, R, null>;
}

function endpoint<const P extends string>(
  path: P,
  row: Row,
  terms: Pick<Endpoint, 'priceUsd' | 'token' | 'tag'>,
): Endpoint<P> {
  const { params = {}, answer = 'file', method = 'GET', file, summary } = row;
  const base = { path, method, ...terms, params, answer, summary };
  return file === undefined ? base : { ...base, file };
}

const text = (description: string, ...examples: readonly string[]): Param => ({
  type: 'string',
  required: true,
  description,
  examples,
});
const optional = (param: Param): Param => ({ ...param, required: false });
const oneOf = (description: string, values: readonly string[]): Param => ({
  ...text(description, ...values.slice(0, 3)),
  enum: values,
});

/** Longest `days` of a series; absent means SERIES_DAYS_DEFAULT. */
export const SERIES_DAYS_MAX = 1000;
export const SERIES_DAYS_DEFAULT = 400;

const signalId: Param = {
  ...text('signal id, genus.species', 'airquality.aqi'),
  enum: SIGNALS.map((signal) => signal.id),
};
const entity: Param = {
  ...text('monitored object; legal pairs are in /gauge/catalog', 'us-denver'),
  aliases: ['issuer'],
};
const pair = { signal_id: signalId, entity };
const thin: Param = {
  ...optional(
    oneOf('full body, or identity, reading, band, hash and times only', ['json', 'thin']),
  ),
  default: 'json',
  variant: { thin: 'thin' },
};
const dim: Param = {
  ...optional(
    oneOf('another product of the same reading, at its own price', [
      'gauge',
      'ruler',
      'calibrated',
      'strata',
      'history',
    ]),
  ),
  redirect: {
    ruler: '/gauge/ruler',
    calibrated: '/gauge/calibrated',
    strata: '/gauge/strata',
    history: '/gauge/history',
  },
};
const verifiable: Param = {
  ...optional(oneOf('1 adds _hash_core, the canonical pre-image of each row hash', ['1'])),
  variant: { '1': 'verifiable' },
};
const cityLoc = oneOf('city', builtinLine('environment').entities);

const openEntity = (row: Line): Param => ({
  ...text(`one of the ${row.title}`, ...row.entities.slice(0, 3)),
  ...(row.entityAliases ? { aliases: row.entityAliases } : {}),
  ...(row.upperCase ? { upperCase: true } : {}),
});

/** Applies to every answer that joins the legs of a chain. */
const BUNDLE_PRICE_USD = '0.25';

/** The bundle row of a line; its enum, legs and file follow from the line. */
function bundleOf(
  row: Line,
  bundle: NonNullable<Line['bundle']>,
): Known<BundlePath, Row & { readonly params: Params }, string> {
  const { path, param, legs } = bundle;
  const subject = row.open ? openEntity(row) : oneOf(`one of the ${row.title}`, row.entities);
  return paid(path, BUNDLE_PRICE_USD, {
    tag: '[3-LEG]',
    params: { [param]: subject, format: thin },
    file: `bundle/${row.id}/{${param}}.json`,
    summary: `${row.title}: ${legs.map((leg) => leg.name).join(', then ')}, in causal order`,
  });
}

const BUNDLES = LINES.flatMap((row) =>
  row.bundle === undefined ? [] : [bundleOf(row, row.bundle)],
);

const settlement = (cutoffAliases: readonly string[]): Params => ({
  entity: { ...text('ticker or CIK', 'AAPL'), upperCase: true, aliases: ['issuer'] },
  form: { ...text('filing type', '10-K', '8-K', 'NT 10-K'), upperCase: true },
  cutoff: {
    ...text(
      'ISO 8601 date, a whole filing day in New York, or a date-time with Z or an offset',
      '2026-03-31',
      '2026-03-31T21:00:00Z',
    ),
    aliases: cutoffAliases,
  },
  event_class: optional(text('item of an 8-K, like 2.02; only with form=8-K', '2.02')),
  source_class: {
    ...optional(oneOf('source class; only the securities-filing source exists', ['sec'])),
    default: 'sec',
  },
  market_or_event: optional(text('any text but NUL; echoed back verbatim', 'any text')),
});
const items = text('comma-separated industry:entity pairs, at most 30', 'environment:us-denver');
const token = optional(text('subscription token, in place of Authorization: Bearer', '<token>'));
const topic = text('topic id', 'energy');
const hash: Param = {
  ...text('record hash, whole or at least 8 hex digits of it', 'sha256:00000000'),
  aliases: ['record_hash'],
};
const batch = (path: string, summary: string): Row => ({
  tag: '[BATCH+PROOF]',
  params: { verifiable },
  file: `roster${path}.json`,
  summary,
});

/** What is sold and given away, in the order of the specification. THE table. */
export const ENDPOINTS = [
  paid('/gauge', '0.01', {
    params: { ...pair, dim },
    file: 'record/{signal_id}/{entity}.json',
    summary: 'one signal record',
  }),
  paid('/gauge/ruler', '0.005', {
    params: pair,
    file: 'ruler/{signal_id}/{entity}.json',
    summary: 'official ruler: band, thresholds, distance to action',
  }),
  paid('/gauge/calibrated', '0.005', {
    params: { ...pair, format: thin },
    file: 'calibrated/{signal_id}/{entity}.json',
    summary: 'normalized index and share of the action threshold, comparable across stations',
  }),
  paid('/gauge/strata', '0.005', {
    params: pair,
    file: 'strata/{signal_id}/{entity}.json',
    summary: 'share of each official band over five same-season years',
  }),
  paid('/gauge/history', '0.005', {
    params: pair,
    file: 'history/{signal_id}/{entity}.json',
    summary: 'seasonal placement: percentile, frequency and percentile table',
  }),
  paid('/gauge/history-series', '0.09', {
    tag: '[BATCH+PROOF]',
    params: {
      ...pair,
      days: {
        type: 'integer',
        required: false,
        description: 'days to look back',
        examples: ['30'],
        default: String(SERIES_DAYS_DEFAULT),
        min: 1,
        max: SERIES_DAYS_MAX,
      },
      format: { ...optional(oneOf('json, or csv (unsigned)', ['json', 'csv'])), default: 'json' },
    },
    answer: 'series',
    file: 'series/{signal_id}/{entity}.json',
    summary: 'full retained series, oldest first',
  }),
  paid('/gauge/census', '0.09', {
    tag: '[BATCH+PROOF]',
    params: { signal_id: signalId },
    file: 'census/{signal_id}.json',
    summary: 'all entities of one signal at their latest reading',
  }),
  paid('/gauge/lifecycle', '0.005', {
    params: { entity: text('life-cycle subject', 'kyoto-protocol') },
    file: 'lifecycle/{entity}.json',
    summary: 'official life-cycle state of one subject',
  }),
  paid('/gauge/air', '0.005', {
    params: { loc: cityLoc },
    file: 'air/{loc}.json',
    summary: 'air quality readings of a city',
  }),
  paid('/gauge/precip', '0.005', {
    params: { loc: cityLoc },
    file: 'precip/{loc}.json',
    summary: 'daily rainfall and 30-day wet-dry context of a city',
  }),
  ...BUNDLES,
  paid('/stablecoin-deaths', '0.09', batch('/stablecoin-deaths', 'stablecoins that died')),
  paid('/trust/scorecard', '0.09', batch('/trust/scorecard', 'demand of x402 services')),
  paid('/trust/graveyard', '0.09', batch('/trust/graveyard', 'x402 services that went absent')),
  paid('/mcp/census', '0.09', batch('/mcp/census', 'all MCP servers')),
  paid('/mcp/graveyard', '0.09', batch('/mcp/graveyard', 'MCP servers that went absent')),
  paid('/stable/census', '0.09', batch('/stable/census', 'stablecoins by market cap')),
  paid('/stable/graveyard', '0.09', batch('/stable/graveyard', 'stablecoins that ended')),
  paid('/gauge/macro-reconcile-full', '0.09', {
    tag: '[BATCH+PROOF]',
    file: 'document/macro-reconcile-full.json',
    summary: 'official macro figures reconciled',
  }),
  paid('/trust/precheck', '0.01', {
    params: { service: text('x402 service id', 'weather-sample-example') },
    file: 'subject/trust/{service}.json',
    summary: 'demand record of one x402 service',
  }),
  paid('/mcp/server', '0.01', {
    params: { name: text('MCP server id', 'sample-weather-mcp') },
    file: 'subject/mcp/{name}.json',
    summary: 'one MCP server',
  }),
  paid('/stable/coin', '0.01', {
    params: { symbol: { ...text('stablecoin symbol', 'SAMPLEUSD'), upperCase: true } },
    file: 'subject/stable/{symbol}.json',
    summary: 'one stablecoin',
  }),
  paid('/resolve', '0.09', {
    params: settlement([]),
    answer: 'resolve',
    summary: 'filing evidence at a cutoff; describes the filing, never adjudicates the event',
  }),
  paid('/resolve/proposer', '0.01', {
    params: settlement(['as_of']),
    answer: 'resolve',
    summary: 'filing evidence in the shape of a proposer feed',
  }),
  paid('/gauge/subscribe', '9.90', {
    answer: 'mint',
    summary: 'subscription token for the watchlist endpoints',
  }),
  tokenGated('/gauge/watch', {
    params: { items, token },
    answer: 'watch',
    summary: 'latest readings of a watchlist',
  }),
  tokenGated('/gauge/watch-changes', {
    params: {
      items,
      since: optional(
        text(
          'ISO date or date-time with Z or an offset, or unix seconds; default 24 hours ago',
          '2026-11-20',
        ),
      ),
      token,
    },
    answer: 'watch',
    summary: 'readings of a watchlist newer than a time',
  }),
  tokenGated('/gauge/manifest-sweep', {
    params: {
      page: {
        type: 'integer',
        required: false,
        description: 'page of the full list, from 1',
        examples: ['2'],
        default: '1',
        min: 1,
      },
      token,
    },
    answer: 'watch',
    summary: 'every signal and entity with its latest time and hash',
  }),
  paid('/gauge/taiwan-region', BUNDLE_PRICE_USD, {
    tag: '[3-LEG]',
    file: 'document/taiwan-region.json',
    summary: 'Taiwan',
  }),
  paid('/gauge/japan-region', BUNDLE_PRICE_USD, {
    tag: '[3-LEG]',
    file: 'document/japan-region.json',
    summary: 'Japan',
  }),
  paid('/gauge/chokepoint-region', BUNDLE_PRICE_USD, {
    tag: '[3-LEG]',
    params: { loc: text('chokepoint', 'hormuz') },
    file: 'document/chokepoint-region/{loc}.json',
    summary: 'one shipping chokepoint',
  }),
  paid('/pay/tier2', '0.03', { file: 'document/tier2.json', summary: 'tier 2 document' }),
  paid('/pay/tier3', '0.10', { file: 'document/tier3.json', summary: 'tier 3 document' }),
  paid('/shadow/chatter', '0.02', {
    params: { topic },
    file: 'document/chatter/{topic}.json',
    summary: 'published chatter on a topic',
  }),
  paid('/shadow/signal-plus', '0.09', {
    params: { ...pair, topic },
    file: 'document/signal-plus/{signal_id}/{entity}/{topic}.json',
    summary: 'one signal beside published chatter',
  }),
  paid('/shadow/region-plus', '0.35', {
    tag: '[3-LEG]',
    params: { loc: cityLoc, topic },
    file: 'document/region-plus/{loc}/{topic}.json',
    summary: 'one city beside published chatter',
  }),
  free('/gauge/coverage', {
    params: {
      industry: optional(text('industry id', 'aviation')),
      signal_id: optional(text('signal id', 'nas.ground_ops')),
      entity: optional(text('entity', 'bos')),
      summary: optional(oneOf('1 for compact counts', ['1'])),
    },
    answer: 'coverage',
    summary: 'what is covered and how fresh it is',
  }),
  free('/gauge/catalog', {
    params: {
      signal_id: optional(text('signal id', 'nas.ground_ops')),
      industry: optional(text('industry id', 'aviation')),
      all: optional(oneOf('1 for everything at once', ['1'])),
      page: {
        type: 'integer',
        required: false,
        description: 'page of the full list, from 1',
        examples: ['2'],
        default: '1',
        min: 1,
      },
    },
    answer: 'catalog',
    summary: 'legal pairs of signal and entity',
  }),
  free('/gauge/preview', { answer: 'preview', summary: 'counts, prices and lists of ids' }),
  free('/gauge/sample', {
    params: { signal_id: optional(text('signal id', 'airquality.aqi')) },
    file: 'free/sample/{signal_id}.json',
    summary: 'one whole record, free',
  }),
  free('/gauge/history-preview', {
    params: pair,
    file: 'free/history-preview/{signal_id}/{entity}.json',
    summary: 'last seven snapshots',
  }),
  free('/gauge/raw', {
    params: {
      signal_id: oneOf('hydrology signal', ['hydrology.river-level', 'hydrology.streamflow']),
      entity: text('river gauge site id', '07010000'),
    },
    file: 'free/raw/{signal_id}/{entity}.json',
    summary: 'the bare record of a river gauge, without rulers',
  }),
  free('/gauge/verify', {
    params: { hash },
    answer: 'verify',
    summary: 'look up and recompute a record hash',
  }),
  free('/gauge/anchor', {
    params: {
      day: optional(text('day of the batches', '2026-11-20')),
      hash: optional(text('record hash', 'sha256:00000000')),
    },
    answer: 'anchor',
    summary: 'anchored batches, and inclusion of a hash',
  }),
  free('/gauge/channels', { answer: 'channels', summary: 'ways to pay and to connect' }),
  free('/stablecoin-deaths/preview', {
    file: 'free/preview/stablecoin-deaths.json',
    summary: 'what the stablecoin deaths hold',
  }),
  free('/trust/preview', {
    params: { q: optional(text('part of a host or of a service id', 'weather')) },
    answer: 'search',
    file: 'free/preview/trust.json',
    summary: 'what the trust endpoints hold',
  }),
  free('/stable/preview', {
    file: 'free/preview/stable.json',
    summary: 'what the stablecoin endpoints hold',
  }),
  free('/mcp/preview', { file: 'free/preview/mcp.json', summary: 'what the MCP endpoints hold' }),
  free('/resolve/preview', {
    file: 'free/preview/resolve.json',
    summary: 'which entities and forms resolve',
  }),
  free('/resolve/proposer/preview', {
    file: 'free/preview/resolve-proposer.json',
    summary: 'which entities and forms the proposer feed holds',
  }),
  free('/manifest', {
    params: {
      all: { ...optional(oneOf('1 for every entry', ['1'])), variant: { '1': 'all' } },
      platform: {
        ...optional(oneOf('projection for a platform', ['mcp', 'a2a'])),
        variant: { mcp: 'mcp', a2a: 'a2a' },
      },
    },
    file: 'well-known/manifest.json',
    summary: 'every operation with price, parameters and example',
  }),
  free('/.well-known/x402', { answer: 'manifest', summary: 'payment manifest' }),
  free('/.well-known/agent-card.json', {
    file: 'well-known/agent-card.json',
    summary: 'agent card',
  }),
  free('/.well-known/agent.json', { file: 'well-known/agent.json', summary: 'legacy agent card' }),
  free('/verify', {
    method: 'POST',
    answer: 'check',
    summary: 'check a record that the caller holds',
  }),
  free('/proof/:record_hash', {
    params: { record_hash: hash },
    answer: 'proof',
    summary: 'inclusion proof and anchor state of a record hash, and how to recompute it',
  }),
  free('/mcp', { method: 'POST', answer: 'rpc', summary: 'JSON-RPC 2.0 tool server' }),
  free('/merkle/proof', { answer: 'gone', summary: 'retired' }),
  free('/merkle/spec', { file: 'free/merkle-spec.json', summary: 'archival text' }),
  free('/v/:record_hash', {
    params: { record_hash: hash },
    answer: 'verify',
    summary: 'look up and recompute a record hash, as citations link it',
  }),
] as const;

type TableRow = (typeof ENDPOINTS)[number];
export type EndpointPath = TableRow['path'];
/** A path that costs. */
export type PaidPath = Extract<TableRow, { readonly priceUsd: string }>['path'];
/** Names of the parameters of a path. */
export type ParamName<Path extends EndpointPath> = keyof Extract<
  TableRow,
  { readonly path: Path }
>['params'] &
  string;

const BY_PATH = new Map<string, Endpoint>(ENDPOINTS.map((row) => [row.path, row]));

/** The row of a path that the table holds; a mistyped path does not compile. */
export function endpointAt(path: EndpointPath): Endpoint {
  const row = BY_PATH.get(path);
  if (row === undefined) throw new RangeError(`Cannot find endpoint "${path}": not in the table`);
  return row;
}

/** The row of a path that came from outside, or undefined. */
export function findEndpoint(path: string): Endpoint | undefined {
  return BY_PATH.get(path);
}
