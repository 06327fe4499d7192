import { ndjson, type SnapshotFiles } from './snapshot-folder.ts';

/** Rows of rosters for tests; nothing of them was observed. */

const origin = <More extends object>(day: string, more: More) => ({
  observed_at: `${day}T06:00:00Z`,
  collected_at: `${day}T07:00:00Z`,
  sources: [{ name: 'test source', weight: 1, independent: true }],
  source_ref: 'https://example.org/source',
  source_tier: 'T2',
  ...more,
});
const captured = (day: string, more: object) => origin(day, { capture_date: day, ...more });

const DEMAND = {
  calls_30d: 40,
  unique_payers_30d: 7,
  demand_class: 'REAL',
  demand_depth: null,
  endpoints: 3,
  endpoints_by_class: { REAL: 2, DEAD: 1 },
  last_called_at: null,
};

/** A service on a capture day, of the model that the day has. */
export function serviceRow(host: string, day: string, more: object = {}) {
  return captured(day, {
    host,
    score_total: 12.5,
    liveness_state: 'alive',
    liveness_streak: 3,
    baseline_delta: null,
    first_endpoint: `https://${host}/first`,
    ...(day >= '2026-08-16' ? DEMAND : {}),
    ...more,
  });
}

export function serverRow(server_id: string, day: string, more: object = {}) {
  return captured(day, { server_id, status: 'active', ...more });
}

/** A coin on a capture day; `symbol` is its id in upper case unless given. */
export function coinRow(
  coin_id: string,
  day: string,
  given: { symbol?: string; [figure: string]: unknown } = {},
) {
  const { symbol = coin_id.toUpperCase(), ...figures } = given;
  const current = { price_in_peg: 1, market_cap_usd: 1000, peg: 'USD', ...figures };
  return captured(day, { coin_id, symbol, current });
}

export function deathRow(symbol: string, more: object = {}) {
  return origin('2026-11-19', {
    symbol,
    name: `${symbol} Dollar`,
    death_type: 'depeg-collapse',
    confirmed_dead_at: '2026-05-10T00:00:00Z',
    pre_death_observed_at: '2026-05-09T00:00:00Z',
    first_distress_at: null,
    lifespan_days: 300,
    pre_death_payload: {
      price: 0.31,
      supply: 1_000_000,
      collateral: null,
      redemption: { queue_count: 4 },
      per_chain: { base: 0.6 },
    },
    death_context: { note: 'generated' },
    ...more,
  });
}

export function articleRow(operation: string, params: object = {}, more: object = {}) {
  return origin('2026-11-19', {
    form: 'article',
    operation,
    params,
    cadence: 'daily',
    title: 'figures side by side',
    text: 'Two offices published a figure for the same month.',
    rows: [{ name: 'unemployment', office_a_pct: 4.1, office_b_pct: 4.2 }],
    ...more,
  });
}

const leg = (name: string, hour: string, current: object) => ({
  leg: name,
  signal_id: `taiwan.${name}`,
  measures: `${name} count`,
  entity: 'taiwan',
  observed_at: `2026-11-19T0${hour}:00:00Z`,
  current,
  sources: [{ name: 'test source', weight: 1, independent: true }],
  source_ref: null,
  source_tier: null,
});

export function legsRow(operation: string, params: object = {}, more: object = {}) {
  return origin('2026-11-19', {
    form: 'legs',
    operation,
    params,
    cadence: 'daily',
    title: 'strait activity',
    legs: [leg('notices', '1', { notices_count: 3 }), leg('transits', '4', { transits_count: 9 })],
    ...more,
  });
}

/** Rows by collection, each in the file of the batch of its collection day. */
export function rosterFiles(rows: Readonly<Record<string, readonly object[]>>): SnapshotFiles {
  const files: Record<string, object[]> = {};
  for (const [collection, list] of Object.entries(rows)) {
    for (const row of list as readonly { collected_at: string }[]) {
      const path = `${row.collected_at.slice(0, 10)}/${collection}.ndjson`;
      files[path] = [...(files[path] ?? []), row];
    }
  }
  return Object.fromEntries(Object.entries(files).map(([path, list]) => [path, ndjson(list)]));
}

/** A little of every collection: who stays, who goes, who comes back. */
export function rosterSet(): Readonly<Record<string, readonly object[]>> {
  const days = ['2026-07-07', '2026-07-08', '2026-11-18', '2026-11-19'];
  const on = (wanted: readonly string[], make: (day: string) => object) => wanted.map(make);
  return {
    'trust.service': [
      ...on(days, (day) => serviceRow('stays.example', day)),
      ...on(days.slice(0, 3), (day) => serviceRow('gone.example', day)),
      ...on([days[0] ?? '', days[3] ?? ''], (day) => serviceRow('back.example', day)),
      serviceRow('legacy.example', '2026-07-07'),
    ],
    'mcp.server': [
      ...on(days, (day) => serverRow('stays-mcp', day, { imported: day < '2026-08' })),
      serverRow('gone-mcp', '2026-07-07', { imported: true, name: 'Gone MCP' }),
    ],
    'stable.coin': [
      ...on(days, (day) => coinRow('large', day, { market_cap_usd: 9e9 })),
      ...on(days, (day) => coinRow('twin', day, { price_in_peg: 0.9, symbol: 'LARGE' })),
      ...on(days, (day) => coinRow('wreck', day, { price_in_peg: day < '2026-08' ? 1 : 0.02 })),
      ...on(days.slice(0, 2), (day) => coinRow('lost', day, { market_cap_usd: null })),
      ...on(days.slice(0, 3), (day) => coinRow('late', day)),
    ],
    'stablecoin.death': [deathRow('ZED'), deathRow('ALF', { lifespan_days: null })],
    document: [
      legsRow('/gauge/taiwan-region'),
      legsRow('/gauge/chokepoint-region', { loc: 'hormuz' }),
      legsRow('/gauge/chokepoint-region', { loc: 'malacca' }),
      articleRow('/gauge/macro-reconcile-full'),
      articleRow('/shadow/chatter', { topic: 'energy' }),
    ],
  };
}
