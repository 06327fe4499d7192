import { z } from 'zod';
import { isRealDay } from '../../../contract/cutoff.ts';
import { HOUR_MS, isoTime } from '../../../contract/iso-time.ts';
import {
  fetchAgain,
  ImportError,
  type Imported,
  type Payload,
  parsePayload,
  refuseOtherEntries,
  shaped,
} from '../../payload.ts';
import { ReadingList } from '../../readings.ts';
import { isWanted, type Source, type Wanted } from '../../source.ts';
import { type Hours, stressReadings } from './grid-stress.ts';

const REGION_DATA = 'https://api.eia.gov/v2/electricity/rto/region-data/data/';
/** Hours that are asked for: two days back, and the day ahead. */
const HOURS_BACK = 48;
const HOURS_AHEAD = 30;
/** Demand, day-ahead demand, total interchange; net generation (NG) is not used. */
const TYPES = ['D', 'DF', 'TI'] as const;

const value = z.union([
  z.number(),
  z
    .string()
    .regex(/^-?\d{1,9}(\.\d{1,6})?$/)
    .transform(Number),
]);
const rowSchema = z.looseObject({
  /** An hour in UTC, named after its end. */
  period: z
    .string()
    .regex(/^\d{4}-\d{2}-\d{2}T([01]\d|2[0-3])$/)
    .refine((text) => isRealDay(text.slice(0, 10)), 'not a day'),
  respondent: z.string().regex(/^[A-Z0-9]{2,6}$/),
  type: z.enum([...TYPES, 'NG']),
  value: value.nullable(),
  'value-units': z.literal('megawatthours'),
});
type HourRow = z.infer<typeof rowSchema>;
const answerSchema = z.looseObject({
  response: z.looseObject({
    total: z.union([
      z.int(),
      z
        .string()
        .regex(/^\d{1,9}$/)
        .transform(Number),
    ]),
    dateFormat: z.literal('YYYY-MM-DD"T"HH24'),
    frequency: z.literal('hourly'),
    data: z.array(rowSchema),
  }),
});
const INSTEAD = 'ask region-data for demand (D), day-ahead demand (DF) and interchange (TI)';
/** Other answers of the same service, by a member of their rows. */
const OTHERS: ReadonlyMap<string, string> = new Map([
  ['fueltype', `net generation by fuel, which no signal takes; ${INSTEAD}`],
  ['toba', `interchange between two authorities, which no signal takes; ${INSTEAD}`],
]);
const rowsSchema = z.looseObject({ response: z.looseObject({ data: z.array(z.unknown()) }) });

/** Demand, day-ahead demand and interchange of balancing authorities, by hour; throws an ImportError for an answer that is cut. */
function readDemand(payload: Payload): Imported {
  const { subject, bytes } = payload;
  const value = parsePayload(bytes, subject);
  const [first] = rowsSchema.safeParse(value).data?.response.data ?? [];
  refuseOtherEntries(first, OTHERS, subject);
  const is = 'hourly demand of balancing authorities (region-data)';
  const { total, data } = shaped(answerSchema, value, { subject, is }).response;
  if (total !== data.length) {
    const state = `it announces ${total} rows and holds ${data.length}; ask for fewer hours at a time`;
    throw new ImportError({ subject, state });
  }
  const list = new ReadingList();
  const rows = byRespondent(data, payload);
  for (const [entity, { code, peakMw }] of Object.entries(AUTHORITIES)) {
    const hours = rows.get(code);
    rows.delete(code);
    if (hours !== undefined) stressReadings({ entity, peakMw, hours }, payload, list);
  }
  for (const code of rows.keys()) list.skips.add(code, 'not one of our balancing authorities');
  return list.someOf(payload);
}

/** Values by respondent, type and hour; null where the publisher has none yet. */
function byRespondent(data: readonly HourRow[], { note, subject }: Payload): Map<string, Hours> {
  const asked = new URL(note.url).searchParams.getAll('facets[respondent][]');
  const found = new Map<string, { [Type in (typeof TYPES)[number]]: Map<number, number | null> }>();
  for (const [at, { respondent, type, period, value }] of data.entries()) {
    const fault = (why: string) => fetchAgain({ subject }, `row ${at} ${why}`);
    if (asked.length > 0 && !asked.includes(respondent))
      throw fault(`is of ${respondent}, which its address does not ask for`);
    const hours = found.get(respondent) ?? { D: new Map(), DF: new Map(), TI: new Map() };
    found.set(respondent, hours);
    const used = TYPES.find((name) => name === type);
    if (used === undefined) continue;
    const time = Date.parse(`${period}:00:00Z`);
    if (hours[used].has(time)) throw fault(`lists ${type} of ${respondent} at ${period} twice`);
    if (value !== null && used !== 'DF' && time > Date.parse(note.fetched_at))
      throw fault(`measures ${isoTime(time)}, after the fetch`);
    hours[used].set(time, value);
  }
  return found;
}

function addresses(asked: Wanted): readonly string[] {
  const { now } = asked;
  const wanted = Object.entries(AUTHORITIES).filter(([entity]) => isWanted(asked, entity));
  if (wanted.length === 0) return [];
  const hour = (at: number) => isoTime(at).slice(0, 13);
  const query = [
    'frequency=hourly',
    'data[0]=value',
    ...TYPES.map((type) => `facets[type][]=${type}`),
    ...wanted.map(([, { code }]) => `facets[respondent][]=${code}`),
    `start=${hour(now - HOURS_BACK * HOUR_MS)}`,
    `end=${hour(now + HOURS_AHEAD * HOUR_MS)}`,
    'length=5000',
  ];
  return [`${REGION_DATA}?${query.join('&')}`];
}

/** Hourly electric grid monitor (Form EIA-930): https://www.eia.gov/opendata/documentation.php */
export const eia: Source = {
  id: 'eia',
  agency: 'US Energy Information Administration',
  version: 1,
  format: 'json',
  feeds: [
    'grid-reliability.forecast-stress',
    'grid-reliability.stress',
    'grid-reliability.realized-strain',
  ],
  read: readDemand,
  fetch: {
    hosts: ['api.eia.gov'],
    addresses,
    everyMinutes: 60,
    perMinute: 30,
    key: { variable: 'SIGNALPRESS_EIA_KEY', parameter: 'api_key' },
  },
};

/** A balancing authority as the publisher codes it. */
interface Authority {
  readonly code: string;
  /**
   * Record hourly demand in MW as the authority itself has published it, by which stress is measured (ours); null where we
   * know of no such figure, and then no share of it and no band is given.
   */
  readonly peakMw: number | null;
}

const authority = (code: string, peakMw: number | null = null): Authority => ({ code, peakMw });

/** By entity. Records: CAISO 2022-09-06, ERCOT 2023-08-10, MISO 2011-07-20, PJM 2006-08-02, SPP 2023-08-21, NYISO 2013-07-19, ISO-NE 2006-08-02, TVA 2025-01-22. */
export const AUTHORITIES: Readonly<Record<string, Authority>> = {
  caiso: authority('CISO', 52_061),
  ercot: authority('ERCO', 85_508),
  miso: authority('MISO', 127_125),
  pjm: authority('PJM', 165_563),
  spp: authority('SWPP', 56_184),
  nyiso: authority('NYIS', 33_956),
  isone: authority('ISNE', 28_130),
  bpa: authority('BPAT'),
  tva: authority('TVA', 35_319),
  duke: authority('DUK'),
  fpl: authority('FPL'),
  soco: authority('SOCO'),
  azps: authority('AZPS'),
  psco: authority('PSCO'),
  pacw: authority('PACW'),
  ladwp: authority('LDWP'),
  srp: authority('SRP'),
  walc: authority('WALC'),
};
