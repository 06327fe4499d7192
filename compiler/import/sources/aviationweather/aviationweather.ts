import { builtinLine } from '../../../contract/catalog/builtin.ts';
import { grouped } from '../../../contract/grouped.ts';
import { namedIn, refuseUnasked } from '../../asked-place.ts';
import type { Imported, Payload } from '../../payload.ts';
import { measuredBy, nameOf, observedAt, ReadingList } from '../../readings.ts';
import type { Source } from '../../source.ts';
import { flightCategory, type Metar } from './metar.ts';
import { reportsOf, type TimedMetar } from './metar-reports.ts';

const AIRPORTS = builtinLine('nas').entities;

const SIGNAL = 'nas.aviation_wx';
const AGENCY = 'NOAA NWS Aviation Weather Center';
const API = 'https://aviationweather.gov/api/data/metar';
/** Wind or gust from here up is a band of its own; the choice is ours. */
const HIGH_WIND_KT = 35;
const CONVECTIVE = /TS|SQ|FC/;
const BANDS = { VFR: 'vfr_clear', MVFR: 'mvfr', IFR: 'ifr', LIFR: 'lifr' } as const;
const SCOPE = `newest report of the airport; ceiling is the lowest broken or overcast layer or the vertical visibility, null where there is none; flight category by the limits of FAA and NWS; convective_or_high_wind, from thunderstorm, squall, funnel cloud or ${HIGH_WIND_KT} kt up, is ours`;

const stationOf = (airport: string): string =>
  airport === 'anc' ? 'PANC' : `K${airport.toUpperCase()}`;
const AIRPORT_BY_STATION: ReadonlyMap<string, string> = new Map(
  AIRPORTS.map((airport) => [stationOf(airport), airport]),
);

/** The newest readable report of each airport. */
function read(payload: Payload): Imported {
  const list = new ReadingList();
  const reports = reportsOf(payload, list.skips);
  const asked = namedIn(payload, 'ids').map((id) => id.toUpperCase());
  const stations = reports.map(({ metar }) => metar.station);
  refuseUnasked(payload, asked, stations);
  for (const [station, own] of grouped(reports, ({ metar }) => metar.station)) {
    const airport = AIRPORT_BY_STATION.get(station);
    const report = newestOf(own);
    if (airport === undefined) list.skips.add(station, 'not an airport of this line');
    else if (report === null) list.skips.add(station, 'two reports of one time');
    else list.add(SIGNAL, readingOf(airport, report, payload));
  }
  return list.someOf(payload);
}

/** A correction stands for the report that it corrects; null where two others are of one time. */
function newestOf(reports: readonly TimedMetar[]): TimedMetar | null {
  const newest = reports.reduce((last, { time }) => Math.max(last, time), 0);
  const last = reports.filter(({ time }) => time === newest);
  const corrected = last.filter(({ metar }) => metar.isCorrection);
  const [one, ...others] = corrected.length > 0 ? corrected : last;
  const text = JSON.stringify(one);
  return one !== undefined && others.every((other) => JSON.stringify(other) === text) ? one : null;
}

/** Metrics of one report. An unknown wind or sky leaves the band open. */
export function conditionsOf(metar: Metar) {
  const { visibility, ceiling, wind, weather } = metar;
  const flight_category = flightCategory(metar);
  const isRough =
    weather.some((group) => CONVECTIVE.test(group)) ||
    Math.max(wind?.speed ?? 0, wind?.gust ?? 0) >= HIGH_WIND_KT;
  const calm = wind === null || flight_category === null ? null : BANDS[flight_category];
  return {
    visibility_mi: visibility?.miles ?? null,
    ...(ceiling === undefined ? {} : { ceiling_ft: ceiling }),
    wind_kt: wind?.speed ?? null,
    gust_kt: wind?.gust ?? null,
    wx: weather.length === 0 ? null : weather.join(' '),
    flight_category,
    band: isRough ? 'convective_or_high_wind' : calm,
  };
}

function readingOf(airport: string, { time, metar }: TimedMetar, payload: Payload) {
  const observed_at = observedAt(time, payload);
  const current = conditionsOf(metar);
  const { visibility, flags } = metar;
  const isBound = visibility !== null && visibility.bound !== 'exact';
  const bound = isBound ? [`visibility ${visibility.miles} mi ${visibility.bound}`] : [];
  const qualifiers = [...bound, ...flags];
  return {
    entity: airport,
    ...nameOf('nas', airport),
    observed_at,
    collected_at: payload.note.fetched_at,
    current,
    sources: measuredBy(AGENCY, current.visibility_mi, observed_at),
    source_ref: `${API}?ids=${metar.station}&format=json`,
    source_tier: 'T1',
    scope: SCOPE,
    validation_status: 'as reported by the station',
    uncertainty: 'visibility and cloud heights are reported in steps',
    ...(qualifiers.length === 0 ? {} : { qualifiers }),
  };
}

/** METAR reports: https://aviationweather.gov/data/api/ */
export const aviationweather: Source = {
  id: 'aviationweather',
  agency: 'NOAA National Weather Service, Aviation Weather Center',
  version: 1,
  format: 'json',
  feeds: [SIGNAL],
  read,
  fetch: {
    hosts: ['aviationweather.gov'],
    addresses: ({ entities }) => {
      const airports = entities.length === 0 ? AIRPORTS : entities;
      return [`${API}?ids=${airports.map(stationOf).join(',')}&format=json`];
    },
    everyMinutes: 15,
    perMinute: 100,
  },
};
