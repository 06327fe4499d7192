import { z } from 'zod';
import { DAY_MS, HOUR_MS } from '../../../contract/iso-time.ts';
import { zoneOffset } from '../../local-time.ts';
import type { Traffic } from './crossings.ts';

const MINUTES = /^\d{1,3}$/;
const CLOCK = /^At (?:(Noon|Midnight)|(\d{1,2}):(\d{2}) (am|pm)) ([A-Z]{2,4})$/;
const DOCUMENT_DAY = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/;
/** Local time of a crossing is that far behind UTC; the document's clocks may be an hour off. */
const BEHIND_UTC_MS = [3 * HOUR_MS, 10 * HOUR_MS] as const;
/** A time this short after the fetch shows that two clocks differ; it is neither today's nor yesterday's. */
const CLOCK_SKEW_MS = HOUR_MS / 6;

const laneSchema = z.looseObject({
  update_time: z.string(),
  operational_status: z.enum(['no delay', 'delay', 'Lanes Closed', 'Update Pending', 'N/A']),
  delay_minutes: z.string(),
  lanes_open: z.string(),
});
const lanes = { maximum_lanes: z.string().regex(/^(\d{1,3}|N\/A)$/), standard_lanes: laneSchema };
/** One port of entry, as the lists and the address of one port give it. */
export const portSchema = z.looseObject({
  port_number: z.string().regex(/^\d{6}$/),
  date: z.string(),
  time: z.string(),
  port_status: z.string(),
  commercial_vehicle_lanes: z.looseObject({ ...lanes, FAST_lanes: laneSchema }),
  passenger_vehicle_lanes: z.looseObject({
    ...lanes,
    NEXUS_SENTRI_lanes: laneSchema,
    ready_lanes: laneSchema,
  }),
});
type Port = z.infer<typeof portSchema>;

/** One kind of lane; minutes and lanes are null where it is closed or its update is pending. */
export interface Lane {
  readonly status: 'open' | 'closed' | 'pending';
  readonly wait: number | null;
  readonly open: number | null;
  /** Epoch milliseconds; null for a lane that names no time. */
  readonly updated: number | null;
}

/** Null for a kind of lane that the crossing does not have; throws a RangeError for one that cannot be read. */
function laneOf(lane: z.infer<typeof laneSchema>, fetched: number): Lane | null {
  const { operational_status: words, update_time, delay_minutes, lanes_open } = lane;
  const isOpen = words === 'no delay' || words === 'delay';
  const texts = [update_time, delay_minutes, lanes_open];
  if (!isOpen) {
    const stray = texts.find((text) => text !== '');
    if (stray !== undefined) throw new RangeError(`"${words}" beside "${stray.slice(0, 40)}"`);
    if (words === 'N/A') return null;
    const status = words === 'Lanes Closed' ? 'closed' : 'pending';
    return { status, wait: null, open: null, updated: null };
  }
  if (!MINUTES.test(delay_minutes) || !MINUTES.test(lanes_open)) {
    throw new RangeError(`"${delay_minutes}" minutes at "${lanes_open}" lanes`.slice(0, 80));
  }
  return {
    status: 'open',
    wait: Number(delay_minutes),
    open: Number(lanes_open),
    updated: lastInstant(update_time, fetched),
  };
}

/** The last time before the fetch that a clock showed "At 1:22 pm EDT": what is later today was written yesterday. */
export function lastInstant(text: string, fetched: number): number {
  const [, word, hour = '', minute = '', half, zone = ''] = CLOCK.exec(text) ?? [];
  const offset = zoneOffset(zone);
  const hours =
    word === undefined ? (Number(hour) % 12) + (half === 'pm' ? 12 : 0) : word === 'Noon' ? 12 : 0;
  const minutes = Number(minute);
  const isReal = word !== undefined || (Number(hour) >= 1 && Number(hour) <= 12 && minutes < 60);
  if (offset === null || !isReal || !CLOCK.test(text))
    throw new RangeError(`update time "${text.slice(0, 40)}"`);
  const today = Math.floor((fetched + offset) / DAY_MS) * DAY_MS;
  const time = today + hours * HOUR_MS + minutes * 60_000 - offset;
  if (time <= fetched) return time;
  if (time - fetched < CLOCK_SKEW_MS)
    throw new RangeError(`update time "${text}" just after the fetch`);
  return time - DAY_MS;
}

/** Lanes of one kind of traffic; null where the crossing has none of a sort. */
export interface Lanes {
  readonly standard: Lane | null;
  /** By the middle of the metric's name. */
  readonly others: readonly (readonly [name: string, lane: Lane | null])[];
  readonly max: number | null;
}

/** Lanes by their traffic; throws a RangeError for a port that is not open or cannot be read. */
export function lanesOf(port: Port, fetched_at: string): Readonly<Record<Traffic, Lanes>> {
  const fetched = Date.parse(fetched_at);
  refuseOtherFetch(port, fetched);
  const { commercial_vehicle_lanes: freight, passenger_vehicle_lanes: cars } = port;
  const of = (lane: Parameters<typeof laneOf>[0]) => laneOf(lane, fetched);
  const isOpen = port.port_status === 'Open';
  if (!isOpen) throw new RangeError(`port status "${port.port_status.slice(0, 40)}"`);
  return {
    commercial: {
      standard: of(freight.standard_lanes),
      others: [['fast', of(freight.FAST_lanes)]],
      max: maxOf(freight.maximum_lanes),
    },
    passenger: {
      standard: of(cars.standard_lanes),
      others: [
        ['nexus_sentri', of(cars.NEXUS_SENTRI_lanes)],
        ['ready', of(cars.ready_lanes)],
      ],
      max: maxOf(cars.maximum_lanes),
    },
  };
}

const maxOf = (text: string): number | null => (text === 'N/A' ? null : Number(text));

/** The document's own clock is an hour off at some ports, but shows whether the fetch note is of this document. */
function refuseOtherFetch({ date, time }: Port, fetched: number): void {
  const [, month = '', day = '', year] = DOCUMENT_DAY.exec(date) ?? [];
  const wall = Date.parse(`${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}T${time}Z`);
  const behind = fetched - wall;
  if (behind >= BEHIND_UTC_MS[0] && behind <= BEHIND_UTC_MS[1]) return;
  throw new RangeError(`document time "${date} ${time}" does not fit the fetch`.slice(0, 120));
}
