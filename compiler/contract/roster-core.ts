import { COLLECTIONS, type HashedCollection, type RosterKind } from './collections.ts';
import { defined } from './defined.ts';
import { HASH_CORE_VERSION } from './record-hash.ts';

/** Days before this one were captured from a registry, later ones by demand. */
export const DEMAND_MODEL_SINCE = '2026-08-16';
const TRUST_MODELS = ['demand-v1', 'legacy-registry'] as const;
type TrustModel = (typeof TRUST_MODELS)[number];

/** The model that a row of an x402 service was captured under, by its `capture_date` (YYYY-MM-DD). */
export function trustModel(captureDate: string): TrustModel {
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

/** The collections whose rows have a core of the table. */
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
