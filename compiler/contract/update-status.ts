import type { Cadence } from './freshness.ts';
import { DAY_MS, HOUR_MS } from './iso-time.ts';

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

/** The `update_status` of a record: the last official publication against its cadence. */
interface UpdateStatus {
  readonly state: UpdateState;
  readonly official_cadence: Cadence;
  readonly overdue_days: number | null;
  readonly text: string;
}

/** When a newer reading than the last one is due, in epoch milliseconds; null without a schedule. */
function nextDueAt({ official_cadence, observed_at }: Publication): number | null {
  const due = DUE_HOURS[official_cadence];
  return due === null ? null : Date.parse(observed_at) + due * HOUR_MS;
}

/** What is known of a source, and the last instant (epoch milliseconds) at which it is; unknown from then on. */
interface KnownStatus {
  readonly state: 'on_schedule' | 'overdue';
  readonly until: number;
}

/**
 * A source that was late when it was looked at is overdue for as long as the look counts. One that was not is on
 * schedule until its next reading is due: nobody can tell late from published without another look.
 */
export function knownOf(publication: Publication): KnownStatus {
  const looked = Date.parse(publication.last_looked_at);
  const countsUntil = looked + lookHours(publication.official_cadence) * HOUR_MS;
  const due = nextDueAt(publication);
  if (due === null) return { state: 'on_schedule', until: countsUntil };
  return looked <= due
    ? { state: 'on_schedule', until: due }
    : { state: 'overdue', until: countsUntil };
}

/** For how long a look at a source counts. */
function lookHours(cadence: Cadence): number {
  return DUE_HOURS[cadence] ?? LOOK_HOURS_UNSCHEDULED;
}

/** The publication state of a source at an instant (epoch milliseconds). */
export function updateState(publication: Publication, now: number): UpdateState {
  const { state, until } = knownOf(publication);
  return now <= until ? state : 'unknown';
}

/** The publication state in words; `now` in epoch milliseconds. */
export function updateStatus(publication: Publication, now: number): UpdateStatus {
  const { official_cadence, observed_at, last_looked_at } = publication;
  const state = updateState(publication, now);
  const seen = `last official reading ${observed_at}, last looked at ${last_looked_at}`;
  const text = `${verdict(state, publication)}; ${seen}`;
  const overdue_days = state === 'overdue' ? overdueDays(publication, now) : null;
  return { state, official_cadence, overdue_days, text };
}

/** The last instants (epoch milliseconds) before a status turns that is overdue by some whole days, or not overdue at all. */
export function statusTurns(publication: Publication, overdueDays: number | null): number[] {
  const { until } = knownOf(publication);
  const due = nextDueAt(publication);
  if (overdueDays === null || due === null) return [until];
  return [until, due + overdueDays * DAY_MS - 1, due + (overdueDays + 1) * DAY_MS - 1];
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
