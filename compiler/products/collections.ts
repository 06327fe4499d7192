import { defined } from '../format/errors.ts';
import { HASH_CORE_VERSION } from '../format/record-hash.ts';
import type { TablePath } from './products.ts';
import type { Cadence } from './shapes/freshness.ts';

/** What is stored beside the readings of signals, one file `<batch>/<id>.ndjson` each. */
interface Collection {
  readonly id: string;
  /** A noun phrase for catalogues and errors. */
  readonly holds: string;
}

/** A collection whose rows are hashed by the members of a core. */
export type RosterKind =
  | 'stablecoin.death'
  | 'trust.service'
  | 'mcp.server'
  | 'stable.coin'
  | 'document';

interface HashedCollection extends Collection {
  readonly id: RosterKind;
  /** Members of the hash core of a row, after `hash_core_version` (the number 3). */
  readonly core: readonly string[];
  /** Members that the cores of rows of one model have besides. */
  readonly modelCore?: { readonly model: string; readonly members: readonly string[] };
}

/** A collection that is sold as lists of its rows. */
export interface ListedCollection extends HashedCollection {
  readonly dimension: string;
  readonly cadence: Cadence;
  readonly preview: TablePath;
}

/** A collection of subjects that are captured again and again. */
export interface CapturedCollection extends ListedCollection {
  /** The operation about one subject, its parameter, and the member of its body that names the subject. */
  readonly subject: { readonly path: TablePath; readonly param: string; readonly id: string };
}

const CAPTURED = ['capture_date', 'observed_at'] as const;
const SOURCED = ['source_ref', 'source_tier'] as const;

/** Members that only rows of `demand-v1` have; all of them are in the core of such a row. */
export const DEMAND_FIELDS = [
  'calls_30d',
  'unique_payers_30d',
  'demand_class',
  'demand_depth',
  'endpoints',
  'endpoints_by_class',
  'last_called_at',
] as const;

/** x402 services. */
export const TRUST_SERVICES = {
  id: 'trust.service',
  holds: 'x402 services, one row a service and capture day',
  core: [
    'service_id',
    ...CAPTURED,
    'model',
    'domain',
    'first_endpoint',
    'score_total',
    'liveness_state',
    'liveness_streak',
    'baseline_delta',
    ...SOURCED,
  ],
  modelCore: { model: 'demand-v1', members: DEMAND_FIELDS },
  dimension: 'x402-services',
  cadence: 'daily',
  subject: { path: '/trust/precheck', param: 'service', id: 'service_id' },
  preview: '/trust/preview',
} as const satisfies CapturedCollection;

/** MCP servers. */
export const MCP_SERVERS = {
  id: 'mcp.server',
  holds: 'MCP servers, one row a server and capture day',
  core: ['server_id', ...CAPTURED, 'status', ...SOURCED],
  dimension: 'mcp-servers',
  cadence: 'daily',
  subject: { path: '/mcp/server', param: 'name', id: 'server_id' },
  preview: '/mcp/preview',
} as const satisfies CapturedCollection;

/** Stablecoins. Coins share symbols, so that not each of them has a body. */
export const STABLE_COINS = {
  id: 'stable.coin',
  holds: 'stablecoins, one row a coin and capture day',
  core: ['coin_id', ...CAPTURED, 'symbol', 'current', ...SOURCED],
  dimension: 'stablecoin-peg',
  cadence: 'daily',
  subject: { path: '/stable/coin', param: 'symbol', id: 'coin_id' },
  preview: '/stable/preview',
} as const satisfies CapturedCollection;

/** Stablecoins that died. */
export const STABLECOIN_DEATHS = {
  id: 'stablecoin.death',
  holds: 'stablecoins that died, one row a death',
  core: [
    'confirmed_dead_at',
    'symbol',
    'death_type',
    'pre_death_observed_at',
    'first_distress_at',
    'lifespan_days',
    'pre_death_payload',
    'death_context',
    ...SOURCED,
  ],
  dimension: 'stablecoin-peg',
  cadence: 'as-events',
  preview: '/stablecoin-deaths/preview',
} as const satisfies ListedCollection;

/**
 * Every kind of stored row that is not a reading, in the order in which it is compiled. No two cores begin with the same
 * member, and none has that of another, so rows of two kinds never share a core. Filings have a core of their own.
 */
export const COLLECTIONS = [
  { id: 'filing.submission', holds: 'securities filings, one row a filing' },
  STABLECOIN_DEATHS,
  TRUST_SERVICES,
  MCP_SERVERS,
  STABLE_COINS,
  {
    id: 'document',
    holds: 'whole documents, one row an operation and its parameters',
    core: ['operation', 'params', 'title', 'text', 'rows', 'observed_at', ...SOURCED],
  },
] as const satisfies readonly (Collection | HashedCollection)[];
export type CollectionId = (typeof COLLECTIONS)[number]['id'];

/** The collection of a file name, or undefined for the name of anything else. */
export function findCollection(id: string): CollectionId | undefined {
  return COLLECTIONS.find((collection) => collection.id === id)?.id;
}

/** Days before this one were captured from a registry, later ones by demand. */
export const DEMAND_MODEL_SINCE = '2026-08-16';
const TRUST_MODELS = ['demand-v1', 'legacy-registry'] as const;

/** The model that a row of an x402 service was captured under, by its `capture_date` (YYYY-MM-DD). */
export function trustModel(captureDate: string): (typeof TRUST_MODELS)[number] {
  return captureDate >= DEMAND_MODEL_SINCE ? 'demand-v1' : 'legacy-registry';
}

type CoreRow = Readonly<Record<string, unknown>>;

/** The pre-image of a roster row's hash. */
export type RosterCore = Readonly<Record<string, unknown>>;

/** The core of a row of a kind; throws a TypeError that names a missing member. Null is kept, other members are ignored. */
export function rosterCore(kind: RosterKind, row: CoreRow): RosterCore {
  const core: Record<string, unknown> = { hash_core_version: HASH_CORE_VERSION };
  for (const name of coreFields(kind, row)) {
    if (!Object.hasOwn(row, name) || row[name] === undefined) {
      throw new TypeError(
        `Cannot compose the core of a "${kind}" row: "${name}" is missing; write null for none`,
      );
    }
    core[name] = row[name];
  }
  return core;
}

const HASHED: ReadonlyMap<string, HashedCollection> = new Map(
  COLLECTIONS.flatMap((row) => ('core' in row ? [[row.id, row] as const] : [])),
);

/** Whether the rows of a collection are hashed by the members that the table names. */
export function isRosterKind(id: string): id is RosterKind {
  return HASHED.has(id);
}

function coreFields(kind: RosterKind, row: CoreRow): readonly string[] {
  const { core, modelCore } = defined(HASHED.get(kind), 'the collection of a kind');
  const hasMore = modelCore !== undefined && modelCore.model === row.model;
  return hasMore ? [...core, ...modelCore.members] : core;
}

/** What a core of a kind is made of, for those who recompute it. */
export function rosterCoreFields(kind: RosterKind) {
  const { core, modelCore } = defined(HASHED.get(kind), 'the collection of a kind');
  return {
    version: HASH_CORE_VERSION,
    fields: ['hash_core_version', ...core],
    ...(modelCore === undefined ? {} : { demand_v1_fields: [...modelCore.members] }),
  };
}

/** The kind of a delivered object that carries all members of a roster core, or null for anything else. */
export function rosterKindOf(row: CoreRow): RosterKind | null {
  for (const { id } of HASHED.values()) {
    if (coreFields(id, row).every((name) => Object.hasOwn(row, name))) return id;
  }
  return null;
}

/** The entity that a core is about: the value of its identity member, or null for a core without one: a signal, a death, a document. */
export function rosterSubject(core: RosterCore): unknown {
  for (const row of COLLECTIONS) {
    if ('subject' in row && core[row.subject.id] !== undefined) return core[row.subject.id];
  }
  return null;
}

/** The id of an x402 service: its host with dots as hyphens. */
export function serviceId(host: string): string {
  return host.replaceAll('.', '-');
}
