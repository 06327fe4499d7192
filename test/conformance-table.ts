/** The operations of the specification with their prices and parameters, written down by hand from its own tables. */
export interface Operation {
  readonly path: string;
  /** Decimal USD; null for what is given away or opened by a token. */
  readonly price: string | null;
  /** A query that has an answer in the sample. */
  readonly valid: string;
  /** A query with something left out, and the parameters that are then named; null where nothing is required. */
  readonly missing: readonly [query: string, names: readonly string[]] | null;
  /** A query with a value that is not legal; null where every text is. */
  readonly illegal: string | null;
  /** A query that nothing is stored for; null where the operation takes none, so that only an empty release has no data. */
  readonly none: string | null;
  readonly method?: 'POST';
  /** JSON body of a POST. */
  readonly body?: string;
  /** Decimal USD that the body costs where the price follows from it. */
  readonly sum?: string;
}

const AQI = 'signal_id=airquality.aqi';
const PAIR = `${AQI}&entity=us-denver`;

function operation(path: string, price: string | null, valid = ''): Operation {
  return { path, price, valid, missing: null, illegal: null, none: null };
}

/** A product of one signal at one entity. */
const pair = (path: string, price: string, more = ''): Operation => ({
  ...operation(path, price, `${PAIR}${more}`),
  missing: [AQI, ['entity']],
  illegal: 'signal_id=airquality.nothing&entity=us-denver',
  none: `${AQI}&entity=nowhere`,
});

/** A product of one place out of a closed list. */
const place = (path: string, price: string, value: string): Operation => ({
  ...operation(path, price, value),
  missing: ['format=thin', [value.slice(0, value.indexOf('='))]],
  illegal: `${value.slice(0, value.indexOf('='))}=nowhere`,
  none: null,
});

/** A product of one id out of an open list. */
const subject = (path: string, price: string, value: string): Operation => ({
  ...place(path, price, value),
  illegal: null,
  none: `${value.slice(0, value.indexOf('='))}=nobody-knows-it`,
});

const bundle = (path: string, value: string) => place(path, '0.25', value);
const openBundle = (path: string, value: string) => subject(path, '0.25', value);

/** A batch; all it takes is the optional `verifiable=1`. */
const batch = (path: string): Operation => ({
  ...operation(path, '0.09'),
  illegal: 'verifiable=2',
});

const settlement = (path: string, price: string): Operation => ({
  ...operation(path, price, 'entity=AAPL&form=10-K&cutoff=2026-11-18'),
  missing: ['entity=AAPL&form=10-K', ['cutoff']],
  illegal: 'entity=AAPL&form=10-K&cutoff=yesterday',
  none: 'entity=NOBODY&form=10-K&cutoff=2026-11-18',
});

const HASH = `sha256:${'0'.repeat(64)}`;

/** Every operation, in the order of the specification. */
export const OPERATIONS: readonly Operation[] = [
  pair('/gauge', '0.01'),
  pair('/gauge/ruler', '0.005'),
  pair('/gauge/calibrated', '0.005'),
  pair('/gauge/strata', '0.005'),
  pair('/gauge/history', '0.005'),
  { ...pair('/gauge/history-series', '0.09', '&days=30'), illegal: `${PAIR}&days=1001` },
  {
    ...operation('/gauge/census', '0.09', AQI),
    missing: ['x=1', ['signal_id']],
    illegal: 'signal_id=airquality.nothing',
    // Legal, but key-gated: nothing is stored of it.
    none: 'signal_id=grid-reliability.stress',
  },
  subject('/gauge/lifecycle', '0.005', 'entity=kyoto-protocol'),
  place('/gauge/air', '0.005', 'loc=us-denver'),
  place('/gauge/precip', '0.005', 'loc=us-denver'),

  bundle('/gauge/region', 'loc=us-chicago'),
  bundle('/gauge/agri-region', 'loc=us-iowa'),
  bundle('/gauge/grid-region', 'loc=us-ercot'),
  bundle('/gauge/shipping-region', 'loc=hormuz'),
  openBundle('/gauge/filing-company', 'entity=AAPL'),
  bundle('/gauge/wildfire-region', 'entity=us-california'),
  bundle('/gauge/nas-region', 'entity=bos'),
  bundle('/gauge/border-wait-region', 'entity=pharr'),
  bundle('/gauge/earthquake-region', 'entity=japan'),
  bundle('/gauge/hurricane-region', 'entity=atlantic'),
  bundle('/gauge/drought-region', 'entity=us-cornbelt'),
  openBundle('/gauge/drug-shortage-region', 'entity=oncology'),
  bundle('/gauge/drug-detail-region', 'entity=cisplatin'),
  bundle('/gauge/severe-convection-region', 'entity=central-kansas'),
  bundle('/gauge/grid-reliability-region', 'entity=ercot'),
  openBundle('/gauge/policy-region', 'entity=kyoto-protocol'),
  openBundle('/gauge/tool-region', 'entity=sample-harbor-transcribe'),
  openBundle('/gauge/dependency-region', 'entity=sample-lumen-7b'),
  openBundle('/gauge/promise-region', 'entity=sample-solar-roof-tile'),
  openBundle('/gauge/carbon-region', 'entity=sample-mangrove-delta'),
  openBundle('/gauge/stablecoin-region', 'entity=sample-harbor-dollar'),
  openBundle('/gauge/aicompute-region', 'entity=sample-fjord-gpu-cloud'),
  openBundle('/gauge/depin-region', 'entity=sample-hotspot-net'),
  openBundle('/gauge/esgfund-region', 'entity=sample-clean-water-fund'),
  openBundle('/gauge/rwa-region', 'entity=sample-warehouse-loan-pool'),
  openBundle('/gauge/smallsat-region', 'entity=sample-meridian-imaging'),
  openBundle('/gauge/lrt-region', 'entity=sample-harbor-restaked-ether'),
  openBundle('/gauge/defilending-region', 'entity=sample-harbor-lend'),
  openBundle('/gauge/aidataset-region', 'entity=sample-web-crawl-2024'),
  openBundle('/gauge/meddevice-region', 'entity=sample-insulin-pump-x2'),
  openBundle('/gauge/tariff-region', 'entity=sample-steel-quota-2025'),
  openBundle('/gauge/biodiversity-region', 'entity=sample-coastal-wetland-units'),

  batch('/stablecoin-deaths'),
  batch('/trust/scorecard'),
  batch('/trust/graveyard'),
  batch('/mcp/census'),
  batch('/mcp/graveyard'),
  batch('/stable/census'),
  batch('/stable/graveyard'),
  operation('/gauge/macro-reconcile-full', '0.09'),

  subject('/trust/precheck', '0.01', 'service=weather-sample-example'),
  subject('/mcp/server', '0.01', 'name=sample-weather-mcp'),
  subject('/stable/coin', '0.01', 'symbol=SAMPLEUSD'),
  settlement('/resolve', '0.09'),
  settlement('/resolve/proposer', '0.01'),

  operation('/gauge/subscribe', '9.90'),
  {
    ...operation('/gauge/watch', null, 'items=environment:us-denver'),
    missing: ['x=1', ['items']],
  },
  {
    ...operation('/gauge/watch-changes', null, 'items=environment:us-denver'),
    missing: ['x=1', ['items']],
  },
  operation('/gauge/manifest-sweep', null),

  operation('/gauge/taiwan-region', '0.25'),
  operation('/gauge/japan-region', '0.25'),
  subject('/gauge/chokepoint-region', '0.25', 'loc=hormuz'),
  operation('/pay/tier2', '0.03'),
  operation('/pay/tier3', '0.10'),
  subject('/shadow/chatter', '0.02', 'topic=energy'),
  {
    ...pair('/shadow/signal-plus', '0.09', '&topic=energy'),
    missing: [PAIR, ['topic']],
    illegal: 'signal_id=airquality.nothing&entity=us-denver&topic=energy',
    none: `${PAIR}&topic=nobody-knows-it`,
  },
  {
    ...place('/shadow/region-plus', '0.35', 'loc=us-denver'),
    valid: 'loc=us-denver&topic=energy',
    missing: ['loc=us-denver', ['topic']],
    illegal: 'loc=nowhere&topic=energy',
    none: 'loc=us-denver&topic=nobody-knows-it',
  },

  { ...operation('/gauge/coverage', null, 'summary=1'), illegal: 'summary=2' },
  { ...operation('/gauge/catalog', null, AQI), illegal: 'page=0' },
  {
    ...operation('/gauge/search', null, 'q=smog'),
    missing: ['x=1', ['q']],
    illegal: 'q=smog&limit=0',
  },
  operation('/gauge/preview', null),
  { ...operation('/gauge/sample', null, AQI), none: 'signal_id=airquality.nothing' },
  {
    ...operation('/gauge/history-preview', null, PAIR),
    missing: [AQI, ['entity']],
    illegal: 'signal_id=airquality.nothing&entity=us-denver',
    none: `${AQI}&entity=nowhere`,
  },
  {
    ...operation('/gauge/raw', null, 'signal_id=hydrology.river-level&entity=07010000'),
    missing: ['entity=07010000', ['signal_id']],
    illegal: `${PAIR}`,
    none: 'signal_id=hydrology.river-level&entity=1',
  },
  { ...operation('/gauge/verify', null, `hash=${HASH}`), missing: ['x=1', []], illegal: 'hash=x' },
  operation('/gauge/anchor', null),
  operation('/gauge/channels', null),
  operation('/stablecoin-deaths/preview', null),
  operation('/trust/preview', null),
  operation('/stable/preview', null),
  operation('/mcp/preview', null),
  operation('/resolve/preview', null),
  operation('/resolve/proposer/preview', null),
  { ...operation('/manifest', null, 'all=1'), illegal: 'platform=none' },
  operation('/.well-known/x402', null),
  operation('/.well-known/agent-card.json', null),
  operation('/.well-known/agent.json', null),
  { ...operation('/verify', null), method: 'POST', body: '{"record_hash":"x"}' },
  operation(`/proof/${HASH}`, null),
  {
    ...operation('/gauge/basket', null),
    method: 'POST',
    body: `{"requests":["/gauge?${PAIR}","/gauge/air?loc=us-denver"]}`,
    sum: '0.015',
  },
  {
    ...operation('/mcp', null),
    method: 'POST',
    body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
  },
  operation('/merkle/proof', null),
  operation('/merkle/spec', null),
  operation(`/v/${HASH}`, null),
];

/**
 * Operations that the sample holds nothing of, and why: they answer as an operation without data does. A test fails as
 * soon as one of them has an answer, so that nothing stays here longer than it has to.
 */
export const WITHOUT_DATA: Readonly<Record<string, string>> = {
  '/gauge/grid-reliability-region': 'key-gated: empty until an operator has a data key',
};
