import { z } from 'zod';
import { isRealDay } from '../../format/cutoff.ts';
import { HOUR_MS, isoTime } from '../../format/iso-time.ts';
import {
  fetchAgain,
  ImportError,
  type Imported,
  type Payload,
  parsePayload,
  refuseOtherEntries,
  shaped,
} from '../kit/payload.ts';
import { nameOf, type Origin, ReadingList, statedReading } from '../kit/readings.ts';
import { type Ask, isWanted, registered, type Source, type Wanted } from '../kit/source.ts';

/** Values in MW by hour, in epoch milliseconds of its end; null where the publisher has none yet. */
type Series = ReadonlyMap<number, number | null>;
/** Demand, day-ahead demand, and interchange, which is negative for import. */
interface Hours {
  readonly D: Series;
  readonly DF: Series;
  readonly TI: Series;
}

interface Demand {
  readonly entity: string;
  /** What shares are measured by; null where we know of none. */
  readonly peakMw: number | null;
  readonly hours: Hours;
}

const ORIGIN: Origin = {
  name: 'EIA-930, as the balancing authority reported',
  role: 'measurement',
  independent: true,
  page: 'https://www.eia.gov/electricity/gridmonitor/',
  tier: 'T1',
  status: 'as published by the EIA',
};
/** The newest hours are often without a value; one that lies further back is not the present. */
const STEP_BACK_HOURS_MAX = 6;
const DAY_HOURS = 24;
/** A demand this far above the record is an error of the feed (ours). */
const IMPLAUSIBLE = 1.5;

interface StressMeasure {
  readonly signal: string;
  readonly bands: readonly [string, string, string, string, string];
  readonly basis: string;
}
/** Where a worse band begins, in percent of the reference peak (ours). */
const BAND_EDGES: readonly number[] = [75, 85, 92, 100];
const STRESS: StressMeasure = {
  signal: 'grid-reliability.stress',
  bands: ['normal', 'elevated', 'tight', 'critical', 'emergency'],
  basis: 'demand of one hour',
};
const STRAIN: StressMeasure = {
  signal: 'grid-reliability.realized-strain',
  bands: ['confirmed-slack', 'nominal', 'strained', 'ran-tight', 'severe-strain'],
  basis: 'largest hourly demand of 24 hours',
};
const AHEAD: StressMeasure = {
  signal: 'grid-reliability.forecast-stress',
  bands: ['slack', 'watch', 'stressed', 'peak-risk', 'over-peak'],
  basis:
    'largest hourly day-ahead demand that was published for the 24 hours after the newest measured one',
};

/** Every hour with a demand, and what the newest one closes and opens. */
function stressReadings(demand: Demand, payload: Payload, list: ReadingList): void {
  const { entity, hours } = demand;
  // Hours with a demand that can be one, in order.
  const usable = new Map<number, number>();
  for (const [time, mw] of [...demand.hours.D].sort(([a], [b]) => a - b)) {
    if (mw === null) list.skips.add(demand.entity, 'an hour without demand');
    else if (mw <= 0 || (demand.peakMw !== null && mw > IMPLAUSIBLE * demand.peakMw))
      list.skips.add(demand.entity, 'a demand that is none, or far above the record');
    else usable.set(time, mw);
  }
  for (const [time, mw] of usable) {
    const more = { demand_mw: mw, interchange_mw: hours.TI.get(time) ?? null };
    add(STRESS, { demand, time, mw, share: 'demand_peak_pct', more }, { payload, list });
  }
  const newest = Math.max(...usable.keys());
  const latest = Math.max(
    ...[...hours.D.keys()].filter((time) => time <= Date.parse(payload.note.fetched_at)),
  );
  if (usable.size === 0 || latest - newest > STEP_BACK_HOURS_MAX * HOUR_MS) {
    list.skips.add(entity, `no demand in the newest ${STEP_BACK_HOURS_MAX} hours`);
    return;
  }
  const day = run(usable, newest - (DAY_HOURS - 1) * HOUR_MS, newest);
  if (day.length < DAY_HOURS) list.skips.add(entity, '24 hours that are not whole');
  else {
    const mw = Math.max(...day);
    const more = { demand_max_mw: mw };
    add(STRAIN, { demand, time: newest, mw, share: 'realized_peak_pct', more }, { payload, list });
  }
  addAhead(demand, newest, { payload, list });
}

function addAhead(demand: Demand, newest: number, to: Target): void {
  const { DF } = demand.hours;
  const times = [...DF.keys()].filter((time) => time > newest);
  const end = Math.min(newest + DAY_HOURS * HOUR_MS, Math.max(...times));
  const ahead = run(DF, newest + HOUR_MS, end);
  if (times.length === 0 || ahead.length * HOUR_MS < end - newest) {
    to.list.skips.add(demand.entity, 'no day-ahead demand, or not of every hour');
    return;
  }
  const mw = Math.max(...ahead);
  const more = { ahead_max_mw: mw, hours_ahead_count: ahead.length };
  add(AHEAD, { demand, time: newest, mw, share: 'forecast_peak_pct', more }, to);
}

function run(series: Series, from: number, to: number): readonly number[] {
  return [...series].flatMap(([time, mw]) =>
    time >= from && time <= to && mw !== null ? [mw] : [],
  );
}

interface Target {
  readonly payload: Payload;
  readonly list: ReadingList;
}

function add(
  { signal, bands, basis }: StressMeasure,
  facts: {
    demand: Demand;
    time: number;
    mw: number;
    share: string;
    more: Readonly<Record<string, number | null>>;
  },
  { payload, list }: Target,
): void {
  const { demand, time, mw, share, more } = facts;
  const { entity, peakMw } = demand;
  const percent = peakMw === null ? null : Math.round((10_000 * mw) / peakMw) / 100;
  const reached = BAND_EDGES.filter((edge) => percent !== null && percent >= edge).length;
  const measure =
    peakMw === null
      ? 'no reference peak is known to us, so no share and no band is given'
      : `reference peak ${peakMw} MW, the record that the authority has published; its choice and the bands are ours and are no emergency levels of NERC`;
  const stated = {
    entity,
    ...nameOf('grid-reliability', entity),
    at: time,
    current: {
      [share]: percent,
      band: percent === null ? null : (bands[reached] ?? null),
      ...more,
    },
    grade: 'preliminary, revised for some days',
    scope: `${basis}; ${measure}`,
  };
  list.add(signal, statedReading(ORIGIN, payload, stated));
}

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

function byRespondent(
  data: readonly z.infer<typeof rowSchema>[],
  { note, subject }: Payload,
): Map<string, Hours> {
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

function asks(asked: Wanted): Ask[] {
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
  return [{ with: { query: query.join('&') } }];
}

/** Hourly electric grid monitor (Form EIA-930): https://www.eia.gov/opendata/documentation.php */
export const eia: Source = {
  ...registered('eia'),
  version: 2,
  read: readDemand,
  asks,
};

/**
 * An authority, and the record hourly demand in MW that it has published itself, by which stress is measured (ours). Where we
 * know of no such figure, no share of it and no band is given.
 */
function authority(code: string, peakMw: number | null = null) {
  return { code, peakMw };
}

/** By entity. Records: CAISO 2022-09-06, ERCOT 2023-08-10, MISO 2011-07-20, PJM 2006-08-02, SPP 2023-08-21, NYISO 2013-07-19, ISO-NE 2006-08-02, TVA 2025-01-22. */
export const AUTHORITIES: Readonly<Record<string, ReturnType<typeof authority>>> = {
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
