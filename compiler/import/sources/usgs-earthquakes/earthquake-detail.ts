import { z } from 'zod';
import { isoTime } from '../../../contract/iso-time.ts';
import { fetchAgain, ImportError, type Imported, type Payload, shaped } from '../../payload.ts';
import { ReadingList } from '../../readings.ts';
import { inBox } from '../../region-box.ts';
import { type Quake, readQuakes } from './earthquake-events.ts';
import { impactRank } from './earthquake-regions.ts';
import { impactFacts, regionReading, regions } from './region-reading.ts';

const productSchema = z.looseObject({
  status: z.string(),
  properties: z.record(z.string(), z.unknown()),
});
/** One quake with everything that was computed and reported of it. */
const detailSchema = z.looseObject({
  type: z.literal('Feature'),
  properties: z.looseObject({
    time: z.int(),
    mmi: z.number().nullable(),
    cdi: z.number().nullable(),
    felt: z.int().nullable(),
    alert: z.string().nullable(),
    products: z.record(z.string(), z.array(productSchema)),
  }),
});
type Detail = z.infer<typeof detailSchema>['properties'];

const ADDRESS = /(?:\/detail\/|[?&]eventid=)(\w+)/;

const MINUTE_MS = 60_000;

/** What the quake says of itself, and the product and property that it comes from. */
const ORIGINS = [
  ['time', 'origin', 'eventtime'],
  ['mmi', 'shakemap', 'maxmmi'],
  ['cdi', 'dyfi', 'maxmmi'],
  ['felt', 'dyfi', 'num-responses'],
  ['alert', 'losspager', 'alertlevel'],
] as const;

/** Whether a JSON value is the detail of one quake, and no feed of many. */
export function isDetail(value: unknown): boolean {
  return detailSchema.pick({ type: true }).safeParse(value).success;
}

/** How one quake shook, for each region that it lies in. Throws an ImportError where its own products say something else. */
export function readDetail(value: unknown, payload: Payload): Imported {
  const { note, subject } = payload;
  const { properties } = shaped(detailSchema, value, { subject, is: 'the detail of a quake' });
  const list = new ReadingList();
  const fetched = Date.parse(note.fetched_at);
  const span = { from: 0, to: fetched };
  const {
    quakes: [quake],
    doubts: [doubt],
  } = readQuakes([value], span, list.skips);
  if (doubt !== undefined) throw fetchAgain(payload, doubt.why);
  if (quake === undefined) throw new ImportError({ subject, state: 'it is no quake; import one' });
  const fault = foreign(quake, note.url) ?? unreported(quake) ?? contradiction(properties);
  if (fault !== null) throw fetchAgain(payload, fault);
  const facts = impactFacts(quake, fetched, `one quake, ${quake.id}, and no other of its region`);
  for (const [entity, box] of regions()) {
    if (!inBox(box, quake.longitude, quake.latitude)) continue;
    list.add('earthquake.impact_realized', regionReading(entity, facts, isoTime(fetched)));
  }
  if (list.count === 0) list.skips.add(quake.id, 'it lies in none of our regions');
  return list.someOf(payload);
}

/** A detail is about the quake that its address names, under any of its ids. */
function foreign({ id, ids }: Quake, address: string): string | null {
  const named = ADDRESS.exec(address)?.[1];
  return named === undefined || ids.includes(named)
    ? null
    : `it is about ${id}, but its address is about ${named}`;
}

/** Nothing measured and nothing reported is not the same as nothing felt. */
function unreported(quake: Quake): string | null {
  return impactRank(quake) > 0 ? null : 'nothing was measured or reported of this quake';
}

/** The first value that is not the one of a product that still stands; null where all are. */
function contradiction(properties: Detail): string | null {
  for (const [name, product, property] of ORIGINS) {
    const stand = (properties.products[product] ?? []).filter(({ status }) => status !== 'DELETE');
    const given = stand.flatMap(({ properties: own }) => own[property] ?? []);
    const value = properties[name];
    const same = given.some((text) => isSame(String(text), value));
    if (given.length > 0 && !same)
      return `properties.${name} is ${value}, and its ${product} says ${given.join(', ')}`;
    if (given.length === 0 && value !== null)
      return `properties.${name} is ${value} and it has no ${product}`;
  }
  return null;
}

/** Products write numbers as text with more or fewer digits, and times as ISO-8601. */
function isSame(text: string, value: number | string | null): boolean {
  if (/^\d{4}-.*Z$/.test(text)) return Math.abs(Date.parse(text) - Number(value)) < MINUTE_MS;
  return typeof value === 'number' ? Math.abs(Number(text) - value) < 0.051 : text === value;
}
