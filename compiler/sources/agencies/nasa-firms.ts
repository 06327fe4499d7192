import { z } from 'zod';
import { isRealDay } from '../../format/cutoff.ts';
import { DAY_MS, HOUR_MS, isoTime } from '../../format/iso-time.ts';
import {
  fetchAgain,
  ImportError,
  type Imported,
  numberOf,
  type Payload,
  shaped,
} from '../kit/payload.ts';
import { csvRows } from '../kit/payload-formats.ts';
import { nameOf, type Origin, ReadingList, statedReading } from '../kit/readings.ts';
import { regionBox as box, boxText, inBox, type RegionBox } from '../kit/regions.ts';
import type { Source } from '../kit/source.ts';

const HOST = 'firms.modaps.eosdis.nasa.gov';
const FILE = `https://${HOST}/data/active_fire/modis-c6.1/csv/MODIS_C6_1_Global_24h.csv`;
const NAME = /\/MODIS_C\d+(_\d+)?_Global_(24h|48h|7d)\.csv$/;
/** The file is made again every hour and lags three hours; an older one does not say what burns now. */
const AGE_HOURS_MAX = 12;
/** Terra and Aqua see the whole world in a day: a file that holds less was cut. */
const SPAN_HOURS_MIN = 20;
/** From here on the publisher calls the confidence high. */
const HIGH_CONFIDENCE = 80;
const ORIGIN: Origin = {
  name: 'NASA FIRMS, MODIS on Terra and Aqua',
  role: 'measurement',
  independent: true,
  page: 'https://firms.modaps.eosdis.nasa.gov/active_fire/',
  tier: 'T1',
  status: 'as published by NASA FIRMS',
};

const number = (least: number, most: number) =>
  z
    .string()
    .transform(numberOf)
    .pipe(z.number({ error: 'not a number' }).min(least).max(most));
/** One pixel in which a satellite saw heat; `frp` is its power in MW, null where the file gives none. */
const rowSchema = z.looseObject({
  latitude: number(-90, 90),
  longitude: number(-180, 180),
  brightness: z.string(),
  acq_date: z.string().refine(isRealDay, 'not a day'),
  // Four digits, in UTC: fewer have lost a zero on either side.
  acq_time: z.string().regex(/^([01]\d|2[0-3])[0-5]\d$/, 'not a time such as 0020'),
  satellite: z.enum(['T', 'A', 'Terra', 'Aqua']),
  confidence: z
    .string()
    .regex(/^\d{1,3}$/, 'not 0 to 100')
    .pipe(number(0, 100)),
  version: z.string().regex(/^\d+(\.\d+)?(NRT|RT|URT)?$/, 'not a version such as 6.1NRT'),
  frp: z
    .literal('')
    .transform(() => null)
    .or(number(0, 1_000_000)),
});
interface Detection extends z.infer<typeof rowSchema> {
  /** Epoch milliseconds. */
  readonly time: number;
}

/**
 * Detections of 24 hours in each region, counted back from the newest row. A region without any has 0, so the file must be
 * the global one, whole and fresh, with every row understood.
 */
function readDetections(payload: Payload): Imported {
  const { subject, note } = payload;
  if (!NAME.test(new URL(note.url).pathname)) {
    const state = `its address names no global list of MODIS; give --note with the address ${FILE}`;
    throw new ImportError({ subject, state });
  }
  // Its rows are in no order and nothing counts them, so the list itself never shows that its last ones are missing.
  if (note.bytes === undefined) {
    const state =
      'nothing says that the list is whole; give --note with "bytes", the Content-Length of the answer';
    throw new ImportError({ subject, state });
  }
  const columns = Object.keys(rowSchema.shape);
  const is = 'a list of fires of which every row can be read';
  const rows = shaped(z.array(rowSchema), csvRows(payload, columns), { subject, is });
  const detections = rows.map((row) => ({
    ...row,
    time: Date.parse(`${row.acq_date}T${row.acq_time.slice(0, 2)}:${row.acq_time.slice(2)}:00Z`),
  }));
  const seen = new Set<string>();
  for (const { latitude, longitude, acq_date, acq_time, satellite } of rows) {
    const pixel = [latitude, longitude, acq_date, acq_time, satellite].join(',');
    if (seen.has(pixel)) throw fetchAgain(payload, `it lists ${pixel} twice`);
    seen.add(pixel);
  }
  const newest = newestOf(detections, payload);
  const list = new ReadingList();
  for (const [entity, box] of Object.entries(FIRE_BOXES)) {
    const inside = detections.filter(({ longitude, latitude }) => inBox(box, longitude, latitude));
    const recent = inside.filter(({ time }) => time > newest - DAY_MS);
    const powers = powersOf(recent);
    const stated = {
      entity,
      ...nameOf('wildfire', entity),
      at: newest,
      current: {
        detections_24h_count: recent.length,
        frp_sum_mw: sum(powers),
        frp_max_mw: powers === null || powers.length === 0 ? null : Math.max(...powers),
        high_confidence_count: recent.filter(({ confidence }) => confidence >= HIGH_CONFIDENCE)
          .length,
        // The file begins with the UTC day before, so it holds more than 24 hours.
        file_detections_count: inside.length,
        file_frp_sum_mw: sum(powersOf(inside)),
      },
      grade: 'near real time, replaced later by science quality',
      scope: `pixels with heat, not fires, of 24 hours before the newest row of the file, every confidence; ${boxText(box)}; the box is ours, not official`,
    };
    list.add('wildfire.active-fire', statedReading(ORIGIN, payload, stated));
  }
  return list.imported();
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
  id: 'nasa-firms',
  agency: 'NASA Fire Information for Resource Management System',
  version: 1,
  format: 'csv',
  feeds: ['wildfire.active-fire'],
  read: readDetections,
  fetch: { hosts: [HOST], addresses: () => [FILE], everyMinutes: 60, perMinute: 6 },
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
