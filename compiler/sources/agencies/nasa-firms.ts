import { z } from 'zod';
import { isRealDay } from '../../format/cutoff.ts';
import { DAY_MS, HOUR_MS, isoTime } from '../../format/iso-time.ts';
import { fetchAgain, ImportError, type Imported, numberOf, type Payload } from '../kit/payload.ts';
import { csvRows } from '../kit/payload-formats.ts';
import { nameOf, type Origin, ReadingList, statedReading } from '../kit/readings.ts';
import { regionBox as box, boxText, inBox, mayLieIn, type RegionBox } from '../kit/regions.ts';
import { registered, type Source } from '../kit/source.ts';

/** The newer satellites first: VIIRS sees smaller fires than MODIS, whose satellites are at the end of their time. */
const LISTS = [
  platform('J1_VIIRS_C2', 'VIIRS on NOAA-20', ['1', 'N20', 'NOAA-20']),
  platform('J2_VIIRS_C2', 'VIIRS on NOAA-21', ['2', 'N21', 'NOAA-21']),
  platform('SUOMI_VIIRS_C2', 'VIIRS on Suomi NPP', ['N', 'NPP']),
  platform('MODIS_C6_1', 'MODIS on Terra and Aqua', ['T', 'A', 'Terra', 'Aqua']),
];
const NAME = /\/(\w+?_C\d+(?:_\d+)?)_Global_(?:24h|48h|7d)\.csv$/;
/** A list is made again every hour and lags three hours; an older one does not say what burns now. */
const AGE_HOURS_MAX = 12;
/** Each of them sees the whole world in a day: a list that holds less was cut. */
const SPAN_HOURS_MIN = 20;
/** From here on the publisher calls the confidence of MODIS high; that of VIIRS is a word. */
const HIGH_CONFIDENCE = 80;
/** A list of which more rows cannot be read is another format. */
const UNREAD_SHARE_MAX = 0.01;
const ORIGIN: Omit<Origin, 'name'> = {
  role: 'measurement',
  independent: true,
  page: 'https://firms.modaps.eosdis.nasa.gov/active_fire/',
  tier: 'T1',
  status: 'as published by NASA FIRMS',
};

/** A list of one instrument, by the beginning of its file name, and how its rows call the satellites. */
function platform(file: string, name: string, satellites: readonly [string, ...string[]]) {
  return { file, name: `NASA FIRMS, ${name}`, satellites };
}

const number = (least: number, most: number) =>
  z
    .string()
    .transform(numberOf)
    .pipe(z.number({ error: 'not a number' }).min(least).max(most));
const place = { latitude: number(-90, 90), longitude: number(-180, 180) };
const placeSchema = z.looseObject({
  latitude: place.latitude.nullable().catch(null),
  longitude: place.longitude.nullable().catch(null),
});
const COLUMNS = 'latitude longitude acq_date acq_time satellite confidence version frp'.split(' ');
/** One pixel in which a satellite saw heat; `frp` is its power in MW, null where the file gives none. */
function rowSchema({ file, satellites }: (typeof LISTS)[number]) {
  const shares = z
    .string()
    .regex(/^\d{1,3}$/, 'not 0 to 100')
    .pipe(number(0, 100))
    .transform((share) => share >= HIGH_CONFIDENCE);
  const words = z.enum(['low', 'nominal', 'high', 'l', 'n', 'h']);
  return z.looseObject({
    ...place,
    acq_date: z.string().refine(isRealDay, 'not a day'),
    // Four digits, in UTC: fewer have lost a zero on either side.
    acq_time: z.string().regex(/^([01]\d|2[0-3])[0-5]\d$/, 'not a time such as 0020'),
    satellite: z.enum(satellites),
    confidence: file.startsWith('MODIS') ? shares : words.transform((word) => word[0] === 'h'),
    version: z.string().regex(/^\d+(\.\d+)?(NRT|RT|URT)?$/, 'not a version such as 6.1NRT'),
    frp: z
      .literal('')
      .transform(() => null)
      .or(number(0, 1_000_000)),
  });
}
interface Detection extends z.infer<ReturnType<typeof rowSchema>> {
  /** Epoch milliseconds. */
  readonly time: number;
}

/**
 * Detections of 24 hours in each region, counted back from the newest row. A region without any has 0, so the file must be
 * a global one, whole and fresh. A row that cannot be read leaves the regions without counts in which it may lie.
 */
function readDetections(payload: Payload): Imported {
  const { subject, note } = payload;
  const named = NAME.exec(new URL(note.url).pathname)?.[1];
  const listed = LISTS.find(({ file }) => file === named);
  if (listed === undefined) {
    const state = `its address names no global list of VIIRS or MODIS; give --note with the address, which ends in ${LISTS[0]?.file}_Global_24h.csv`;
    throw new ImportError({ subject, state });
  }
  // Its rows are in no order and nothing counts them, so the list itself never shows that its last ones are missing.
  if (note.bytes === undefined) {
    const state =
      'nothing says that the list is whole; give --note with "bytes", the Content-Length of the answer';
    throw new ImportError({ subject, state });
  }
  const { detections, unread } = detectionsOf(csvRows(payload, COLUMNS), listed, payload);
  const newest = newestOf(detections, payload);
  const list = new ReadingList();
  for (const [entity, box] of Object.entries(FIRE_BOXES)) {
    const inside = detections.filter(({ longitude, latitude }) => inBox(box, longitude, latitude));
    const recent = inside.filter(({ time }) => time > newest - DAY_MS);
    const own = unread.filter((row) => mayLieIn(box, row)).length;
    if (own > 0) list.skips.unread(entity, UNREAD, own);
    const known = <Value>(value: Value): Value | null => (own > 0 ? null : value);
    const powers = powersOf(recent);
    const stated = {
      entity,
      ...nameOf('wildfire', entity),
      at: newest,
      current: {
        detections_24h_count: known(recent.length),
        frp_sum_mw: known(sum(powers)),
        frp_max_mw: known(powers === null || powers.length === 0 ? null : Math.max(...powers)),
        high_confidence_count: known(recent.filter(({ confidence }) => confidence).length),
        // The file begins with the UTC day before, so it holds more than 24 hours.
        file_detections_count: known(inside.length),
        file_frp_sum_mw: known(sum(powersOf(inside))),
      },
      ...(own > 0 ? { qualifiers: [UNREAD] } : {}),
      grade: 'near real time, replaced later by science quality',
      scope: `pixels with heat, not fires, of 24 hours before the newest row of the file, every confidence; ${boxText(box)}; the box is ours, not official`,
    };
    const origin = { ...ORIGIN, name: listed.name };
    list.add('wildfire.active-fire', statedReading(origin, payload, stated));
  }
  return list.imported();
}

const UNREAD = 'a row that may lie in its box cannot be read';

/** The rows of a list, and where those lie that cannot be read. Throws an ImportError for too many, and for a repeat. */
function detectionsOf(
  rows: readonly object[],
  listed: (typeof LISTS)[number],
  payload: Payload,
): { detections: Detection[]; unread: z.infer<typeof placeSchema>[] } {
  const schema = rowSchema(listed);
  const detections: Detection[] = [];
  const unread: z.infer<typeof placeSchema>[] = [];
  const seen = new Set<string>();
  let first = '';
  for (const [at, given] of rows.entries()) {
    const { data: row, error } = schema.safeParse(given);
    if (row === undefined) {
      const [issue] = error.issues;
      first ||= `${at}.${issue?.path.join('.')}: ${issue?.message}`;
      unread.push(placeSchema.parse(given));
      continue;
    }
    const { latitude, longitude, acq_date, acq_time, satellite } = row;
    const pixel = [latitude, longitude, acq_date, acq_time, satellite].join(',');
    if (seen.has(pixel)) throw fetchAgain(payload, `it lists ${pixel} twice`);
    seen.add(pixel);
    const time = Date.parse(`${acq_date}T${acq_time.slice(0, 2)}:${acq_time.slice(2)}:00Z`);
    detections.push({ ...row, time });
  }
  if (unread.length <= Math.max(1, rows.length * UNREAD_SHARE_MAX)) return { detections, unread };
  const state = `${unread.length} of ${rows.length} rows cannot be read (${first})`;
  throw fetchAgain(payload, state);
}

/** The time of the newest row of a file that is fresh and reaches back over a day. */
function newestOf(detections: readonly Detection[], payload: Payload): number {
  const times = detections.map(({ time }) => time).sort((a, b) => a - b);
  const [oldest = 0, newest = 0] = [times[0], times.at(-1)];
  if (newest - oldest < SPAN_HOURS_MIN * HOUR_MS) {
    throw fetchAgain(payload, `its rows cover less than ${SPAN_HOURS_MIN} hours`);
  }
  if (Date.parse(payload.note.fetched_at) - newest <= AGE_HOURS_MAX * HOUR_MS) return newest;
  throw fetchAgain(payload, `its newest row is of ${isoTime(newest)}, stale when it was fetched`);
}

function powersOf(detections: readonly Detection[]): readonly number[] | null {
  const powers = detections.flatMap(({ frp }) => frp ?? []);
  return powers.length === detections.length ? powers : null;
}

function sum(powers: readonly number[] | null): number | null {
  return powers && Math.round(powers.reduce((total, power) => total + power, 0) * 100) / 100;
}

/** Active fires of the last 24 hours: https://firms.modaps.eosdis.nasa.gov/active_fire/ */
export const nasaFirms: Source = {
  ...registered('nasa-firms'),
  version: 2,
  read: readDetections,
};

/** Our boxes of the line's entities; no agency publishes them. Neighbours overlap. */
export const FIRE_BOXES: Readonly<Record<string, RegionBox>> = {
  'us-california': box([32.5, 42], [-124.5, -114]),
  'us-pacific-northwest': box([42, 49], [-124.8, -116.5]),
  'us-southwest': box([31.3, 37.1], [-114.8, -103]),
  'us-rockies': box([37, 49], [-116.5, -102]),
  'canada-bc': box([48.3, 60], [-139, -114]),
  'canada-alberta': box([49, 60], [-120, -110]),
  'au-nsw': box([-37.6, -28.1], [140.9, 153.7]),
  'au-victoria': box([-39.2, -34], [140.9, 150]),
  'med-greece': box([34.7, 41.8], [19.3, 28.3]),
  iberia: box([36, 43.8], [-9.6, 3.4]),
  'amazon-brazil': box([-16, 5.3], [-74, -44]),
  'siberia-russia': box([50, 73], [60, 140]),
};
