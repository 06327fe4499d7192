import {
  inRange,
  type MetricValues,
  type Recipe,
  rounded,
  type Situation,
} from './sample-recipe.ts';

/** Of the supply that was redeemed, the value follows from the share. */
function redeemed({ severity, fixed }: Situation): MetricValues {
  const supply = 20_000_000 + 400_000_000 * fixed('supply');
  const share = inRange([0.2, 62, 10], severity * severity);
  return { redeemed_7d_pct: share, redeemed_7d_usd: rounded((supply * share) / 100, 0.001) };
}

function pegDistance({ severity }: Situation): MetricValues {
  const distance = inRange([0, 94, 10], severity ** 4);
  return { peg_distance_pct: distance, price_usd: rounded(1 - distance / 100, 1000) };
}

function badDebt({ severity, fixed }: Situation): MetricValues {
  const loans = 30_000_000 + 900_000_000 * fixed('loans');
  const share = inRange([0, 24, 100], severity ** 3);
  return { bad_debt_usd: rounded((loans * share) / 100, 0.001), bad_debt_of_loans_pct: share };
}

function milestone({ severity, fixed }: Situation): MetricValues {
  const required = 12 + Math.round(fixed('required') * 60);
  const inOrbit = Math.round(required * inRange([1.15, 0, 100], severity * severity));
  return {
    milestone_met_pct: rounded((100 * inOrbit) / required, 10),
    satellites_in_orbit_count: inOrbit,
  };
}

/** How to generate the legs of the life-cycle lines: from a healthy subject to one that is over. */
export const LEG_RECIPES: Readonly<Record<string, Recipe>> = {
  'climate-policy.distress-events': {
    ranges: { distress_events_90d_count: [0, 9, 1] },
    bandAt: [1, 3, 6],
  },
  'climate-policy.cascade': { ranges: { affected_measures_count: [0, 14, 1] }, bandAt: [1, 4, 9] },
  'ai-tool.distress': { ranges: { failed_calls_7d_pct: [0.1, 99, 10] }, bandAt: [2, 20, 90] },
  'ai-tool.zombie': { ranges: { since_last_release_days: [3, 620, 1] }, bandAt: [60, 180, 365] },
  'ai-dependency.deprecation-notices': {
    ranges: { notices_in_force_count: [0, 9, 1] },
    bandAt: [1, 3, 6],
  },
  'ai-dependency.cascade': {
    ranges: { dependents_affected_count: [0, 260, 1] },
    bandAt: [1, 40, 150],
  },
  'promise.slippage': {
    ranges: { slippage_days: [-6, 540, 1] },
    signed: true,
    bandAt: [1, 90, 270],
  },
  'promise.delivery-recon': { ranges: { delivered_pct: [100, 0, 1] }, bandAt: [90, 60, 10] },
  'carbon-project.rating-drift': {
    ranges: { rating_drift_notches: [-1, 7, 1] },
    signed: true,
    bandAt: [1, 2, 4],
  },
  'carbon-project.price-integrity': {
    ranges: { price_usd_tco2e: [12.4, 0.3, 100], discount_to_benchmark_pct: [0, 97, 10] },
    bandAt: [11.2, 7.5, 2],
  },
  'stablecoin.peg-distress': { make: pegDistance, bandAt: [0.5, 2, 20] },
  'stablecoin.redemption-flight': { make: redeemed, bandAt: [3, 10, 30] },
  'ai-compute.financing-distress': {
    ranges: { interest_coverage_ratio: [7.5, -1.8, 10] },
    signed: true,
    bandAt: [4, 2, 1],
  },
  'ai-compute.workload-exposure': {
    ranges: { largest_customer_pct: [9, 96, 10] },
    bandAt: [20, 45, 80],
  },
  'depin.reward-churn': {
    ranges: { nodes_left_30d_pct: [0.4, 68, 10], reward_per_node_30d_usd: [46, 0.4, 100] },
    bandAt: [4, 12, 35],
  },
  'depin.downstream-exposure': {
    ranges: { dependent_services_count: [0, 32, 1] },
    bandAt: [1, 6, 16],
  },
  'esg-fund.rating-drift': {
    ranges: { rating_drift_notches: [-1, 5, 1] },
    signed: true,
    bandAt: [1, 2, 4],
  },
  'esg-fund.holdings-cascade': {
    ranges: { excluded_holdings_pct: [0, 38, 10] },
    bandAt: [1, 6, 18],
  },
  'rwa.redemption-stress': {
    ranges: { redemptions_open_pct: [0.3, 74, 10], redemption_wait_days: [1, 120, 1] },
    bandAt: [5, 20, 50],
  },
  'rwa.exposure-cascade': {
    ranges: { held_by_protocols_usd: [0, 88_000_000, 0.0001] },
    bandAt: [1_000_000, 15_000_000, 50_000_000],
  },
  'smallsat.spectrum-milestone': {
    make: milestone,
    ranges: { milestone_met_pct: [115, 0, 10] },
    bandAt: [99.9, 80, 40],
  },
  'smallsat.orbital-decay': {
    ranges: { mean_altitude_km: [548, 190, 10], altitude_loss_30d_km: [0.2, 62, 10] },
    bandAt: [520, 420, 260],
  },
  'lrt.redemption-queue': {
    ranges: { queue_wait_days: [0, 64, 10], queue_requests_count: [0, 5200, 1] },
    bandAt: [1, 8, 35],
  },
  'lrt.collateral-cascade': {
    ranges: { posted_as_collateral_pct: [4, 71, 10] },
    bandAt: [12, 30, 50],
  },
  'defi-lending.bad-debt-stress': { make: badDebt, bandAt: [1000, 2_000_000, 20_000_000] },
  'defi-lending.contagion-cascade': {
    ranges: { linked_protocols_count: [0, 26, 1] },
    bandAt: [1, 6, 15],
  },
  'ai-dataset.legal-distress': { ranges: { open_claims_count: [0, 8, 1] }, bandAt: [1, 3, 6] },
  'ai-dataset.model-lineage-exposure': {
    ranges: { trained_models_count: [0, 140, 1] },
    bandAt: [1, 15, 70],
  },
  'med-device.adverse-event': {
    ranges: { adverse_reports_30d_count: [2, 240, 1] },
    bandAt: [15, 60, 150],
  },
  'med-device.recall-cascade': {
    ranges: { units_recalled_count: [-2000, 64_000, 0.1], recalls_in_force_count: [0, 5, 1] },
    bandAt: [1, 5000, 30_000],
  },
  'tariff-policy.review-pipeline': {
    ranges: { reviews_pending_count: [0, 12, 1], oldest_review_days: [0, 410, 1] },
    bandAt: [1, 4, 9],
  },
  'tariff-policy.tradeflow-cascade': {
    ranges: { trade_value_yoy_pct: [5, -78, 10] },
    signed: true,
    bandAt: [-5, -20, -50],
  },
  'biodiversity-credit.mrv-integrity-drift': {
    ranges: { reported_vs_measured_pct: [1, 84, 10] },
    bandAt: [6, 20, 50],
  },
  'biodiversity-credit.buyer-holder-cascade': {
    ranges: { holders_left_90d_pct: [0.5, 88, 10], holders_count: [1900, 60, 1] },
    bandAt: [5, 20, 60],
  },
};
