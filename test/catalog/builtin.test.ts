import { describe, expect, it } from 'vitest';
import { BUILTIN, builtinLine, LINES, signalOf } from '../../compiler/catalog/builtin.ts';
import { LIFECYCLE_STATES, type Line, legEntity } from '../../compiler/products/shapes/line.ts';
import { CLASS } from '../../compiler/products/shapes/rulers.ts';
import { entitiesOf, lineOf } from '../builtin-rows.ts';

const ROWS: readonly Line[] = LINES;

/** Bands as the specification prints them, mildest first. */
const BANDS: Readonly<Record<string, string>> = {
  'shipping.route-disruption': 'operable marginal disrupted severe',
  'nas.aviation_wx': 'vfr_clear mvfr ifr lifr convective_or_high_wind',
  'nas.ground_ops': 'normal minor_delay afp gdp ground_stop closure',
  'nas.impact_cascade': 'none contained local_impact propagating network_cascade',
  'earthquake.swarm_rate': 'baseline slightly_elevated elevated swarm',
  'earthquake.current_activity': 'quiet minor notable strong major',
  'earthquake.impact_realized': 'none felt moderate significant severe',
  'grid-reliability.forecast-stress': 'slack watch stressed peak-risk over-peak',
  'grid-reliability.stress': 'normal elevated tight critical emergency',
  'grid-reliability.realized-strain': 'confirmed-slack nominal strained ran-tight severe-strain',
  'severe-convection.forecast-risk-env': 'tstm marginal slight enhanced moderate high',
  'severe-convection.active-warning-state': 'none watch svr-warning tornado-warning pds-emergency',
  'severe-convection.realized-severe-reports':
    'none marginal-severe significant-hail significant-wind tornado-confirmed violent',
  'hurricane.formation-outlook': 'none low medium high',
  'hurricane.active-storms': 'none depression tropical-storm cat1-2 major',
  'hurricane.impact-cascade': 'none watch warning',
  'hurricane.industry-timeline': 'below-normal normal above-normal hyperactive',
  'drought.onset-pressure': 'nominal ED0 ED1 ED2 ED3',
  'drought.status': 'none D0-abnormally-dry D1-moderate D2-severe D3-extreme D4-exceptional',
  'drought.impact-cascade': 'no-impact emerging significant severe extreme',
  'drought.industry-timeline': 'below-normal normal above-normal severe-widespread',
  'drug-detail.supply-narrowing': 'broad adequate narrow sole-source none',
  'drug-detail.status': 'available limited in-shortage severe-shortage discontinuing',
  'drug-detail.alternatives-status':
    'alternatives-ok some-alts-short most-alts-short no-safe-alternative no-alternatives',
  'drug-detail.alternative-supply':
    'multi-source-available single-source-available thin-supply no-shipping-alternative no-alternatives',
};

/** Signals of each leg of the bundles, `>` between legs, in the causal order of the specification. */
const CHAINS: Readonly<Record<string, string>> = {
  '/gauge/region':
    'airquality.aqi airquality.pm25 > precipitation.daily precipitation.wetness30d > hydrology.river-level hydrology.streamflow',
  '/gauge/agri-region': 'agriculture.drought > agriculture.heat > agriculture.crop-vhi',
  '/gauge/grid-region':
    'electricity.demand > electricity.renewable > energy.inflation energy.gas-price',
  '/gauge/shipping-region': 'shipping.route-disruption > shipping.sea-state > shipping.throughput',
  '/gauge/filing-company': 'filing.delinquency > filing.material-events > filing.insider',
  '/gauge/wildfire-region':
    'wildfire.fire-weather > wildfire.active-fire > wildfire.impact-confirm',
  '/gauge/nas-region': 'nas.aviation_wx > nas.ground_ops > nas.impact_cascade',
  '/gauge/border-wait-region':
    'border-wait.upstream-pressure > border-wait.lane-wait > border-wait.commercial-delay',
  '/gauge/earthquake-region':
    'earthquake.swarm_rate > earthquake.current_activity > earthquake.impact_realized',
  '/gauge/hurricane-region':
    'hurricane.formation-outlook > hurricane.active-storms > hurricane.impact-cascade > hurricane.industry-timeline',
  '/gauge/drought-region':
    'drought.onset-pressure > drought.status > drought.impact-cascade > drought.industry-timeline',
  '/gauge/drug-shortage-region':
    'drug-shortage.new-incidence > drug-shortage.active-shortages > drug-shortage.resolution-rate',
  '/gauge/drug-detail-region':
    'drug-detail.supply-narrowing > drug-detail.status > drug-detail.alternatives-status > drug-detail.alternative-supply',
  '/gauge/severe-convection-region':
    'severe-convection.forecast-risk-env > severe-convection.active-warning-state > severe-convection.realized-severe-reports',
  '/gauge/grid-reliability-region':
    'grid-reliability.forecast-stress > grid-reliability.stress > grid-reliability.realized-strain',
};

/** Life-cycle lines: path, line, second and third leg. */
const LIFECYCLES = [
  ['/gauge/policy-region', 'climate-policy', 'distress-events', 'cascade'],
  ['/gauge/tool-region', 'ai-tool', 'distress', 'zombie'],
  ['/gauge/dependency-region', 'ai-dependency', 'deprecation-notices', 'cascade'],
  ['/gauge/promise-region', 'promise', 'slippage', 'delivery-recon'],
  ['/gauge/carbon-region', 'carbon-project', 'rating-drift', 'price-integrity'],
  ['/gauge/stablecoin-region', 'stablecoin', 'peg-distress', 'redemption-flight'],
  ['/gauge/aicompute-region', 'ai-compute', 'financing-distress', 'workload-exposure'],
  ['/gauge/depin-region', 'depin', 'reward-churn', 'downstream-exposure'],
  ['/gauge/esgfund-region', 'esg-fund', 'rating-drift', 'holdings-cascade'],
  ['/gauge/rwa-region', 'rwa', 'redemption-stress', 'exposure-cascade'],
  ['/gauge/smallsat-region', 'smallsat', 'spectrum-milestone', 'orbital-decay'],
  ['/gauge/lrt-region', 'lrt', 'redemption-queue', 'collateral-cascade'],
  ['/gauge/defilending-region', 'defi-lending', 'bad-debt-stress', 'contagion-cascade'],
  ['/gauge/aidataset-region', 'ai-dataset', 'legal-distress', 'model-lineage-exposure'],
  ['/gauge/meddevice-region', 'med-device', 'adverse-event', 'recall-cascade'],
  ['/gauge/tariff-region', 'tariff-policy', 'review-pipeline', 'tradeflow-cascade'],
  [
    '/gauge/biodiversity-region',
    'biodiversity-credit',
    'mrv-integrity-drift',
    'buyer-holder-cascade',
  ],
] as const;

/** What the name of a leg says is what its main metric measures, by the id of the line: its current and its realized leg. */
const MEASURED: Readonly<Record<string, readonly [string, string]>> = {
  'climate-policy': ['distress_events_90d_count', 'affected_measures_count'],
  'ai-tool': ['failed_calls_7d_pct', 'since_last_release_days'],
  'ai-dependency': ['notices_in_force_count', 'dependents_affected_count'],
  promise: ['slippage_days', 'delivered_pct'],
  'carbon-project': ['rating_drift_notches', 'price_usd_tco2e'],
  stablecoin: ['peg_distance_pct', 'redeemed_7d_pct'],
  'ai-compute': ['interest_coverage_ratio', 'largest_customer_pct'],
  depin: ['nodes_left_30d_pct', 'dependent_services_count'],
  'esg-fund': ['rating_drift_notches', 'excluded_holdings_pct'],
  rwa: ['redemptions_open_pct', 'held_by_protocols_usd'],
  smallsat: ['milestone_met_pct', 'mean_altitude_km'],
  lrt: ['queue_wait_days', 'posted_as_collateral_pct'],
  'defi-lending': ['bad_debt_usd', 'linked_protocols_count'],
  'ai-dataset': ['open_claims_count', 'trained_models_count'],
  'med-device': ['adverse_reports_30d_count', 'units_recalled_count'],
  'tariff-policy': ['reviews_pending_count', 'trade_value_yoy_pct'],
  'biodiversity-credit': ['reported_vs_measured_pct', 'holders_left_90d_pct'],
};

/** Terms beyond the four shared states that the specification names. */
const TERMS =
  'exploited insolvent deprecated recall withdrawn revoked suspended delisted expired rescinded struck-down superseded demand-dead';

/** Classes that the agency does not have: ours, or what lies outside its scale. */
const OFF_SCALE: Readonly<Record<string, readonly string[]>> = {
  'nas.aviation_wx': ['convective_or_high_wind'],
  'hurricane.formation-outlook': ['none'],
};

function bundleOf(path: string) {
  const row = ROWS.find((line) => line.bundle?.path === path);
  return { row, legs: row?.bundle?.legs ?? [] };
}

describe('LINES', () => {
  it('holds 34 lines, 32 bundles and 122 different signals', () => {
    expect(ROWS).toHaveLength(34);
    expect(ROWS.filter((row) => row.bundle !== undefined)).toHaveLength(32);
    expect(new Set(BUILTIN.signals.map((signal) => signal.id)).size).toBe(122);
    expect(BUILTIN.signals).toHaveLength(122);
  });

  it.each(Object.entries(BANDS))('gives %s the bands %s', (id, bands) => {
    expect(signalOf(id)?.bands).toEqual(bands.split(' '));
  });

  it.each(Object.entries(CHAINS))('orders the legs of %s as %s', (path, chain) => {
    const want = chain.split(' > ').map((leg) => leg.split(' '));
    expect(bundleOf(path).legs.map((leg) => leg.signals)).toEqual(want);
  });

  it.each(LIFECYCLES)('%s puts the life cycle of %s first, then %s and %s', (path, ...names) => {
    const [id, two, three] = names;
    const { row, legs } = bundleOf(path);
    expect(legs.map((leg) => leg.signals)).toEqual([
      [`${id}.lifecycle`],
      [`${id}.${two}`],
      [`${id}.${three}`],
    ]);
    expect(row?.signals.map((signal) => signal.id)).toContain(`${id}.industry-timeline`);
    expect(row?.states?.slice(0, 4)).toEqual(['operating', 'at_risk', 'ended', 'dead']);
    expect([row?.id, row?.open, row?.bundle?.param]).toEqual([id, true, 'entity']);
  });

  it.each(LIFECYCLES)(
    '%s measures in each leg of %s what the leg is named after',
    (_, ...names) => {
      const [id, ...legs] = names;
      const rows = legs.map((leg) => signalOf(`${id}.${leg}`));
      expect(rows.map((row) => row?.metrics[0])).toEqual(MEASURED[id]);
      for (const row of rows) {
        expect(row?.bands?.length).toBe(4);
        expect(new Set(row?.bands).size).toBe(4);
        expect([row?.rulers, row?.ownThresholds, row?.cadence]).toEqual([
          undefined,
          undefined,
          'as-events',
        ]);
      }
      expect(signalOf(`${id}.lifecycle`)?.metrics).toEqual(['state', 'age_days']);
      const year = signalOf(`${id}.industry-timeline`);
      expect(year?.metrics).toEqual(['ends_365d_count', 'births_365d_count']);
      expect([year?.bands, year?.range]).toEqual([undefined, undefined]);
    },
  );

  it('measures in no two legs of one line the same, and describes no two legs alike', () => {
    const legs = LIFECYCLES.flatMap(([, id, two, three]) => [`${id}.${two}`, `${id}.${three}`]);
    expect(new Set(legs.map((id) => signalOf(id)?.measures)).size).toBe(34);
    for (const [, id, two, three] of LIFECYCLES) {
      const [one, other] = [two, three].map(
        (leg): readonly string[] => signalOf(`${id}.${leg}`)?.metrics ?? [],
      );
      expect(one?.filter((metric) => other?.includes(metric))).toEqual([]);
    }
  });

  it('knows every life-cycle term of the specification in some line, and no other', () => {
    const own = ROWS.flatMap((row) => (row.states ?? []).slice(LIFECYCLE_STATES.length));
    expect([...new Set(own)].sort()).toEqual(TERMS.split(' ').sort());
  });

  it('counts three legs everywhere but in the three lines with four', () => {
    const four = ROWS.filter((row) => row.bundle?.legs.length === 4).map((row) => row.id);
    expect(four).toEqual(['hurricane', 'drought', 'drug-detail']);
    const others = ROWS.filter((row) => row.bundle && !four.includes(row.id));
    expect(others.every((row) => row.bundle?.legs.length === 3)).toBe(true);
  });

  it('asks for `loc` in four bundles and for `entity` in the others', () => {
    const byLoc = ROWS.filter((row) => row.bundle?.param === 'loc').map((row) => row.bundle?.path);
    expect(byLoc).toEqual([
      '/gauge/region',
      '/gauge/agri-region',
      '/gauge/grid-region',
      '/gauge/shipping-region',
    ]);
  });

  it('reads only signals that exist, in rows of their own line', () => {
    for (const row of ROWS) {
      for (const id of row.bundle?.legs.flatMap((leg) => leg.signals) ?? []) {
        expect(lineOf(id)?.id).toBe(row.id);
      }
    }
  });

  it('keeps exactly one line empty until it has a key', () => {
    const keyed = ROWS.filter((row) => row.emptyUntilKeyed === true).map((row) => row.id);
    expect(keyed).toEqual(['grid-reliability']);
  });

  it('gives each ruler a metric and classes of its own signal', () => {
    for (const signal of BUILTIN.signals) {
      const scales = (signal.rulers ?? []).flatMap((ruler) => [ruler, ruler.beside ?? ruler]);
      for (const ruler of scales) {
        expect([...signal.metrics, CLASS], signal.id).toContain(ruler.metric);
        const bands = ruler.steps.map((step) => step.band);
        const others = signal.bands?.filter((band) => !bands.includes(band)) ?? [];
        expect([signal.id, ...others]).toEqual([signal.id, ...(OFF_SCALE[signal.id] ?? [])]);
        expect(bands, signal.id).toEqual(signal.bands?.filter((band) => !others.includes(band)));
        if (ruler.actionBand !== null) expect(bands, signal.id).toContain(ruler.actionBand);
        const at = ruler.steps.map((step) => (ruler.direction === 'up' ? step.at : -step.at));
        expect(at, signal.id).toEqual([...at].sort((a, b) => a - b));
      }
    }
  });

  it('ends every metric in a known unit; only a life-cycle state has none', () => {
    for (const signal of BUILTIN.signals) {
      for (const metric of signal.metrics.filter((name) => name !== 'state')) {
        expect(signal.unitOf[metric], `${signal.id} ${metric}`).toBeDefined();
      }
    }
  });

  it('sets limits only where they hold the bands of a ruler, and from the smaller to the larger', () => {
    for (const { id, range, rulers = [] } of BUILTIN.signals) {
      if (range === undefined) continue;
      expect(range.from, id).toBeLessThan(range.to ?? Number.POSITIVE_INFINITY);
      const own = rulers.filter(({ metric }) => metric !== CLASS);
      for (const { at } of own.flatMap(({ steps }) => steps)) {
        expect([id, at >= range.from, at <= (range.to ?? at)]).toEqual([id, true, true]);
      }
    }
  });

  it('spells ids as genus.species, and industries, as ASCII', () => {
    for (const { id } of BUILTIN.signals) expect(id).toMatch(/^[a-z][a-z0-9-]*\.[a-z][a-z0-9_-]*$/);
    for (const row of ROWS) expect(row.industry).toMatch(/^[a-z-]+$/);
  });
});

describe('signalOf(), lineOf()', () => {
  it('find the rows of an id', () => {
    expect(signalOf('crypto.spot')?.metrics).toEqual(['price_usd']);
    expect(lineOf('macro.unemployment')?.id).toBe('macro');
  });

  it('find nothing for ids from outside', () => {
    for (const id of ['', 'crypto', 'crypto.Spot', '__proto__', 'toString']) {
      expect([signalOf(id), lineOf(id)]).toEqual([undefined, undefined]);
    }
  });
});

describe('entitiesOf()', () => {
  it('closes a listed line and opens a line, or one signal of it', () => {
    expect(entitiesOf('airquality.aqi')).toHaveLength(12);
    expect(entitiesOf('hydrology.river-level')).toBe('open');
    expect(entitiesOf('filing.insider')).toBe('open');
    expect(entitiesOf('nas.ground_ops')).toContain('anc');
  });

  it('gives an unknown signal no entity at all', () => {
    expect(entitiesOf('nas.unknown')).toEqual([]);
  });
});

describe('legEntity()', () => {
  it('reads a river leg at the gauge of the city and any other leg at the city', () => {
    const row = ROWS[0] as Line;
    expect(legEntity(row, 'hydrology.streamflow', 'us-stlouis')).toBe('07010000');
    expect(legEntity(row, 'airquality.aqi', 'us-stlouis')).toBe('us-stlouis');
  });
});

/** Members as the specification prints them, separated by blanks. */
const CLOSED: readonly (readonly [string, number, string])[] = [
  [
    'environment',
    12,
    'us-stlouis us-memphis us-losangeles us-fresno us-phoenix us-denver us-saltlakecity us-houston us-newyork us-chicago us-seattle us-portland',
  ],
  [
    'agriculture',
    12,
    'us-iowa us-illinois us-nebraska us-kansas ar-pampas br-matogrosso br-parana au-nsw in-punjab ua-ukraine ru-southrussia cn-northchina',
  ],
  [
    'grid',
    12,
    'us-ercot us-caiso us-pjm us-miso us-nyiso eu-germany eu-france eu-uk eu-spain jp-japan au-nem in-india',
  ],
  [
    'shipping',
    12,
    'suez-redsea panama-pacific malacca hormuz goodhope channel biscay northsea gulfmexico southchinasea bengal northpacific',
  ],
  [
    'filing',
    18,
    'AAPL MSFT NVDA TSLA AMZN META GOOGL BA F INTC GME AMC CVNA PLTR NFLX DIS JPM BAC',
  ],
  [
    'wildfire',
    12,
    'us-california us-pacific-northwest us-southwest us-rockies canada-bc canada-alberta au-nsw au-victoria med-greece iberia amazon-brazil siberia-russia',
  ],
  [
    'nas',
    22,
    'ewr lga jfk sfo ord bos phl atl dfw den clt iah mia sea lax dca mco las phx mem sdf anc',
  ],
  [
    'border-wait',
    20,
    'laredo-world-trade laredo-colombia laredo-bridge1 otay-mesa-commercial san-ysidro el-paso-ysleta el-paso-bota pharr hidalgo nogales-mariposa calexico-east brownsville-veterans detroit-ambassador detroit-windsor-tunnel buffalo-peace-bridge port-huron-bluewater blaine-pacific-hwy blaine-peace-arch champlain pembina',
  ],
  [
    'earthquake',
    18,
    'california-san-andreas cascadia-pnw alaska-aleutians japan sumatra-indonesia philippines chile mexico central-america turkey-anatolia greece-italy-med iran nepal-himalaya new-zealand iceland png-solomon taiwan caribbean',
  ],
  ['hurricane', 3, 'atlantic epacific cpacific'],
  [
    'drought',
    10,
    'us-california us-southwest us-southernplains us-northernplains us-cornbelt us-southeast us-pacificnw us-lowermississippi us-northeast us-rockies',
  ],
  [
    'drug-shortage',
    12,
    'anesthesia oncology psychiatry-cns analgesia-opioid anti-infective cardiovascular neurology gastroenterology endocrine hematology pulmonary-allergy ophthalmology',
  ],
];

/** Lists of which the specification prints the beginning and the length. */
const BEGUN: readonly (readonly [string, number, string])[] = [
  [
    'drug-detail',
    24,
    'carboplatin cisplatin oxaliplatin methotrexate fluorouracil epinephrine heparin vancomycin morphine fentanyl',
  ],
  [
    'severe-convection',
    16,
    'tornado-alley-core tx-panhandle-hail central-kansas front-range-co northern-plains corn-belt-il ohio-valley florida-peninsula',
  ],
  ['grid-reliability', 18, 'caiso ercot miso pjm spp nyiso isone bpa tva'],
];

describe('entity lists', () => {
  it.each(CLOSED)('%s has its %i members in order', (name, length, members) => {
    const list = builtinLine(name).entities;
    expect(list).toHaveLength(length);
    expect(list).toEqual(members.split(' '));
  });

  it.each(BEGUN)('%s has %i different members and begins as printed', (name, length, members) => {
    const list = builtinLine(name).entities;
    const begun = members.split(' ');
    expect(list.slice(0, begun.length)).toEqual(begun);
    expect(new Set(list).size).toBe(length);
    expect(list).toHaveLength(length);
  });
});

describe('the gauges of the cities', () => {
  it('names one gauge site for every city and for nothing else', () => {
    const { entities, entityOf } = builtinLine('environment');
    const gauges = entityOf?.['hydrology.river-level'] ?? {};
    expect(entityOf?.['hydrology.streamflow']).toEqual(gauges);
    expect(Object.keys(gauges)).toEqual(entities);
    const sites = Object.values(gauges);
    expect(new Set(sites).size).toBe(12);
    for (const site of sites) expect(site).toMatch(/^[0-9]{8}$/);
  });
});
