import { HOUR_MS } from './iso-time.ts';

/** How often the official source publishes, as the specification spells it. */
export const CADENCES = [
  'hourly',
  'daily',
  'weekly',
  'monthly',
  'quarterly',
  'yearly',
  'as-events',
] as const;
export type Cadence = (typeof CADENCES)[number];

export interface FreshnessThresholds {
  readonly fresh_hours: number;
  readonly recent_hours: number;
  readonly dead_source_hours: number;
}

/** Upper bounds in hours, inclusive, published at `/gauge/coverage` as `freshness_thresholds`. */
export const FRESHNESS_THRESHOLDS: Readonly<Record<Cadence, FreshnessThresholds>> = {
  hourly: { fresh_hours: 3, recent_hours: 24, dead_source_hours: 168 },
  daily: { fresh_hours: 24, recent_hours: 192, dead_source_hours: 1440 },
  weekly: { fresh_hours: 192, recent_hours: 744, dead_source_hours: 4380 },
  monthly: { fresh_hours: 1080, recent_hours: 2160, dead_source_hours: 8760 },
  quarterly: { fresh_hours: 3000, recent_hours: 6600, dead_source_hours: 17520 },
  yearly: { fresh_hours: 9000, recent_hours: 18000, dead_source_hours: 43800 },
  'as-events': { fresh_hours: 744, recent_hours: 8760, dead_source_hours: 17520 },
};

export type FreshnessClass = 'fresh' | 'recent' | 'stale';

export interface Freshness {
  /** Hours since the observation, one decimal, never below 0. */
  readonly age_hours_now: number;
  readonly freshness: FreshnessClass;
  /** Present only past the dead-source threshold: a sentence for people. */
  readonly dead_source?: string;
}

/** The one freshness rule of the service: `observedAt` ISO-8601 UTC, `now` in epoch milliseconds. */
export function freshness(cadence: Cadence, observedAt: string, now: number): Freshness {
  const bounds = FRESHNESS_THRESHOLDS[cadence];
  const age = Math.max(0, now - Date.parse(observedAt)) / HOUR_MS;
  const word =
    age <= bounds.fresh_hours ? 'fresh' : age <= bounds.recent_hours ? 'recent' : 'stale';
  const reading = { age_hours_now: Math.round(age * 10) / 10, freshness: word } as const;
  if (age <= bounds.dead_source_hours) return reading;
  return { ...reading, dead_source: `no official reading since ${observedAt}` };
}

/** The sentence that tells which cadence and thresholds a freshness word rests on. */
export function freshnessBasis(cadence: Cadence): string {
  const bounds = FRESHNESS_THRESHOLDS[cadence];
  return (
    `cadence=${cadence}; fresh<=${bounds.fresh_hours}h; recent<=${bounds.recent_hours}h; ` +
    `dead_source>${bounds.dead_source_hours}h; age_basis=request-time(now minus observed_at)`
  );
}

/** Reads the cadence back out of a freshness basis; null when the text is not one of ours. */
export function parseFreshnessBasis(basis: string): Cadence | null {
  const word = /^cadence=([a-z-]+);/.exec(basis)?.[1];
  return CADENCES.find((cadence) => cadence === word) ?? null;
}
