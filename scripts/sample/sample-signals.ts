import {
  activityBand,
  impactBand,
  swarmBand,
} from '../../compiler/sources/agencies/earthquake-events.ts';

export type MetricValue = number | string | null;
export type MetricValues = Record<string, MetricValue>;

/** From the mildest to the worst value, and the rounding: 10 keeps one decimal, 0.1 keeps tens. */
type MetricSpan = readonly [mild: number, worst: number, scale: number];

/** What a recipe knows: how bad it is (0 to 1) and stable numbers from 0 to 1 by name. */
export interface Situation {
  readonly severity: number;
  readonly entity: string;
  readonly fixed: (name: string) => number;
}

/**
 * How to generate one signal: ranges by metric, or a function where metrics depend on each other; the range of its main
 * metric then says which way is worse, and without one a larger value is.
 */
export interface Recipe {
  readonly ranges?: Readonly<Record<string, MetricSpan>>;
  /** Negative values are real; otherwise what falls below 0 is 0. */
  readonly signed?: boolean;
  /** Where the bands of our own begin in the main metric, from the second band on. */
  readonly bandAt?: readonly number[];
  readonly make?: (situation: Situation) => MetricValues;
  /** Signals of one group share their severity, so that they tell one story. */
  readonly group?: string;
}

export function rounded(value: number, scale: number): number {
  return Math.round(value * scale) / scale;
}

export function inRange([mild, worst, scale]: MetricSpan, severity: number): number {
  return rounded(mild + (worst - mild) * severity, scale);
}

export interface SampleReading {
  readonly entity: string;
  readonly entity_name?: string;
  readonly observed_at: string;
  readonly collected_at: string;
  readonly current: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}
/** Whom a reading is about, when, and the hour at which the sample ends. */
export interface SampleSubject {
  readonly entity: string;
  readonly time: string;
  readonly hour: string;
}
/** Readings by signal and then by batch, as the exceptions edit them. */
export type SampleBatches = Map<string, SampleReading[]>;

/** A recipe of ranges with bands of our own. */
function banded(
  ranges: Recipe['ranges'] & object,
  bandAt: readonly number[],
  more: Pick<Recipe, 'signed' | 'group'> = {},
): Recipe {
  return { ranges, bandAt, ...more };
}

/** How to generate the legs of the life-cycle lines: from a healthy subject to one that is over. */
const LEG_RECIPES: Readonly<Record<string, Recipe>> = {
  'climate-policy.distress-events': banded({ distress_events_90d_count: [0, 9, 1] }, [1, 3, 6]),
  'climate-policy.cascade': banded({ affected_measures_count: [0, 14, 1] }, [1, 4, 9]),
  'ai-tool.distress': banded({ failed_calls_7d_pct: [0.1, 99, 10] }, [2, 20, 90]),
  'ai-tool.zombie': banded({ since_last_release_days: [3, 620, 1] }, [60, 180, 365]),
  'ai-dependency.deprecation-notices': banded({ notices_in_force_count: [0, 9, 1] }, [1, 3, 6]),
  'ai-dependency.cascade': banded({ dependents_affected_count: [0, 260, 1] }, [1, 40, 150]),
  'promise.slippage': banded({ slippage_days: [-6, 540, 1] }, [1, 90, 270], { signed: true }),
  'promise.delivery-recon': banded({ delivered_pct: [100, 0, 1] }, [90, 60, 10]),
  'carbon-project.rating-drift': banded({ rating_drift_notches: [-1, 7, 1] }, [1, 2, 4], {
    signed: true,
  }),
  'carbon-project.price-integrity': banded(
    { price_usd_tco2e: [12.4, 0.3, 100], discount_to_benchmark_pct: [0, 97, 10] },
    [11.2, 7.5, 2],
  ),
  'stablecoin.peg-distress': {
    make: ({ severity }) => {
      const distance = inRange([0, 94, 10], severity ** 4);
      return { peg_distance_pct: distance, price_usd: rounded(1 - distance / 100, 1000) };
    },
    bandAt: [0.5, 2, 20],
  },
  'stablecoin.redemption-flight': {
    make: ({ severity, fixed }) => {
      const supply = 20_000_000 + 400_000_000 * fixed('supply');
      const share = inRange([0.2, 62, 10], severity * severity);
      return { redeemed_7d_pct: share, redeemed_7d_usd: rounded((supply * share) / 100, 0.001) };
    },
    bandAt: [3, 10, 30],
  },
  'ai-compute.financing-distress': banded({ interest_coverage_ratio: [7.5, -1.8, 10] }, [4, 2, 1], {
    signed: true,
  }),
  'ai-compute.workload-exposure': banded({ largest_customer_pct: [9, 96, 10] }, [20, 45, 80]),
  'depin.reward-churn': banded(
    { nodes_left_30d_pct: [0.4, 68, 10], reward_per_node_30d_usd: [46, 0.4, 100] },
    [4, 12, 35],
  ),
  'depin.downstream-exposure': banded({ dependent_services_count: [0, 32, 1] }, [1, 6, 16]),
  'esg-fund.rating-drift': banded({ rating_drift_notches: [-1, 5, 1] }, [1, 2, 4], {
    signed: true,
  }),
  'esg-fund.holdings-cascade': banded({ excluded_holdings_pct: [0, 38, 10] }, [1, 6, 18]),
  'rwa.redemption-stress': banded(
    { redemptions_open_pct: [0.3, 74, 10], redemption_wait_days: [1, 120, 1] },
    [5, 20, 50],
  ),
  'rwa.exposure-cascade': banded(
    { held_by_protocols_usd: [0, 88_000_000, 0.0001] },
    [1_000_000, 15_000_000, 50_000_000],
  ),
  'smallsat.spectrum-milestone': {
    make: ({ severity, fixed }) => {
      const required = 12 + Math.round(fixed('required') * 60);
      const inOrbit = Math.round(required * inRange([1.15, 0, 100], severity * severity));
      return {
        milestone_met_pct: rounded((100 * inOrbit) / required, 10),
        satellites_in_orbit_count: inOrbit,
      };
    },
    ranges: { milestone_met_pct: [115, 0, 10] },
    bandAt: [99.9, 80, 40],
  },
  'smallsat.orbital-decay': banded(
    { mean_altitude_km: [548, 190, 10], altitude_loss_30d_km: [0.2, 62, 10] },
    [520, 420, 260],
  ),
  'lrt.redemption-queue': banded(
    { queue_wait_days: [0, 64, 10], queue_requests_count: [0, 5200, 1] },
    [1, 8, 35],
  ),
  'lrt.collateral-cascade': banded({ posted_as_collateral_pct: [4, 71, 10] }, [12, 30, 50]),
  'defi-lending.bad-debt-stress': {
    make: ({ severity, fixed }) => {
      const loans = 30_000_000 + 900_000_000 * fixed('loans');
      const share = inRange([0, 24, 100], severity ** 3);
      return { bad_debt_usd: rounded((loans * share) / 100, 0.001), bad_debt_of_loans_pct: share };
    },
    bandAt: [1000, 2_000_000, 20_000_000],
  },
  'defi-lending.contagion-cascade': banded({ linked_protocols_count: [0, 26, 1] }, [1, 6, 15]),
  'ai-dataset.legal-distress': banded({ open_claims_count: [0, 8, 1] }, [1, 3, 6]),
  'ai-dataset.model-lineage-exposure': banded({ trained_models_count: [0, 140, 1] }, [1, 15, 70]),
  'med-device.adverse-event': banded({ adverse_reports_30d_count: [2, 240, 1] }, [15, 60, 150]),
  'med-device.recall-cascade': banded(
    { units_recalled_count: [-2000, 64_000, 0.1], recalls_in_force_count: [0, 5, 1] },
    [1, 5000, 30_000],
  ),
  'tariff-policy.review-pipeline': banded(
    { reviews_pending_count: [0, 12, 1], oldest_review_days: [0, 410, 1] },
    [1, 4, 9],
  ),
  'tariff-policy.tradeflow-cascade': banded({ trade_value_yoy_pct: [5, -78, 10] }, [-5, -20, -50], {
    signed: true,
  }),
  'biodiversity-credit.mrv-integrity-drift': banded(
    { reported_vs_measured_pct: [1, 84, 10] },
    [6, 20, 50],
  ),
  'biodiversity-credit.buyer-holder-cascade': banded(
    { holders_left_90d_pct: [0.5, 88, 10], holders_count: [1900, 60, 1] },
    [5, 20, 60],
  ),
};

/** US AQI of a PM2.5 concentration, by the breakpoints of 2024. */
const AQI_ROWS = [
  [0, 9, 0, 50],
  [9.1, 35.4, 51, 100],
  [35.5, 55.4, 101, 150],
  [55.5, 125.4, 151, 200],
] as const;
const pm25Of = (severity: number) => rounded(2 + 68 * severity * severity, 10);

const FLIGHT_CATEGORIES = [
  { band: 'vfr_clear', below: Number.POSITIVE_INFINITY, ceilings: [3100, 12000] },
  { band: 'mvfr', below: 5.1, ceilings: [1000, 3000] },
  { band: 'ifr', below: 3, ceilings: [500, 900] },
  { band: 'lifr', below: 1, ceilings: [100, 400] },
] as const;

const magnitudeOf = (severity: number) => inRange([1.2, 7.3, 10], severity * severity);

/** Quakes of magnitude 2.5 and up in 24 hours: none where even the largest one is smaller. */
function quakeCount(severity: number): number {
  return magnitudeOf(severity) < 2.5 ? 0 : 1 + Math.round(24 * severity * severity);
}

function activity({ severity }: Situation): MetricValues {
  const magnitude = magnitudeOf(severity);
  const band = activityBand(magnitude);
  return { max_mag: magnitude, band, count_m25_count: quakeCount(severity) };
}

/** Cumulative shares: D0 includes D1 and worse; the band is the worst class on half of the region. */
const DROUGHT_CLASSES = [
  { band: 'D0-abnormally-dry', metric: 'd0_pct', onset: 0 },
  { band: 'D1-moderate', metric: 'd1_pct', onset: 0.2 },
  { band: 'D2-severe', metric: 'd2_pct', onset: 0.4 },
  { band: 'D3-extreme', metric: 'd3_pct', onset: 0.55 },
  { band: 'D4-exceptional', metric: 'd4_pct', onset: 0.7 },
] as const;

function drought({ severity }: Situation): MetricValues {
  const shares = DROUGHT_CLASSES.map(({ metric, onset, band }) => {
    const share = Math.min(1, Math.max(0, (severity - onset) * 2.5));
    return { metric, band, pct: rounded(share * 100, 10) };
  });
  const index = rounded(
    shares.reduce((sum, row) => sum + row.pct, 0),
    10,
  );
  const band = shares.findLast((row) => row.pct >= 50)?.band ?? 'none';
  const parts = Object.fromEntries(shares.map((row) => [row.metric, row.pct]));
  return { dsci_index: index, band, ...parts };
}

const SPOT: Readonly<Record<string, MetricSpan>> = {
  btc: [61000, 124000, 10],
  eth: [1900, 4700, 100],
};

/** Flood heights of a gauge, in ft, that exists in the sample only. */
export function floodHeights(fixed: (name: string) => number) {
  const action = 14 + Math.round(fixed('action') * 14);
  return { action, minor: action + 2, moderate: action + 6, major: action + 11 };
}

export const RECIPES: Readonly<Record<string, Recipe>> = {
  'hydrology.river-level': {
    make: ({ severity, fixed }) => {
      const { action } = floodHeights(fixed);
      return { stage_ft: rounded(action * (0.12 + 1.3 * severity * severity), 100) };
    },
    group: 'hydrology',
  },
  'hydrology.streamflow': {
    make: ({ severity, fixed }) => {
      const usual = 300 + 90_000 * fixed('usual') * fixed('usual');
      return { discharge_cfs: Math.round(usual * (0.25 + 2.75 * severity)) };
    },
    group: 'hydrology',
  },
  'airquality.aqi': {
    make: ({ severity }) => {
      const pm25 = pm25Of(severity);
      const row = AQI_ROWS.find(([, to]) => pm25 <= to) ?? AQI_ROWS[3];
      const [from, to, low, high] = row;
      return { aqi_index: Math.round(low + ((pm25 - from) / (to - from)) * (high - low)) };
    },
    group: 'airquality',
  },
  'airquality.pm25': {
    make: ({ severity }) => ({ pm25_ugm3: pm25Of(severity) }),
    group: 'airquality',
  },
  'precipitation.daily': {
    make: ({ severity }) => ({ precip_mm: Math.max(0, inRange([-14, 46, 10], severity)) }),
  },
  'precipitation.wetness30d': { ranges: { precip_30d_mm: [8, 240, 10] } },
  'agriculture.drought': { ranges: { soil_moisture_percentile_pct: [92, 1, 1] } },
  'agriculture.heat': { ranges: { tmax_c: [6, 37, 10] } },
  'agriculture.crop-vhi': { ranges: { vhi_index: [84, 6, 100] } },
  'electricity.demand': { ranges: { cdd_degree_days: [0, 8, 10], hdd_degree_days: [15, 0, 10] } },
  'electricity.renewable': { ranges: { renewable_availability_pct: [82, 18, 10] } },
  'energy.inflation': { ranges: { cpi_energy_yoy_pct: [-5, 13, 100] }, signed: true },
  'energy.gas-price': { ranges: { gas_usd_therm: [0.92, 2.35, 1000] } },
  'shipping.route-disruption': banded({ wave_height_m: [0.05, 8.2, 100] }, [2.5, 4, 6], {
    group: 'sea',
  }),
  'shipping.sea-state': { ranges: { wave_height_m: [0.05, 8.2, 100] }, group: 'sea' },
  'shipping.throughput': { ranges: { vessels_7d_count: [430, 60, 1] } },
  'filing.delinquency': { ranges: { nt_24mo_count: [-1, 3, 1] } },
  'filing.material-events': {
    ranges: { filings_8k_90d_count: [1, 9, 1], filings_8k_30d_count: [0, 4, 1] },
  },
  'filing.insider': { ranges: { form4_90d_count: [2, 40, 1], form4_30d_count: [0, 15, 1] } },
  'wildfire.fire-weather': { ranges: { vpd_kpa: [0.2, 4.2, 100], wind_kt: [2, 38, 1] } },
  'wildfire.active-fire': {
    ranges: { detections_24h_count: [-40, 320, 1], frp_sum_mw: [-900, 7200, 10] },
    group: 'fire',
  },
  'wildfire.impact-confirm': { ranges: { smoke_pm25_ugm3: [3, 140, 10] }, group: 'fire' },
  'nas.aviation_wx': {
    make: ({ severity, fixed }) => {
      const visibility = inRange([10, 0.2, 4], severity * severity);
      const wind = inRange([3, 44, 1], fixed('wind') * severity);
      const category = FLIGHT_CATEGORIES.findLast((row) => visibility < row.below);
      const [low, high] = category?.ceilings ?? [3100, 12000];
      return {
        visibility_mi: visibility,
        band: wind >= 30 ? 'convective_or_high_wind' : (category?.band ?? 'vfr_clear'),
        ceiling_ft: inRange([high, low, 0.01], severity),
        wind_kt: wind,
      };
    },
  },
  'nas.ground_ops': banded(
    { avg_delay_min: [-25, 130, 1], max_delay_min: [-50, 260, 1] },
    [16, 30, 45, 75, 120],
  ),
  'nas.impact_cascade': banded({ delayed_flights_pct: [2, 65, 10] }, [10, 20, 35, 50]),
  'border-wait.upstream-pressure': { ranges: { wait_vs_average_pct: [55, 260, 1] } },
  'border-wait.lane-wait': {
    ranges: { wait_standard_min: [0, 120, 0.2], lanes_open_count: [2, 8, 1] },
  },
  'border-wait.commercial-delay': { ranges: { wait_commercial_min: [0, 90, 0.2] } },
  'earthquake.swarm_rate': {
    make: ({ severity, fixed }) => {
      const daily = rounded(0.5 + 5 * fixed('daily'), 10);
      const count = quakeCount(severity);
      const ratio = rounded(count / daily, 100);
      const band = swarmBand(count, ratio);
      return { rate_ratio: ratio, band, count_24h_count: count, mean_daily_6d_count: daily };
    },
    group: 'quake',
  },
  'earthquake.current_activity': { make: activity, group: 'quake' },
  'earthquake.impact_realized': {
    make: ({ severity }) => {
      const felt = severity > 0.4;
      const intensity = felt ? inRange([1.5, 8, 10], severity * severity) : null;
      const reports = felt ? Math.round(3 + 900 * severity * severity * severity) : 0;
      const band = impactBand({ intensity, alert: null, felt: reports });
      return { intensity_mmi: intensity, band, felt_reports_count: reports };
    },
    group: 'quake',
  },
  'hurricane.formation-outlook': banded({ formation_7d_pct: [0, 80, 0.1] }, [10, 40, 70]),
  'hurricane.active-storms': {
    make: ({ severity }) => {
      const wind = inRange([-40, 150, 0.2], severity * severity);
      if (wind < 25) return { max_wind_kt: 0, storm_count: 0, min_pressure_hpa: null };
      const count = wind < 60 ? 1 : 2;
      return {
        max_wind_kt: wind,
        storm_count: count,
        min_pressure_hpa: 1012 - Math.round(wind / 2),
      };
    },
  },
  'hurricane.impact-cascade': banded({ warnings_count: [-3, 6, 1] }, [1, 1]),
  'hurricane.industry-timeline': banded({ ace_vs_normal_pct: [40, 190, 1] }, [70, 120, 165]),
  'drought.onset-pressure': banded({ eddi_percentile_pct: [5, 99, 1] }, [70, 80, 90, 95]),
  'drought.status': { make: drought },
  'drought.impact-cascade': banded({ impact_reports_count: [-8, 60, 1] }, [1, 10, 25, 45]),
  'drought.industry-timeline': banded({ area_vs_normal_pct: [30, 260, 1] }, [80, 120, 200]),
  'drug-shortage.new-incidence': { ranges: { new_90d_count: [0, 9, 1] } },
  'drug-shortage.active-shortages': { ranges: { active_count: [1, 40, 1] } },
  'drug-shortage.resolution-rate': { ranges: { resolved_90d_pct: [60, 5, 10] } },
  'drug-detail.supply-narrowing': banded({ companies_count: [9, 0, 1] }, [5, 2, 1, 0]),
  'drug-detail.status': {
    make: ({ severity, fixed }) => {
      const packages = 4 + Math.round(fixed('packages') * 20);
      const missing = Math.round(packages * severity * severity);
      const share = missing / packages;
      const worse = share < 0.5 ? 'in-shortage' : 'severe-shortage';
      const band = missing === 0 ? 'available' : share < 0.2 ? 'limited' : worse;
      return { packages_count: packages, band, unavailable_count: missing };
    },
  },
  'drug-detail.alternatives-status': banded({ alternatives_short_count: [0, 5, 1] }, [1, 2, 4]),
  'drug-detail.alternative-supply': banded({ alternative_sources_count: [7, 0, 1] }, [1, 0, 0]),
  'severe-convection.forecast-risk-env': banded(
    { outlook_category_index: [0, 5, 1] },
    [1, 2, 3, 4, 5],
  ),
  'severe-convection.active-warning-state': banded(
    { active_alerts_count: [-3, 9, 1] },
    [1, 3, 5, 8],
  ),
  'severe-convection.realized-severe-reports': banded(
    { reports_24h_count: [-8, 30, 1] },
    [1, 4, 9, 16, 26],
  ),
  'grid-reliability.forecast-stress': banded(
    { forecast_peak_pct: [38, 104, 10] },
    [70, 80, 90, 100],
    { group: 'grid' },
  ),
  'grid-reliability.stress': banded(
    { demand_peak_pct: [36, 101, 10], demand_mw: [9000, 68_000, 1] },
    [65, 75, 85, 95],
    { group: 'grid' },
  ),
  'grid-reliability.realized-strain': banded(
    { realized_peak_pct: [35, 99, 10] },
    [50, 65, 80, 92],
    { group: 'grid' },
  ),
  'crypto.spot': {
    make: ({ severity, entity }) => ({ price_usd: inRange(SPOT[entity] ?? [1, 2, 100], severity) }),
  },
  'macro.unemployment': { ranges: { unemployment_pct: [3.6, 5.4, 10] } },
  ...LEG_RECIPES,
};
