import { HOUR_MS } from '../../../contract/iso-time.ts';
import type { Payload } from '../../payload.ts';
import { nameOf, type Origin, type ReadingList, statedReading } from '../../readings.ts';

/** Values in MW by hour, in epoch milliseconds of its end; null where the publisher has none yet. */
type Series = ReadonlyMap<number, number | null>;
/** Demand, day-ahead demand, and interchange, which is negative for import. */
export interface Hours {
  readonly D: Series;
  readonly DF: Series;
  readonly TI: Series;
}

interface Demand {
  readonly entity: string;
  /** What shares are measured by; null where we know of none. */
  readonly peakMw: number | null;
  readonly hours: Hours;
}

const ORIGIN: Origin = {
  name: 'EIA-930, as the balancing authority reported',
  role: 'measurement',
  independent: true,
  page: 'https://www.eia.gov/electricity/gridmonitor/',
  tier: 'T1',
  status: 'as published by the EIA',
};
/** The newest hours are often without a value; one that lies further back is not the present. */
const STEP_BACK_HOURS_MAX = 6;
const DAY_HOURS = 24;
/** A demand this far above the record is an error of the feed (ours). */
const IMPLAUSIBLE = 1.5;

interface StressMeasure {
  readonly signal: string;
  readonly bands: readonly [string, string, string, string, string];
  /** What the numbers are of. */
  readonly basis: string;
}
/** Where a worse band begins, in percent of the reference peak (ours). */
const BAND_EDGES: readonly number[] = [75, 85, 92, 100];
const STRESS: StressMeasure = {
  signal: 'grid-reliability.stress',
  bands: ['normal', 'elevated', 'tight', 'critical', 'emergency'],
  basis: 'demand of one hour',
};
const STRAIN: StressMeasure = {
  signal: 'grid-reliability.realized-strain',
  bands: ['confirmed-slack', 'nominal', 'strained', 'ran-tight', 'severe-strain'],
  basis: 'largest hourly demand of 24 hours',
};
const AHEAD: StressMeasure = {
  signal: 'grid-reliability.forecast-stress',
  bands: ['slack', 'watch', 'stressed', 'peak-risk', 'over-peak'],
  basis:
    'largest hourly day-ahead demand that was published for the 24 hours after the newest measured one',
};

/** Every hour with a demand, and what the newest one closes and opens. */
export function stressReadings(demand: Demand, payload: Payload, list: ReadingList): void {
  const { entity, hours } = demand;
  const usable = usableHours(demand, list);
  for (const [time, mw] of usable) {
    const more = { demand_mw: mw, interchange_mw: hours.TI.get(time) ?? null };
    add(STRESS, { demand, time, mw, share: 'demand_peak_pct', more }, { payload, list });
  }
  const newest = Math.max(...usable.keys());
  const latest = Math.max(
    ...[...hours.D.keys()].filter((time) => time <= Date.parse(payload.note.fetched_at)),
  );
  if (usable.size === 0 || latest - newest > STEP_BACK_HOURS_MAX * HOUR_MS) {
    list.skips.add(entity, `no demand in the newest ${STEP_BACK_HOURS_MAX} hours`);
    return;
  }
  const day = run(usable, newest - (DAY_HOURS - 1) * HOUR_MS, newest);
  if (day.length < DAY_HOURS) list.skips.add(entity, '24 hours that are not whole');
  else {
    const mw = Math.max(...day);
    const more = { demand_max_mw: mw };
    add(STRAIN, { demand, time: newest, mw, share: 'realized_peak_pct', more }, { payload, list });
  }
  addAhead(demand, newest, { payload, list });
}

function addAhead(demand: Demand, newest: number, to: Target): void {
  const { DF } = demand.hours;
  const times = [...DF.keys()].filter((time) => time > newest);
  const end = Math.min(newest + DAY_HOURS * HOUR_MS, Math.max(...times));
  const ahead = run(DF, newest + HOUR_MS, end);
  if (times.length === 0 || ahead.length * HOUR_MS < end - newest) {
    to.list.skips.add(demand.entity, 'no day-ahead demand, or not of every hour');
    return;
  }
  const mw = Math.max(...ahead);
  const more = { ahead_max_mw: mw, hours_ahead_count: ahead.length };
  add(AHEAD, { demand, time: newest, mw, share: 'forecast_peak_pct', more }, to);
}

/** The values of consecutive hours, without those that have none. */
function run(series: Series, from: number, to: number): readonly number[] {
  return [...series].flatMap(([time, mw]) =>
    time >= from && time <= to && mw !== null ? [mw] : [],
  );
}

/** Hours with a demand that can be one, in order. */
function usableHours({ entity, peakMw, hours }: Demand, list: ReadingList): Map<number, number> {
  const usable = new Map<number, number>();
  for (const [time, mw] of [...hours.D].sort(([a], [b]) => a - b)) {
    if (mw === null) list.skips.add(entity, 'an hour without demand');
    else if (mw <= 0 || (peakMw !== null && mw > IMPLAUSIBLE * peakMw))
      list.skips.add(entity, 'a demand that is none, or far above the record');
    else usable.set(time, mw);
  }
  return usable;
}

interface Target {
  readonly payload: Payload;
  readonly list: ReadingList;
}

interface GridFacts {
  readonly demand: Demand;
  readonly time: number;
  readonly mw: number;
  /** Name of the main metric. */
  readonly share: string;
  readonly more: Readonly<Record<string, number | null>>;
}

function add(
  { signal, bands, basis }: StressMeasure,
  facts: GridFacts,
  { payload, list }: Target,
): void {
  const { demand, time, mw, share, more } = facts;
  const { entity, peakMw } = demand;
  const percent = peakMw === null ? null : Math.round((10_000 * mw) / peakMw) / 100;
  const reached = BAND_EDGES.filter((edge) => percent !== null && percent >= edge).length;
  const measure =
    peakMw === null
      ? 'no reference peak is known to us, so no share and no band is given'
      : `reference peak ${peakMw} MW, the record that the authority has published; its choice and the bands are ours and are no emergency levels of NERC`;
  const stated = {
    entity,
    ...nameOf('grid-reliability', entity),
    at: time,
    current: {
      [share]: percent,
      band: percent === null ? null : (bands[reached] ?? null),
      ...more,
    },
    grade: 'preliminary, revised for some days',
    scope: `${basis}; ${measure}`,
  };
  list.add(signal, statedReading(ORIGIN, payload, stated));
}
