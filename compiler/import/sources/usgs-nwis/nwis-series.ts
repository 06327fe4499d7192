import { z } from 'zod';
import type { OtherKind, SkipCount } from '../../payload.ts';

/** One value of a gauge as published: text, because the source writes numbers as text. */
export interface SeriesPoint {
  readonly value: string | null;
  /** With an offset for an instant, or a bare date for a daily value. */
  readonly time: string;
  readonly qualifiers: readonly string[];
}

/** One series of one parameter at one site, the same from both front ends of the service. */
export interface GaugeSeries {
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
export const NO_DATA = -999_999;

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
    qualifier: z.array(z.string()).nullish(),
    unit_of_measure: z.string().nullish(),
  }),
});
type Properties = z.infer<typeof featureSchema>['properties'];

/** The letters that the older front end writes for the same words. */
const QUALIFIER_CODES: ReadonlyMap<string, string> = new Map([
  ['provisional', 'P'],
  ['approved', 'A'],
  ['estimated', 'e'],
]);

/**
 * The OGC front end (`/collections/continuous`, `/daily`): features of one value each, by series. Throws a RangeError for
 * a feature that cannot be read, since nobody knows whose it is.
 */
export function ogcSeries(features: readonly unknown[], skips: SkipCount): GaugeSeries[] {
  const groups = new Map<string, { series: GaugeSeries; points: SeriesPoint[] }>();
  for (const [at, item] of features.entries()) {
    const parsed = featureSchema.safeParse(item);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      throw new RangeError(`features.${at}.${issue?.path.join('.')}: ${issue?.message}`);
    }
    const { properties } = parsed.data;
    const series = featureSeries(properties);
    if (series === null) skips.add(properties.monitoring_location_id, 'not a USGS site');
    else addPoint(groups, series, pointOf(properties));
  }
  return [...groups.values()].map(({ series, points }) => ({ ...series, points }));
}

function addPoint(
  groups: Map<string, { series: GaugeSeries; points: SeriesPoint[] }>,
  series: GaugeSeries,
  point: SeriesPoint,
): void {
  const key = JSON.stringify([series.site, series.parameter, series.statistic, series.method]);
  const group = groups.get(key);
  if (group === undefined) groups.set(key, { series, points: [point] });
  else group.points.push(point);
}

function featureSeries(properties: Properties): GaugeSeries | null {
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

function pointOf({ value, time, approval_status, qualifier }: Properties): SeriesPoint {
  const words = [approval_status ?? '', ...(qualifier ?? [])].filter((word) => word !== '');
  const qualifiers = words.map((word) => QUALIFIER_CODES.get(word.toLowerCase()) ?? word);
  return { value, time, qualifiers };
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
const pointSchema = z.looseObject({
  value: z.string().nullable(),
  qualifiers: z.array(z.string()).nullish(),
  dateTime: z.string(),
});

/**
 * The WaterML front end (`/nwis/iv`, `/nwis/dv`): one series for each method of each `timeSeries`. Throws a RangeError for
 * a `timeSeries` that cannot be read, since nobody knows whose it is.
 */
export function waterMlSeries(timeSeries: readonly unknown[], skips: SkipCount): GaugeSeries[] {
  return timeSeries.flatMap((item, at) => {
    const parsed = seriesSchema.safeParse(item);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      throw new RangeError(`value.timeSeries.${at}.${issue?.path.join('.')}: ${issue?.message}`);
    }
    const { value: site, agencyCode } = parsed.data.sourceInfo.siteCode[0];
    if ((agencyCode ?? 'USGS') === 'USGS') return blockSeries(parsed.data);
    skips.add(site, 'not a USGS site');
    return [];
  });
}

function blockSeries({
  sourceInfo,
  variable,
  values,
}: z.infer<typeof seriesSchema>): GaugeSeries[] {
  return values.map((block) => {
    const points = block.value.map((value) => pointSchema.safeParse(value).data);
    return {
      site: sourceInfo.siteCode[0].value,
      siteName: sourceInfo.siteName ? decodeEntities(sourceInfo.siteName) : null,
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
}

const INSTEAD = 'import the values (iv or dv, format=json)';
/** Tab-delimited answers: what they hold is no value at a time. */
export const OTHER_TEXTS: readonly OtherKind[] = [
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
export const OTHER_FEATURES: ReadonlyMap<string, string> = new Map([
  ['water_year', `the largest values of each year, mostly without a time of day; ${INSTEAD}`],
  ['monitoring_location_number', `names and positions of sites, without a value; ${INSTEAD}`],
  ['data', `statistics of the days of a year over all years, which are no readings; ${INSTEAD}`],
]);
