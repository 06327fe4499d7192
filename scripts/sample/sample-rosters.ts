import { defined } from '../../compiler/format/errors.ts';
import { captureDays } from './sample-times.ts';
import { fixedNumber } from './sample-values.ts';

type SampleRow = Readonly<Record<string, unknown>>;

const LEGACY_DAYS = ['2026-07-07', '2026-07-08'] as const;
/** Earlier captures were imported: without demand and without hashes. */
const DEMAND_SINCE = '2026-08-16';
const RECENT_CAPTURES = 5;

/** Every file of the sample that holds no readings: path below the snapshots folder, and text. */
export function sampleRosterFiles(
  header: Readonly<Record<string, unknown>>,
  hour: string,
): Map<string, string> {
  const files = new Map<string, string>();
  const put = (collection: string, day: string, rows: readonly SampleRow[]): void => {
    const times = { observed_at: `${day}T06:00:00Z`, collected_at: `${day}T06:10:00Z` };
    const lines = [{ header: { ...times, ...header } }, ...rows];
    files.set(
      `${day}/${collection}.ndjson`,
      `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`,
    );
  };
  const recent = capturesOf(captureDays(hour, RECENT_CAPTURES));
  for (const capture of [...capturesOf(LEGACY_DAYS, 2), ...recent.slice(-2)]) {
    const found = TRADES.filter(
      (trade) => capture.ago >= (SERVICE_GONE[trade] ?? 0) && SERVICE_BACK[trade] !== capture.ago,
    );
    put(
      'trust.service',
      capture.day,
      found.map((trade) => {
        const host = `${trade}.sample.example`;
        const score = Math.round(fixedNumber(`${trade}/${capture.day}`) * 1000) / 10;
        return {
          host,
          capture_date: capture.day,
          score_total: score,
          liveness_state: score > 10 ? 'alive' : 'unstable',
          liveness_streak: Math.floor(fixedNumber(`${trade}:streak`) * 30),
          baseline_delta: Math.round(fixedNumber(`${trade}:delta/${capture.day}`) * 200 - 100) / 10,
          first_endpoint: `https://${host}/v1`,
          ...(capture.day < DEMAND_SINCE ? {} : demand(trade, capture.day)),
        };
      }),
    );
    const imported = capture.day < DEMAND_SINCE;
    put(
      'mcp.server',
      capture.day,
      SERVERS.filter((id) => capture.day === LEGACY_DAYS[0] || !SERVERS_GONE.includes(id)).map(
        (id) => ({
          server_id: id,
          name: `S${id.slice(1).replaceAll('-', ' ')}`,
          capture_date: capture.day,
          status: fixedNumber(`${id}:status`) < 0.2 ? 'deprecated' : 'active',
          ...(imported ? { imported, source_note: 'generated as an import without hashes' } : {}),
        }),
      ),
    );
  }
  for (const capture of recent)
    put(
      'stable.coin',
      capture.day,
      COINS.flatMap(([id, symbol, peg, cap, prices]) => {
        const price = prices.at(-1 - capture.ago) ?? null;
        if (price === null) return [];
        const market_cap_usd = cap === null ? null : Math.round(cap * price);
        return {
          coin_id: id,
          symbol,
          name: `S${id.slice(1).replaceAll('-', ' ')}`,
          capture_date: capture.day,
          current: { price_in_peg: price, market_cap_usd, peg },
        };
      }),
    );
  const newest = defined(recent.at(-1), 'the newest capture').day;
  put('stablecoin.death', newest, deaths());
  put('document', newest, sampleDocuments(header, newest));
  return files;
}

function capturesOf(days: readonly string[], after = 0) {
  return days.map((day, at) => ({ day, ago: days.length - 1 - at + after }));
}

const TRADES = (
  'weather maps market translate images search fonts flights recipes games ' +
  'lyrics postcodes colours tides stars trains holidays names units news'
).split(' ');
/** Captures after the last one that found a service; the others are found by all four. */
const SERVICE_GONE: Readonly<Record<string, number>> = {
  lyrics: 3,
  colours: 3,
  games: 2,
  fonts: 1,
  stars: 1,
};
/** Missed by one capture and found by a later one. */
const SERVICE_BACK: Readonly<Record<string, number>> = { tides: 2, units: 1 };
const CLASSES = ['REAL', 'REAL', 'SOLO', 'PROBE', 'WASH?', 'WASH', 'DEAD'] as const;

function demand(trade: string, day: string): SampleRow {
  const demandClass = CLASSES[Math.floor(fixedNumber(`${trade}:class`) * CLASSES.length)] ?? 'REAL';
  const dead = demandClass === 'DEAD';
  const calls = dead ? 0 : 1 + Math.floor(fixedNumber(`${trade}:calls/${day}`) * 5000);
  const payers = [0, 1, 2].map((n) => ({
    url: `https://${trade}.sample.example/v${n + 1}`,
    unique_payers_30d: dead ? 0 : 1 + Math.floor(fixedNumber(`${trade}:payers/${n}`) * 60),
  }));
  return {
    calls_30d: calls,
    unique_payers_30d: Math.max(...payers.map((each) => each.unique_payers_30d)),
    demand_class: demandClass,
    demand_depth: demandClass === 'REAL' ? (calls > 2000 ? 'DEPTH' : 'BREADTH') : null,
    endpoints: payers.length,
    endpoints_by_class: { [demandClass]: payers.length },
    last_called_at: dead ? null : `${day}T05:00:00Z`,
    endpoint_payers: payers,
  };
}

const SERVERS = TRADES.map((trade) => `sample-${trade}-mcp`);
/** Found on the first day alone. */
const SERVERS_GONE = ['sample-lyrics-mcp', 'sample-colours-mcp', 'sample-news-mcp'];

const ON_PEG = [1, 0.9998, 1.0001, 0.9999, 1.0002];
/** Id, symbol, peg, supply at the peg, and the price by day in units of the peg: null on a day without a capture. */
const COINS: readonly (readonly [string, string, string, number | null, (number | null)[]])[] = [
  ['sample-dollar', 'SAMPLEUSD', 'USD', 4.2e10, ON_PEG],
  ['sample-euro', 'SAMPLEEUR', 'EUR', 3.1e8, ON_PEG],
  ['sample-yen', 'SAMPLEJPY', 'JPY', 2.4e7, ON_PEG],
  ['sample-twin-large', 'SAMPLETWIN', 'USD', 9e6, ON_PEG],
  ['sample-twin-small', 'SAMPLETWIN', 'USD', 8e5, ON_PEG],
  ['sample-drift', 'SAMPLEDRIFT', 'USD', 5e6, [1, 0.99, 0.97, 0.93, 0.9]],
  ['sample-wreck', 'SAMPLEWRECK', 'USD', 1e5, [1, 0.4, 0.09, 0.05, 0.02]],
  ['sample-phoenix', 'SAMPLEPHX', 'USD', 2e6, [0.08, 0.07, 0.5, 0.98, 1]],
  ['sample-lost', 'SAMPLELOST', 'USD', 7e5, [1, 1, 1, null, null]],
  ['sample-late', 'SAMPLELATE', 'USD', 6e5, [1, 1, 1, 1, null]],
  ['sample-shy', 'SAMPLESHY', 'USD', null, ON_PEG],
];

const DEATHS = [
  ['SAMPLEX', 'depeg-collapse', '2025-05-12', 540],
  ['SAMPLEY', 'orderly-redemption', '2025-11-30', 1257],
  ['SAMPLEZ', 'exploit', '2026-02-03', null],
  ['SAMPLEQ', 'collateral-failure', '2026-07-19', 152],
] as const;

function deaths(): SampleRow[] {
  return DEATHS.map(([symbol, death_type, day, lifespan_days]) => ({
    symbol,
    name: `Sample dollar ${symbol.slice(-1)}`,
    death_type,
    confirmed_dead_at: `${day}T12:00:00Z`,
    pre_death_observed_at: `${day}T06:00:00Z`,
    first_distress_at: death_type === 'orderly-redemption' ? null : `${day}T01:00:00Z`,
    lifespan_days,
    pre_death_payload: {
      price: death_type === 'orderly-redemption' ? 1 : 0.31,
      supply: Math.floor(fixedNumber(symbol) * 1e9),
      collateral: { ratio: Math.round(fixedNumber(`${symbol}:ratio`) * 100) / 100 },
      redemption: { open: death_type === 'orderly-redemption', queue_count: 12 },
      per_chain: { 'sample-chain-a': 0.7, 'sample-chain-b': 0.3 },
    },
    death_context: { note: 'generated sample; says nothing about a real coin' },
  }));
}

/** Legs of a generated chain by the place that it is about: name, what it counts, metric. */
const CHAINS = {
  'taiwan-strait': [
    ['navigation-notices', 'navigation notices in force', 'notices_count'],
    ['vessel-transits', 'vessel transits of the day', 'transits_count'],
    ['port-calls', 'port calls of the day', 'calls_count'],
  ],
  'japan-grid': [
    ['reserve-notices', 'reserve notices in force', 'notices_count'],
    ['peak-load', 'peak load of the day', 'load_mw'],
    ['interruptions', 'customers interrupted', 'customers_count'],
  ],
  chokepoint: [
    ['security-notices', 'security notices in force', 'notices_count'],
    ['vessel-transits', 'vessel transits of the day', 'transits_count'],
    ['waiting-vessels', 'vessels at anchor', 'vessels_count'],
  ],
  'city-notices': [
    ['agency-notices', 'agency notices in force', 'notices_count'],
    ['published-items', 'published items of the day', 'items_count'],
    ['service-reports', 'service reports of the day', 'reports_count'],
  ],
} as const;

function sampleDocuments({ sources }: SampleRow, day: string): SampleRow[] {
  const legs = (chain: keyof typeof CHAINS, entity: string): SampleRow[] =>
    CHAINS[chain].map(([leg, measures, metric], index) => ({
      leg,
      signal_id: `${chain}.${leg}`,
      measures,
      entity,
      entity_name: `Sample values for ${entity}`,
      observed_at: `${day}T0${index + 1}:00:00Z`,
      current: { [metric]: Math.floor(fixedNumber(`${chain}/${leg}/${entity}`) * 90) },
      sources,
      source_ref: null,
      source_tier: null,
    }));
  return [
    chain('/gauge/taiwan-region', {}, legs('taiwan-strait', 'taiwan-strait')),
    chain('/gauge/japan-region', {}, legs('japan-grid', 'japan')),
    chain('/gauge/chokepoint-region', { loc: 'hormuz' }, legs('chokepoint', 'hormuz')),
    chain('/gauge/chokepoint-region', { loc: 'malacca' }, legs('chokepoint', 'malacca')),
    ...['us-stlouis', 'us-denver'].map((loc) =>
      chain('/shadow/region-plus', { loc, topic: 'energy' }, legs('city-notices', loc)),
    ),
    article(
      '/gauge/macro-reconcile-full',
      {},
      ['unemployment', 'inflation', 'industrial-output'].map((indicator) => {
        const first = Math.round(fixedNumber(indicator) * 60) / 10;
        const second = Math.round(first * 10 + 1) / 10;
        return {
          indicator,
          period: '2026-09',
          office_a_pct: first,
          office_b_pct: second,
          difference_pct: 0.1,
          definition: 'both seasonally adjusted',
        };
      }),
    ),
    article('/shadow/chatter', { topic: 'energy' }, items('energy', day)),
    article(
      '/shadow/signal-plus',
      { signal_id: 'airquality.aqi', entity: 'us-denver', topic: 'energy' },
      items('energy beside air quality', day),
    ),
    article('/pay/tier2', {}, items('tier 2', day)),
    article('/pay/tier3', {}, items('tier 3', day)),
  ];
}

function chain(operation: string, params: SampleRow, legs: readonly SampleRow[]): SampleRow {
  const title = `sample chain of ${operation.slice(operation.lastIndexOf('/') + 1)}`;
  return { form: 'legs', operation, params, cadence: 'daily', title, legs };
}

function article(operation: string, params: SampleRow, rows: readonly SampleRow[]): SampleRow {
  const title = `sample of ${operation.slice(operation.lastIndexOf('/') + 1)}`;
  const text = 'Generated rows that show the shape of this document; nothing of it was observed.';
  return { form: 'article', operation, params, cadence: 'daily', title, text, rows };
}

function items(topic: string, day: string): SampleRow[] {
  return [1, 2, 3].map((n) => ({
    topic,
    item: `generated item ${n} about ${topic}`,
    published_at: `${day}T0${n}:30:00Z`,
    mentions_count: Math.floor(fixedNumber(`${topic}/${n}`) * 40),
  }));
}
