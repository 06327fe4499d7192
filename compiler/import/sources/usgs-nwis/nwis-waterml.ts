import { z } from 'zod';
import type { SkipCount } from '../../payload.ts';
import { decodeEntities, type GaugeSeries, NO_DATA } from './nwis-series.ts';

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
    if ((agencyCode ?? 'USGS') === 'USGS') return seriesOf(parsed.data);
    skips.add(site, 'not a USGS site');
    return [];
  });
}

function seriesOf({ sourceInfo, variable, values }: z.infer<typeof seriesSchema>): GaugeSeries[] {
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
