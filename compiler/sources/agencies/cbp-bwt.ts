import { z } from 'zod';
import { BUILTIN } from '../../catalog/builtin.ts';
import { placesOf } from '../../catalog/catalog.ts';
import { DAY_MS, HOUR_MS, isoTime } from '../../format/iso-time.ts';
import { grouped } from '../../format/lists.ts';
import { usInstant, usWallClock, zoneOffset } from '../kit/local-time.ts';
import { ImportError, type Imported, type Payload, parsePayload, shaped } from '../kit/payload.ts';
import { measuredBy, nameOf, observedAt, ReadingList } from '../kit/readings.ts';
import { type Ask, isWanted, registered, type Source, type Wanted } from '../kit/source.ts';

/** The lanes that a crossing is followed by; the choice is of this line. */
type Traffic = 'commercial' | 'passenger';
interface Crossing {
  readonly entity: string;
  readonly port: string;
  /** Number of the field office, which stands before the port number in the addresses of graphs. */
  readonly office: string;
  readonly traffic: Traffic;
}

/** Port and office numbers as in the agency's list of crossings. */
const ROWS: readonly (readonly [string, string, string, Traffic])[] = [
  ['laredo-world-trade', '230404', '07', 'commercial'],
  ['laredo-colombia', '230403', '07', 'commercial'],
  ['laredo-bridge1', '230401', '07', 'passenger'],
  ['otay-mesa-commercial', '250602', '09', 'commercial'],
  ['san-ysidro', '250401', '09', 'passenger'],
  ['el-paso-ysleta', '240203', '06', 'commercial'],
  ['el-paso-bota', '240201', '06', 'commercial'],
  ['pharr', '230502', '07', 'commercial'],
  ['hidalgo', '230501', '07', 'passenger'],
  ['nogales-mariposa', '260402', '08', 'commercial'],
  ['calexico-east', '250301', '09', 'commercial'],
  ['brownsville-veterans', '535502', '07', 'commercial'],
  ['detroit-ambassador', '380001', '03', 'commercial'],
  ['detroit-windsor-tunnel', '380002', '03', 'commercial'],
  ['buffalo-peace-bridge', '090101', '04', 'commercial'],
  ['port-huron-bluewater', '380201', '03', 'commercial'],
  ['blaine-pacific-hwy', '300401', '02', 'commercial'],
  ['blaine-peace-arch', '300402', '02', 'passenger'],
  ['champlain', '071201', '04', 'commercial'],
  ['pembina', '340101', '02', 'commercial'],
];

export const CROSSINGS: readonly Crossing[] = ROWS.map(([entity, port, office, traffic]) => {
  return { entity, port, office, traffic };
});

const BY_PORT: ReadonlyMap<string, Crossing> = new Map(CROSSINGS.map((one) => [one.port, one]));

const PLACES = placesOf(BUILTIN, 'border-wait');

function zoneOf({ entity }: Crossing): string {
  const zone = PLACES.get(entity)?.zone;
  if (zone === undefined) throw new RangeError(`Cannot tell the zone of "${entity}": no place`);
  return zone;
}

const CBP = 'US Customs and Border Protection';
const CBP_PAGE = 'https://bwt.cbp.gov/';
/** Of a lane that is not told, and of one that there is not. */
const SENTINELS = ['Update Pending', 'N/A'] as const;

const MINUTES = /^\d{1,3}$/;
const CLOCK = /^At (?:(Noon|Midnight)|(\d{1,2}):(\d{2}) (am|pm)) ([A-Z]{2,4})$/;
const DOCUMENT_DAY = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/;
/** Local time of a crossing is that far behind UTC; the document's clocks may be an hour off. */
const BEHIND_UTC_MS = [3 * HOUR_MS, 10 * HOUR_MS] as const;
/** A time this short after the fetch shows that two clocks differ; it is neither today's nor yesterday's. */
const CLOCK_SKEW_MS = HOUR_MS / 6;

const laneSchema = z.looseObject({
  update_time: z.string(),
  operational_status: z.enum(['no delay', 'delay', 'Lanes Closed', ...SENTINELS]),
  delay_minutes: z.string(),
  lanes_open: z.string(),
});
const lanes = { maximum_lanes: z.string().regex(/^(\d{1,3}|N\/A)$/), standard_lanes: laneSchema };
/** One port of entry, as the lists and the address of one port give it. */
const portSchema = z.looseObject({
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
interface Lane {
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
interface Lanes {
  readonly standard: Lane | null;
  /** By the middle of the metric's name. */
  readonly others: readonly (readonly [name: string, lane: Lane | null])[];
  readonly max: number | null;
}

/** Lanes by their traffic; throws a RangeError for a port that is not open or cannot be read. */
function lanesOf(port: Port, fetched_at: string): Readonly<Record<Traffic, Lanes>> {
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

const UPSTREAM_PRESSURE = 'border-wait.upstream-pressure';
const wait = z.string().regex(/^\d{0,3}$/);
const slotSchema = z.looseObject({
  time: z.string().regex(/^\d{1,2}$/),
  standard_lane_today_wait: wait,
  standard_lane_average_wait: wait,
});
const hours = z
  .array(slotSchema)
  .length(24)
  .refine((slots) => slots.every(({ time }, hour) => Number(time) === hour), 'hours out of order');
const graphSchema = z.tuple([
  z.looseObject({
    port_number: z.string().regex(/^\d{6}$/),
    date: z.iso.date(),
    commercial_time_slots: z.looseObject({ commercial_slot: hours }),
    private_time_slots: z.looseObject({ private_slot: hours }),
  }),
]);
const ADDRESS = /\/bwtwaittimegraph\/\d{2}(\d{6})\/(\d{4}-\d{2}-\d{2})$/;
const GRAPH_SCOPE =
  'wait in standard lanes against the average that the agency publishes for the same crossing and hour; an hour with a wait of 0 is left out, since closed lanes are drawn as 0 too';

/** Today's waits of one crossing by the hour, each against the agency's own average of that hour. */
function readGraph(value: unknown, payload: Payload): Imported {
  const { subject, note } = payload;
  const [graph] = shaped(graphSchema, value, { subject, is: 'a graph of waiting times' });
  const [, port = graph.port_number, date = graph.date] = ADDRESS.exec(note.url) ?? [];
  if (port !== graph.port_number || date !== graph.date) {
    const state = `it is about port ${graph.port_number} on ${graph.date}, which its address does not ask for; correct the fetch note`;
    throw new ImportError({ subject, state });
  }
  const crossing = BY_PORT.get(port);
  const list = new ReadingList();
  if (crossing === undefined) {
    list.skips.add(port, 'not a crossing of this line');
    return list.imported();
  }
  const slots =
    crossing.traffic === 'commercial'
      ? graph.commercial_time_slots.commercial_slot
      : graph.private_time_slots.private_slot;
  for (const [hour, slot] of slots.entries()) {
    const today = slot.standard_lane_today_wait;
    const average = Number(slot.standard_lane_average_wait);
    if (today === '') continue;
    const time = usInstant(Date.parse(date) + hour * HOUR_MS, zoneOf(crossing));
    const observed_at = observedAt(time, payload);
    if (Number(today) === 0 || average === 0) {
      list.skips.add(crossing.entity, 'an hour with a wait or an average of 0');
    } else {
      const wait_today_min = Number(today);
      const wait_vs_average_pct = Math.round((wait_today_min * 100) / average);
      list.add(UPSTREAM_PRESSURE, {
        entity: crossing.entity,
        ...nameOf('border-wait', crossing.entity),
        observed_at,
        collected_at: note.fetched_at,
        current: { wait_vs_average_pct, wait_today_min, wait_average_min: average },
        sources: measuredBy(CBP, wait_vs_average_pct, observed_at),
        source_ref: CBP_PAGE,
        source_tier: 'T1',
        scope: `${crossing.traffic} lanes; ${GRAPH_SCOPE}`,
        validation_status: 'as published by CBP',
        uncertainty:
          'waits are estimated by officers or by sensors, and the share is rounded to whole percent',
      });
    }
  }
  // Before the first wait of a day a graph says nothing yet.
  return list.imported();
}

const LANE_WAIT = 'border-wait.lane-wait';
const COMMERCIAL_DELAY = 'border-wait.commercial-delay';

const ONE_PORT = /\/bwtpublicmod\/(\d{6})$/;

const namesSchema = z.looseObject({ portCrossings: z.array(z.unknown()) });
const someGraphSchema = z.tuple([z.looseObject({ commercial_time_slots: z.looseObject({}) })]);
const numberedSchema = z.looseObject({ port_number: z.string().regex(/^\w{6}$/) });
const someAnswerSchema = z.union([
  z.array(z.looseObject({ port_number: z.unknown() })).min(1),
  numberedSchema.transform((port) => [port]),
]);

/** The list of all ports, one port, or the graph of one crossing. */
function read(payload: Payload): Imported {
  const { bytes, subject, note } = payload;
  const value = parsePayload(bytes, subject);
  if (namesSchema.safeParse(value).success) {
    const state = 'a list of crossings, which holds no waiting times; import bwtpublicmod instead';
    throw new ImportError({ subject, state });
  }
  if (someGraphSchema.safeParse(value).success) return readGraph(value, payload);
  const ports = shaped(someAnswerSchema, value, { subject, is: 'a list of border waiting times' });
  const list = new ReadingList();
  // A port without a number touches none that has one: each stands once in a list.
  const numbered = ports.flatMap((port, at) => {
    const { data } = numberedSchema.safeParse(port);
    if (data === undefined) list.skips.unread(`port ${at + 1}`, 'its number cannot be read');
    return data ?? [];
  });
  const byNumber = grouped(numbered, ({ port_number }) => port_number);
  refuseForeign([...byNumber.keys()], payload);
  for (const [number, [port, ...others]] of byNumber) {
    const crossing = BY_PORT.get(number);
    if (crossing === undefined) continue;
    if (others.length > 0) list.skips.unread(crossing.entity, 'it is listed twice');
    else addCrossing(list, { crossing, port, fetched_at: note.fetched_at });
  }
  return list.someOf(payload);
}

/** The address of one port gives that one. */
function refuseForeign(numbers: readonly string[], { note, subject }: Payload) {
  const asked = ONE_PORT.exec(note.url)?.[1];
  if (asked === undefined || (numbers.length === 1 && numbers.includes(asked))) return;
  const state = `it is not about port ${asked}, which its address asks for; correct the fetch note`;
  throw new ImportError({ subject, state });
}

/** The list of all ports, then today's graph of each crossing by its own calendar. */
function asks(asked: Wanted): Ask[] {
  const wanted = CROSSINGS.filter(({ entity }) => isWanted(asked, entity));
  const graphs = wanted.map((crossing) => {
    const day = isoTime(usWallClock(asked.now, zoneOf(crossing))).slice(0, 10);
    return {
      to: 'graph',
      with: { port: `${crossing.office}${crossing.port}`, day },
      about: crossing.entity,
    };
  });
  return [{ to: 'ports' }, ...graphs];
}

/** Border wait times: https://bwt.cbp.gov/ */
export const cbpBwt: Source = {
  ...registered('cbp-bwt'),
  version: 1,
  sentinels: ['', ...SENTINELS],
  read,
  asks,
};

function addCrossing(
  list: ReadingList,
  { crossing, port: value, fetched_at }: { crossing: Crossing; port: unknown; fetched_at: string },
): void {
  const { entity, traffic } = crossing;
  const parsed = portSchema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    list.skips.unread(entity, `${issue?.path.join('.')} cannot be read`);
    return;
  }
  try {
    const lanes = lanesOf(parsed.data, fetched_at);
    const { [traffic]: followed, commercial } = lanes;
    const facts = { entity, fetched_at, newest: newestOf([followed, commercial, lanes.passenger]) };
    if (followed.standard === null) throw new RangeError(`no ${traffic} lanes`);
    list.add(LANE_WAIT, readingOf(followed, { ...facts, metric: 'wait_standard_min', traffic }));
    if (commercial.standard === null) return;
    const freight = { metric: 'wait_commercial_min', traffic: 'commercial' } as const;
    list.add(COMMERCIAL_DELAY, readingOf(commercial, { ...facts, ...freight }));
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    list.skips.add(entity, `${cause.message}; nothing of the crossing is used`);
  }
}

function newestOf(traffics: readonly Lanes[]): number | null {
  for (const lanes of traffics) {
    const times = lanesIn(lanes).flatMap(([, { updated }]) => (updated === null ? [] : [updated]));
    if (times.length > 0) return Math.max(...times);
  }
  return null;
}

function lanesIn({ standard, others }: Lanes): (readonly [string, Lane])[] {
  const all: Lanes['others'] = [['standard', standard], ...others];
  return all.flatMap(([name, lane]) => (lane === null ? [] : [[name, lane] as const]));
}

function readingOf(
  lanes: Lanes,
  {
    entity,
    fetched_at,
    metric,
    traffic,
    newest,
  }: {
    entity: string;
    fetched_at: string;
    newest: number | null;
    metric: string;
    traffic: Traffic;
  },
) {
  const { standard, others, max } = lanes;
  const time = newestOf([lanes]) ?? newest;
  if (time === null) throw new RangeError('no lane names a time');
  const observed_at = isoTime(time);
  const waits = others.flatMap(([name, lane]) =>
    lane === null ? [] : [[`wait_${name}_min`, lane.wait] as const],
  );
  const borrowed = newestOf([lanes]) === null ? ['time of other lanes of the port'] : [];
  const older = lanesIn(lanes).flatMap(([name, { updated }]) =>
    updated === null || updated === time ? [] : [`${name} lanes updated ${isoTime(updated)}`],
  );
  const qualifiers = [...borrowed, ...older];
  const wait = standard?.wait ?? null;
  return {
    entity,
    ...nameOf('border-wait', entity),
    observed_at,
    collected_at: fetched_at,
    current: {
      [metric]: wait,
      lanes_open_count: standard?.open ?? null,
      ...(max === null ? {} : { lanes_max_count: max }),
      ...Object.fromEntries(waits),
      status: standard?.status ?? null,
    },
    sources: measuredBy(CBP, wait, observed_at),
    source_ref: CBP_PAGE,
    source_tier: 'T1',
    scope: `${traffic} lanes; open lanes and status are those of the standard lanes; closed lanes and a pending update have no wait`,
    validation_status: 'as published by CBP',
    uncertainty: 'waits are estimated by officers or by sensors and rounded',
    ...(qualifiers.length === 0 ? {} : { qualifiers }),
  };
}
