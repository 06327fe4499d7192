import { z } from 'zod';
import { builtinLine } from '../../catalog/builtin.ts';
import { isRealDay } from '../../format/cutoff.ts';
import { isoTime } from '../../format/iso-time.ts';
import { grouped } from '../../format/lists.ts';
import type { Reading } from '../../readings/reading.ts';
import {
  type FetchNote,
  ImportError,
  type Imported,
  type OtherKind,
  type Payload,
  parsePayload,
  readable,
  refuseOtherEntries,
  refuseOtherKinds,
  type SkipCount,
} from '../kit/payload.ts';
import { askedOnly, measuredBy, namedIn, ReadingList } from '../kit/readings.ts';
import { registered, type Source } from '../kit/source.ts';

/** One value of a gauge as published: text, because the source writes numbers as text. */
interface SeriesPoint {
  readonly value: string | null;
  /** With an offset for an instant, or a bare date for a daily value. */
  readonly time: string;
  readonly qualifiers: readonly string[];
}

/** One series of one parameter at one site, the same from both front ends of the service. */
interface GaugeSeries {
  readonly site: string;
  readonly siteName: string | null;
  readonly parameter: string;
  /** Statistic code: 00000 and 00011 are instants, 00003 is the daily mean. */
  readonly statistic: string;
  readonly noData: number;
  /** Unit as the source writes it; null where it names none, and then the parameter code says it. */
  readonly unit: string | null;
  /** Tells apart series of one parameter, for example two sensors; empty for the primary one. */
  readonly method: string;
  readonly points: readonly SeriesPoint[];
  /** A point could not be read, so that nothing is known of the series as a whole. */
  readonly isUnreadable: boolean;
}

/** The code for "nothing there", where a series does not name its own. */
const NO_DATA = -999_999;

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
};

/** Decodes the HTML entities of a name, `&#179;` and `&amp;` alike; an unknown one stays as it is. */
export function decodeEntities(text: string): string {
  return text.replace(/&(#\d{1,7}|#x[0-9a-f]{1,6}|[a-z]{2,8});/gi, (whole, body: string) => {
    if (!body.startsWith('#')) return ENTITIES[body.toLowerCase()] ?? whole;
    const point = Number(body.replace(/^#x/i, '0x').replace(/^#/, ''));
    const scalar = point > 31 && point <= 0x10ffff && !(point >= 0xd800 && point <= 0xdfff);
    return scalar ? String.fromCodePoint(point) : whole;
  });
}

const featureSchema = z.looseObject({
  properties: z.looseObject({
    monitoring_location_id: z.string().regex(/^[A-Z0-9]+-.+$/),
    parameter_code: z.string(),
    statistic_id: z.string(),
    time_series_id: z.string().nullish(),
    time: z.string(),
    value: z.union([z.string(), z.null()]),
    approval_status: z.string().nullish(),
    qualifier: z.union([z.array(z.string()), z.string().transform((word) => [word])]).nullish(),
    unit_of_measure: z.string().nullish(),
  }),
});

/** The letters that the older front end writes for the same words. */
const QUALIFIER_CODES: ReadonlyMap<string, string> = new Map([
  ['provisional', 'P'],
  ['approved', 'A'],
  ['estimated', 'e'],
]);

/** What can be read of a feature that cannot be read as a whole: where it is of no site, its series says whose it is. */
const ownedSchema = z.looseObject({
  properties: z.looseObject({
    monitoring_location_id: z
      .string()
      .regex(/^USGS-\d+$/)
      .nullable()
      .catch(null),
    time_series_id: z.string().min(1).nullable().catch(null),
    parameter_code: z
      .string()
      .regex(/^\d{5}$/)
      .nullable()
      .catch(null),
  }),
});

/**
 * The OGC front end (`/collections/continuous`, `/daily`): features of one value each, by series. A feature that cannot be
 * read leaves out the series that it is of; where nobody knows which, it is counted: every other value is of its own series.
 */
function ogcSeries(features: readonly unknown[], skips: SkipCount): GaugeSeries[] {
  const groups = new Map<string, { series: GaugeSeries; points: SeriesPoint[] }>();
  const broken: z.infer<typeof ownedSchema>['properties'][] = [];
  for (const [at, item] of features.entries()) {
    const parsed = featureSchema.safeParse(item);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      const { properties: owner } = ownedSchema.safeParse(item).data ?? {};
      if (owner !== undefined) broken.push(owner);
      const whose = owner?.monitoring_location_id ?? owner?.time_series_id ?? `features.${at}`;
      skips.unread(whose, `a feature that cannot be read (${issue?.path.join('.')})`);
      continue;
    }
    const { properties } = parsed.data;
    const series = featureSeries(properties);
    if (series === null) skips.add(properties.monitoring_location_id, 'not a USGS site');
    else {
      const words = [properties.approval_status ?? '', ...(properties.qualifier ?? [])].filter(
        (word) => word !== '',
      );
      const qualifiers = words.map((word) => QUALIFIER_CODES.get(word.toLowerCase()) ?? word);
      const point = { value: properties.value, time: properties.time, qualifiers };
      const key = JSON.stringify([series.site, series.parameter, series.statistic, series.method]);
      const group = groups.get(key);
      if (group === undefined) groups.set(key, { series, points: [point] });
      else group.points.push(point);
    }
  }
  const methods = new Set([...groups.values()].map(({ series }) => series.method));
  const isBroken = ({ site, parameter, method }: GaugeSeries): boolean =>
    broken.some(({ monitoring_location_id: place, parameter_code, time_series_id }) =>
      time_series_id !== null && methods.has(time_series_id)
        ? time_series_id === method
        : place === `USGS-${site}` && (parameter_code ?? parameter) === parameter,
    );
  return [...groups.values()].map(({ series, points }) => {
    return { ...series, points, isUnreadable: isBroken(series) };
  });
}

function featureSeries(
  properties: z.infer<typeof featureSchema>['properties'],
): GaugeSeries | null {
  const [agency, ...rest] = properties.monitoring_location_id.split('-');
  if (agency !== 'USGS') return null;
  return {
    site: rest.join('-'),
    siteName: null,
    parameter: properties.parameter_code,
    statistic: properties.statistic_id,
    noData: NO_DATA,
    unit: properties.unit_of_measure ?? null,
    method: properties.time_series_id ?? '',
    points: [],
    isUnreadable: false,
  };
}

const code = z.looseObject({ value: z.string() });
const siteCode = code.extend({ agencyCode: z.string().nullish() });
const valuesSchema = z.looseObject({
  method: z.array(z.looseObject({ methodDescription: z.string().nullish() })).nullish(),
  value: z.array(z.unknown()),
});
const seriesSchema = z.looseObject({
  sourceInfo: z.looseObject({
    siteName: z.string().nullish(),
    siteCode: z.tuple([siteCode], z.unknown()),
  }),
  variable: z.looseObject({
    variableCode: z.tuple([code], z.unknown()),
    noDataValue: z.number().nullish(),
    unit: z.looseObject({ unitCode: z.string() }).nullish(),
    options: z
      .looseObject({ option: z.tuple([z.looseObject({ optionCode: z.string() })], z.unknown()) })
      .nullish(),
  }),
  values: z.array(valuesSchema),
});
const sitedSchema = seriesSchema
  .pick({ sourceInfo: true })
  .extend({ sourceInfo: z.looseObject({ siteCode: z.tuple([siteCode], z.unknown()) }) });
const pointSchema = z.looseObject({
  value: z.string().nullable(),
  qualifiers: z.array(z.string()).nullish(),
  dateTime: z.string(),
});

/**
 * The WaterML front end (`/nwis/iv`, `/nwis/dv`): one series for each method of each `timeSeries`. One that cannot be read
 * is left out, also where nobody knows whose it is: the others name their own site.
 */
function waterMlSeries(timeSeries: readonly unknown[], skips: SkipCount): GaugeSeries[] {
  return timeSeries.flatMap((item, at) => {
    const parsed = seriesSchema.safeParse(item);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      const site = sitedSchema.safeParse(item).data?.sourceInfo.siteCode[0].value;
      skips.unread(
        site ?? `value.timeSeries.${at}`,
        `a series that cannot be read (${issue?.path.join('.')})`,
      );
      return [];
    }
    const { sourceInfo, variable, values } = parsed.data;
    const { siteName } = sourceInfo;
    const { value: site, agencyCode } = sourceInfo.siteCode[0];
    if ((agencyCode ?? 'USGS') !== 'USGS') {
      skips.add(site, 'not a USGS site');
      return [];
    }
    return values.map((block) => {
      const points = block.value.map((value) => pointSchema.safeParse(value).data);
      return {
        site,
        siteName: siteName ? decodeEntities(siteName) : null,
        parameter: variable.variableCode[0].value,
        statistic: variable.options?.option[0].optionCode ?? '',
        noData: variable.noDataValue ?? NO_DATA,
        unit: variable.unit?.unitCode ?? null,
        method: block.method?.[0]?.methodDescription ?? '',
        points: points.flatMap((point) =>
          point === undefined
            ? []
            : [{ value: point.value, time: point.dateTime, qualifiers: point.qualifiers ?? [] }],
        ),
        isUnreadable: points.includes(undefined),
      };
    });
  });
}

const INSTEAD = 'import the values (iv or dv, format=json)';
/** Tab-delimited answers: what they hold is no value at a time. */
const OTHER_TEXTS: readonly OtherKind[] = [
  {
    begins: /^#[\s\S]*USGS Daily Statistics/,
    is: `percentiles of the days of a year over all years, which are no readings; a record takes its percentile from the stored history; ${INSTEAD}`,
  },
  {
    begins: /^#[\s\S]*annual peak streamflow/,
    is: `the largest flow of each year, by a local time without zone; beside daily values it would look like another value of its day; ${INSTEAD}`,
  },
  {
    begins: /^#[\s\S]*The Site File stores/,
    is: `names and positions of sites, without a value; ${INSTEAD}`,
  },
  { begins: /^#/, is: `a tab-delimited answer; ${INSTEAD}` },
];
/** Collections of the newer service that hold no values at a time, by a member of their features. */
const OTHER_FEATURES: ReadonlyMap<string, string> = new Map([
  ['water_year', `the largest values of each year, mostly without a time of day; ${INSTEAD}`],
  ['monitoring_location_number', `names and positions of sites, without a value; ${INSTEAD}`],
  ['data', `statistics of the days of a year over all years, which are no readings; ${INSTEAD}`],
]);

interface Parameter {
  readonly signal: string;
  readonly metric: string;
  /** Spellings of its unit by the two front ends. */
  readonly units: readonly string[];
}
/** Parameter codes that become readings; stage on another datum has another code and is left out. */
const PARAMETERS: ReadonlyMap<string, Parameter> = new Map([
  ['00065', { signal: 'hydrology.river-level', metric: 'stage_ft', units: ['ft'] }],
  [
    '00060',
    { signal: 'hydrology.streamflow', metric: 'discharge_cfs', units: ['ft3/s', 'ft^3/s'] },
  ],
]);
const CITY_GAUGES = Object.values(
  builtinLine('environment').entityOf?.['hydrology.river-level'] ?? {},
);
const INSTANT_STATISTICS = ['00000', '00011'];
const DAILY_MEAN = '00003';

/** A day of so many sites, with a value of both parameters every five minutes, is what one answer of the newer service holds. */
const SITES_AT_ONCE = 80;
const SITE = /^\d{8,15}$/;
const NUMBER = /^-?\d{1,12}(\.\d{1,6})?$/;
const DAY = /^(\d{4}-\d{2}-\d{2})(T00:00:00(\.0+)?)?$/;
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/;
const QUALIFIERS_MAX = 16;
/** In place of a value: nothing, a number, and words for ice, equipment, maintenance, backwater, discontinued, seasonal. */
const SENTINELS = ['', String(NO_DATA), '***', 'Ice', 'Eqp', 'Mnt', 'Bkw', 'Dis', 'Ssn'];

const waterMlSchema = z.looseObject({ value: z.looseObject({ timeSeries: z.array(z.unknown()) }) });
const namedSchema = z.looseObject({ properties: z.unknown() });
const ogcSchema = z.looseObject({
  type: z.literal('FeatureCollection'),
  features: z.array(z.unknown()),
  numberReturned: z.int().optional(),
  links: z.array(z.looseObject({ rel: z.string() })).optional(),
});

interface UsedSeries extends GaugeSeries {
  readonly measures: Parameter;
}

/**
 * Makes river readings from a USGS water answer of either front end: every point with a value, so that
 * history comes too. A series with a point that cannot be read gives none. Throws an ImportError when the payload is no
 * such answer, holds a site that was not asked for, or gives nothing.
 */
function readGauges(payload: Payload): Imported {
  const list = new ReadingList();
  const { skips } = list;
  refuseOtherKinds(payload, OTHER_TEXTS);
  const series = readSeries(payload, skips);
  const named = namedIn(payload, 'sites', 'site', 'monitoring_location_id');
  const asked = named.map((text) => text.trim().replace(/^USGS[-:]/i, ''));
  const sites = series.map(({ site }) => site);
  const isAsked = askedOnly(payload, { asked, found: sites, skips });
  const wanted = series.filter(({ site }) => isAsked(site));
  for (const one of onePerMeaning(usedSeries(wanted, skips), skips)) {
    const { signal } = one.measures;
    for (const reading of seriesReadings(one, payload.note, skips)) list.add(signal, reading);
  }
  return list.someOf(payload);
}

function readSeries({ bytes, subject }: Payload, skips: SkipCount): GaugeSeries[] {
  const value = parsePayload(bytes, subject);
  const waterMl = waterMlSchema.safeParse(value);
  const ogc = ogcSchema.safeParse(value);
  const [first] = namedSchema.array().safeParse(ogc.data?.features).data ?? [];
  refuseOtherEntries(first?.properties, OTHER_FEATURES, subject);
  if (waterMl.success)
    return readable({ subject }, () => waterMlSeries(waterMl.data.value.timeSeries, skips));
  if (ogc.success) return readable({ subject }, () => ogcSeries(allFeatures(ogc.data), skips));
  const state = 'neither value.timeSeries nor a FeatureCollection; fetch format=json again';
  throw new ImportError({ subject, state }, { cause: waterMl.error });
}

function allFeatures({ features, numberReturned, links = [] }: z.infer<typeof ogcSchema>) {
  // Part of a series would look like all of it, and one of two sensors like the only one.
  if (links.some(({ rel }) => rel === 'next')) {
    throw new RangeError('it is one page of several; ask for fewer sites');
  }
  const announced = numberReturned ?? features.length;
  if (announced === features.length) return features;
  throw new RangeError(`it announces ${announced} features and holds ${features.length}`);
}

function usedSeries(series: readonly GaugeSeries[], skips: SkipCount): UsedSeries[] {
  return series.flatMap((one) => {
    const measures = parameterOf(one);
    if (typeof measures !== 'string') return [{ ...one, measures }];
    skips.add(one.site, measures);
    return [];
  });
}

function parameterOf(series: GaugeSeries): Parameter | string {
  const { site, parameter, statistic, unit, points, isUnreadable } = series;
  const used = PARAMETERS.get(parameter);
  if (!SITE.test(site)) return 'not a USGS site number';
  if (used === undefined) return `parameter ${parameter} is not used`;
  if (unit !== null && !used.units.includes(unit)) {
    return `${parameter} in "${unit.slice(0, 20)}", not in ${used.units[0]}`;
  }
  if (statistic !== DAILY_MEAN && !INSTANT_STATISTICS.includes(statistic)) {
    return `statistic "${statistic}" of ${parameter} is not used`;
  }
  return points.length === 0 && !isUnreadable ? `empty series of ${parameter}` : used;
}

/** Two sensors of one meaning are never averaged: the primary one is taken, or none. */
function onePerMeaning(series: readonly UsedSeries[], skips: SkipCount): UsedSeries[] {
  const groups = grouped(series, ({ site, parameter }) => `${site} ${parameter}`);
  return [...groups.values()].flatMap((group) => {
    if (group.length === 1) return group;
    const [{ site, parameter }] = group;
    const primary = group.filter(({ method }) => method === '' || /primary/i.test(method));
    if (primary.length === 1) {
      skips.add(site, 'another method beside the primary one', group.length - 1);
      return primary;
    }
    skips.add(site, `${group.length} series of ${parameter}, none of them primary`);
    return [];
  });
}

function seriesReadings(series: UsedSeries, note: FetchNote, skips: SkipCount): Reading[] {
  if (series.isUnreadable) {
    const reason = `a point of ${series.parameter} that cannot be read; no point is used`;
    skips.unread(series.site, reason);
    return [];
  }
  const byTime = new Map<string, Reading>();
  for (const point of series.points) {
    const absent = noValue(point, series);
    if (absent !== null) {
      skips.add(series.site, absent);
      continue;
    }
    const parsed = parsePoint(point, series, note);
    if (typeof parsed === 'string') return leftOut(series, parsed, skips);
    const reading = readingOf(series, parsed, note);
    const twin = byTime.get(reading.observed_at);
    if (twin === undefined) byTime.set(reading.observed_at, reading);
    else if (JSON.stringify(twin.current) !== JSON.stringify(reading.current)) {
      return leftOut(series, `two values of ${series.parameter} at one time`, skips);
    }
  }
  return [...byTime.values()];
}

/** A series that cannot be read as a whole is not read in part: what is left of it would look like all of it. */
function leftOut(series: GaugeSeries, why: string, skips: SkipCount): Reading[] {
  skips.unread(series.site, `${why}; no point is used`, series.points.length);
  return [];
}

/** How the source says that there is no value at a time; null where there is one. */
function noValue({ value, qualifiers }: SeriesPoint, { noData }: GaugeSeries): string | null {
  const text = value?.trim() ?? '';
  if (text === '') return 'empty value';
  const isCode = NUMBER.test(text) && [noData, NO_DATA].includes(Number(text));
  if (isCode)
    return `no data${qualifiers.length === 0 ? '' : ` (${qualifiers.slice(0, QUALIFIERS_MAX).join(', ')})`}`;
  const isWord = SENTINELS.some((word) => word.toLowerCase() === text.toLowerCase());
  return isWord ? `no data (${text})` : null;
}

function parsePoint(point: SeriesPoint, series: GaugeSeries, note: FetchNote) {
  const text = point.value?.trim() ?? '';
  if (!NUMBER.test(text)) return `value "${text.slice(0, 40)}" is not a number`;
  const epochMs = timeOf(point.time, series.statistic);
  if (epochMs === null) return `time "${point.time.slice(0, 40)}" has no offset or does not exist`;
  if (epochMs > Date.parse(note.fetched_at)) return 'observed after the fetch';
  return { value: Number(text), observedAt: isoTime(epochMs), qualifiers: point.qualifiers };
}

/** A daily value covers a local calendar day: its date at 00:00Z stands for it (ours). */
function timeOf(time: string, statistic: string): number | null {
  const day = statistic === DAILY_MEAN ? DAY.exec(time)?.[1] : undefined;
  if (day !== undefined) return isRealDay(day) ? Date.parse(day) : null;
  if (statistic === DAILY_MEAN || !INSTANT.test(time) || !isRealDay(time.slice(0, 10))) return null;
  const epochMs = Date.parse(time);
  return Number.isNaN(epochMs) ? null : epochMs;
}

function readingOf(
  series: UsedSeries,
  point: Exclude<ReturnType<typeof parsePoint>, string>,
  note: FetchNote,
): Reading {
  const stated = point.qualifiers.filter((word) => word.trim() !== '');
  const qualifiers = [...new Set(stated)].slice(0, QUALIFIERS_MAX);
  return {
    entity: series.site,
    ...(series.siteName === null ? {} : { entity_name: series.siteName }),
    observed_at: point.observedAt,
    collected_at: note.fetched_at,
    current: { [series.measures.metric]: point.value },
    sources: measuredBy('USGS NWIS', point.value, point.observedAt),
    source_ref: `https://waterdata.usgs.gov/monitoring-location/USGS-${series.site}/`,
    source_tier: 'T1',
    ...(qualifiers.length === 0 ? {} : { qualifiers }),
    grade: gradeOf(qualifiers),
    scope: series.statistic === DAILY_MEAN ? DAILY_SCOPE : INSTANT_SCOPE,
    validation_status: 'as published by USGS',
    uncertainty: 'not stated in the payload',
  };
}

const DAILY_SCOPE = 'daily mean of a local calendar day at one gauge; its date stands at 00:00Z';
const INSTANT_SCOPE = 'instantaneous value at one gauge';

function gradeOf(qualifiers: readonly string[]): string | null {
  const estimated = qualifiers.includes('e') ? ', estimated' : '';
  if (qualifiers.includes('P')) return `provisional, subject to revision${estimated}`;
  return qualifiers.includes('A') ? `approved${estimated}` : null;
}

/** Instantaneous and daily values: https://api.waterdata.usgs.gov/docs/ogcapi/, and until February 2027 https://waterservices.usgs.gov/docs/ */
export const usgsNwis: Source = {
  ...registered('usgs-nwis'),
  version: 2,
  sentinels: SENTINELS,
  read: readGauges,
  asks: ({ entities }) => {
    const sites = entities.length > 0 ? entities : CITY_GAUGES;
    const parts = Math.ceil(sites.length / SITES_AT_ONCE);
    return Array.from({ length: parts }, (_, at) => {
      const part = sites.slice(at * SITES_AT_ONCE, (at + 1) * SITES_AT_ONCE);
      const locations = part.map((site) => `USGS-${site}`).join(',');
      return { with: { sites: part.join(','), locations } };
    });
  },
};
