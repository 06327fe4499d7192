import { z } from 'zod';
import { firstTwice } from '../../../contract/grouped.ts';
import { isoTime } from '../../../contract/iso-time.ts';
import { usWallClock } from '../../local-time.ts';
import {
  fetchAgain,
  ImportError,
  type Imported,
  type Payload,
  parsePayload,
  shaped,
} from '../../payload.ts';
import { measuredBy, nameOf, ReadingList } from '../../readings.ts';
import { isWanted, type Source, type Wanted } from '../../source.ts';
import { readGraph, UPSTREAM_PRESSURE } from './cbp-graph.ts';
import {
  CBP,
  CBP_API,
  CBP_PAGE,
  CROSSINGS,
  type Crossing,
  crossingAt,
  type Traffic,
  zoneOf,
} from './crossings.ts';
import { type Lane, type Lanes, lanesOf, portSchema } from './port-lanes.ts';

const LANE_WAIT = 'border-wait.lane-wait';
const COMMERCIAL_DELAY = 'border-wait.commercial-delay';

const ONE_PORT = /\/bwtpublicmod\/(\d{6})$/;

const namesSchema = z.looseObject({ portCrossings: z.array(z.unknown()) });
const someGraphSchema = z.tuple([z.looseObject({ commercial_time_slots: z.looseObject({}) })]);
const someAnswerSchema = z.union([
  z.array(z.looseObject({ port_number: z.string().regex(/^\w{6}$/) })).min(1),
  z.looseObject({ port_number: z.string().regex(/^\w{6}$/) }).transform((port) => [port]),
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
  refuseForeign(ports, payload);
  const list = new ReadingList();
  for (const port of ports) {
    const crossing = crossingAt(port.port_number);
    if (crossing !== undefined) addCrossing(list, { crossing, port, fetched_at: note.fetched_at });
  }
  return list.someOf(payload);
}

/** Each port stands once in a list, and the address of one port gives that one. */
function refuseForeign(ports: readonly { port_number: string }[], { note, subject }: Payload) {
  const numbers = ports.map(({ port_number }) => port_number);
  const twice = firstTwice(numbers);
  if (twice !== undefined) throw fetchAgain({ subject }, `it holds port ${twice} twice`);
  const asked = ONE_PORT.exec(note.url)?.[1];
  if (asked === undefined || (numbers.length === 1 && numbers.includes(asked))) return;
  const state = `it is not about port ${asked}, which its address asks for; correct the fetch note`;
  throw new ImportError({ subject, state });
}

/** The list of all ports, then today's graph of each crossing by its own calendar. */
function addresses(asked: Wanted): string[] {
  const wanted = CROSSINGS.filter(({ entity }) => isWanted(asked, entity));
  const graphs = wanted.map((crossing) => {
    const day = isoTime(usWallClock(asked.now, zoneOf(crossing))).slice(0, 10);
    return `${CBP_API}bwtwaittimegraph/${crossing.office}${crossing.port}/${day}`;
  });
  return [`${CBP_API}bwtpublicmod`, ...graphs];
}

/** Border wait times: https://bwt.cbp.gov/ */
export const cbpBwt: Source = {
  id: 'cbp-bwt',
  agency: CBP,
  version: 1,
  format: 'json',
  feeds: [LANE_WAIT, COMMERCIAL_DELAY, UPSTREAM_PRESSURE],
  read,
  fetch: {
    hosts: ['bwt.cbp.gov'],
    addresses,
    everyMinutes: 60,
    // The agency publishes no limit; this one is ours.
    perMinute: 30,
  },
};

interface FoundCrossing {
  readonly crossing: Crossing;
  readonly port: unknown;
  readonly fetched_at: string;
}

/** Adds the readings of one crossing, or why there are none. */
function addCrossing(
  list: ReadingList,
  { crossing, port: value, fetched_at }: FoundCrossing,
): void {
  const { entity, traffic } = crossing;
  const parsed = portSchema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    list.skips.add(entity, `${issue?.path.join('.')} cannot be read`);
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

/** Newest time of the first traffic that names one. */
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

interface LaneFacts {
  readonly entity: string;
  readonly fetched_at: string;
  /** Where the lanes themselves name no time, that of the port's other lanes stands for it. */
  readonly newest: number | null;
  readonly metric: string;
  readonly traffic: Traffic;
}

function readingOf(lanes: Lanes, { entity, fetched_at, metric, traffic, newest }: LaneFacts) {
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
