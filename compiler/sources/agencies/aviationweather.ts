import { z } from 'zod';
import { builtinLine } from '../../catalog/builtin.ts';
import { DAY_MS } from '../../format/iso-time.ts';
import { grouped } from '../../format/lists.ts';
import {
  ImportError,
  type Imported,
  jsonOf,
  type Payload,
  type SkipCount,
  textOf,
} from '../kit/payload.ts';
import {
  askedOnly,
  measuredBy,
  namedIn,
  nameOf,
  observedAt,
  ReadingList,
} from '../kit/readings.ts';
import { registered, type Source } from '../kit/source.ts';

// Reads a METAR or SPECI report: WMO 49-2 as the US writes it (FMH-1), body only. Remarks measure nothing that is used.

/** What one report says. Wind in knots, ceiling in feet above ground, visibility in statute miles. */
interface Metar {
  readonly station: string;
  /** UTC; the report names no month. */
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly isCorrection: boolean;
  /** Null where it is not reported. */
  readonly wind: { readonly speed: number; readonly gust: number | null } | null;
  readonly visibility: Visibility | null;
  /** Weather groups, as written. */
  readonly weather: readonly string[];
  /** Lowest broken or overcast layer, or vertical visibility; null for none, undefined where the sky is not reported. */
  readonly ceiling: number | null | undefined;
  /** What the station says of itself: automatic, in need of maintenance, without a thunderstorm sensor. */
  readonly flags: readonly string[];
}
interface Visibility {
  readonly miles: number;
  readonly bound: 'exact' | 'or more' | 'or less';
}

const REPORT =
  /^(?:(?:METAR|SPECI) )?(COR )?([A-Z][A-Z0-9]{3}) (\d{2})(\d{2})(\d{2})Z (.*?)(?: RMK( .*)?)?$/;
const WIND = /^(?:\d{3}|VRB)(\d{2,3})(?:G(\d{2,3}))?KT$/;
const VISIBILITY = /^(?:(P)?(\d{1,2})|(M)?(?:(\d) )?(\d)\/(\d{1,2}))SM$/;
const WEATHER =
  /^(?:[+-]|VC)?(?:TS|(?:MI|BC|PR|DR|BL|SH|TS|FZ)?(?:DZ|RA|SN|SG|IC|PL|GR|GS|UP|BR|FG|FU|VA|DU|SA|HZ|PY|PO|SQ|FC|SS|DS)+|SH)$/;
const LAYER = /^(FEW|SCT|BKN|OVC|VV)(\d{3}|\/{3})(?:CB|TCU|\/{3})?$/;
const CLEAR: readonly string[] = ['CLR', 'SKC'];
/** Groups that say nothing used here: variable wind, runway range, temperature, pressure, and what is not reported. */
const UNUSED =
  /^(?:\d{3}V\d{3}|R\d{2}[LCR]?\/\S+|M?\d{2}\/(?:M?\d{2})?|\/{2,}(?:KT|SM)?|A(?:\d{4}|\/{4}))$/;

/** Null for a text that is no report, and for one with a group that is not known: then nobody knows what it says. */
export function parseMetar(text: string): Metar | null {
  const found = REPORT.exec(text.trim().replace(/\s+/g, ' '));
  if (found === null) return null;
  const [, correction, station = '', day, hour, minute, body = '', remarks = ''] = found;
  // "1 1/2SM" is one group of two words.
  const groups = body.replace(/ (\d) (\d\/\d{1,2}SM)/, ' $1_$2').split(' ');
  const rest = groups.filter((group) => !['AUTO', 'COR'].includes(group));
  const read = readGroups(rest.map((group) => group.replace('_', ' ')));
  const time = { day: Number(day), hour: Number(hour), minute: Number(minute) };
  if (read === null || time.day > 31 || time.hour > 23 || time.minute > 59) return null;
  return {
    station,
    ...time,
    isCorrection: correction !== undefined || groups.includes('COR'),
    ...read,
    flags: [
      ...(groups.includes('AUTO') ? ['automatic report'] : []),
      ...(/\$$/.test(remarks) ? ['station needs maintenance'] : []),
      ...(/\bTSNO\b/.test(remarks) ? ['no thunderstorm sensor'] : []),
    ],
  };
}

function readGroups(groups: readonly string[]) {
  const winds = groups.filter((group) => WIND.test(group));
  const visibilities = groups.filter((group) => VISIBILITY.test(group));
  const layers = groups.filter((group) => LAYER.test(group) || CLEAR.includes(group));
  const weather = groups.filter((group) => WEATHER.test(group));
  const known = [...winds, ...visibilities, ...layers, ...weather];
  const isKnown = groups.every((group) => known.includes(group) || UNUSED.test(group));
  if (!isKnown || winds.length > 1 || visibilities.length > 1) return null;
  const [wind = ''] = winds;
  const [visibility = ''] = visibilities;
  return {
    wind: windOf(wind),
    visibility: visibilityOf(visibility),
    weather,
    ceiling: ceilingOf(layers),
  };
}

function windOf(group: string): Metar['wind'] {
  const [, speed, gust] = WIND.exec(group) ?? [];
  if (speed === undefined) return null;
  return { speed: Number(speed), gust: gust === undefined ? null : Number(gust) };
}

function visibilityOf(group: string): Visibility | null {
  const found = VISIBILITY.exec(group);
  if (found === null) return null;
  const [, more, whole, less, miles = '0', upper, lower] = found;
  // A station that measures up to 10 miles writes 10SM for all that is farther.
  if (whole !== undefined) {
    const isBound = more !== undefined || Number(whole) >= 10;
    return { miles: Number(whole), bound: isBound ? 'or more' : 'exact' };
  }
  if (Number(lower) === 0) return null;
  const sum = Number(miles) + Number(upper) / Number(lower);
  return { miles: sum, bound: less === undefined ? 'exact' : 'or less' };
}

function ceilingOf(layers: readonly string[]): number | null | undefined {
  if (layers.length === 0) return undefined;
  const heights = layers.flatMap((layer) => {
    const [, cover = '', base = ''] = LAYER.exec(layer) ?? [];
    return ['BKN', 'OVC', 'VV'].includes(cover) ? [Number(base) * 100] : [];
  });
  if (heights.some(Number.isNaN)) return undefined;
  return heights.length === 0 ? null : Math.min(...heights);
}

/** The worse of ceiling and visibility, as FAA and NWS draw the lines; null where either is not reported. */
export function flightCategory({
  visibility,
  ceiling,
}: Pick<Metar, 'visibility' | 'ceiling'>): ('VFR' | 'MVFR' | 'IFR' | 'LIFR') | null {
  if (visibility === null || ceiling === undefined) return null;
  const feet = ceiling ?? Number.POSITIVE_INFINITY;
  const { miles } = visibility;
  if (feet < 500 || miles < 1) return 'LIFR';
  if (feet < 1000 || miles < 3) return 'IFR';
  return feet <= 3000 || miles <= 5 ? 'MVFR' : 'VFR';
}

/** One report with its time in epoch milliseconds. */
interface TimedMetar {
  readonly time: number;
  readonly metar: Metar;
}

const count = z.int().min(0).nullish();
const VISIBLE = /^(\d{1,2}(?:\.\d{1,2})?)\+?$/;
const entrySchema = z.looseObject({
  icaoId: z.string(),
  obsTime: z.int(),
  rawOb: z.string(),
  wspd: count,
  wgst: count,
  visib: z
    .union([
      z.number().min(0),
      z
        .string()
        .regex(VISIBLE)
        .transform((text) => Number(text.replace('+', ''))),
    ])
    .nullish(),
  wxString: z.string().nullish(),
  clouds: z.array(z.looseObject({ cover: z.string(), base: z.number().nullish() })).nullish(),
  fltCat: z.enum(['VFR', 'MVFR', 'IFR', 'LIFR']).nullish(),
});
type MetarEntry = z.infer<typeof entrySchema>;
const CEILINGS: readonly string[] = ['BKN', 'OVC', 'OVX', 'VV'];
/** The decoded members are rounded to hundredths of a mile. */
const ROUNDING = 0.011;

const BULLETIN =
  /^\s*(?:\d{3}\s+)?S[AP][A-Z]{2}\d{2} [A-Z]{4} \d{6}(?: [A-Z]{3})?\s+(?:METAR|SPECI)\s/;

function decodedReports(payload: Payload, skips: SkipCount): TimedMetar[] {
  const entries = jsonOf(payload, z.array(z.unknown()), 'a list of decoded METAR reports');
  return entries.flatMap((value, at) => {
    const parsed = entrySchema.safeParse(value);
    if (parsed.success) {
      const metar = parseMetar(parsed.data.rawOb);
      const fault = metar === null ? 'it cannot be read' : differs(parsed.data, metar);
      if (metar !== null && fault === null) return [{ time: parsed.data.obsTime * 1000, metar }];
      skips.unread(parsed.data.icaoId.slice(0, 20), `${fault}: ${parsed.data.rawOb.slice(0, 80)}`);
      return [];
    }
    skips.unread(`report ${at + 1}`, `${parsed.error.issues[0]?.path.join('.')} cannot be read`);
    return [];
  });
}

/** The first decoded member that says something else than the report, in words; null where all agree. */
function differs(entry: MetarEntry, metar: Metar): string | null {
  const time = new Date(entry.obsTime * 1000);
  const stated: readonly (readonly [member: string, agrees: boolean])[] = [
    ['icaoId', entry.icaoId === metar.station],
    [
      'obsTime',
      time.getUTCDate() === metar.day &&
        time.getUTCHours() === metar.hour &&
        time.getUTCMinutes() === metar.minute,
    ],
    ['wspd', (entry.wspd ?? null) === (metar.wind?.speed ?? null)],
    ['wgst', (entry.wgst ?? null) === (metar.wind?.gust ?? null)],
    ['visib', isNear(entry.visib ?? null, metar.visibility?.miles ?? null)],
    ['wxString', (entry.wxString ?? '') === metar.weather.join(' ')],
    ['clouds', sameCeiling(entry, metar)],
    ['fltCat', (entry.fltCat ?? flightCategory(metar)) === flightCategory(metar)],
  ];
  const [member] = stated.find(([, agrees]) => !agrees) ?? [];
  return member === undefined ? null : `${member} differs from the report itself`;
}

function isNear(a: number | null, b: number | null): boolean {
  return a === null || b === null ? a === b : Math.abs(a - b) < ROUNDING;
}

/** An obscured sky may be decoded without its height. */
function sameCeiling({ clouds }: MetarEntry, { ceiling }: Metar): boolean {
  const layers = (clouds ?? []).filter(({ cover }) => CEILINGS.includes(cover));
  const bases = layers.flatMap(({ base }) => (base == null ? [] : [base]));
  if (bases.length < layers.length) return true;
  return (bases.length === 0 ? null : Math.min(...bases)) === (ceiling ?? null);
}

function bulletinReports(text: string, { note, subject }: Payload, skips: SkipCount): TimedMetar[] {
  const heading = BULLETIN.exec(text);
  if (heading === null) {
    const state =
      'neither decoded METAR reports nor a bulletin of raw ones; fetch format=json again';
    throw new ImportError({ subject, state });
  }
  const chunks = text.slice(heading[0].length).split('=');
  const cut = chunks.pop() ?? '';
  if (cut.trim() !== '') skips.add('last report', 'it is cut off');
  const fetched = Date.parse(note.fetched_at);
  return chunks.flatMap((chunk) => {
    const metar = parseMetar(chunk);
    const time = metar === null ? null : newestTime(metar, fetched);
    if (metar !== null && time !== null) return [{ time, metar }];
    const name = chunk.trim().slice(0, 12);
    skips.add(
      name,
      metar === null ? 'a report that cannot be read' : 'not of the day before the fetch',
    );
    return [];
  });
}

/** A raw report names day, hour and minute: the last such time before the fetch, where that is a day back at most. */
function newestTime({ day, hour, minute }: Metar, fetched: number): number | null {
  const today = new Date(fetched);
  const days = [0, DAY_MS].map((back) => new Date(fetched - back));
  const nearestDay = days.find((date) => date.getUTCDate() === day) ?? today;
  const time = Date.UTC(nearestDay.getUTCFullYear(), nearestDay.getUTCMonth(), day, hour, minute);
  return time <= fetched && fetched - time <= DAY_MS ? time : null;
}

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

function read(payload: Payload): Imported {
  const list = new ReadingList();
  // A bulletin stands between control characters.
  const text = textOf(payload).replaceAll('\u0001', '').replaceAll('\u0003', '');
  const reports =
    text.trimStart().startsWith('[') || text.trimStart().startsWith('{')
      ? decodedReports(payload, list.skips)
      : bulletinReports(text, payload, list.skips);
  const asked = namedIn(payload, 'ids').map((id) => id.toUpperCase());
  const stations = reports.map(({ metar }) => metar.station);
  const isAsked = askedOnly(payload, { asked, found: stations, skips: list.skips });
  for (const [station, own] of grouped(reports, ({ metar }) => metar.station)) {
    if (!isAsked(station)) continue;
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
  ...registered('aviationweather'),
  version: 1,
  read,
  asks: ({ entities }) => {
    const airports = entities.length === 0 ? AIRPORTS : entities;
    return [{ with: { stations: airports.map(stationOf).join(',') } }];
  },
};
