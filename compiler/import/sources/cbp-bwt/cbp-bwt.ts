import { z } from 'zod';
import { isoTime } from '../../../contract/iso-time.ts';
import { firstTwice } from '../../grouped.ts';
import { ImportError } from '../../import-error.ts';
import { usWallClock } from '../../local-time.ts';
import { type Imported, type Payload, parsePayload } from '../../payload.ts';
import { ReadingList } from '../../reading-list.ts';
import { shaped } from '../../shape.ts';
import type { Source, Wanted } from '../../source.ts';
import { readGraph, UPSTREAM_PRESSURE } from './cbp-graph.ts';
import { CBP, CBP_API } from './cbp-words.ts';
import { addCrossing, COMMERCIAL_DELAY, LANE_WAIT } from './crossing-readings.ts';
import { CROSSINGS, crossingAt, zoneOf } from './crossings.ts';

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
  if (twice !== undefined) {
    throw new ImportError({ subject, state: `it holds port ${twice} twice; fetch it again` });
  }
  const asked = ONE_PORT.exec(note.url)?.[1];
  if (asked === undefined || (numbers.length === 1 && numbers.includes(asked))) return;
  const state = `it is not about port ${asked}, which its address asks for; correct the fetch note`;
  throw new ImportError({ subject, state });
}

/** The list of all ports, then today's graph of each crossing by its own calendar. */
function addresses({ entities, now }: Wanted): string[] {
  const wanted = CROSSINGS.filter(
    ({ entity }) => entities.length === 0 || entities.includes(entity),
  );
  const graphs = wanted.map((crossing) => {
    const day = isoTime(usWallClock(now, zoneOf(crossing))).slice(0, 10);
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
    accept: 'application/json',
    everyMinutes: 60,
    // The agency publishes no limit; this one is ours.
    perMinute: 30,
  },
};
