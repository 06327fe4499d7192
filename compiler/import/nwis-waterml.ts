import { z } from 'zod';
import { decodeEntities, type GaugeSeries, NO_DATA } from './nwis-series.ts';
import type { SkipCount } from './payload.ts';

const code = z.looseObject({ value: z.string() });
const valuesSchema = z.looseObject({
  method: z.array(z.looseObject({ methodDescription: z.string().nullish() })).nullish(),
  value: z.array(z.unknown()),
});
const seriesSchema = z.looseObject({
  sourceInfo: z.looseObject({
    siteName: z.string().nullish(),
    siteCode: z.tuple([code], z.unknown()),
  }),
  variable: z.looseObject({
    variableCode: z.tuple([code], z.unknown()),
    noDataValue: z.number().nullish(),
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

/** The WaterML front end (`/nwis/iv`, `/nwis/dv`): one series for each method of each `timeSeries`. */
export function waterMlSeries(timeSeries: readonly unknown[], skips: SkipCount): GaugeSeries[] {
  return timeSeries.flatMap((item) => {
    const parsed = seriesSchema.safeParse(item);
    if (parsed.success) return seriesOf(parsed.data, skips);
    skips.add('timeSeries', `unreadable ${parsed.error.issues[0]?.path.join('.') ?? ''}`);
    return [];
  });
}

function seriesOf(item: z.infer<typeof seriesSchema>, skips: SkipCount): GaugeSeries[] {
  const { sourceInfo, variable, values } = item;
  const site = sourceInfo.siteCode[0].value;
  return values.map((block) => ({
    site,
    siteName: sourceInfo.siteName ? decodeEntities(sourceInfo.siteName) : null,
    parameter: variable.variableCode[0].value,
    statistic: variable.options?.option[0].optionCode ?? '',
    noData: variable.noDataValue ?? NO_DATA,
    method: block.method?.[0]?.methodDescription ?? '',
    points: block.value.flatMap((value) => {
      const point = pointSchema.safeParse(value);
      if (!point.success) {
        skips.add(site, 'unreadable value');
        return [];
      }
      const { value: text, dateTime, qualifiers } = point.data;
      return [{ value: text, time: dateTime, qualifiers: qualifiers ?? [] }];
    }),
  }));
}
