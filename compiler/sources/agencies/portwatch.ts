import { z } from 'zod';
import { DAY_MS } from '../../format/iso-time.ts';
import { asksFor, memberText, originOf, readableEntries } from '../kit/entries.ts';
import { dayTime } from '../kit/local-time.ts';
import { fetchAgain, type Imported, jsonOf, type Payload } from '../kit/payload.ts';
import { nameOf, ReadingList, statedReading } from '../kit/readings.ts';
import { registered, type Source } from '../kit/source.ts';

// Daily transits of chokepoints, a layer of ArcGIS: https://portwatch.imf.org/pages/data-and-methodology. Its fields, and that
// dates come as text or as milliseconds, were read in public programs and their tests.

/** The chokepoint of each route by its id and a word of its name: an id that has another name says nothing. */
const CHOKEPOINTS: Readonly<Record<string, readonly [id: string, name: RegExp]>> = {
  'suez-redsea': ['chokepoint1', /Suez/],
  'panama-pacific': ['chokepoint2', /Panama/],
  malacca: ['chokepoint5', /Malacca/],
  hormuz: ['chokepoint6', /Hormuz/],
  goodhope: ['chokepoint7', /Good Hope/],
  channel: ['chokepoint9', /Dover/],
};
const ORIGIN = originOf('IMF PortWatch', 'https://portwatch.imf.org/', {
  role: 'estimate',
  status: 'provisional, revised in later weeks',
});
const WEEK = 7;
const DAYS_ASKED = 28;

const when = z.union([
  z
    .int()
    .min(1e12)
    .transform((at) => Math.floor(at / DAY_MS) * DAY_MS),
  z
    .string()
    .transform((text) => dayTime(text.slice(0, 10)))
    .pipe(z.number({ error: 'not a day' })),
]);
const rowSchema = z.looseObject({
  attributes: z.looseObject({
    date: when,
    portid: z.string(),
    portname: z.string().min(1),
    n_total: z.int().min(0),
  }),
});
const answerSchema = z.looseObject({ features: z.array(z.unknown()).min(1) });

/** Vessels of the newest seven days in a row; a day that is missing or cannot be read leaves the week open. */
function read(payload: Payload): Imported {
  const { features } = jsonOf(payload, answerSchema, 'days of a chokepoint');
  const list = new ReadingList();
  const of = memberText('portid');
  const { read: rows, unread } = readableEntries(features, rowSchema, { list, of });
  const [first] = rows;
  const found = Object.entries(CHOKEPOINTS).find(([, [id]]) => id === first?.attributes.portid);
  if (found === undefined) throw fetchAgain(payload, 'it is about no chokepoint of ours');
  const [entity, [id, name]] = found;
  const days = new Map<number, number>();
  for (const { attributes: row } of rows) {
    if (row.portid !== id || !name.test(row.portname) || days.has(row.date))
      throw fetchAgain(
        payload,
        `it mixes places, or names a day twice (${row.portid}, ${row.portname})`,
      );
    days.set(row.date, row.n_total);
  }
  const newest = Math.max(...days.keys());
  const week = Array.from({ length: WEEK }, (_, back) => days.get(newest - back * DAY_MS) ?? null);
  const isWhole = unread === 0 && !week.includes(null);
  const stated = {
    entity,
    ...nameOf('shipping', entity),
    at: newest,
    current: {
      vessels_7d_count: isWhole ? week.reduce<number>((sum, one) => sum + (one ?? 0), 0) : null,
    },
    scope: `transit calls at ${first?.attributes.portname} that are seen by AIS, of seven days up to that day; the chokepoint stands for the route (ours)`,
  };
  list.add('shipping.throughput', statedReading(ORIGIN, payload, stated));
  return list.imported();
}

export const portwatch: Source = {
  ...registered('portwatch'),
  version: 1,
  read,
  asks: asksFor(CHOKEPOINTS, ([id]) => ({ id, days: String(DAYS_ASKED) })),
};
