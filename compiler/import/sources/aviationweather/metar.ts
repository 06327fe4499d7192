// Reads a METAR or SPECI report: WMO 49-2 as the US writes it (FMH-1), body only. Remarks measure nothing that is used.

/** What one report says. Wind in knots, ceiling in feet above ground, visibility in statute miles. */
export interface Metar {
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

type FlightCategory = 'VFR' | 'MVFR' | 'IFR' | 'LIFR';

/** The worse of ceiling and visibility, as FAA and NWS draw the lines; null where either is not reported. */
export function flightCategory({
  visibility,
  ceiling,
}: Pick<Metar, 'visibility' | 'ceiling'>): FlightCategory | null {
  if (visibility === null || ceiling === undefined) return null;
  const feet = ceiling ?? Number.POSITIVE_INFINITY;
  const { miles } = visibility;
  if (feet < 500 || miles < 1) return 'LIFR';
  if (feet < 1000 || miles < 3) return 'IFR';
  return feet <= 3000 || miles <= 5 ? 'MVFR' : 'VFR';
}
