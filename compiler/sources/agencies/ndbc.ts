import { DAY_MS, HOUR_MS } from '../../format/iso-time.ts';
import { asksFor, originOf } from '../kit/entries.ts';
import { fetchAgain, type Imported, numberOf, type Payload, textOf } from '../kit/payload.ts';
import { nameOf, ReadingList, statedReading } from '../kit/readings.ts';
import { registered, type Source } from '../kit/source.ts';
import { disruptionBand } from './open-meteo.ts';

// Standard meteorological data of a buoy, newest row first: https://www.ndbc.noaa.gov/faq/measdes.shtml

/** The buoy of NDBC that stands for each route (ours); routes without one of its own buoys have none here. */
const BUOYS: Readonly<Record<string, string>> = { gulfmexico: '42001', northpacific: '46072' };
const ORIGIN = originOf('NOAA National Data Buoy Center', 'https://www.ndbc.noaa.gov/', {
  role: 'measurement',
  status: 'real time, with automated checks only',
});
const COLUMNS =
  '#YY MM DD hh mm WDIR WSPD GST WVHT DPD APD MWD PRES ATMP WTMP DEWP VIS PTDY TIDE'.split(' ');
const HEIGHT = 'WVHT';
/** "Missing" in the files of now and of past years. */
const NOTHING: readonly string[] = ['MM', '99.0', '99.00'];
/** Other columns have whole numbers. */
const HEIGHT_TEXT = /^\d{1,2}\.\d$/;
const AGE_HOURS_MAX = 6;
const HEIGHT_MAX_M = 30;

/** Wave heights of the newest 24 hours of the one buoy that the address names. */
function read(payload: Payload): Imported {
  const { note } = payload;
  const station = /\/realtime2\/(\w{5})\.txt$/.exec(new URL(note.url).pathname)?.[1] ?? '';
  const entity = Object.keys(BUOYS).find((route) => BUOYS[route] === station);
  if (entity === undefined) throw fetchAgain(payload, 'its address names no buoy of ours');
  const list = new ReadingList();
  const heights = heightsIn(payload, list);
  const newest = Math.max(...heights.keys());
  if (!(Date.parse(note.fetched_at) - newest <= AGE_HOURS_MAX * HOUR_MS))
    throw fetchAgain(payload, `no wave height in ${AGE_HOURS_MAX} hours before its fetch`);
  const scope = `buoy ${station} stands for the route (ours); significant wave height of 20 minutes`;
  for (const [at, height] of heights) {
    if (at <= newest - DAY_MS) continue;
    const stated = { entity, ...nameOf('shipping', entity), at, scope };
    const sea = { ...stated, current: { wave_height_m: height } };
    const route = {
      ...stated,
      current: { wave_height_m: height, band: disruptionBand(height) },
      scope: `${scope}; bands from 2.5, 4 and 6 m are ours, not official`,
    };
    list.add('shipping.sea-state', statedReading(ORIGIN, payload, sea));
    list.add('shipping.route-disruption', statedReading(ORIGIN, payload, route));
  }
  return list.someOf(payload);
}

/** Wave heights in m by their time; a row that cannot be read is one time without a height. */
function heightsIn(payload: Payload, list: ReadingList): ReadonlyMap<number, number> {
  const [names = [], units = [], ...rows] = textOf(payload)
    .trimEnd()
    .split('\n')
    .map((line) => line.trim().split(/\s+/));
  const at = COLUMNS.indexOf(HEIGHT);
  if (names.join() !== COLUMNS.join() || units[at] !== 'm')
    throw fetchAgain(payload, `its columns are not ${COLUMNS.join(' ')}, with ${HEIGHT} in m`);
  const heights = new Map<number, number>();
  for (const row of rows) {
    const [year = '', ...rest] = row;
    const [month, day, hour, minute] = rest.slice(0, 4).map((text) => text.padStart(2, '0'));
    const time = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:00Z`);
    const written = row[at] ?? '';
    if (NOTHING.includes(written)) continue;
    const height = HEIGHT_TEXT.test(written) ? numberOf(written) : null;
    if (row.length !== names.length || Number.isNaN(time) || heights.has(time))
      list.skips.unread('row', 'not a row of the table');
    else if (height === null || height > HEIGHT_MAX_M)
      list.skips.unread('row', `${HEIGHT} is not a height`);
    else heights.set(time, height);
  }
  return heights;
}

export const ndbc: Source = {
  ...registered('ndbc'),
  version: 1,
  read,
  asks: asksFor(BUOYS, (station) => ({ station })),
};
