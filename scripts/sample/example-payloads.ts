import { DAY_MS, HOUR_MS, isoTime } from '../../compiler/format/iso-time.ts';
import { fixedNumber } from './sample-values.ts';

/** A payload of our own making in the format of an agency: nothing in it was observed or filed. */
export interface ExamplePayload {
  readonly source: string;
  readonly bytes: Uint8Array;
  readonly note: { readonly url: string; readonly fetched_at: string; readonly http_status: 200 };
}

/** A site and a filer that the agencies have not numbered. */
const SITE = '99990001';
const CIK = '9900009901';
const TICKER = 'SAMPLECO';
const READINGS = 48;

/** One payload of each kind that the quick start shows, as they would be answered in this hour. */
export function examplePayloads(hour: string): ExamplePayload[] {
  return [gaugeAnswer(hour), submissionsAnswer(hour)];
}

/** The instantaneous values of one gauge over twelve hours, as the water services of the USGS answer. */
function gaugeAnswer(hour: string): ExamplePayload {
  const series = [
    { code: '00065', unit: 'ft', textAt: (at: number) => (6 + 4 * at).toFixed(2) },
    { code: '00060', unit: 'ft3/s', textAt: (at: number) => String(Math.round(900 + 2400 * at)) },
  ];
  const timeSeries = series.map(({ code, unit, textAt }) => ({
    sourceInfo: {
      siteName: 'SAMPLE RIVER AT SAMPLETON (MADE FOR THE QUICK START)',
      siteCode: [{ value: SITE, agencyCode: 'USGS' }],
    },
    variable: {
      variableCode: [{ value: code }],
      unit: { unitCode: unit },
      noDataValue: -999999.0,
      options: { option: [{ name: 'Statistic', optionCode: '00000' }] },
    },
    values: [
      {
        value: Array.from({ length: READINGS }, (_, at) => {
          const time = Date.parse(hour) - (READINGS - at) * (HOUR_MS / 4);
          const day = Math.floor(time / DAY_MS);
          const [from, to] = [fixedNumber(`${SITE}#${day}`), fixedNumber(`${SITE}#${day + 1}`)];
          const value = textAt(from + (to - from) * (time / DAY_MS - day));
          return { value, qualifiers: ['P'], dateTime: isoTime(time).replace('Z', '.000+00:00') };
        }),
        method: [{ methodDescription: '' }],
      },
    ],
  }));
  const url = `https://waterservices.usgs.gov/nwis/iv/?format=json&sites=${SITE}`;
  return payloadOf('usgs-nwis', url, { hour, answer: { value: { timeSeries } } });
}

/** What a filer filed, as days before the hour of the answer. */
const FILED = [
  ['8-K', 6, '2.02,9.01'],
  ['4', 15, ''],
  ['10-Q', 17, ''],
  ['8-K', 71, '5.02'],
  ['10-Q', 108, ''],
  ['10-Q', 199, ''],
  ['10-K', 281, ''],
] as const;

/** The submissions of one filer, as EDGAR answers: equal columns, newest first. */
function submissionsAnswer(hour: string): ExamplePayload {
  const dayOf = (daysAgo: number): string => {
    return isoTime(Date.parse(hour) - daysAgo * DAY_MS).slice(0, 10);
  };
  const filings = FILED.map(([form, daysAgo, items], at) => ({
    accessionNumber: `${CIK}-${dayOf(daysAgo).slice(2, 4)}-${String(FILED.length - at).padStart(6, '0')}`,
    filingDate: dayOf(daysAgo),
    reportDate: dayOf(daysAgo + 2),
    // an hour that only UTC can mean: the evening in New York before
    acceptanceDateTime: `${dayOf(daysAgo)}T01:05:00.000Z`,
    form,
    items,
    primaryDocument: 'sample.htm',
  }));
  const columns = Object.keys(filings[0] ?? {}).map((name) => {
    return [name, filings.map((row) => row[name as keyof typeof row])];
  });
  const answer = {
    cik: CIK,
    name: 'Sample Company (made for the quick start)',
    tickers: [TICKER],
    filings: { recent: Object.fromEntries(columns), files: [] },
  };
  const url = `https://data.sec.gov/submissions/CIK${CIK}.json`;
  return payloadOf('sec-edgar', url, { hour, answer });
}

function payloadOf(
  source: string,
  url: string,
  { hour, answer }: { hour: string; answer: object },
): ExamplePayload {
  const note = { url, fetched_at: hour, http_status: 200 } as const;
  return { source, bytes: Buffer.from(JSON.stringify(answer)), note };
}
