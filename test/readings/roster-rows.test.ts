import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import {
  coinFigures,
  mcpServerRowSchema,
  stableCoinRowSchema,
  stablecoinDeathRowSchema,
  trustServiceRowSchema,
} from '../../compiler/readings/roster-rows.ts';
import { coinRow, deathRow, serverRow, serviceRow } from '../roster-rows.ts';

function faults(schema: z.ZodType, row: object): string[] {
  return (schema.safeParse(row).error?.issues ?? []).map((issue) => issue.path.join('.'));
}

describe('mcpServerRowSchema', () => {
  it.each([{}, { name: null }, { imported: true }, { source_note: 'from a registry' }])(
    'takes %j',
    (more) => {
      expect(faults(mcpServerRowSchema, serverRow('@scope/a-mcp', '2026-11-20', more))).toEqual([]);
    },
  );

  it.each([
    [{ server_id: '../x' }, 'server_id'],
    [{ server_id: 'two words' }, 'server_id'],
    [{ server_id: 'X'.repeat(100) }, 'server_id'],
    [{ status: '' }, 'status'],
    [{ missing_streak: 3 }, ''],
    [{ capture_date: '2026-11-21' }, 'capture_date'],
    [{ source_tier: 'T9' }, 'source_tier'],
    [{ source_ref: 'javascript:alert(1)' }, 'source_ref'],
    [{ sources: [] }, 'sources'],
  ])('refuses %j', (more, field) => {
    expect(faults(mcpServerRowSchema, serverRow('a', '2026-11-20', more))).toContain(field);
  });
});

describe('stableCoinRowSchema', () => {
  it('takes further figures of the source', () => {
    const row = coinRow('a', '2026-11-20', { supply_count: 5, ongoing: true });
    expect(faults(stableCoinRowSchema, row)).toEqual([]);
    expect(coinFigures(stableCoinRowSchema.parse(row))).toMatchObject({ price_in_peg: 1 });
  });

  it.each([
    [{ price_in_peg: '1.00' }, 'current.price_in_peg'],
    [{ price_in_peg: -0.1 }, 'current.price_in_peg'],
    [{ price_in_peg: undefined }, 'current.price_in_peg'],
    [{ market_cap_usd: 'big' }, 'current.market_cap_usd'],
    [{ supply_count: '5' }, 'current.supply_count'],
    [{ spread_pct: true }, 'current.spread_pct'],
    [{ lifespan_days: 1.5 }, 'current.lifespan_days'],
    [{ provenance: 1 }, 'current.provenance'],
    [{ record_hash: 'x' }, 'current.record_hash'],
    [{ symbol: 'lower' }, 'symbol'],
    [{ symbol: 'A B' }, 'symbol'],
  ])('refuses %j', (given, field) => {
    expect(faults(stableCoinRowSchema, coinRow('a', '2026-11-20', given))).toContain(field);
  });
});

describe('stablecoinDeathRowSchema', () => {
  const payload = (more: object) => ({
    pre_death_payload: {
      price: 0.3,
      supply: null,
      collateral: 'algorithmic, none',
      redemption: null,
      per_chain: null,
      ...more,
    },
  });

  it.each([
    {},
    { death_context: null },
    { lifespan_days: undefined },
    { imported: true },
    payload({}),
    payload({ price: { last_usd: 0.3 }, redemption: { state: 'suspended', queue_count: 4 } }),
  ])('takes %j', (more) => {
    expect(faults(stablecoinDeathRowSchema, deathRow('A', more))).toEqual([]);
  });

  it.each([
    [{ confirmed_dead_at: '2027-01-01T00:00:00Z' }, 'confirmed_dead_at'],
    [{ pre_death_observed_at: '2026-05-11T00:00:00Z' }, 'pre_death_observed_at'],
    [{ first_distress_at: '2026-05-11T00:00:00Z' }, 'first_distress_at'],
    [{ lifespan_days: -1 }, 'lifespan_days'],
    [{ pre_death_payload: { price: 1 } }, 'pre_death_payload.supply'],
    [payload({ price: '0.31' }), 'pre_death_payload.price'],
    [payload({ price: 'low' }), 'pre_death_payload.price'],
    [payload({ supply: '1000000' }), 'pre_death_payload.supply'],
    [payload({ collateral: '0.5' }), 'pre_death_payload.collateral'],
    [payload({ redemption: { queue_count: '4' } }), 'pre_death_payload.redemption.queue_count'],
    [payload({ per_chain: { base: '0.6' } }), 'pre_death_payload.per_chain.base'],
    [payload({ per_chain: '0.6' }), 'pre_death_payload.per_chain'],
    [{ death_context: { loss_usd: '5M' } }, 'death_context.loss_usd'],
    [{ capture_date: '2026-11-19' }, ''],
  ])('refuses %j', (more, field) => {
    expect(faults(stablecoinDeathRowSchema, deathRow('A', more))).toContain(field);
  });
});

/** Members that a row with these changes is refused for. */
function trustFaults(more: object, day = '2026-11-20'): string[] {
  const issues = trustServiceRowSchema.safeParse(serviceRow('a.example', day, more)).error?.issues;
  return (issues ?? []).map((issue) => issue.path.join('.'));
}
const payers = (...counts: (number | null)[]) =>
  counts.map((unique_payers_30d, n) => ({ url: `https://a.example/${n}`, unique_payers_30d }));

describe('trustServiceRowSchema', () => {
  it('takes a row of each model', () => {
    expect(trustFaults({})).toEqual([]);
    expect(trustFaults({}, '2026-08-15')).toEqual([]);
  });

  it('wants all of demand since its day and none of it before', () => {
    expect(trustFaults({ demand_class: undefined })).toEqual(['demand_class']);
    expect(trustFaults({ demand_depth: undefined })).toEqual(['demand_depth']);
    expect(trustFaults({ demand_class: 'REAL' }, '2026-08-15')).toEqual(['demand_class']);
    expect(trustFaults({ calls_30d: null }, '2026-08-15')).toEqual(['calls_30d']);
  });

  it('takes the largest count of an endpoint for the payers, never the sum', () => {
    expect(trustFaults({ unique_payers_30d: 7, endpoint_payers: payers(7, 5, null) })).toEqual([]);
    expect(trustFaults({ unique_payers_30d: 12, endpoint_payers: payers(7, 5) })).toEqual([
      'unique_payers_30d',
    ]);
    expect(trustFaults({ unique_payers_30d: null, endpoint_payers: payers(null) })).toEqual([]);
    expect(trustFaults({ unique_payers_30d: 0, endpoint_payers: payers(null) })).toHaveLength(1);
  });

  it('wants the classes of endpoints to add up', () => {
    expect(trustFaults({ endpoints: 4 })).toEqual(['endpoints_by_class']);
    expect(trustFaults({ endpoints: null })).toEqual([]);
    expect(trustFaults({ endpoints_by_class: null })).toEqual([]);
  });

  it.each([
    { demand_class: 'GREAT' },
    { demand_depth: 'WIDE' },
    { unique_payers_30d: -1 },
    { unique_payers_30d: 1.5 },
    { host: 'A.example' },
    { host: 'localhost' },
    { host: '../etc' },
    { first_endpoint: 'javascript:alert(1)' },
    { host: `${'a'.repeat(190)}.example` },
    { capture_date: '2026-02-30' },
    { observed_at: '2026-11-20T06:00:00+02:00' },
    { observed_at: '2026-11-20T08:00:00Z' },
    { capture_date: '2026-11-21' },
    { lifecycle: { state: 'dead' } },
    { tier: 'gold' },
  ])('refuses %j', (more) => {
    expect(trustFaults(more)).not.toEqual([]);
  });
});
