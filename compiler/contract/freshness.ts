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

interface FreshnessThresholds {
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

const FRESHNESS_CLASSES = ['fresh', 'recent', 'stale'] as const;
export type FreshnessClass = (typeof FRESHNESS_CLASSES)[number];

export interface Freshness {
  /** Hours since the observation, one decimal, never below 0. */
  readonly age_hours_now: number;
  readonly freshness: FreshnessClass;
  /** The part of a joined body that its word rests on. */
  readonly freshness_leg?: string;
  /** Present only past the dead-source threshold: a sentence for people. */
  readonly dead_source?: string;
}

/** The one freshness rule of the service: `observedAt` ISO-8601 UTC, `now` in epoch milliseconds. */
export function freshness(cadence: Cadence, observedAt: string, now: number): Freshness {
  const { word, isDead } = judged(cadence, Date.parse(observedAt), now);
  const reading = { age_hours_now: ageHours(observedAt, now), freshness: word };
  return isDead ? { ...reading, dead_source: deadSource(observedAt) } : reading;
}

/** What is judged by its own cadence: a reading, a leg of a bundle, the oldest row of a roster. */
export interface Aged {
  readonly cadence: Cadence;
  readonly observed_at: string;
}

/** A part of a body that joins readings: a leg of a bundle, or a reading of a city. */
export interface AgedPart extends Aged {
  readonly name: string;
}

/**
 * The freshness of a body by itself, or of one that joins parts: that is as fresh as the worst of them, of several that are
 * as bad the oldest, then the first by name. The age is that of `own`, the oldest reading, in either case.
 */
export function bodyFreshness(own: Aged, parts: readonly AgedPart[], now: number): Freshness {
  const [first, ...others] = parts.map((part) => rankedPart(part, now));
  if (first === undefined) return freshness(own.cadence, own.observed_at, now);
  const worst = others.reduce((one, other) => (isWorse(other, one) ? other : one), first);
  const { name, observed_at } = worst.part;
  const joined = {
    age_hours_now: ageHours(own.observed_at, now),
    freshness: worst.word,
    freshness_leg: name,
  };
  return worst.isDead ? { ...joined, dead_source: deadSource(observed_at) } : joined;
}

interface RankedPart extends JudgedAge {
  readonly part: AgedPart;
  readonly at: number;
}

function rankedPart(part: AgedPart, now: number): RankedPart {
  const at = Date.parse(part.observed_at);
  return { part, at, ...judged(part.cadence, at, now) };
}

function isWorse(one: RankedPart, other: RankedPart): boolean {
  if (one.rank !== other.rank) return one.rank > other.rank;
  return one.at === other.at ? one.part.name < other.part.name : one.at < other.at;
}

interface JudgedAge {
  readonly word: FreshnessClass;
  readonly isDead: boolean;
  /** Larger is worse; a dead source is worse than a stale one. */
  readonly rank: number;
}

function judged(cadence: Cadence, observedAt: number, now: number): JudgedAge {
  const bounds = FRESHNESS_THRESHOLDS[cadence];
  const age = Math.max(0, now - observedAt) / HOUR_MS;
  const word =
    age <= bounds.fresh_hours ? 'fresh' : age <= bounds.recent_hours ? 'recent' : 'stale';
  const isDead = age > bounds.dead_source_hours;
  return { word, isDead, rank: FRESHNESS_CLASSES.indexOf(word) + (isDead ? 1 : 0) };
}

/** Ages are shown in tenths of an hour. */
export const TENTH_HOUR_MS = HOUR_MS / 10;

/** Hours from an ISO time to an instant (epoch milliseconds), one decimal, halves up, never below 0. */
export function ageHours(observedAt: string, now: number): number {
  return Math.round(Math.max(0, now - Date.parse(observedAt)) / TENTH_HOUR_MS) / 10;
}

/** The last instant (epoch milliseconds) at which that age is what it is at `now`. */
export function ageHeldUntil(observedAt: string, now: number): number {
  const at = Date.parse(observedAt);
  return at + (Math.round(ageHours(observedAt, now) * 10) + 0.5) * TENTH_HOUR_MS - 1;
}

/** The last instants before the class of a reading gets worse, and before its source counts as dead. */
export function freshnessTurns({ cadence, observed_at }: Aged): number[] {
  const { fresh_hours, recent_hours, dead_source_hours } = FRESHNESS_THRESHOLDS[cadence];
  const bounds = [fresh_hours, recent_hours, dead_source_hours];
  return bounds.map((hours) => Date.parse(observed_at) + hours * HOUR_MS);
}

function deadSource(observedAt: string): string {
  return `no official reading since ${observedAt}`;
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

/** The signed sentence in the provenance of a joined body: whose freshness its word is. */
export function freshnessRule(count: number, of: 'legs' | 'readings'): string {
  return `the worst of ${count} ${of}, each by its own freshness_basis`;
}

const FRESHNESS_RULE =
  /^the worst of ([1-9]\d{0,3}) (?:legs|readings), each by its own freshness_basis$/;

/** How many parts a freshness rule is about; null when the text is not one of ours. */
export function parseFreshnessRule(rule: string): number | null {
  const count = FRESHNESS_RULE.exec(rule)?.[1];
  return count === undefined ? null : Number(count);
}
