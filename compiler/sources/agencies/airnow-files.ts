import { isUtf8 } from 'node:buffer';
import { z } from 'zod';
import { HOUR_MS, isoTime } from '../../format/iso-time.ts';
import { memberText, originOf, readableEntries } from '../kit/entries.ts';
import { dayTime } from '../kit/local-time.ts';
import { fetchAgain, type Imported, numberOf, type Payload } from '../kit/payload.ts';
import { type CsvRow, csvRows } from '../kit/payload-formats.ts';
import {
  type AskedPlace,
  knownPlaces,
  nameOf,
  ReadingList,
  statedReading,
} from '../kit/readings.ts';
import { registered, type Source } from '../kit/source.ts';

// The file of all monitors of an hour, which needs no key: https://docs.airnowapi.org/docs/HourlyAQObsFactSheet.pdf. Its
// header and its times, which are UTC and the hour of its name, were read in extracts that public programs keep for tests.

const POLLUTANTS = ['OZONE', 'PM25', 'PM10', 'NO2'] as const;
const ORIGIN = originOf('US EPA AirNow and its partner agencies', 'https://www.airnow.gov/', {
  role: 'measurement',
  status: 'preliminary, as published by AirNow',
});
/** The file of an hour is out an hour and a half later. */
const LAG_HOURS = 2;
const AGE_HOURS_MAX = 6;
/** How far the monitor that stands for a city may be from it. */
const APART_KM_MAX = 40;
const KM_A_DEGREE = 111.2;

const figure = z.string().transform((text, context) => {
  const value = text === '' ? null : numberOf(text);
  if (value !== null || text === '') return value;
  context.addIssue({ code: 'custom', message: 'not a number' });
  return z.NEVER;
});
const aqi = figure.pipe(z.number().min(0).max(1000).nullable());
const rowSchema = z.looseObject({
  AQSID: z.string().min(1),
  Status: z.enum(['Active', 'Inactive']),
  Latitude: figure.pipe(z.number()),
  Longitude: figure.pipe(z.number()),
  ValidDate: z.string().regex(/^\d{2}\/\d{2}\/\d{4}$/),
  ValidTime: z.string().regex(/^([01]\d|2[0-3]):00$/),
  ReportingArea_PipeDelimited: z.string(),
  OZONE_AQI: aqi,
  PM25_AQI: aqi,
  PM10_AQI: aqi,
  NO2_AQI: aqi,
  // Instruments report a little below 0 where there is next to nothing.
  PM25: figure.pipe(z.number().min(-15).max(5000).nullable()),
  PM25_Unit: z.enum(['UG/M3', '']),
});
type Monitor = z.infer<typeof rowSchema> & { readonly at: number };

function read(payload: Payload): Imported {
  const list = new ReadingList();
  const rows = csvRows(inUtf8(payload), Object.keys(rowSchema.shape));
  const { read: all } = readableEntries(rows, rowSchema, { list, of: memberText('AQSID') });
  // What cannot be read may be higher than all others of its area.
  const doubts = rows.filter((row) => !rowSchema.safeParse(row).success).flatMap(areasOf);
  const fetched = Date.parse(payload.note.fetched_at);
  const monitors = all.flatMap((row): Monitor[] => {
    const [month, day, year] = row.ValidDate.split('/');
    const at =
      (dayTime(`${year}-${month}-${day}`) ?? Number.NaN) +
      Number(row.ValidTime.slice(0, 2)) * HOUR_MS;
    if (row.Status === 'Active' && at <= fetched && fetched - at <= AGE_HOURS_MAX * HOUR_MS)
      return [{ ...row, at }];
    if (row.Status === 'Active')
      list.skips.add(row.AQSID.slice(0, 40), 'an hour that is not of the present');
    return [];
  });
  for (const city of knownPlaces(['environment'])) {
    addIndex(city, monitors, { payload, list, doubts });
    addParticles(city, monitors, { payload, list, doubts });
  }
  if (monitors.length === 0) throw fetchAgain(payload, 'no monitor of the present hours');
  return list.someOf(payload);
}

/** Names of sites may be in ISO-8859-1, of which every byte is a character; none of them is stored. */
function inUtf8(payload: Payload): Payload {
  const { bytes } = payload;
  if (isUtf8(bytes)) return payload;
  return { ...payload, bytes: Buffer.from(Buffer.from(bytes).toString('latin1')) };
}

interface Target {
  readonly payload: Payload;
  readonly list: ReadingList;
  /** Reporting areas with a monitor that cannot be read. */
  readonly doubts: readonly string[];
}

/** The highest index among the monitors of the reporting area that holds the monitor nearest to a city. */
function addIndex(
  { entity, place }: AskedPlace,
  monitors: readonly Monitor[],
  { payload, list, doubts }: Target,
): void {
  const [area] = areasOf(
    nearest(
      place,
      monitors.filter((one) => areasOf(one).length > 0),
    ),
  );
  const own = monitors.filter((one) => areasOf(one).includes(area ?? ''));
  const at = Math.max(...own.map((one) => one.at));
  const found = own
    .filter((one) => one.at === at)
    .flatMap((one) => POLLUTANTS.map((name) => ({ name, value: one[`${name}_AQI`] })))
    .filter(
      (one): one is { name: (typeof POLLUTANTS)[number]; value: number } => one.value !== null,
    )
    .sort((a, b) => b.value - a.value);
  const [highest] = found;
  if (highest === undefined) {
    list.skips.add(entity, 'no index in the reporting area of its nearest monitor');
    return;
  }
  const isOpen = doubts.includes(area ?? '');
  const why = `a monitor of ${area} that cannot be read`;
  if (isOpen) list.skips.unread(entity, why);
  const stated = {
    entity,
    ...nameOf('environment', entity),
    at,
    current: isOpen
      ? { aqi_index: null, dominant: null }
      : { aqi_index: highest.value, dominant: highest.name },
    ...(isOpen ? { qualifiers: [why] } : {}),
    scope: `highest NowCast index of the monitors of reporting area ${area}, which holds the readable monitor nearest to the city (ours); the hour begins at the stated time`,
  };
  list.add('airquality.aqi', statedReading(ORIGIN, payload, stated));
}

function addParticles(
  { entity, place }: AskedPlace,
  monitors: readonly Monitor[],
  { payload, list }: Target,
): void {
  const found = nearest(
    place,
    monitors.filter((one) => one.PM25 !== null && one.PM25_Unit !== ''),
  );
  if (found === undefined) {
    list.skips.add(entity, `no monitor of fine particles within ${APART_KM_MAX} km`);
    return;
  }
  const stated = {
    entity,
    ...nameOf('environment', entity),
    at: found.at,
    current: { pm25_ugm3: Math.max(0, found.PM25 ?? 0) },
    scope: `one hour of monitor ${found.AQSID}, the nearest readable one to the city that reports particles (ours); a value below 0 is 0`,
  };
  list.add('airquality.pm25', statedReading(ORIGIN, payload, stated));
}

function areasOf(row: CsvRow | Monitor | undefined): string[] {
  return row?.ReportingArea_PipeDelimited?.split('|').filter(Boolean) ?? [];
}

function nearest(place: AskedPlace['place'], monitors: readonly Monitor[]): Monitor | undefined {
  const far = ({ Latitude, Longitude }: Monitor) => {
    const east = (Longitude - place.longitude) * Math.cos((place.latitude * Math.PI) / 180);
    return KM_A_DEGREE * Math.hypot(Latitude - place.latitude, east);
  };
  const [first] = monitors.toSorted((a, b) => far(a) - far(b));
  return first !== undefined && far(first) <= APART_KM_MAX ? first : undefined;
}

export const airnowFiles: Source = {
  ...registered('airnow-files'),
  version: 1,
  read,
  asks: ({ now }) => {
    const hour = isoTime(now - LAG_HOURS * HOUR_MS)
      .slice(0, 13)
      .replace(/[-T]/g, '');
    return [{ with: { year: hour.slice(0, 4), day: hour.slice(0, 8), hour } }];
  },
};
