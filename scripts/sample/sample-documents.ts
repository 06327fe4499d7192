import { fixedNumber } from './sample-values.ts';

type LegRow = Readonly<Record<string, unknown>>;

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

/** One document for each operation that is served from documents. */
export function sampleDocuments({ sources }: LegRow, day: string): LegRow[] {
  const legs = (chain: keyof typeof CHAINS, entity: string): LegRow[] =>
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
    article('/gauge/macro-reconcile-full', {}, reconciled()),
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

function chain(operation: string, params: LegRow, legs: readonly LegRow[]): LegRow {
  const title = `sample chain of ${operation.slice(operation.lastIndexOf('/') + 1)}`;
  return { form: 'legs', operation, params, cadence: 'daily', title, legs };
}

function article(operation: string, params: LegRow, rows: readonly LegRow[]): LegRow {
  const title = `sample of ${operation.slice(operation.lastIndexOf('/') + 1)}`;
  const text = 'Generated rows that show the shape of this document; nothing of it was observed.';
  return { form: 'article', operation, params, cadence: 'daily', title, text, rows };
}

function reconciled(): LegRow[] {
  return ['unemployment', 'inflation', 'industrial-output'].map((indicator) => {
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
  });
}

function items(topic: string, day: string): LegRow[] {
  return [1, 2, 3].map((n) => ({
    topic,
    item: `generated item ${n} about ${topic}`,
    published_at: `${day}T0${n}:30:00Z`,
    mentions_count: Math.floor(fixedNumber(`${topic}/${n}`) * 40),
  }));
}
