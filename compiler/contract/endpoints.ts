import type { BundlePath } from './catalog/line.ts';
import type { SignalPrices } from './catalog/signal-terms.ts';

// What the service can do: the operations whose paths, files and answers are code. What they cost, which values they take
// and which bundles stand beside them is data: `catalog/operations.ts` joins both.

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
  | 'preview-search'
  | 'channels'
  | 'verify'
  | 'proof'
  | 'check'
  | 'resolve'
  | 'mint'
  | 'watch'
  | 'anchor'
  | 'manifest'
  | 'basket'
  | 'rpc'
  | 'gone';

/** Kind of product, shown first in every description. */
type Tag = '[SIGNAL+PROOF]' | '[BATCH+PROOF]' | '[3-LEG]' | '[FREE]' | '[TOKEN]';

/** One operation of a catalogue: what is sold or given away, and how it is answered. */
export interface Endpoint {
  readonly path: string;
  readonly method: 'GET' | 'POST';
  /** Decimal USD, or null when free. */
  readonly priceUsd: string | null;
  /** Signals of which it costs something else; a request is routed to the row at its own price (`pricedRow`). */
  readonly signalPrices?: SignalPrices;
  /** True when a subscription token opens it. */
  readonly token: boolean;
  readonly tag: Tag;
  readonly params: Params;
  readonly answer: Answer;
  /** Template of the file in a release, `{param}` per segment; absent when computed. */
  readonly file?: string;
  readonly summary: string;
}

/** A parameter of the table; the legal values of some are those of the catalogue. */
export interface TableParam extends Omit<Param, 'enum'> {
  readonly enum?: readonly string[];
  readonly values?: 'signals' | 'cities';
  /** What examples are taken from where those of the table are not in the catalogue. */
  readonly shows?: 'signals' | 'measures' | 'industries' | 'entities' | 'items';
}
type TableParams = Readonly<Record<string, TableParam>>;

/** An operation as far as it is code: a paid one has no price yet. */
export interface TableRow extends Omit<Endpoint, 'priceUsd' | 'signalPrices' | 'params'> {
  readonly paid: boolean;
  readonly params: TableParams;
}

interface RowParts {
  readonly params?: TableParams;
  readonly answer?: Answer;
  readonly file?: string;
  readonly summary: string;
  readonly tag?: Tag;
  readonly method?: 'GET' | 'POST';
}

type ParamsOf<R> = R extends { readonly params: infer Given extends TableParams }
  ? Given
  : Record<never, TableParam>;

/** A row whose type also knows its path, whether it costs and the names of its parameters. */
type TypedRow<P extends string, R extends RowParts, Paid extends boolean> = TableRow & {
  readonly path: P;
  readonly paid: Paid;
  readonly params: ParamsOf<R>;
};

function paid<const P extends string, R extends RowParts>(path: P, row: R): TypedRow<P, R, true> {
  const tag = row.tag ?? '[SIGNAL+PROOF]';
  return tableRow(path, row, { paid: true, token: false, tag }) as TypedRow<P, R, true>;
}

function free<const P extends string, R extends RowParts>(path: P, row: R): TypedRow<P, R, false> {
  const tag = row.tag ?? '[FREE]';
  const terms = { paid: false, token: false, tag } as const;
  return tableRow(path, row, terms) as TypedRow<P, R, false>;
}

function tokenGated<const P extends string, R extends RowParts>(
  path: P,
  row: R,
): TypedRow<P, R, false> {
  const terms = { paid: false, token: true, tag: '[TOKEN]' } as const;
  return tableRow(path, row, terms) as TypedRow<P, R, false>;
}

function tableRow(
  path: string,
  row: RowParts,
  terms: Pick<TableRow, 'paid' | 'token' | 'tag'>,
): TableRow {
  const { params = {}, answer = 'file', method = 'GET', file, summary } = row;
  const base = { path, method, ...terms, params, answer, summary };
  return file === undefined ? base : { ...base, file };
}

/** A required text. */
export const text = (description: string, ...examples: readonly string[]): Param => ({
  type: 'string',
  required: true,
  description,
  examples,
});
const optional = <P extends TableParam>(param: P): P => ({ ...param, required: false });
/** A required text out of a list. */
export const oneOf = (description: string, values: readonly string[]): Param => ({
  ...text(description, ...values.slice(0, 3)),
  enum: values,
});

/** Whether an answer brings `_proof`, that it is in the log. All that is sold takes it alike, so no description repeats it. */
const proof: Param = {
  ...optional(oneOf('0 leaves out the proof that the answer is in the log', ['1', '0'])),
  default: '1',
};
const withProof = new WeakMap<Params, Params>();

/**
 * Whether the answers of an operation bring a proof, at whatever price it is sold: a token is signed by nobody, and a basket
 * has the proofs of its parts.
 */
export function bringsProof({ tag, answer }: Pick<Endpoint, 'tag' | 'answer'>): boolean {
  return tag !== '[FREE]' && tag !== '[TOKEN]' && answer !== 'mint' && answer !== 'basket';
}

/** Every parameter that an operation takes: its own, and that of all that is sold. */
export function takenParams(endpoint: Pick<Endpoint, 'params' | 'tag' | 'answer'>): Params {
  const { params } = endpoint;
  if (!bringsProof(endpoint)) return params;
  const taken = withProof.get(params) ?? { ...params, proof };
  withProof.set(params, taken);
  return taken;
}

/** Longest `days` of a series; absent means SERIES_DAYS_DEFAULT. */
export const SERIES_DAYS_MAX = 1000;
export const SERIES_DAYS_DEFAULT = 400;

const signalId: TableParam = {
  ...text('signal id, genus.species; legal ones are in /gauge/catalog', 'airquality.aqi'),
  values: 'signals',
};
const entity: TableParam = {
  ...text('monitored object; legal pairs are in /gauge/catalog', 'us-denver'),
  aliases: ['issuer'],
  shows: 'entities',
};
const pair = { signal_id: signalId, entity };
/** The short form of a body. */
export const thin: Param = {
  ...optional(
    oneOf('thin: signed, with identity, time, reading, class and hash alone', ['json', 'thin']),
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
const rowCores = optional(
  oneOf('1 adds _hash_core, the canonical pre-image of each row hash', ['1']),
);
const verifiable: Param = { ...rowCores, variant: { '1': 'verifiable' } };
const cityLoc: TableParam = { ...text('city'), values: 'cities' };

const settlement = (cutoffAliases: readonly string[]): TableParams => ({
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
const items: TableParam = {
  ...text('comma-separated industry:entity pairs, at most 30', 'environment:us-denver'),
  shows: 'items',
};
const token = optional(text('subscription token, in place of Authorization: Bearer', '<token>'));
const topic = text('topic id', 'energy');
const hash: Param = {
  ...text('record hash, whole or at least 8 hex digits of it', 'sha256:00000000'),
  aliases: ['record_hash'],
};
const batch = (path: string, summary: string): RowParts => ({
  tag: '[BATCH+PROOF]',
  params: { verifiable },
  file: `roster${path}.json`,
  summary,
});

/** What is sold of single signals and cities, in the order of the specification; the bundles of the lines come next. */
export const SIGNAL_ROWS = [
  paid('/gauge', {
    params: { ...pair, dim, format: thin },
    file: 'record/{signal_id}/{entity}.json',
    summary: 'one signal record',
  }),
  paid('/gauge/ruler', {
    params: pair,
    file: 'ruler/{signal_id}/{entity}.json',
    summary: 'official ruler: band, thresholds, distance to action',
  }),
  paid('/gauge/calibrated', {
    params: { ...pair, format: thin },
    file: 'calibrated/{signal_id}/{entity}.json',
    summary: 'normalized index and share of the action threshold, comparable across stations',
  }),
  paid('/gauge/strata', {
    params: pair,
    file: 'strata/{signal_id}/{entity}.json',
    summary: 'share of each official band over five same-season years',
  }),
  paid('/gauge/history', {
    params: pair,
    file: 'history/{signal_id}/{entity}.json',
    summary: 'seasonal placement: percentile, frequency and percentile table',
  }),
  paid('/gauge/history-series', {
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
      format: {
        ...optional(
          oneOf('json, csv (unsigned), or csv-signed (a line of JSON, then the table)', [
            'json',
            'csv',
            'csv-signed',
          ]),
        ),
        default: 'json',
      },
      verifiable: rowCores,
    },
    answer: 'series',
    file: 'series/{signal_id}/{entity}.json',
    summary: 'full retained series, oldest first',
  }),
  paid('/gauge/census', {
    tag: '[BATCH+PROOF]',
    params: { signal_id: signalId },
    file: 'census/{signal_id}.json',
    summary: 'all entities of one signal at their latest reading',
  }),
  paid('/gauge/lifecycle', {
    params: { entity: text('life-cycle subject', 'kyoto-protocol') },
    file: 'lifecycle/{entity}.json',
    summary: 'official life-cycle state of one subject',
  }),
  paid('/gauge/air', {
    params: { loc: cityLoc },
    file: 'air/{loc}.json',
    summary: 'air quality readings of a city',
  }),
  paid('/gauge/precip', {
    params: { loc: cityLoc },
    file: 'precip/{loc}.json',
    summary: 'daily rainfall and 30-day wet-dry context of a city',
  }),
] as const;

/** All other operations, in the order of the specification. */
export const OTHER_ROWS = [
  paid('/stablecoin-deaths', batch('/stablecoin-deaths', 'stablecoins that died')),
  paid('/trust/scorecard', batch('/trust/scorecard', 'demand of x402 services')),
  paid('/trust/graveyard', batch('/trust/graveyard', 'x402 services that went absent')),
  paid('/mcp/census', batch('/mcp/census', 'all MCP servers')),
  paid('/mcp/graveyard', batch('/mcp/graveyard', 'MCP servers that went absent')),
  paid('/stable/census', batch('/stable/census', 'stablecoins by market cap')),
  paid('/stable/graveyard', batch('/stable/graveyard', 'stablecoins that ended')),
  paid('/gauge/macro-reconcile-full', {
    tag: '[BATCH+PROOF]',
    file: 'document/macro-reconcile-full.json',
    summary: 'official macro figures reconciled',
  }),
  paid('/trust/precheck', {
    params: { service: text('x402 service id', 'weather-sample-example') },
    file: 'subject/trust/{service}.json',
    summary: 'demand record of one x402 service',
  }),
  paid('/mcp/server', {
    params: { name: text('MCP server id', 'sample-weather-mcp') },
    file: 'subject/mcp/{name}.json',
    summary: 'one MCP server',
  }),
  paid('/stable/coin', {
    params: { symbol: { ...text('stablecoin symbol', 'SAMPLEUSD'), upperCase: true } },
    file: 'subject/stable/{symbol}.json',
    summary: 'one stablecoin',
  }),
  paid('/resolve', {
    params: settlement([]),
    answer: 'resolve',
    summary: 'filing evidence at a cutoff; describes the filing, never adjudicates the event',
  }),
  paid('/resolve/proposer', {
    params: settlement(['as_of']),
    answer: 'resolve',
    summary: 'filing evidence in the shape of a proposer feed',
  }),
  paid('/gauge/subscribe', {
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
  paid('/gauge/taiwan-region', {
    tag: '[3-LEG]',
    file: 'document/taiwan-region.json',
    summary: 'Taiwan',
  }),
  paid('/gauge/japan-region', {
    tag: '[3-LEG]',
    file: 'document/japan-region.json',
    summary: 'Japan',
  }),
  paid('/gauge/chokepoint-region', {
    tag: '[3-LEG]',
    params: { loc: text('chokepoint', 'hormuz') },
    file: 'document/chokepoint-region/{loc}.json',
    summary: 'one shipping chokepoint',
  }),
  paid('/pay/tier2', { file: 'document/tier2.json', summary: 'tier 2 document' }),
  paid('/pay/tier3', { file: 'document/tier3.json', summary: 'tier 3 document' }),
  paid('/shadow/chatter', {
    params: { topic },
    file: 'document/chatter/{topic}.json',
    summary: 'published chatter on a topic',
  }),
  paid('/shadow/signal-plus', {
    params: { ...pair, topic },
    file: 'document/signal-plus/{signal_id}/{entity}/{topic}.json',
    summary: 'one signal beside published chatter',
  }),
  paid('/shadow/region-plus', {
    tag: '[3-LEG]',
    params: { loc: cityLoc, topic },
    file: 'document/region-plus/{loc}/{topic}.json',
    summary: 'one city beside published chatter',
  }),
  free('/gauge/coverage', {
    params: {
      industry: { ...optional(text('industry id', 'aviation')), shows: 'industries' },
      signal_id: { ...optional(text('signal id', 'nas.ground_ops')), shows: 'signals' },
      entity: { ...optional(text('entity', 'bos')), shows: 'entities' },
      summary: optional(oneOf('1 for compact counts', ['1'])),
      page: {
        type: 'integer',
        required: false,
        description: 'page, from 1; everything at once without it',
        examples: ['2'],
        min: 1,
      },
    },
    answer: 'coverage',
    summary: 'what is covered and how fresh it is',
  }),
  free('/gauge/catalog', {
    params: {
      signal_id: { ...optional(text('signal id', 'nas.ground_ops')), shows: 'signals' },
      industry: { ...optional(text('industry id', 'aviation')), shows: 'industries' },
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
  free('/gauge/search', {
    params: {
      q: {
        ...text(
          'words for a subject, a place, a company or an id; at most 200 characters are read',
          'US air quality index',
        ),
        shows: 'measures',
      },
      limit: {
        type: 'integer',
        required: false,
        description: 'results at most',
        examples: ['5'],
        default: '5',
        min: 1,
        max: 20,
      },
    },
    answer: 'search',
    summary: 'words to ids: what is sold about a subject or a place, with price and request',
  }),
  free('/gauge/preview', { answer: 'preview', summary: 'counts, prices and lists of ids' }),
  free('/gauge/sample', {
    params: { signal_id: { ...optional(text('signal id', 'airquality.aqi')), shows: 'signals' } },
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
    answer: 'preview-search',
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
  free('/gauge/basket', {
    tag: '[BATCH+PROOF]',
    method: 'POST',
    answer: 'basket',
    summary: 'up to 30 requests as one payment, for the sum of their prices; the quote is free',
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

/** Every operation that is code. THE table. */
export const TABLE = [...SIGNAL_ROWS, ...OTHER_ROWS] as const;

type KnownRow = (typeof TABLE)[number];
/** A path of the table. */
export type TablePath = KnownRow['path'];
/** A path of the table, or one that a bundle can have. */
export type EndpointPath = TablePath | BundlePath;
/** A path that costs. */
export type PaidPath = Extract<KnownRow, { readonly paid: true }>['path'] | BundlePath;
/** Names of the parameters of a path; those of a bundle follow from its line, and what is sold takes `proof` too. */
export type ParamName<Path extends EndpointPath> = Path extends TablePath
  ? (keyof Extract<KnownRow, { readonly path: Path }>['params'] & string) | ProofName<Path>
  : string;
type ProofName<Path extends TablePath> = Path extends PaidPath ? 'proof' : never;

const BY_PATH = new Map<string, TableRow>(TABLE.map((row) => [row.path, row]));

/** The row of a path that the table holds; a mistyped path does not compile. */
export function endpointAt(path: TablePath): TableRow {
  const row = BY_PATH.get(path);
  if (row === undefined) throw new RangeError(`Cannot find endpoint "${path}": not in the table`);
  return row;
}
