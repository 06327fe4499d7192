import { createHash } from 'node:crypto';
import { COLLECTIONS, type RosterKind } from '../../../compiler/contract/collections.ts';
import { isRosterKind, rosterCore } from '../../../compiler/contract/roster-core.ts';
import { jcs } from '../../../compiler/stages/seal/jcs.ts';
import type { Vector } from './vector.ts';

const CAPTURED = { capture_date: '2026-11-19', observed_at: '2026-11-19T06:00:00Z' };
const SOURCED = { source_ref: 'https://source.example/rows', source_tier: 'T2' };
const DEMAND = {
  calls_30d: 40,
  unique_payers_30d: 7,
  demand_class: 'REAL',
  demand_depth: null,
  endpoints: 3,
  endpoints_by_class: { REAL: 2, DEAD: 1 },
  last_called_at: null,
};
const SERVICE = {
  service_id: 'weather-example',
  ...CAPTURED,
  model: 'demand-v1',
  domain: 'weather.example',
  first_endpoint: 'https://weather.example/v1',
  score_total: 12.5,
  liveness_state: 'alive',
  liveness_streak: 3,
  baseline_delta: null,
  ...SOURCED,
};

const ROWS: Readonly<Record<RosterKind, object>> = {
  'trust.service': { ...SERVICE, ...DEMAND },
  'mcp.server': { server_id: 'weather-mcp', ...CAPTURED, status: 'active', ...SOURCED },
  'stable.coin': {
    coin_id: 'example-dollar',
    ...CAPTURED,
    symbol: 'EXUSD',
    current: { price_in_peg: 0.998, market_cap_usd: 1e6, peg: 'USD' },
    ...SOURCED,
  },
  'stablecoin.death': {
    confirmed_dead_at: '2026-05-10T00:00:00Z',
    symbol: 'GONE',
    death_type: 'depeg-collapse',
    pre_death_observed_at: '2026-05-09T00:00:00Z',
    first_distress_at: null,
    lifespan_days: 300,
    pre_death_payload: { price: 0.31, per_chain: { base: 0.6 } },
    death_context: { note: 'generated' },
    ...SOURCED,
  },
  document: {
    operation: '/shadow/chatter',
    params: { topic: 'energy' },
    title: 'figures side by side',
    text: 'Two offices published a figure.',
    rows: [{ office_a_pct: 4.1, office_b_pct: 4.2 }],
    observed_at: '2026-11-19T06:00:00Z',
    ...SOURCED,
  },
};

/** `input` is a delivered row, `want` its kind, the canonical text of its core and its hash, `error` a part of the message. */
export function rosterCoreVectors(): readonly Vector[] {
  const kinds = COLLECTIONS.map(({ id }) => id).filter(isRosterKind);
  const legacy = { ...SERVICE, capture_date: '2026-07-07', model: 'legacy-registry' };
  return [
    ...kinds.map((kind) => row(`a row of ${kind}`, kind, ROWS[kind])),
    row('a service before demand was measured', 'trust.service', legacy),
    ...kinds.map((kind) =>
      row(`display members of ${kind} are outside`, kind, { name: 'x', rank: 1, ...ROWS[kind] }),
    ),
    ...kinds.map(withoutLast),
  ];
}

function row(comment: string, kind: RosterKind, input: object): Vector {
  const core = jcs(rosterCore(kind, input as Readonly<Record<string, unknown>>));
  const record_hash = `sha256:${createHash('sha256').update(core, 'utf8').digest('hex')}`;
  return { comment, input, want: { kind, core, record_hash } };
}

/** A row that lacks a member of its core is none of its kind. */
function withoutLast(kind: RosterKind): Vector {
  const { source_tier, ...input } = ROWS[kind] as Record<string, unknown>;
  return { comment: `a row of ${kind} without its source tier`, input, error: 'source_tier' };
}
