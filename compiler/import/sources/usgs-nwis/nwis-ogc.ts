import { z } from 'zod';
import type { SkipCount } from '../../payload.ts';
import { type GaugeSeries, NO_DATA, type SeriesPoint } from './nwis-series.ts';

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
    const series = seriesOf(properties);
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

function seriesOf(properties: Properties): GaugeSeries | null {
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
