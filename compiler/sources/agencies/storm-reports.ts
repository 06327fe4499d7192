import { z } from 'zod';
import { isRealDay } from '../../format/cutoff.ts';
import { DAY_MS, HOUR_MS } from '../../format/iso-time.ts';
import {
  fetchAgain,
  ImportError,
  jsonOf,
  type Payload,
  readable,
  type SkipCount,
} from '../kit/payload.ts';
import { type ConvectionRegion, inBox } from '../kit/regions.ts';
import { type Issue, issueOf, minutesOfDay, type TextProduct } from '../kit/text-product.ts';

const GUST: ReportKind = { kind: 'gust', code: 'G', unit: 'MPH' };
const DAMAGE: ReportKind = { kind: 'damage', code: 'D', unit: null };
/** What counts as severe convection, by the names of a report; a waterspout, rain or other wind does not. */
const REPORT_KINDS: ReadonlyMap<string, ReportKind> = new Map<string, ReportKind>([
  ['TORNADO', { kind: 'tornado', code: 'T', unit: null }],
  ['HAIL', { kind: 'hail', code: 'H', unit: 'INCH' }],
  ['TSTM WND GST', GUST],
  ['TSTM WIND GST', GUST],
  ['TSTM WIND', GUST],
  ['TSTM WND DMG', DAMAGE],
  ['TSTM WIND DMG', DAMAGE],
  ['TREES DOWN', DAMAGE],
]);

/** How offices and the relay spell a unit. */
const UNITS: ReadonlyMap<string, ReportKind['unit']> = new Map([
  ['INCH', 'INCH'],
  ['INCHES', 'INCH'],
  ['IN', 'INCH'],
  ['MPH', 'MPH'],
]);
/** The relay's codes of a gust and of hail at sea, whose names are those of land. */
const SEA_CODES: Readonly<Record<string, ReportKind['kind']>> = { M: 'gust', h: 'hail' };
/** A marine zone, which stands in place of the county where a report is of the sea. */
const SEA_ZONE = /^[A-Z]{2}Z\d{3}$/;

interface ReportKind {
  readonly kind: 'tornado' | 'hail' | 'gust' | 'damage';
  /** Its letter in the relay's files. */
  readonly code: string;
  readonly unit: 'INCH' | 'MPH' | null;
}

interface StormReport {
  /** Null for one that is no severe convection. */
  readonly kind: ReportKind['kind'] | null;
  /** Its kind as the list calls it, in upper case. */
  readonly name: string;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly longitude: number;
  readonly latitude: number;
  /** Its place in words, as corrections name it: `5 NW ROGERS`. */
  readonly place: string;
  /** Inches of hail, miles per hour of a gust, rating of a tornado; null where the report gives none. */
  readonly size: number | null;
  /** Of products, a later one sorts behind. */
  readonly product: string;
  readonly remark: string;
}

interface SettledReport extends Pick<StormReport, 'at' | 'longitude' | 'latitude' | 'size'> {
  readonly kind: ReportKind['kind'];
  /** A correction near it does not say what it corrects: it may be this one. */
  readonly isDoubtful: boolean;
}

/** "Corrects previous tornado report from 5 NW Rogers.", "Corrects location of previous hail report from …". */
const CORRECTION = /^\W*CORRECT(S|ED|ION)\b/;
const CORRECTED_KIND = /\bPREVIOUS ([A-Z/ -]+?) REPORT\b/;
/** Degrees within which a correction may move a report (ours). */
export const MOVED_DEGREES_MAX = 1;

/**
 * Each severe report once: summaries and corrections repeat time, place and kind, and the newest product has the last word.
 * A correction of another time, place or kind names the report that it stands for in its remark.
 */
function settled(reports: readonly StormReport[]): SettledReport[] {
  const kept = new Map<string, StormReport>();
  const gone = new Set<string>();
  const doubtful = new Set<string>();
  for (const report of [...reports].sort(byProduct)) {
    const identity = identityOf(report);
    const near = correctable(report, kept);
    const [corrected] = near
      .filter((one) => names(report, one))
      .sort((a, b) => Math.abs(a.at - report.at) - Math.abs(b.at - report.at));
    if (corrected === undefined) {
      const rivals = near.filter(({ kind }) => kind === correctedKind(report));
      for (const rival of rivals) doubtful.add(identityOf(rival));
    } else {
      kept.delete(identityOf(corrected));
      gone.add(identityOf(corrected));
    }
    if (isCorrection(report) || !gone.has(identity)) kept.set(identity, report);
  }
  return [...kept].flatMap(([identity, { kind, at, longitude, latitude, size }]) =>
    kind === null
      ? []
      : [{ kind, at, longitude, latitude, size, isDoubtful: doubtful.has(identity) }],
  );
}

function wordsOf({ remark }: StormReport): string {
  return remark.replaceAll(/\s+/g, ' ').trim().toUpperCase();
}

function isCorrection(report: StormReport): boolean {
  return CORRECTION.test(wordsOf(report));
}

/** By product, the corrections of one behind what it lists besides. */
function byProduct(a: StormReport, b: StormReport): number {
  if (a.product !== b.product) return a.product < b.product ? -1 : 1;
  return Number(isCorrection(a)) - Number(isCorrection(b));
}

/** What a report may correct besides the one of its own time, place and kind, whose place it takes anyway. */
function correctable(report: StormReport, kept: ReadonlyMap<string, StormReport>): StormReport[] {
  if (!isCorrection(report) || kept.has(identityOf(report))) return [];
  return [...kept.values()].filter((one) => isNear(one, report));
}

function isNear(a: StormReport, b: StormReport): boolean {
  const apart = [a.latitude - b.latitude, a.longitude - b.longitude];
  return apart.every((degrees) => Math.abs(degrees) <= MOVED_DEGREES_MAX);
}

/** Whether a correction names the kind and the place of a report. */
function names(correction: StormReport, { name, place }: StormReport): boolean {
  const words = wordsOf(correction);
  const [, ...behind] = words.split(`FROM ${place}`);
  const isPlace = place !== '' && behind.some((rest) => /^([.,;:]|$)/.test(rest));
  return isPlace && words.includes(`PREVIOUS ${name} REPORT`);
}

/** The kind that a correction speaks of; its own where it names none. */
function correctedKind(correction: StormReport): StormReport['kind'] {
  const [, named] = CORRECTED_KIND.exec(wordsOf(correction)) ?? [];
  return named === undefined ? correction.kind : (REPORT_KINDS.get(named)?.kind ?? null);
}

function identityOf({ kind, name, at, longitude, latitude }: StormReport): string {
  return `${kind ?? name} ${at} ${longitude} ${latitude}`;
}

/** From these sizes on a report is severe, and significant, as the Storm Prediction Center counts. */
const HAIL_IN = { severe: 1, significant: 2 } as const;
const GUST_MPH = { severe: 58, significant: 75 } as const;
const VIOLENT_FROM = 4;
/** Mildest first, as the signal lists them. */
const BANDS = [
  'none',
  'marginal-severe',
  'significant-hail',
  'significant-wind',
  'tornado-confirmed',
  'violent',
] as const;

/** What the reports of the 24 hours before an instant say of a region. */
export function dayOfReports(
  reports: readonly SettledReport[],
  { box }: ConvectionRegion,
  { end, isWhole = true }: { readonly end: number; readonly isWhole?: boolean },
) {
  const own = reports.filter(
    ({ at, longitude, latitude }) =>
      at > end - DAY_MS && at <= end && inBox(box, longitude, latitude),
  );
  const bands = own.map(bandOf);
  const isKnown = isWhole && !bands.includes(null);
  const tornadoes = own.filter(({ kind }) => kind === 'tornado');
  return {
    // Of those that are severe; null where a report names no size, or may be one that was corrected.
    count: isKnown ? bands.filter((band) => band !== 'none').length : null,
    facts: {
      band: isKnown ? (BANDS.findLast((band) => bands.includes(band)) ?? 'none') : null,
      tornado_reports_count:
        isWhole && !tornadoes.some(({ isDoubtful }) => isDoubtful) ? tornadoes.length : null,
      max_hail_in: isWhole ? largest(own, 'hail') : null,
      max_gust_mph: isWhole ? largest(own, 'gust') : null,
    },
  };
}

function bandOf({ kind, size, isDoubtful }: SettledReport): (typeof BANDS)[number] | null {
  if (isDoubtful) return null;
  if (kind === 'tornado') return (size ?? 0) >= VIOLENT_FROM ? 'violent' : 'tornado-confirmed';
  if (kind === 'damage') return 'marginal-severe';
  if (size === null) return null;
  const { severe, significant } = kind === 'hail' ? HAIL_IN : GUST_MPH;
  if (size >= significant) return kind === 'hail' ? 'significant-hail' : 'significant-wind';
  return size >= severe ? 'marginal-severe' : 'none';
}

function largest(reports: readonly SettledReport[], kind: SettledReport['kind']): number | null {
  const own = reports.filter((one) => one.kind === kind);
  const sizes = own.flatMap(({ size }) => size ?? []);
  const isWhole = sizes.length === own.length && sizes.length > 0;
  const isKnown = isWhole && !own.some(({ isDoubtful }) => isDoubtful);
  return isKnown ? Math.max(...sizes) : null;
}

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
  features: z.array(z.unknown()).max(REPORTS_MAX - 1, 'as many reports as the relay gives at most'),
});
/** Where a report is, as far as that can be read: both of its places, where they differ. */
const degrees = z.number().nullable().catch(null);
const placedSchema = z
  .looseObject({
    properties: z.looseObject({ lon: degrees, lat: degrees }),
    geometry: z.looseObject({ coordinates: z.tuple([degrees, degrees]) }),
  })
  .transform(({ properties: { lon, lat }, geometry: { coordinates } }) => [
    { longitude: lon, latitude: lat },
    { longitude: coordinates[0], latitude: coordinates[1] },
  ])
  .catch([{ longitude: null, latitude: null }]);
type ReportEntry = z.infer<typeof reportSchema>;

/**
 * Reports as the Iowa Environmental Mesonet relays them, and the states (null for all) and the end of the day that they are
 * whole for; and where reports are that cannot be read. Throws an ImportError for another payload, and for an address that
 * asks for less than a day.
 */
export function relayedReports(payload: Payload) {
  const { note, subject } = payload;
  const { features } = jsonOf(payload, listSchema, 'a list of storm reports');
  const asked = askedOf(new URL(note.url).searchParams, Date.parse(note.fetched_at));
  if (typeof asked === 'string') {
    const state = `its address does not ask for the reports of a whole day (${asked}); fetch "states", "sts" and "ets" at most`;
    throw new ImportError({ subject, state });
  }
  const known: ReportEntry[] = [];
  const unread: { readonly why: string; readonly places: z.infer<typeof placedSchema> }[] = [];
  for (const [at, given] of features.entries()) {
    const { data, error } = reportSchema.safeParse(given);
    const fault =
      data === undefined ? `${at}.${error.issues[0]?.path.join('.')}` : faultOf(data, asked);
    if (data !== undefined && fault === null) known.push(data);
    else
      unread.push({
        why: `a report that cannot be read (${fault})`,
        places: placedSchema.parse(given),
      });
  }
  const fault = repeated(known);
  if (fault !== null) throw fetchAgain(payload, fault);
  return {
    reports: settled(known.map(reportOfEntry)),
    unread,
    states: asked.states,
    end: asked.end,
  };
}

/** What an address asks for, or the parameter that leaves something out. */
function askedOf(query: URLSearchParams, fetched: number) {
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

function relayedKind({ type, typetext }: ReportEntry['properties']): ReportKind | undefined {
  const named = REPORT_KINDS.get(typetext.toUpperCase());
  return named?.kind === SEA_CODES[type] ? undefined : named;
}

/** What is wrong with a report, or null; what its members say twice must be the same. */
function faultOf(
  { properties, geometry }: ReportEntry,
  { states, begin, end }: Exclude<ReturnType<typeof askedOf>, string>,
): string | null {
  const { type, typetext, lon, lat, valid, state } = properties;
  const known = relayedKind(properties);
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
  if (magf === null || expected === null) return null;
  if (UNITS.get(unit?.toUpperCase() ?? '') === expected) return null;
  return `the report of ${valid} is in "${unit}", not in ${expected}`;
}

function repeated(features: readonly ReportEntry[]): string | null {
  const once = new Set(features.map((one) => JSON.stringify(one)));
  return once.size === features.length ? null : 'a report is listed twice';
}

function reportOfEntry({ properties, geometry }: ReportEntry): StormReport {
  const { typetext, valid, magf, city, remark, product_id } = properties;
  const [longitude, latitude] = geometry.coordinates;
  const name = typetext.toUpperCase();
  return {
    kind: relayedKind(properties)?.kind ?? null,
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

/** First line of a report: local time, kind and place in columns of fixed width. */
const EVENT_LINE = /^(\d{2})(\d{2}) ([AP]M) {5}(.{17})(.*?) +(\d{1,2}\.\d{2})N +(\d{2,3}\.\d{2})W$/;
/** Its second line: date, magnitude and county; state and observer behind them are not read. */
const DATE_LINE = /^(\d{2})\/(\d{2})\/(\d{4})(?: {2}(.{0,17})(.{0,19}))?/;
const REMARK_LINE = /^ {12}/;
/** Estimated, measured or unknown, as a number with its unit. */
const SIZE = /^[EMU]?(\d{1,3}(?:\.\d{1,2})?) ?(INCH(?:ES)?|IN|MPH)$/i;
const RATING = /^E?F(\d)$/i;
const LAST_HEADING = '..REMARKS..';

/**
 * The reports of a local storm report (LSR); those dated after its issue are left out and counted in `skips`. Throws an
 * ImportError for a product with a line that fits no column.
 */
export function textReports(
  product: TextProduct,
  payload: Payload,
  skips: SkipCount,
): { issue: Issue; reports: readonly SettledReport[] } {
  const issue = issueOf(product, payload);
  return readable(payload, () => {
    const listed = blocksOf(product).map((block) => reportOfBlock(block, issue));
    const others = listed.filter(({ kind }) => kind === null).length;
    if (others > 0) skips.add(product.name, 'of a kind that is not severe convection', others);
    const reports = settled(listed);
    const late = reports.filter(({ at }) => at > issue.at);
    if (late.length > 0) skips.add(product.name, 'dated after its issue', late.length);
    return { issue, reports: reports.filter(({ at }) => at <= issue.at) };
  });
}

/** The two lines of each report; between them and after them nothing stands but remarks. */
function blocksOf({ lines }: TextProduct) {
  const from = lines.findIndex((line) => line.trim() === LAST_HEADING);
  const to = lines.findIndex((line, at) => at > from && (line === '&&' || line === '$$'));
  if (from < 0 || to < 0 || !lines.includes('$$')) throw new RangeError('it is cut off');
  const blocks: { readonly own: string[]; readonly remark: string[] }[] = [];
  for (const line of lines.slice(from + 1, to).filter((text) => text !== '')) {
    const last = blocks.at(-1);
    if (REMARK_LINE.test(line)) last?.remark.push(line);
    else if (last?.own.length === 1) last.own.push(line);
    else blocks.push({ own: [line], remark: [] });
  }
  return blocks.map(({ own: [first = '', second = ''], remark }) => {
    const [event, date] = [EVENT_LINE.exec(first), DATE_LINE.exec(second)];
    if (event !== null && date !== null) return { event, date, remark: remark.join(' ') };
    throw new RangeError(`"${first}" and "${second}" are not the two lines of a report`);
  });
}

function reportOfBlock(
  { event, date, remark }: ReturnType<typeof blocksOf>[number],
  issue: Issue,
): StormReport {
  const [, hour, minute, half, written = '', place = '', latitude, west] = event;
  const [, month, day, year, magnitude = '', county = ''] = date;
  const minutes = minutesOfDay({ hour, minute, half });
  const iso = `${year}-${month}-${day}`;
  if (minutes === null || !isRealDay(iso)) throw new RangeError(`no such time: ${event[0]}`);
  const name = written.trim().toUpperCase();
  const known = SEA_ZONE.test(county.trim()) ? undefined : REPORT_KINDS.get(name);
  return {
    kind: known?.kind ?? null,
    name,
    at: Date.parse(iso) + minutes * 60_000 - issue.offset,
    longitude: -Number(west),
    latitude: Number(latitude),
    place: place.trim().toUpperCase(),
    size: known === undefined ? null : sizeOf(magnitude, known),
    product: '',
    remark,
  };
}

/** Null where none is given, and where it is written in another way: one size that nobody knows. */
function sizeOf(column: string, { kind, unit }: ReportKind): number | null {
  // A county may begin in the column, two blanks behind the size.
  const [text = ''] = column.trimEnd().split(/ {2,}/);
  if (kind === 'tornado') {
    const [, rating] = RATING.exec(text) ?? [];
    if (rating !== undefined) return Number(rating);
  }
  const [, number, given] = SIZE.exec(text) ?? [];
  const isKnown =
    number !== undefined && (unit === null || UNITS.get(given?.toUpperCase() ?? '') === unit);
  return isKnown ? Number(number) : null;
}
