import { FROM_ZERO, type Limits, SHARE } from './units.ts';

/** One leg of a life-cycle line beside its life cycle: what its name says is what it measures. */
export interface LifecycleLeg {
  readonly name: string;
  /** A noun phrase for catalogues. */
  readonly measures: string;
  /** Metric names with their unit as suffix; the main one first. */
  readonly metrics: readonly [string, ...string[]];
  /** Values that the main metric can have; absent where it may also be negative. */
  readonly range?: Limits;
  /** Mildest first. No agency publishes thresholds for them: the publisher of a reading gives its band. */
  readonly bands: readonly [string, string, string, string];
}

const SPREAD = ['none', 'contained', 'spreading', 'systemic'] as const;
const NUMBERS = ['none', 'few', 'several', 'many'] as const;
const DRIFT = ['unchanged', 'slight', 'marked', 'severe'] as const;

/** The current and the realized leg of every life-cycle line, by the id of the line. */
export const LIFECYCLE_LEGS = {
  'climate-policy': [
    {
      name: 'distress-events',
      measures: 'distress events of a climate policy in 90 days',
      metrics: ['distress_events_90d_count'],
      range: FROM_ZERO,
      bands: ['none', 'isolated', 'repeated', 'clustered'],
    },
    {
      name: 'cascade',
      measures: 'other measures that changed with a climate policy',
      metrics: ['affected_measures_count'],
      range: FROM_ZERO,
      bands: SPREAD,
    },
  ],
  'ai-tool': [
    {
      name: 'distress',
      measures: 'failed calls to an AI tool in 7 days',
      metrics: ['failed_calls_7d_pct'],
      range: SHARE,
      bands: ['healthy', 'degraded', 'failing', 'down'],
    },
    {
      name: 'zombie',
      measures: 'time since the last release of an AI tool that still answers',
      metrics: ['since_last_release_days'],
      range: FROM_ZERO,
      bands: ['maintained', 'quiet', 'dormant', 'zombie'],
    },
  ],
  'ai-dependency': [
    {
      name: 'deprecation-notices',
      measures: 'deprecation notices in force for a model or API',
      metrics: ['notices_in_force_count'],
      range: FROM_ZERO,
      bands: NUMBERS,
    },
    {
      name: 'cascade',
      measures: 'products known to be built on a deprecated model or API',
      metrics: ['dependents_affected_count'],
      range: FROM_ZERO,
      bands: SPREAD,
    },
  ],
  promise: [
    {
      name: 'slippage',
      measures: 'days that the announced date of a product moved; negative when it moved forward',
      metrics: ['slippage_days'],
      bands: ['on-time', 'slipping', 'late', 'long-overdue'],
    },
    {
      name: 'delivery-recon',
      measures: 'share of the announced features of a product that were delivered',
      metrics: ['delivered_pct'],
      range: SHARE,
      bands: ['delivered', 'mostly-delivered', 'partly-delivered', 'undelivered'],
    },
  ],
  'carbon-project': [
    {
      name: 'rating-drift',
      measures: 'notches that the rating of a carbon project fell; negative when it rose',
      metrics: ['rating_drift_notches'],
      bands: DRIFT,
    },
    {
      name: 'price-integrity',
      measures: 'traded price of the credits of a carbon project and its discount to the benchmark',
      metrics: ['price_usd_tco2e', 'discount_to_benchmark_pct'],
      range: FROM_ZERO,
      bands: ['at-benchmark', 'discounted', 'deeply-discounted', 'near-worthless'],
    },
  ],
  stablecoin: [
    {
      name: 'peg-distress',
      measures: 'distance of the price of a stablecoin from its peg, either way',
      metrics: ['peg_distance_pct', 'price_usd'],
      range: FROM_ZERO,
      bands: ['on-peg', 'wobbling', 'off-peg', 'broken'],
    },
    {
      name: 'redemption-flight',
      measures: 'share of the supply of a stablecoin that was redeemed in 7 days',
      metrics: ['redeemed_7d_pct', 'redeemed_7d_usd'],
      range: SHARE,
      bands: ['calm', 'outflow', 'heavy-outflow', 'run'],
    },
  ],
  'ai-compute': [
    {
      name: 'financing-distress',
      measures: 'earnings of a GPU-cloud provider over its interest; negative when it has losses',
      metrics: ['interest_coverage_ratio'],
      bands: ['covered', 'thin', 'strained', 'uncovered'],
    },
    {
      name: 'workload-exposure',
      measures: 'share of the revenue of a GPU-cloud provider from its largest customer',
      metrics: ['largest_customer_pct'],
      range: SHARE,
      bands: ['spread', 'concentrated', 'dependent', 'single-customer'],
    },
  ],
  depin: [
    {
      name: 'reward-churn',
      measures: 'share of the nodes of a network that left in 30 days, and the reward of a node',
      metrics: ['nodes_left_30d_pct', 'reward_per_node_30d_usd'],
      range: SHARE,
      bands: ['steady', 'raised', 'high', 'exodus'],
    },
    {
      name: 'downstream-exposure',
      measures: 'services known to be built on a network',
      metrics: ['dependent_services_count'],
      range: FROM_ZERO,
      bands: NUMBERS,
    },
  ],
  'esg-fund': [
    {
      name: 'rating-drift',
      measures: 'notches that the ESG rating of a fund fell; negative when it rose',
      metrics: ['rating_drift_notches'],
      bands: DRIFT,
    },
    {
      name: 'holdings-cascade',
      measures: 'share of the holdings of a fund that its own criteria exclude',
      metrics: ['excluded_holdings_pct'],
      range: SHARE,
      bands: ['clean', 'traces', 'exposed', 'heavily-exposed'],
    },
  ],
  rwa: [
    {
      name: 'redemption-stress',
      measures: 'share of the assets of an issuer or pool with redemption requests open',
      metrics: ['redemptions_open_pct', 'redemption_wait_days'],
      range: SHARE,
      bands: ['normal', 'raised', 'gated', 'halted'],
    },
    {
      name: 'exposure-cascade',
      measures: 'value of the tokens of an issuer or pool that other protocols hold',
      metrics: ['held_by_protocols_usd'],
      range: FROM_ZERO,
      bands: SPREAD,
    },
  ],
  smallsat: [
    {
      name: 'spectrum-milestone',
      measures: 'satellites in orbit against the number that the licence milestone requires',
      metrics: ['milestone_met_pct', 'satellites_in_orbit_count'],
      range: FROM_ZERO,
      bands: ['met', 'near', 'behind', 'missed'],
    },
    {
      name: 'orbital-decay',
      measures: 'mean altitude of the satellites of an operator and its loss in 30 days',
      metrics: ['mean_altitude_km', 'altitude_loss_30d_km'],
      range: FROM_ZERO,
      bands: ['on-station', 'lowering', 'decaying', 'near-reentry'],
    },
  ],
  lrt: [
    {
      name: 'redemption-queue',
      measures: 'waiting time and length of the redemption queue of a restaking token',
      metrics: ['queue_wait_days', 'queue_requests_count'],
      range: FROM_ZERO,
      bands: ['clear', 'short', 'long', 'blocked'],
    },
    {
      name: 'collateral-cascade',
      measures: 'share of the supply of a restaking token that is posted as collateral',
      metrics: ['posted_as_collateral_pct'],
      range: SHARE,
      bands: ['contained', 'noticeable', 'heavy', 'systemic'],
    },
  ],
  'defi-lending': [
    {
      name: 'bad-debt-stress',
      measures: 'bad debt of a lending protocol, and its share of all loans',
      metrics: ['bad_debt_usd', 'bad_debt_of_loans_pct'],
      range: FROM_ZERO,
      bands: ['none', 'minor', 'material', 'critical'],
    },
    {
      name: 'contagion-cascade',
      measures: 'protocols that hold claims on a lending protocol',
      metrics: ['linked_protocols_count'],
      range: FROM_ZERO,
      bands: SPREAD,
    },
  ],
  'ai-dataset': [
    {
      name: 'legal-distress',
      measures: 'open legal claims against a dataset',
      metrics: ['open_claims_count'],
      range: FROM_ZERO,
      bands: NUMBERS,
    },
    {
      name: 'model-lineage-exposure',
      measures: 'published models known to be trained on a dataset',
      metrics: ['trained_models_count'],
      range: FROM_ZERO,
      bands: NUMBERS,
    },
  ],
  'med-device': [
    {
      name: 'adverse-event',
      measures: 'adverse event reports of a device product line in 30 days',
      metrics: ['adverse_reports_30d_count'],
      range: FROM_ZERO,
      bands: ['baseline', 'raised', 'high', 'cluster'],
    },
    {
      name: 'recall-cascade',
      measures: 'units of a device product line under recall, and the recalls in force',
      metrics: ['units_recalled_count', 'recalls_in_force_count'],
      range: FROM_ZERO,
      bands: ['none', 'contained', 'wide', 'market-wide'],
    },
  ],
  'tariff-policy': [
    {
      name: 'review-pipeline',
      measures: 'reviews of a trade measure that are pending, and the age of the oldest',
      metrics: ['reviews_pending_count', 'oldest_review_days'],
      range: FROM_ZERO,
      bands: ['empty', 'light', 'busy', 'crowded'],
    },
    {
      name: 'tradeflow-cascade',
      measures: 'year-on-year change of the trade under a measure',
      metrics: ['trade_value_yoy_pct'],
      range: { from: -100 },
      bands: ['steady', 'shifting', 'shrinking', 'collapsed'],
    },
  ],
  'biodiversity-credit': [
    {
      name: 'mrv-integrity-drift',
      measures: 'gap between the reported and the re-measured outcome of a scheme, either way',
      metrics: ['reported_vs_measured_pct'],
      range: FROM_ZERO,
      bands: ['aligned', 'drifting', 'divergent', 'unsupported'],
    },
    {
      name: 'buyer-holder-cascade',
      measures: 'share of the holders of a credit that left in 90 days',
      metrics: ['holders_left_90d_pct', 'holders_count'],
      range: SHARE,
      bands: ['holding', 'thinning', 'leaving', 'abandoned'],
    },
  ],
} as const satisfies Readonly<Record<string, readonly [LifecycleLeg, LifecycleLeg]>>;
