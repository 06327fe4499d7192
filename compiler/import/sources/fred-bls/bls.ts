import { z } from 'zod';
import {
  fetchAgain,
  type Imported,
  numberOf,
  type Payload,
  parsePayload,
  shaped,
} from '../../payload.ts';
import { type Origin, ReadingList } from '../../readings.ts';
import type { Source } from '../../source.ts';
import { addMonths, type Figure, type Measure, type Months, monthOf } from './monthly-series.ts';

const SERVICE = 'https://api.bls.gov/publicAPI/v1/timeseries/data/';
const ORIGIN: Origin = {
  name: 'US Bureau of Labor Statistics',
  role: 'measurement',
  independent: true,
  page: 'https://www.bls.gov/data/',
  tier: 'T1',
  status: 'as published by BLS',
};
const UNEMPLOYMENT = 'LNS14000000';
const SERIES: ReadonlyMap<string, Measure> = new Map([
  ['CUSR0000SA0E', 'cpi_energy_index'],
  ['APU000072620', 'gas_usd_therm'],
  ['APU000074714', 'gasoline_usd_gal'],
  ['APU000072610', 'electricity_usd_kwh'],
  [UNEMPLOYMENT, 'unemployment_pct'],
]);
const MISSING = '-';
const MONTH = /^M(0[1-9]|1[0-2])$/;
/** Yearly, half-yearly and quarterly figures, and the mean of a year. */
const OTHER_PERIOD = /^(M13|A01|S0[1-3]|Q0[1-5])$/;
/** The one series of an address. */
const ASKED = /\/timeseries\/data\/([A-Z0-9_#-]+)/;
const DONE = 'REQUEST_SUCCEEDED';

const figureSchema = z.looseObject({
  year: z.string().regex(/^\d{4}$/, 'not a year'),
  period: z.string(),
  value: z.string(),
  footnotes: z.array(z.looseObject({ code: z.string().optional() })),
});
const resultsSchema = z.looseObject({
  series: z.array(
    z.looseObject({
      seriesID: z.string().regex(/^[A-Z0-9_#-]{1,40}$/, 'not the id of a series'),
      data: z.array(figureSchema),
    }),
  ),
});
type BlsSeries = z.infer<typeof resultsSchema>['series'][number];
const answerSchema = z.looseObject({
  status: z.string(),
  message: z.array(z.string()).optional(),
  Results: z.unknown(),
});

/** The results of an answer. A used-up quota answers too, with another status; a file may hold the results alone. */
function resultsOf(payload: Payload) {
  const { bytes, subject } = payload;
  const value = parsePayload(bytes, subject);
  const { success, data: answer } = answerSchema.safeParse(value);
  if (success && answer.status !== DONE) {
    const why = [answer.status, ...(answer.message ?? [])].join(': ').slice(0, 200);
    throw fetchAgain(payload, `the agency did not process the request (${why})`);
  }
  const is = 'an answer of time series';
  return shaped(resultsSchema, success ? answer.Results : value, { subject, is });
}

function readSeries(payload: Payload): Imported {
  const { series } = resultsOf(payload);
  const asked = ASKED.exec(payload.note.url)?.[1];
  const list = new ReadingList();
  const found = new Map<Measure, Months>();
  for (const { seriesID, data } of series) {
    const measure = SERIES.get(seriesID);
    if (measure === undefined) {
      list.skips.add(seriesID, `feeds no signal; known are ${[...SERIES.keys()].join(', ')}`);
      continue;
    }
    if (found.has(measure)) throw fetchAgain(payload, `series ${seriesID} is there twice`);
    if ((asked ?? seriesID) !== seriesID)
      throw fetchAgain(payload, `it holds ${seriesID}, not ${asked}`);
    found.set(measure, monthsOf(payload, { seriesID, data }, list));
  }
  addMonths(list, { payload, origin: ORIGIN, series: found });
  return list.someOf(payload);
}

function monthsOf(payload: Payload, { seriesID, data }: BlsSeries, list: ReadingList): Months {
  const months = new Map<number, Figure | null>();
  for (const item of data) {
    if (OTHER_PERIOD.test(item.period)) {
      list.skips.add(seriesID, `period ${item.period} is no month`);
      continue;
    }
    const when = `${item.period.slice(0, 20)} ${item.year} of ${seriesID}`;
    const [, month] = MONTH.exec(item.period) ?? [];
    const at = monthOf(Number(item.year), Number(month));
    if (month === undefined || months.has(at)) {
      throw fetchAgain(payload, `${when} is ${month === undefined ? 'no month' : 'there twice'}`);
    }
    const figure = figureOf(item);
    if (figure === undefined) {
      throw fetchAgain(payload, `${when} is "${item.value.slice(0, 40)}", not a figure`);
    }
    months.set(at, figure);
  }
  return months;
}

/** Null where the agency has no figure; undefined for a text that is none. */
function figureOf({
  value: text,
  footnotes,
}: BlsSeries['data'][number]): Figure | null | undefined {
  if (text === MISSING) return null;
  const value = numberOf(text);
  if (value === null || value < 0) return undefined;
  return { value, isPreliminary: footnotes.some(({ code }) => code === 'P') };
}

/** Time series of the last three years: https://www.bls.gov/developers/api_signature.htm */
export const bls: Source = {
  id: 'bls',
  agency: 'US Bureau of Labor Statistics',
  version: 1,
  format: 'json',
  feeds: ['macro.unemployment', 'energy.inflation', 'energy.gas-price'],
  read: readSeries,
  fetch: {
    hosts: ['api.bls.gov'],
    // The energy series come from FRED in one table, so that one month never has two publishers.
    addresses: () => [`${SERVICE}${UNEMPLOYMENT}`],
    // 25 requests a day without a key.
    everyMinutes: 24 * 60,
    perMinute: 1,
  },
};
