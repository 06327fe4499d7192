import { DAY_MS, HOUR_MS } from '../../format/iso-time.ts';

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

/** Upper bounds in hours, inclusive, published at `/gauge/coverage` as `freshness_thresholds`. */
export const FRESHNESS_THRESHOLDS: Readonly<
  Record<Cadence, Readonly<Record<'fresh_hours' | 'recent_hours' | 'dead_source_hours', number>>>
> = {
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
  const ranked = parts.map((part) => {
    const at = Date.parse(part.observed_at);
    return { ...part, at, ...judged(part.cadence, at, now) };
  });
  const [worst] = ranked.sort(
    (a, b) => b.rank - a.rank || a.at - b.at || (a.name < b.name ? -1 : 1),
  );
  if (worst === undefined) return freshness(own.cadence, own.observed_at, now);
  const { name, observed_at } = worst;
  const joined = {
    age_hours_now: ageHours(own.observed_at, now),
    freshness: worst.word,
    freshness_leg: name,
  };
  return worst.isDead ? { ...joined, dead_source: deadSource(observed_at) } : joined;
}

/** A larger rank is worse; a dead source is worse than a stale one. */
function judged(cadence: Cadence, observedAt: number, now: number) {
  const bounds = FRESHNESS_THRESHOLDS[cadence];
  const age = Math.max(0, now - observedAt) / HOUR_MS;
  const word: FreshnessClass =
    age <= bounds.fresh_hours ? 'fresh' : age <= bounds.recent_hours ? 'recent' : 'stale';
  const isDead = age > bounds.dead_source_hours;
  return { word, isDead, rank: FRESHNESS_CLASSES.indexOf(word) + (isDead ? 1 : 0) };
}

/** Ages are shown in tenths of an hour. */
const TENTH_HOUR_MS = HOUR_MS / 10;

/** Hours from an ISO time to an instant (epoch milliseconds), one decimal, halves up, never below 0. */
export function ageHours(observedAt: string, now: number): number {
  return Math.round(Math.max(0, now - Date.parse(observedAt)) / TENTH_HOUR_MS) / 10;
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
  const cadence = CADENCES.find((one) => one === word);
  return cadence !== undefined && freshnessBasis(cadence) === basis ? cadence : null;
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

/** Hours after which a newer reading of a source is due, and for which a look at it counts; null: no schedule. */
const DUE_HOURS: Readonly<Record<Cadence, number | null>> = {
  hourly: 3,
  daily: 48,
  weekly: 216,
  monthly: 1440,
  quarterly: 3600,
  yearly: 10_000,
  'as-events': null,
};
/** Hours for which a look at a source without a schedule counts. */
const LOOK_HOURS_UNSCHEDULED = 744;

/** The states of a publication, the least punctual first. */
export const UPDATE_STATES = ['overdue', 'not_published', 'unknown', 'on_schedule'] as const;
export type UpdateState = (typeof UPDATE_STATES)[number];

/** What the publication state of a source follows from; all of it is signed. */
export interface Publication {
  readonly official_cadence: Cadence;
  readonly observed_at: string;
  /** When the source was last looked at, also without anything new. */
  readonly last_looked_at: string;
}

/** When a newer reading than the last one is due, in epoch milliseconds; null without a schedule. */
function nextDueAt({ official_cadence, observed_at }: Publication): number | null {
  const due = DUE_HOURS[official_cadence];
  return due === null ? null : Date.parse(observed_at) + due * HOUR_MS;
}

/**
 * What is known of a source, and the last instant (epoch milliseconds) at which it is; unknown from then on.
 * A source that was late when it was looked at is overdue for as long as the look counts. One that was not is on
 * schedule until its next reading is due: nobody can tell late from published without another look.
 */
export function knownOf(publication: Publication) {
  const looked = Date.parse(publication.last_looked_at);
  const countsUntil = looked + lookHours(publication.official_cadence) * HOUR_MS;
  const due = nextDueAt(publication);
  if (due === null) return { state: 'on_schedule' as const, until: countsUntil };
  return looked <= due
    ? { state: 'on_schedule' as const, until: due }
    : { state: 'overdue' as const, until: countsUntil };
}

function lookHours(cadence: Cadence): number {
  return DUE_HOURS[cadence] ?? LOOK_HOURS_UNSCHEDULED;
}

/** The publication state of a source at an instant (epoch milliseconds). */
export function updateState(publication: Publication, now: number): UpdateState {
  const { state, until } = knownOf(publication);
  return now <= until ? state : 'unknown';
}

/** The `update_status` of a record: the last official publication against its cadence; `now` in epoch milliseconds. */
export function updateStatus(publication: Publication, now: number) {
  const { official_cadence, observed_at, last_looked_at } = publication;
  const state = updateState(publication, now);
  const seen = `last official reading ${observed_at}, last looked at ${last_looked_at}`;
  const text = `${verdict(state, publication)}; ${seen}`;
  const overdue_days = state === 'overdue' ? overdueDays(publication, now) : null;
  return { state, official_cadence, overdue_days, text };
}

function verdict(state: UpdateState, publication: Publication): string {
  const { official_cadence: cadence } = publication;
  const isScheduled = DUE_HOURS[cadence] !== null;
  if (state === 'overdue') return `overdue for a source that publishes ${cadence}`;
  if (state === 'on_schedule') {
    return isScheduled ? `on schedule (${cadence})` : 'published as events occur';
  }
  return isScheduled && knownOf(publication).state === 'on_schedule'
    ? `unknown: nobody has looked since the next ${cadence} reading was due`
    : `unknown: nobody has looked for more than ${lookHours(cadence)} hours (${cadence})`;
}

/** Whole days since the reading that is missing was due. */
function overdueDays(publication: Publication, now: number): number {
  const due = nextDueAt(publication) ?? now;
  return Math.max(0, Math.floor((now - due) / DAY_MS));
}
