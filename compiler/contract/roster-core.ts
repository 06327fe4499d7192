import { HASH_CORE_VERSION } from './record-hash.ts';

/** Days before this one were captured from a registry, later ones by demand. */
export const DEMAND_MODEL_SINCE = '2026-08-16';
const TRUST_MODELS = ['demand-v1', 'legacy-registry'] as const;
type TrustModel = (typeof TRUST_MODELS)[number];

/** The model that a row of an x402 service was captured under, by its `capture_date` (YYYY-MM-DD). */
export function trustModel(captureDate: string): TrustModel {
  return captureDate >= DEMAND_MODEL_SINCE ? 'demand-v1' : 'legacy-registry';
}

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

const CAPTURED = ['capture_date', 'observed_at'] as const;
const SOURCED = ['source_ref', 'source_tier'] as const;

/**
 * Members of the hash core of each kind of roster row, after `hash_core_version` (the number 3). No two kinds begin with
 * the same member, and none has that of another, so rows of two kinds never share a core.
 */
export const ROSTER_CORES = {
  'trust.service': [
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
  'mcp.server': ['server_id', ...CAPTURED, 'status', ...SOURCED],
  'stable.coin': ['coin_id', ...CAPTURED, 'symbol', 'current', ...SOURCED],
  'stablecoin.death': [
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
  document: ['operation', 'params', 'title', 'text', 'rows', 'observed_at', ...SOURCED],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type RosterKind = keyof typeof ROSTER_CORES;
type Row = Readonly<Record<string, unknown>>;

/** The pre-image of a roster row's hash. */
export type RosterCore = Readonly<Record<string, unknown>>;

/** The core of a row of a kind; throws a TypeError that names a missing member. Null is kept, other members are ignored. */
export function rosterCore(kind: RosterKind, row: Row): RosterCore {
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

function coreFields(kind: RosterKind, row: Row): readonly string[] {
  const demand = kind === 'trust.service' && row.model === 'demand-v1';
  return demand ? [...ROSTER_CORES[kind], ...DEMAND_FIELDS] : ROSTER_CORES[kind];
}

/** What a core of a kind is made of, for those who recompute it. */
export function rosterCoreFields(kind: RosterKind) {
  const demand = kind === 'trust.service' ? { demand_v1_fields: [...DEMAND_FIELDS] } : {};
  return {
    version: HASH_CORE_VERSION,
    fields: ['hash_core_version', ...ROSTER_CORES[kind]],
    ...demand,
  };
}

/** The kind of a delivered object that carries all members of a roster core, or null for anything else. */
export function rosterKindOf(row: Row): RosterKind | null {
  const kinds = Object.keys(ROSTER_CORES) as RosterKind[];
  const carries = (kind: RosterKind): boolean =>
    coreFields(kind, row).every((name) => Object.hasOwn(row, name));
  return kinds.find(carries) ?? null;
}

/** The entity that a core is about: the value of its identity member, or null for a core without one: a signal, a death, a document. */
export function rosterSubject(core: RosterCore): unknown {
  return core.service_id ?? core.server_id ?? core.coin_id ?? null;
}

/** The id of an x402 service: its host with dots as hyphens. */
export function serviceId(host: string): string {
  return host.replaceAll('.', '-');
}
