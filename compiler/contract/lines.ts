import {
  AGRI_LOCS,
  AIRPORTS,
  BALANCING_AUTHORITIES,
  BORDER_CROSSINGS,
  CITY_LOCS,
  CITY_RIVER_GAUGE,
  CONVECTION_REGIONS,
  DROUGHT_REGIONS,
  DRUGS,
  EARTHQUAKE_REGIONS,
  GRID_LOCS,
  HURRICANE_BASINS,
  SHIPPING_LOCS,
  THERAPEUTIC_CLASSES,
  TICKERS,
  WILDFIRE_REGIONS,
} from './entities.ts';
import type { Cadence } from './freshness.ts';
import { LIFECYCLE_LEGS, type LifecycleLeg } from './lifecycle-legs.ts';
import {
  CROP_VHI,
  DROUGHT_CLASS,
  FLIGHT_CATEGORY,
  FLOOD_STAGE_BANDS,
  FORMATION_CHANCE,
  OUTLOOK_RISK,
  PM25,
  type Ruler,
  SAFFIR_SIMPSON,
  SEA_STATE,
  SOIL_MOISTURE_USDM,
  US_AQI,
} from './rulers.ts';
import { FROM_ZERO, type Limits, SHARE } from './units.ts';

/** One measured signal: what it reads, how often, in which metrics and bands. */
interface SignalRow {
  /** A noun phrase for catalogues. */
  readonly measures: string;
  readonly cadence: Cadence;
  /** Metric names with their unit as suffix; the main one first. Others may follow in a snapshot. */
  readonly metrics: readonly [string, ...string[]];
  /** Values that the main metric can have; absent where neither its publisher nor its unit names limits. */
  readonly range?: Limits;
  /** Mildest first. */
  readonly bands?: readonly string[];
  /** Official scales, oldest first; absent when no agency publishes one for every entity. */
  readonly rulers?: readonly Ruler[];
  /** The snapshot itself may carry thresholds of its entity (river stages), and whose they are. */
  readonly ownThresholds?: readonly string[];
  /** Percentiles are computed over the last five same-season years. */
  readonly seasonal?: boolean;
  /** Entities other than the line's own: `open` takes any id. */
  readonly entities?: 'open';
}
export interface Signal<Id extends string = string> extends SignalRow {
  readonly id: Id;
}

/** Limits that publishers name. */
const PERCENTILE = { from: 0, to: 100 } as const;
const VHI = { from: 0, to: 100 } as const;
const DSCI = { from: 0, to: 500 } as const;
const MMI = { from: 0, to: 12 } as const;
const OUTLOOK_CATEGORY = { from: 0, to: 5 } as const;

/** One position of a causal chain: leading, current, then realized. */
interface Leg {
  readonly name: string;
  readonly signals: readonly string[];
}

interface Legs {
  readonly legs: readonly Leg[];
}

/** One subject area: its signals, its entities and the bundle that joins them. */
export interface Line<Path extends string = string, Id extends string = string> {
  readonly id: string;
  readonly industry: string;
  readonly title: string;
  readonly signals: readonly Signal<Id>[];
  /** `open`: any id with a stored reading is valid; otherwise the list is closed. */
  readonly entities: readonly string[];
  readonly open: boolean;
  readonly upperCase?: boolean;
  /** Other names of the entity parameter that live clients send. */
  readonly entityAliases?: readonly string[];
  /** Path, parameter and legs of the bundle; absent where the line has none. */
  readonly bundle?: { readonly path: Path; readonly param: 'loc' | 'entity' } & Legs;
  /** Where a leg's entity differs from the bundle's: signal id -> bundle entity -> entity. */
  readonly entityOf?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Life-cycle states of the line; absent where subjects do not end. */
  readonly states?: readonly string[];
  /** Nothing is sold until the operator has a data key and snapshots exist. */
  readonly emptyUntilKeyed?: boolean;
}

/** The bands of a signal with official rulers are those of the rulers, unless it has more of its own. */
function signal<const Id extends string>(id: Id, row: SignalRow): Signal<Id> {
  const official = row.rulers?.[0]?.steps.map(({ band }) => band);
  const bands = row.bands ?? official;
  return { id, ...row, ...(bands === undefined ? {} : { bands }) };
}

type LineRow<Path extends string, Id extends string> = Omit<Line<Path, Id>, 'bundle'> & {
  /** Without legs each signal of the line is one, in its order. */
  readonly bundle?: { readonly path: Path; readonly param: 'loc' | 'entity' } & Partial<Legs>;
};

// Without a bundle no path is inferred: `never` keeps the union of literal paths clean.
function line<const Path extends string = never, Id extends string = string>({
  bundle,
  ...row
}: LineRow<Path, Id>): Line<Path, Id> {
  const legs = (): readonly Leg[] => chain(...row.signals.map(({ id }) => id));
  return bundle === undefined
    ? row
    : { ...row, bundle: { ...bundle, legs: bundle.legs ?? legs() } };
}

/** States that every life-cycle line shares, healthiest first. */
export const LIFECYCLE_STATES = ['operating', 'at_risk', 'ended', 'dead'] as const;

interface LifecycleRow<Path extends string> {
  readonly path: Path;
  readonly industry: string;
  readonly title: string;
  readonly entities: readonly string[];
  readonly terms?: readonly string[];
}

/** The shape all life-cycle lines share: life cycle first, then the two legs of the line, and a timeline. */
function lifecycleLine<const L extends keyof typeof LIFECYCLE_LEGS, const P extends string>(
  id: L,
  row: LifecycleRow<P>,
): Line<P, string> {
  const [second, third]: readonly [LifecycleLeg, LifecycleLeg] = LIFECYCLE_LEGS[id];
  const leg = ({ name, ...measured }: LifecycleLeg): Signal =>
    signal(`${id}.${name}`, { cadence: 'as-events', ...measured });
  const lifecycle = signal(`${id}.lifecycle`, {
    measures: `official life-cycle state of ${row.title}`,
    cadence: 'as-events',
    metrics: ['state', 'age_days'],
  });
  const timeline = signal(`${id}.industry-timeline`, {
    measures: `ends and births among all ${row.title} in a year`,
    cadence: 'as-events',
    metrics: ['ends_365d_count', 'births_365d_count'],
  });
  return {
    id,
    industry: row.industry,
    title: row.title,
    signals: [lifecycle, leg(second), leg(third), timeline],
    entities: row.entities,
    open: true,
    states: [...LIFECYCLE_STATES, ...(row.terms ?? [])],
    bundle: {
      path: row.path,
      param: 'entity',
      legs: chain(lifecycle.id, `${id}.${second.name}`, `${id}.${third.name}`),
    },
  };
}

/** Each leg of a chain whose legs are one signal each is named after that signal's species. */
function chain(...ids: readonly string[]): readonly Leg[] {
  return ids.map((id) => ({ name: id.slice(id.indexOf('.') + 1), signals: [id] }));
}

/** What is measured, in the order of the specification. */
export const LINES = [
  line({
    id: 'environment',
    industry: 'environment',
    title: 'cities and their river',
    entities: CITY_LOCS,
    open: false,
    signals: [
      signal('hydrology.river-level', {
        measures: 'river stage at a gauge',
        cadence: 'hourly',
        metrics: ['stage_ft'],
        bands: FLOOD_STAGE_BANDS,
        ownThresholds: ['action', 'flood', 'minor', 'moderate', 'major'],
        seasonal: true,
        entities: 'open',
      }),
      signal('hydrology.streamflow', {
        measures: 'discharge of a river at a gauge',
        cadence: 'hourly',
        metrics: ['discharge_cfs'],
        seasonal: true,
        entities: 'open',
      }),
      signal('airquality.aqi', {
        measures: 'US air quality index',
        cadence: 'hourly',
        metrics: ['aqi_index'],
        range: FROM_ZERO,
        rulers: [US_AQI],
        seasonal: true,
      }),
      signal('airquality.pm25', {
        measures: 'fine particles in the air',
        cadence: 'hourly',
        metrics: ['pm25_ugm3'],
        range: FROM_ZERO,
        rulers: PM25,
        seasonal: true,
      }),
      signal('precipitation.daily', {
        measures: 'rainfall of the last complete day',
        cadence: 'daily',
        metrics: ['precip_mm'],
        range: FROM_ZERO,
        seasonal: true,
      }),
      signal('precipitation.wetness30d', {
        measures: 'rainfall of the last 30 complete days',
        cadence: 'daily',
        metrics: ['precip_30d_mm'],
        range: FROM_ZERO,
        seasonal: true,
      }),
    ],
    bundle: {
      path: '/gauge/region',
      param: 'loc',
      legs: [
        { name: 'air-quality', signals: ['airquality.aqi', 'airquality.pm25'] },
        { name: 'precipitation', signals: ['precipitation.daily', 'precipitation.wetness30d'] },
        { name: 'river', signals: ['hydrology.river-level', 'hydrology.streamflow'] },
      ],
    },
    entityOf: {
      'hydrology.river-level': CITY_RIVER_GAUGE,
      'hydrology.streamflow': CITY_RIVER_GAUGE,
    },
  }),
  line({
    id: 'agriculture',
    industry: 'agriculture',
    title: 'growing regions',
    entities: AGRI_LOCS,
    open: false,
    signals: [
      signal('agriculture.drought', {
        measures: 'soil moisture against the official drought classes',
        cadence: 'weekly',
        metrics: ['soil_moisture_percentile_pct'],
        range: PERCENTILE,
        rulers: [SOIL_MOISTURE_USDM],
        seasonal: true,
      }),
      signal('agriculture.heat', {
        measures: 'highest temperature of the last complete day',
        cadence: 'daily',
        metrics: ['tmax_c'],
        seasonal: true,
      }),
      signal('agriculture.crop-vhi', {
        measures: 'vegetation health index',
        cadence: 'weekly',
        metrics: ['vhi_index'],
        range: VHI,
        rulers: [CROP_VHI],
        seasonal: true,
        // Provinces too, by the country and number of the agency: `ukr-24`.
        entities: 'open',
      }),
    ],
    bundle: { path: '/gauge/agri-region', param: 'loc' },
  }),
  line({
    id: 'grid',
    industry: 'energy',
    title: 'power grids and energy prices',
    entities: GRID_LOCS,
    open: false,
    signals: [
      signal('electricity.demand', {
        measures: 'demand pressure in degree days',
        cadence: 'daily',
        metrics: ['cdd_degree_days', 'hdd_degree_days'],
        seasonal: true,
      }),
      signal('electricity.renewable', {
        measures: 'renewable availability',
        cadence: 'daily',
        metrics: ['renewable_availability_pct'],
        range: FROM_ZERO,
        seasonal: true,
      }),
      signal('energy.inflation', {
        measures: 'year-on-year change of the energy price index',
        cadence: 'monthly',
        metrics: ['cpi_energy_yoy_pct'],
      }),
      signal('energy.gas-price', {
        measures: 'price of gas or gasoline as the metric name says',
        cadence: 'monthly',
        metrics: ['gas_usd_therm'],
      }),
    ],
    bundle: {
      path: '/gauge/grid-region',
      param: 'loc',
      legs: [
        { name: 'demand-pressure', signals: ['electricity.demand'] },
        { name: 'renewable-availability', signals: ['electricity.renewable'] },
        { name: 'energy-price', signals: ['energy.inflation', 'energy.gas-price'] },
      ],
    },
  }),
  line({
    id: 'shipping',
    industry: 'shipping',
    title: 'sea routes',
    entities: SHIPPING_LOCS,
    open: false,
    signals: [
      signal('shipping.route-disruption', {
        measures: 'disruption of a sea route',
        cadence: 'hourly',
        metrics: ['wave_height_m'],
        range: FROM_ZERO,
        bands: ['operable', 'marginal', 'disrupted', 'severe'],
      }),
      signal('shipping.sea-state', {
        measures: 'significant wave height',
        cadence: 'hourly',
        metrics: ['wave_height_m'],
        range: FROM_ZERO,
        rulers: [SEA_STATE],
        seasonal: true,
      }),
      signal('shipping.throughput', {
        measures: 'vessels that passed',
        cadence: 'weekly',
        metrics: ['vessels_7d_count'],
        seasonal: true,
      }),
    ],
    bundle: { path: '/gauge/shipping-region', param: 'loc' },
  }),
  line({
    id: 'filing',
    industry: 'filings',
    title: 'listed companies',
    entities: TICKERS,
    open: true,
    upperCase: true,
    entityAliases: ['issuer'],
    signals: [
      signal('filing.delinquency', {
        measures: 'notices of late filing',
        cadence: 'as-events',
        metrics: ['nt_24mo_count'],
      }),
      signal('filing.material-events', {
        measures: 'filed material events',
        cadence: 'as-events',
        metrics: ['filings_8k_90d_count', 'filings_8k_30d_count'],
      }),
      signal('filing.insider', {
        measures: 'filed insider transactions',
        cadence: 'as-events',
        metrics: ['form4_90d_count', 'form4_30d_count'],
      }),
    ],
    bundle: { path: '/gauge/filing-company', param: 'entity' },
  }),
  line({
    id: 'wildfire',
    industry: 'wildfire',
    title: 'fire regions',
    entities: WILDFIRE_REGIONS,
    open: false,
    signals: [
      signal('wildfire.fire-weather', {
        measures: 'fire weather',
        cadence: 'daily',
        metrics: ['vpd_kpa', 'wind_kt'],
      }),
      signal('wildfire.active-fire', {
        measures: 'satellite fire detections of 24 hours',
        cadence: 'daily',
        metrics: ['detections_24h_count', 'frp_sum_mw'],
      }),
      signal('wildfire.impact-confirm', {
        measures: 'smoke at the ground',
        cadence: 'daily',
        metrics: ['smoke_pm25_ugm3'],
      }),
    ],
    bundle: { path: '/gauge/wildfire-region', param: 'entity' },
  }),
  line({
    id: 'nas',
    industry: 'aviation',
    title: 'US airports',
    entities: AIRPORTS,
    open: false,
    signals: [
      signal('nas.aviation_wx', {
        measures: 'weather at an airport by flight category',
        cadence: 'hourly',
        metrics: ['visibility_mi', 'ceiling_ft', 'wind_kt'],
        range: FROM_ZERO,
        bands: ['vfr_clear', 'mvfr', 'ifr', 'lifr', 'convective_or_high_wind'],
        rulers: [FLIGHT_CATEGORY],
      }),
      signal('nas.ground_ops', {
        measures: 'traffic management programmes at an airport',
        cadence: 'hourly',
        metrics: ['avg_delay_min', 'max_delay_min'],
        range: FROM_ZERO,
        bands: ['normal', 'minor_delay', 'afp', 'gdp', 'ground_stop', 'closure'],
      }),
      signal('nas.impact_cascade', {
        measures: 'realized delay around an airport',
        cadence: 'hourly',
        metrics: ['delayed_flights_pct'],
        range: SHARE,
        bands: ['none', 'contained', 'local_impact', 'propagating', 'network_cascade'],
      }),
    ],
    bundle: { path: '/gauge/nas-region', param: 'entity' },
  }),
  line({
    id: 'border-wait',
    industry: 'border',
    title: 'land border crossings',
    entities: BORDER_CROSSINGS,
    open: false,
    signals: [
      signal('border-wait.upstream-pressure', {
        measures: 'pressure upstream of a crossing',
        cadence: 'hourly',
        metrics: ['wait_vs_average_pct'],
        range: FROM_ZERO,
      }),
      signal('border-wait.lane-wait', {
        measures: 'waiting time by lane',
        cadence: 'hourly',
        metrics: ['wait_standard_min', 'lanes_open_count'],
        range: FROM_ZERO,
      }),
      signal('border-wait.commercial-delay', {
        measures: 'delay of commercial freight',
        cadence: 'hourly',
        metrics: ['wait_commercial_min'],
        range: FROM_ZERO,
      }),
    ],
    bundle: { path: '/gauge/border-wait-region', param: 'entity' },
  }),
  line({
    id: 'earthquake',
    industry: 'seismic',
    title: 'seismic regions',
    entities: EARTHQUAKE_REGIONS,
    open: false,
    signals: [
      signal('earthquake.swarm_rate', {
        measures: 'rate of quakes against the days before, descriptive',
        cadence: 'hourly',
        metrics: ['rate_ratio', 'count_24h_count', 'mean_daily_6d_count'],
        range: FROM_ZERO,
        bands: ['baseline', 'slightly_elevated', 'elevated', 'swarm'],
      }),
      signal('earthquake.current_activity', {
        measures: 'quakes of the last 24 hours',
        cadence: 'hourly',
        metrics: ['max_mag', 'count_m25_count'],
        bands: ['quiet', 'minor', 'notable', 'strong', 'major'],
      }),
      signal('earthquake.impact_realized', {
        measures: 'measured and reported shaking',
        cadence: 'as-events',
        metrics: ['intensity_mmi', 'felt_reports_count'],
        range: MMI,
        bands: ['none', 'felt', 'moderate', 'significant', 'severe'],
      }),
    ],
    bundle: { path: '/gauge/earthquake-region', param: 'entity' },
  }),
  line({
    id: 'hurricane',
    industry: 'tropical-cyclones',
    title: 'tropical basins',
    entities: HURRICANE_BASINS,
    open: false,
    signals: [
      signal('hurricane.formation-outlook', {
        measures: 'published outlook of tropical formation',
        cadence: 'daily',
        metrics: ['formation_7d_pct'],
        range: SHARE,
        bands: ['none', 'low', 'medium', 'high'],
        rulers: [FORMATION_CHANCE],
      }),
      signal('hurricane.active-storms', {
        measures: 'active tropical cyclones',
        cadence: 'hourly',
        metrics: ['max_wind_kt', 'storm_count', 'min_pressure_hpa'],
        bands: ['none', 'depression', 'tropical-storm', 'cat1-2', 'major'],
        rulers: [SAFFIR_SIMPSON],
      }),
      signal('hurricane.impact-cascade', {
        measures: 'coastal watches and warnings in force',
        cadence: 'hourly',
        metrics: ['warnings_count'],
        bands: ['none', 'watch', 'warning'],
      }),
      signal('hurricane.industry-timeline', {
        measures: 'season so far against the average season',
        cadence: 'weekly',
        metrics: ['ace_vs_normal_pct'],
        range: FROM_ZERO,
        bands: ['below-normal', 'normal', 'above-normal', 'hyperactive'],
      }),
    ],
    bundle: { path: '/gauge/hurricane-region', param: 'entity' },
  }),
  line({
    id: 'drought',
    industry: 'drought',
    title: 'US drought regions',
    entities: DROUGHT_REGIONS,
    open: false,
    signals: [
      signal('drought.onset-pressure', {
        measures: 'evaporative demand ahead of drought',
        cadence: 'weekly',
        metrics: ['eddi_percentile_pct'],
        range: PERCENTILE,
        bands: ['nominal', 'ED0', 'ED1', 'ED2', 'ED3'],
      }),
      signal('drought.status', {
        measures: 'official drought class',
        cadence: 'weekly',
        metrics: ['dsci_index', 'd1_pct'],
        range: DSCI,
        rulers: [DROUGHT_CLASS],
      }),
      signal('drought.impact-cascade', {
        measures: 'reported drought impacts',
        cadence: 'weekly',
        metrics: ['impact_reports_count'],
        bands: ['no-impact', 'emerging', 'significant', 'severe', 'extreme'],
      }),
      signal('drought.industry-timeline', {
        measures: 'area in drought against the average season',
        cadence: 'weekly',
        metrics: ['area_vs_normal_pct'],
        range: FROM_ZERO,
        bands: ['below-normal', 'normal', 'above-normal', 'severe-widespread'],
      }),
    ],
    bundle: { path: '/gauge/drought-region', param: 'entity' },
  }),
  line({
    id: 'drug-shortage',
    industry: 'drug-supply',
    title: 'therapeutic classes',
    entities: THERAPEUTIC_CLASSES,
    open: true,
    signals: [
      signal('drug-shortage.new-incidence', {
        measures: 'new shortages of a class',
        cadence: 'daily',
        metrics: ['new_90d_count'],
      }),
      signal('drug-shortage.active-shortages', {
        measures: 'active shortages of a class',
        cadence: 'daily',
        metrics: ['active_count'],
      }),
      signal('drug-shortage.resolution-rate', {
        measures: 'resolved shortages of a class',
        cadence: 'daily',
        metrics: ['resolved_90d_pct'],
        range: SHARE,
      }),
    ],
    bundle: { path: '/gauge/drug-shortage-region', param: 'entity' },
  }),
  line({
    id: 'drug-detail',
    industry: 'drug-supply',
    title: 'generic drugs',
    entities: DRUGS,
    open: false,
    signals: [
      signal('drug-detail.supply-narrowing', {
        measures: 'number of makers that supply a drug',
        cadence: 'daily',
        metrics: ['companies_count'],
        bands: ['broad', 'adequate', 'narrow', 'sole-source', 'none'],
      }),
      signal('drug-detail.status', {
        measures: 'official shortage status of a drug',
        cadence: 'daily',
        metrics: ['packages_count', 'unavailable_count'],
        bands: ['available', 'limited', 'in-shortage', 'severe-shortage', 'discontinuing'],
      }),
      signal('drug-detail.alternatives-status', {
        measures: 'shortage status of the alternatives',
        cadence: 'daily',
        metrics: ['alternatives_short_count'],
        bands: [
          'alternatives-ok',
          'some-alts-short',
          'most-alts-short',
          'no-safe-alternative',
          'no-alternatives',
        ],
      }),
      signal('drug-detail.alternative-supply', {
        measures: 'makers that ship an alternative',
        cadence: 'daily',
        metrics: ['alternative_sources_count'],
        bands: [
          'multi-source-available',
          'single-source-available',
          'thin-supply',
          'no-shipping-alternative',
          'no-alternatives',
        ],
      }),
    ],
    bundle: { path: '/gauge/drug-detail-region', param: 'entity' },
  }),
  line({
    id: 'severe-convection',
    industry: 'severe-weather',
    title: 'US convective regions',
    entities: CONVECTION_REGIONS,
    open: false,
    signals: [
      signal('severe-convection.forecast-risk-env', {
        measures: 'published convective outlook category',
        cadence: 'daily',
        metrics: ['outlook_category_index'],
        range: OUTLOOK_CATEGORY,
        rulers: [OUTLOOK_RISK],
      }),
      signal('severe-convection.active-warning-state', {
        measures: 'watches and warnings in force',
        cadence: 'hourly',
        metrics: ['active_alerts_count'],
        bands: ['none', 'watch', 'svr-warning', 'tornado-warning', 'pds-emergency'],
      }),
      signal('severe-convection.realized-severe-reports', {
        measures: 'local storm reports',
        cadence: 'daily',
        metrics: ['reports_24h_count'],
        bands: [
          'none',
          'marginal-severe',
          'significant-hail',
          'significant-wind',
          'tornado-confirmed',
          'violent',
        ],
      }),
    ],
    bundle: { path: '/gauge/severe-convection-region', param: 'entity' },
  }),
  line({
    id: 'grid-reliability',
    industry: 'energy',
    title: 'balancing authorities',
    entities: BALANCING_AUTHORITIES,
    open: false,
    emptyUntilKeyed: true,
    signals: [
      signal('grid-reliability.forecast-stress', {
        measures: 'published day-ahead demand against the reference peak',
        cadence: 'hourly',
        metrics: ['forecast_peak_pct'],
        range: FROM_ZERO,
        bands: ['slack', 'watch', 'stressed', 'peak-risk', 'over-peak'],
      }),
      signal('grid-reliability.stress', {
        measures: 'demand against the reference peak',
        cadence: 'hourly',
        metrics: ['demand_peak_pct', 'demand_mw'],
        range: FROM_ZERO,
        bands: ['normal', 'elevated', 'tight', 'critical', 'emergency'],
      }),
      signal('grid-reliability.realized-strain', {
        measures: 'realized strain, which is no outage claim',
        cadence: 'hourly',
        metrics: ['realized_peak_pct'],
        range: FROM_ZERO,
        bands: ['confirmed-slack', 'nominal', 'strained', 'ran-tight', 'severe-strain'],
      }),
    ],
    bundle: { path: '/gauge/grid-reliability-region', param: 'entity' },
  }),
  lifecycleLine('climate-policy', {
    path: '/gauge/policy-region',
    industry: 'climate-policy',
    title: 'climate policies',
    entities: ['kyoto-protocol', 'eu-ets', 'us-inflation-reduction-act', 'au-carbon-pricing'],
    terms: ['rescinded', 'struck-down', 'superseded', 'expired'],
  }),
  lifecycleLine('ai-tool', {
    path: '/gauge/tool-region',
    industry: 'ai-tools',
    title: 'AI tools and servers',
    entities: ['sample-harbor-transcribe', 'sample-quill-search', 'sample-cedar-notes'],
    terms: ['deprecated', 'withdrawn'],
  }),
  lifecycleLine('ai-dependency', {
    path: '/gauge/dependency-region',
    industry: 'ai-dependencies',
    title: 'AI models and APIs',
    entities: ['sample-lumen-7b', 'sample-vision-api-v1', 'sample-embed-small'],
    terms: ['deprecated', 'withdrawn', 'superseded'],
  }),
  lifecycleLine('promise', {
    path: '/gauge/promise-region',
    industry: 'promises',
    title: 'announced products',
    entities: ['sample-solar-roof-tile', 'sample-home-robot', 'sample-battery-line-two'],
    terms: ['withdrawn'],
  }),
  lifecycleLine('carbon-project', {
    path: '/gauge/carbon-region',
    industry: 'carbon-markets',
    title: 'carbon projects',
    entities: ['sample-mangrove-delta', 'sample-cookstove-highlands', 'sample-peatland-north'],
    terms: ['suspended', 'revoked', 'withdrawn'],
  }),
  lifecycleLine('stablecoin', {
    path: '/gauge/stablecoin-region',
    industry: 'stablecoins',
    title: 'stablecoins',
    entities: ['sample-harbor-dollar', 'sample-tide-euro', 'sample-beacon-dollar'],
    terms: ['exploited', 'insolvent', 'delisted'],
  }),
  lifecycleLine('ai-compute', {
    path: '/gauge/aicompute-region',
    industry: 'ai-compute',
    title: 'GPU-cloud providers',
    entities: ['sample-fjord-gpu-cloud', 'sample-mesa-compute', 'sample-prairie-gpu-cloud'],
    terms: ['insolvent'],
  }),
  lifecycleLine('depin', {
    path: '/gauge/depin-region',
    industry: 'depin',
    title: 'physical-infrastructure networks',
    entities: ['sample-hotspot-net', 'sample-sensor-mesh', 'sample-storage-grid'],
    terms: ['demand-dead', 'exploited'],
  }),
  lifecycleLine('esg-fund', {
    path: '/gauge/esgfund-region',
    industry: 'esg-funds',
    title: 'ESG funds',
    entities: ['sample-clean-water-fund', 'sample-low-carbon-index', 'sample-green-bond-fund'],
    terms: ['delisted', 'withdrawn'],
  }),
  lifecycleLine('rwa', {
    path: '/gauge/rwa-region',
    industry: 'real-world-assets',
    title: 'tokenised issuers and pools',
    entities: ['sample-warehouse-loan-pool', 'sample-invoice-pool', 'sample-treasury-bill-pool'],
    terms: ['insolvent', 'exploited', 'suspended'],
  }),
  lifecycleLine('smallsat', {
    path: '/gauge/smallsat-region',
    industry: 'small-satellites',
    title: 'small-satellite operators',
    entities: ['sample-meridian-imaging', 'sample-lark-satcom', 'sample-orbit-weather'],
    terms: ['insolvent', 'revoked', 'expired'],
  }),
  lifecycleLine('lrt', {
    path: '/gauge/lrt-region',
    industry: 'liquid-restaking',
    title: 'liquid-restaking tokens',
    entities: ['sample-harbor-restaked-ether', 'sample-vault-ether', 'sample-quay-ether'],
    terms: ['exploited', 'deprecated'],
  }),
  lifecycleLine('defi-lending', {
    path: '/gauge/defilending-region',
    industry: 'defi-lending',
    title: 'lending protocols',
    entities: ['sample-harbor-lend', 'sample-orchard-lend', 'sample-quarry-lend'],
    terms: ['exploited', 'insolvent'],
  }),
  lifecycleLine('ai-dataset', {
    path: '/gauge/aidataset-region',
    industry: 'ai-datasets',
    title: 'AI datasets',
    entities: ['sample-web-crawl-2024', 'sample-book-corpus', 'sample-street-images'],
    terms: ['withdrawn', 'suspended'],
  }),
  lifecycleLine('med-device', {
    path: '/gauge/meddevice-region',
    industry: 'medical-devices',
    title: 'device product lines',
    entities: ['sample-insulin-pump-x2', 'sample-cpap-line-three', 'sample-glucose-meter-g1'],
    terms: ['recall', 'withdrawn'],
  }),
  lifecycleLine('tariff-policy', {
    path: '/gauge/tariff-region',
    industry: 'trade-policy',
    title: 'trade measures',
    entities: ['sample-steel-quota-2025', 'sample-solar-panel-duty', 'sample-aluminium-duty'],
    terms: ['rescinded', 'struck-down', 'expired', 'superseded'],
  }),
  lifecycleLine('biodiversity-credit', {
    path: '/gauge/biodiversity-region',
    industry: 'biodiversity-credits',
    title: 'biodiversity credits and schemes',
    entities: ['sample-coastal-wetland-units', 'sample-native-forest-units', 'sample-meadow-units'],
    terms: ['suspended', 'revoked'],
  }),
  line({
    id: 'crypto',
    industry: 'crypto',
    title: 'spot prices',
    entities: ['btc', 'eth'],
    open: true,
    signals: [
      signal('crypto.spot', {
        measures: 'spot price',
        cadence: 'hourly',
        metrics: ['price_usd'],
        range: FROM_ZERO,
      }),
    ],
  }),
  line({
    id: 'macro',
    industry: 'macro',
    title: 'official statistics',
    entities: ['us'],
    open: true,
    signals: [
      signal('macro.unemployment', {
        measures: 'unemployment rate, seasonally adjusted',
        cadence: 'monthly',
        metrics: ['unemployment_pct'],
        range: SHARE,
      }),
    ],
  }),
] as const;

/** Literal path of every bundle, derived from the rows. */
export type BundlePath = NonNullable<(typeof LINES)[number]['bundle']>['path'];

/** Every signal of every line, in table order. */
export const SIGNALS: readonly Signal[] = LINES.flatMap((row): readonly Signal[] => row.signals);

const SIGNAL_BY_ID = new Map(SIGNALS.map((row) => [row.id, row]));
const LINE_BY_SIGNAL = new Map<string, Line>(
  LINES.flatMap((row: Line) => row.signals.map((item) => [item.id, row] as const)),
);

/** The signal row of an id, or undefined for an id that is not in the table. */
export function signalOf(id: string): Signal | undefined {
  return SIGNAL_BY_ID.get(id);
}

/** The line that a signal belongs to, or undefined. */
export function lineOf(signalId: string): Line | undefined {
  return LINE_BY_SIGNAL.get(signalId);
}

/** Entities a reading of this signal may name; `open` when any id is valid. */
export function entitiesOf(signalId: string): readonly string[] | 'open' {
  const row = LINE_BY_SIGNAL.get(signalId);
  if (row === undefined) return [];
  const own = row.signals.find((item) => item.id === signalId)?.entities;
  return own === 'open' || row.open ? 'open' : row.entities;
}

/** The member of a bundle's legs that a signal is: the species of its id. */
export function legMember(signalId: string): string {
  return signalId.slice(signalId.indexOf('.') + 1);
}

/** The entity that a leg's signal is read at, for a bundle's own entity. */
export function legEntity(row: Line, signalId: string, bundleEntity: string): string {
  return row.entityOf?.[signalId]?.[bundleEntity] ?? bundleEntity;
}
