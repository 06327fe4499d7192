import { z } from 'zod';
import { DAY_MS, HOUR_MS } from '../../../contract/iso-time.ts';
import { fetchAgain, ImportError, jsonOf, type Payload } from '../../payload.ts';
import { REPORT_KINDS, type SettledReport, type StormReport, settled } from './storm-reports.ts';

/** The relay answers with no more than this. */
const REPORTS_MAX = 10_000;
const PARAMETERS: readonly string[] = ['states', 'sts', 'ets', 'hours'];
const ISO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?Z$/;
const DIGIT_TIME = /^(\d{4})(\d{2})(\d{2})(\d{2})(\d{2})$/;
/** A magnitude as text; ratings of tornadoes may carry their scale. */
const MAGNITUDE = /^(?:E?F)?(\d+(?:\.\d+)?)$/;
/** Reports at sea may share the code of a kind on land. */
const AT_SEA = /^(MRN|MARINE) /i;
const CODES: readonly string[] = [...REPORT_KINDS.values()].map(({ code }) => code);

const reportSchema = z.looseObject({
  type: z.literal('Feature'),
  properties: z.looseObject({
    type: z.string().min(1),
    typetext: z.string().min(1),
    magf: z.number().min(0).nullable(),
    magnitude: z.string().nullable(),
    unit: z.string().nullable(),
    valid: z.iso.datetime(),
    lon: z.number(),
    lat: z.number(),
    state: z.string().regex(/^[A-Z]{2}$/),
    city: z.string().nullable(),
    remark: z.string().nullable(),
    // It begins with the time of issue.
    product_id: z.string().regex(/^\d{12}-/),
  }),
  geometry: z.looseObject({
    type: z.literal('Point'),
    coordinates: z.tuple([z.number().min(-180).max(180), z.number().min(-90).max(90)]),
  }),
});
const listSchema = z.looseObject({
  type: z.literal('FeatureCollection'),
  features: z
    .array(reportSchema)
    .max(REPORTS_MAX - 1, 'as many reports as the relay gives at most'),
});
type ReportEntry = z.infer<typeof reportSchema>;

/** Reports as the Iowa Environmental Mesonet relays them, and what of the country and of time they are whole for. */
interface RelayedReports {
  readonly reports: readonly SettledReport[];
  /** Null for all. */
  readonly states: readonly string[] | null;
  /** Epoch milliseconds. */
  readonly end: number;
}

/** Throws an ImportError for another payload, for an address that asks for less than a day, and for a report that cannot be read. */
export function relayedReports(payload: Payload): RelayedReports {
  const { note, subject } = payload;
  const { features } = jsonOf(payload, listSchema, 'a list of storm reports');
  const asked = askedOf(new URL(note.url).searchParams, Date.parse(note.fetched_at));
  if (typeof asked === 'string') {
    const state = `its address does not ask for the reports of a whole day (${asked}); fetch "states", "sts" and "ets" at most`;
    throw new ImportError({ subject, state });
  }
  const fault = features.map((one) => faultOf(one, asked)).find(Boolean) ?? repeated(features);
  if (fault != null) throw fetchAgain(payload, fault);
  return { reports: settled(features.map(reportOf)), states: asked.states, end: asked.end };
}

interface AskedWindow {
  readonly states: readonly string[] | null;
  readonly begin: number;
  readonly end: number;
}

/** What an address asks for, or the parameter that leaves something out. */
function askedOf(query: URLSearchParams, fetched: number): AskedWindow | string {
  const other = [...query.keys()].find((name) => !PARAMETERS.includes(name));
  if (other !== undefined) return `"${other}"`;
  const end = Math.min(timeOf(query.get('ets')) ?? fetched, fetched);
  const hours = Number(query.get('hours') ?? Number.NaN);
  const begin = timeOf(query.get('sts')) ?? (hours > 0 ? fetched - hours * HOUR_MS : end);
  if (!(begin <= end - DAY_MS)) return 'less than 24 hours';
  const states = query.getAll('states').flatMap((text) => text.split(','));
  return { states: states.length === 0 ? null : states, begin, end };
}

function timeOf(text: string | null): number | null {
  if (text === null) return null;
  const iso = text.replace(DIGIT_TIME, '$1-$2-$3T$4:$5Z');
  return ISO_TIME.test(iso) ? Date.parse(iso) : Number.NaN;
}

/** What is wrong with a report, or null; what its members say twice must be the same. */
function faultOf(
  { properties, geometry }: ReportEntry,
  { states, begin, end }: AskedWindow,
): string | null {
  const { type, typetext, lon, lat, valid, state } = properties;
  const known = REPORT_KINDS.get(typetext.toUpperCase());
  const name = `report "${typetext.slice(0, 20)}" of ${valid}`;
  const coded = CODES.includes(type) && !AT_SEA.test(typetext) ? type : undefined;
  if (known?.code !== coded) return `${name} has the code ${type}`;
  const [longitude, latitude] = geometry.coordinates;
  if (lon !== longitude || lat !== latitude) return `${name} is at two places`;
  const at = Date.parse(valid);
  if (at < begin || at > end) return `${name} is outside the time that its address asks for`;
  if (states?.includes(state) === false)
    return `${name} is of ${state}, which its address does not ask for`;
  return known === undefined ? null : sizeFault(properties, known.unit);
}

function sizeFault(
  { magf, magnitude, unit, valid }: ReportEntry['properties'],
  expected: string | null,
) {
  const written = MAGNITUDE.exec(magnitude ?? '')?.[1];
  const isSame =
    magf === null ? (magnitude ?? '') === '' : written !== undefined && Number(written) === magf;
  if (!isSame) return `the report of ${valid} gives two magnitudes, ${magf} and "${magnitude}"`;
  if (magf === null || expected === null || unit?.toUpperCase() === expected) return null;
  return `the report of ${valid} is in "${unit}", not in ${expected}`;
}

function repeated(features: readonly ReportEntry[]): string | null {
  const once = new Set(features.map((one) => JSON.stringify(one)));
  return once.size === features.length ? null : 'a report is listed twice';
}

function reportOf({ properties, geometry }: ReportEntry): StormReport {
  const { typetext, valid, magf, city, remark, product_id } = properties;
  const [longitude, latitude] = geometry.coordinates;
  const name = typetext.toUpperCase();
  return {
    kind: REPORT_KINDS.get(name)?.kind ?? null,
    name,
    at: Date.parse(valid),
    longitude,
    latitude,
    place: (city ?? '').trim().toUpperCase(),
    size: magf,
    product: product_id,
    remark: remark ?? '',
  };
}
