import type { Statement } from '../../format/citation.ts';
import { defined } from '../../format/errors.ts';
import { DAY_MS } from '../../format/iso-time.ts';
import { byTime, joinedProvenance, type LineagePart } from './bundle.ts';
import { NATURE, ROSTER_LINEAGE, ROSTER_NOTES } from './words.ts';

// A roster as a pure function of its rows, and its rows as functions of the bodies of their subjects: `verify` makes both again.

const NOTES_MAX = 3;

/** A row of a roster: what it shows, what it is hashed over, and what the roster says of all its rows. */
export interface RosterRow extends LineagePart {
  readonly shown: object;
  /** Pre-image of its hash; null for a row without one. */
  readonly core: object | null;
  readonly record_hash: string | null;
  readonly collected_at: string;
  readonly grade: string;
  readonly scope: string;
  readonly source_note?: string | undefined;
}

/** Name of the list in a roster. */
export type RosterMember = 'rows' | 'deaths' | 'records';

/** A roster in its usual form, or with the pre-image of each row; it needs a row. */
export function rosterBody(member: RosterMember, rows: readonly RosterRow[], verifiable: boolean) {
  const { observed_at, grade, scope } = oldestOf(rows);
  const notes = [...new Set(rows.flatMap(({ source_note }) => source_note ?? []))];
  const joined = joinedProvenance(rows, { lineage_note: ROSTER_LINEAGE });
  const links = new Map<string | null, RosterRow['lineage']>();
  for (const { lineage } of byAge(rows)) {
    if (!links.has(lineage.traceable_to)) links.set(lineage.traceable_to, lineage);
  }
  return {
    nature: NATURE,
    count: rows.length,
    [member]: rows.map(({ shown, core }) => (verifiable ? { ...shown, _hash_core: core } : shown)),
    observed_at,
    record_hash_verifiable: rosterVerifiable(rows, verifiable),
    ...(notes.length === 0 ? {} : { source_note: notes.slice(0, NOTES_MAX).join('; ') }),
    provenance: { ...joined, data_lineage: [...links.values()] },
    grade,
    scope,
  };
}

/** What the citation of a roster says; `claim` names the collection. */
export function rosterStatement(
  { member, claim, target }: Pick<Statement, 'claim' | 'target'> & { readonly member: string },
  rows: readonly RosterRow[],
): Statement {
  const { observed_at } = oldestOf(rows);
  const [newest] = rows.map((row) => row.collected_at).sort((a, b) => byTime(b, a));
  const fact = `${rows.length} ${member}, the oldest observed at ${observed_at}`;
  return {
    claim,
    fact,
    target,
    observed_at,
    retrieved_at: defined(newest, 'the newest collection'),
  };
}

/** How many rows of a roster carry a hash, and how to check them. */
export function rosterVerifiable(
  rows: readonly { readonly record_hash?: unknown }[],
  verifiable: boolean,
) {
  const with_hash = rows.filter(({ record_hash }) => record_hash !== null).length;
  const total = rows.length;
  if (with_hash === 0) {
    return { mode: 'none' as const, with_hash, total, note: ROSTER_NOTES.none };
  }
  const partial = `${total - with_hash} of ${total} rows were imported without a hash; `;
  const mode = verifiable ? ('offline' as const) : ('online' as const);
  return { mode, with_hash, total, note: (with_hash < total ? partial : '') + ROSTER_NOTES[mode] };
}

/** Oldest first; rows of one time stay in their order. */
function byAge(rows: readonly RosterRow[]): RosterRow[] {
  return [...rows].sort((a, b) => byTime(a.observed_at, b.observed_at));
}

function oldestOf(rows: readonly RosterRow[]): RosterRow {
  const [oldest] = byAge(rows);
  if (oldest === undefined) throw new RangeError('Cannot make a roster: no rows');
  return oldest;
}

/** What every subject that is captured again and again says of its presence. */
interface Present {
  readonly lifecycle: {
    readonly state: string;
    readonly first_seen: string;
    readonly last_seen: string;
    readonly end_at: string | null;
  };
  readonly name: string | null;
  readonly record_hash: string | null;
}

/** Absences after which a service or a server is in the graveyard: the first one. */
const CONFIRM_ABSENCES = 1;
/** Consecutive capture days without a coin after which its absence is persistent. */
export const PERSISTENT_ABSENCES = 2;

/** The row of a graveyard that a service or server has; null for one that the newest capture found. */
export function absentRow(entity: string, { lifecycle, name, record_hash }: Present) {
  const { state, end_at, first_seen, last_seen } = lifecycle;
  if (state !== 'absent') return null;
  return {
    entity,
    name,
    state: 'absent' as const,
    died_on: end_at,
    first_seen,
    last_seen,
    lifespan_days: daysBetween(first_seen, last_seen),
    confirm_absences: CONFIRM_ABSENCES,
    record_hash,
  };
}

/** The body of an x402 service, as lists see it. */
export interface ServiceBody extends Present {
  readonly service_id: string;
  readonly score_total: number | null;
  readonly liveness_state: string | null;
  readonly model: string;
  readonly demand_class?: unknown;
}

/** The row of the scorecard that a service has; null for one that the newest capture did not find. */
export function scorecardRow(service: ServiceBody) {
  const { service_id, name, score_total, liveness_state, model } = service;
  const { demand_class, lifecycle, record_hash } = service;
  if (lifecycle.state !== 'operating') return null;
  return {
    service: service_id,
    name,
    score_total,
    liveness_state,
    model,
    ...(demand_class === undefined ? {} : { demand_class }),
    lifecycle,
    record_hash,
  };
}

/** The body of an MCP server, as lists see it. */
export interface ServerBody extends Present {
  readonly server_id: string;
  readonly status: string;
  readonly missing_streak: number | null;
}

/** The row of the census that a server has. */
export function serverRow(server: ServerBody) {
  const { server_id, name, status, missing_streak, lifecycle, record_hash } = server;
  return { entity: server_id, name, status, missing_streak, lifecycle, record_hash };
}

interface CoinFacts extends Present {
  readonly coin_id: string;
  readonly symbol: string;
  readonly current: Readonly<Record<string, unknown>>;
  /** Whether it is off its peg; this may rest on an older price than its newest row has. */
  readonly depegged: boolean;
}

/** The row of the census that a coin has. */
export function coinRow(coin: CoinFacts, rank: number) {
  const { coin_id, symbol, name, current, lifecycle, record_hash } = coin;
  const { market_cap_usd, price_in_peg } = current;
  const flags = { terminated: lifecycle.state === 'dead', depegged: coin.depegged };
  return {
    rank,
    entity: coin_id,
    symbol,
    name,
    market_cap_usd,
    price_in_peg,
    lifecycle: { ...lifecycle, ...flags },
    record_hash,
  };
}

/** The row of the graveyard that a coin has; null for one that has not ended. It lived as long as its source states. */
export function coinDeathRow({ coin_id, name, current, lifecycle, record_hash }: CoinFacts) {
  const { state, end_at, first_seen, last_seen } = lifecycle;
  if (end_at === null) return null;
  return {
    entity: coin_id,
    name,
    state,
    died_on: end_at,
    first_seen,
    last_seen,
    lifespan_days: current.lifespan_days ?? daysBetween(first_seen, last_seen),
    confirm_absences: state === 'absent' ? PERSISTENT_ABSENCES : null,
    record_hash,
  };
}

function daysBetween(from: string, to: string): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS);
}
