import { z } from 'zod';
import { DAY_MS } from '../../../contract/iso-time.ts';
import { ImportError, jsonOf, type Payload, type SkipCount, textOf } from '../../payload.ts';
import { flightCategory, type Metar, parseMetar } from './metar.ts';

/** One report with its time in epoch milliseconds. */
export interface TimedMetar {
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

/**
 * The reports of a payload, decoded JSON or a raw bulletin. Values come from the report itself; where a decoded member says
 * something else, the report is skipped. Throws an ImportError for a payload that is neither.
 */
export function reportsOf(payload: Payload, skips: SkipCount): TimedMetar[] {
  // A bulletin stands between control characters.
  const text = textOf(payload).replaceAll('\u0001', '').replaceAll('\u0003', '');
  return text.trimStart().startsWith('[') || text.trimStart().startsWith('{')
    ? decodedReports(payload, skips)
    : bulletinReports(text, payload, skips);
}

function decodedReports(payload: Payload, skips: SkipCount): TimedMetar[] {
  const entries = jsonOf(payload, z.array(z.unknown()), 'a list of decoded METAR reports');
  return entries.flatMap((value, at) => {
    const parsed = entrySchema.safeParse(value);
    if (parsed.success) return decodedReport(parsed.data, skips);
    skips.add(`report ${at + 1}`, `${parsed.error.issues[0]?.path.join('.')} cannot be read`);
    return [];
  });
}

function decodedReport(entry: MetarEntry, skips: SkipCount): TimedMetar[] {
  const metar = parseMetar(entry.rawOb);
  const fault = metar === null ? 'it cannot be read' : differs(entry, metar);
  if (metar !== null && fault === null) return [{ time: entry.obsTime * 1000, metar }];
  skips.add(entry.icaoId.slice(0, 20), `${fault}: ${entry.rawOb.slice(0, 80)}`);
  return [];
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
