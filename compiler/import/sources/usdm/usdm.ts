import { z } from 'zod';
import { isRealDay } from '../../../contract/cutoff.ts';
import { DAY_MS } from '../../../contract/iso-time.ts';
import type { Reading } from '../../../stages/intake/reading.ts';
import { ImportError } from '../../import-error.ts';
import { measuredBy, nameOf, observedAt } from '../../measured.ts';
import { type Imported, type Payload, parsePayload } from '../../payload.ts';
import { ReadingList } from '../../reading-list.ts';
import { shaped } from '../../shape.ts';
import type { Source, Wanted } from '../../source.ts';
import { DROUGHT_STATES, STATE_CODES } from './drought-regions.ts';

const HOST = 'usdmdataservices.unl.edu';
const SERVICE = `https://${HOST}/api/StateStatistics/GetDroughtSeverityStatisticsByArea`;
const ADDRESS = /\/StateStatistics\/GetDroughtSeverityStatisticsByArea(Percent)?$/;
const CREDIT = 'U.S. Drought Monitor: NDMC at the University of Nebraska-Lincoln, USDA and NOAA';
const BANDS = [
  'D0-abnormally-dry',
  'D1-moderate',
  'D2-severe',
  'D3-extreme',
  'D4-exceptional',
] as const;
/** How far published shares may miss 100 by rounding. */
const ROUNDING = 0.1;
/** A state does not change its size between two weeks. */
const SIZE_CHANGE_MAX = 0.005;
const TUESDAY = 2;

/** Areas are text with separators of thousands, shares are numbers. */
const AREA = /^(\d+|\d{1,3}(,\d{3})+)(\.\d+)?$/;
const area = z.union([z.number().min(0), z.string().regex(AREA, 'not an area such as 163,696.32')]);
const day = z.string().regex(/^\d{4}-\d{2}-\d{2}T00:00:00$/);
const rowSchema = z.looseObject({
  mapDate: day.refine((text) => isRealDay(text.slice(0, 10)), 'not a day'),
  validStart: day,
  stateAbbreviation: z.string().regex(/^[A-Z]{2}$/),
  none: area,
  d0: area,
  d1: area,
  d2: area,
  d3: area,
  d4: area,
  statisticFormatID: z.literal([1, 2]),
});
type Row = z.infer<typeof rowSchema>;

/** One state in one week; areas in square miles, or in percent of the state. */
interface StateWeek {
  readonly state: string;
  readonly day: string;
  readonly whole: number;
  /** Areas in class D0 to D4, each with all that is worse. */
  readonly atLeast: readonly number[];
}

/** Drought of each region and week whose states are all there; throws an ImportError for anything but statistics of states by area. */
function readDrought(payload: Payload): Imported {
  const { subject, bytes } = payload;
  const value = parsePayload(bytes, subject);
  refuseOtherStatistics(value, payload);
  const rows = shaped(z.array(rowSchema), value, { subject, is: 'statistics of states' });
  const weeks = new Map<string, StateWeek>();
  for (const [at, row] of rows.entries()) {
    const week = weekOf(row, at, payload);
    const key = `${week.state} ${week.day}`;
    if (weeks.has(key)) throw notRead(at, 'lists its state and week a second time', payload);
    weeks.set(key, week);
  }
  refuseResized([...weeks.values()], payload);
  const list = new ReadingList();
  const days = new Set([...weeks.values()].map((week) => week.day));
  for (const [region, states] of Object.entries(DROUGHT_STATES)) {
    for (const day of days) {
      const found = states.flatMap((state) => weeks.get(`${state} ${day}`) ?? []);
      const why = incomplete(found, states);
      if (why === null) list.add('drought.status', readingOf(region, found, payload));
      else if (found.length > 0) list.skips.add(region, why);
    }
  }
  return list.someOf(payload);
}

/** Counties and the whole country are other areas; shares of the population are no shares of the area. */
function refuseOtherStatistics(value: unknown, { note, subject }: Payload): void {
  const first: unknown = Array.isArray(value) ? value[0] : undefined;
  const isOf = (name: string) => typeof first === 'object' && first !== null && name in first;
  const ask = `ask ${SERVICE} for all states of a region`;
  if (isOf('county')) {
    const counties = new Set((value as { county?: unknown }[]).map(({ county }) => county));
    const state = `statistics of ${counties.size} ${counties.size === 1 ? 'county' : 'counties'}, and our regions are made of whole states; ${ask}`;
    throw new ImportError({ subject, state });
  }
  if (ADDRESS.test(new URL(note.url).pathname)) return;
  const state = `its address names no statistics of states by area; ${ask}, and give --note with that address`;
  throw new ImportError({ subject, state });
}

function weekOf(row: Row, at: number, payload: Payload): StateWeek {
  const { stateAbbreviation: state, mapDate, validStart, statisticFormatID } = row;
  const [none = 0, ...classes] = areasOf(row, at, payload);
  const day = mapDate.slice(0, 10);
  if (new Date(`${day}T00:00:00Z`).getUTCDay() !== TUESDAY || mapDate !== validStart)
    throw notRead(at, `is of ${day}, not of the Tuesday that it is valid from`, payload);
  if (!isAsked(state, payload))
    throw notRead(at, `is of ${state}, which its address does not ask for`, payload);
  const atLeast =
    statisticFormatID === 1 ? classes : classes.map((_, from) => sum(classes.slice(from)));
  if (atLeast.some((area, index) => area > (atLeast[index - 1] ?? area) + ROUNDING))
    throw notRead(at, 'has a worse class on more of the area than a milder one', payload);
  const whole = none + (atLeast[0] ?? 0);
  const isPercent = ADDRESS.exec(new URL(payload.note.url).pathname)?.[1] !== undefined;
  if (whole <= 0 || Math.abs(whole - 100) <= ROUNDING !== isPercent)
    throw notRead(
      at,
      `adds up to ${whole}, not to ${isPercent ? '100 percent' : 'an area'}`,
      payload,
    );
  return { state, day, whole, atLeast };
}

/** Areas without drought and in each class; throws where some are text and others are not, as areas and shares are. */
function areasOf(row: Row, at: number, payload: Payload): readonly number[] {
  const written = [row.none, row.d0, row.d1, row.d2, row.d3, row.d4];
  if (new Set(written.map((value) => typeof value)).size > 1)
    throw notRead(at, 'writes some areas as text and others as numbers', payload);
  return written.map((value) =>
    typeof value === 'number' ? value : Number(value.replaceAll(',', '')),
  );
}

/** Whether the address asks for a state, by its code or its letters; one that names none asks for all. */
function isAsked(state: string, { note }: Payload): boolean {
  const asked = (new URL(note.url).searchParams.get('aoi') ?? '').toUpperCase().split(',');
  return asked[0] === '' || asked.includes(state) || asked.includes(STATE_CODES.get(state) ?? '');
}

function notRead(at: number, why: string, { subject }: Payload): ImportError {
  return new ImportError({ subject, state: `row ${at} ${why}; fetch it again` });
}

function refuseResized(weeks: readonly StateWeek[], { subject }: Payload): void {
  const sizes = new Map<string, number>();
  for (const { state, whole } of weeks) {
    const before = sizes.get(state) ?? whole;
    sizes.set(state, whole);
    if (Math.abs(whole / before - 1) <= SIZE_CHANGE_MAX) continue;
    const reason = `the area of ${state} is ${before} in one week and ${whole} in another; fetch it again`;
    throw new ImportError({ subject, state: reason });
  }
}

/** Why some states do not give a region; null where they do. */
function incomplete(found: readonly StateWeek[], states: readonly string[]): string | null {
  if (found.length < states.length) {
    const absent = states.filter((state) => found.every((week) => week.state !== state));
    return `a week without ${absent.join(', ')}`;
  }
  const isPercent = found.every(({ whole }) => Math.abs(whole - 100) <= ROUNDING);
  return isPercent && states.length > 1
    ? 'percentages do not tell how large its states are; ask for areas'
    : null;
}

function readingOf(region: string, weeks: readonly StateWeek[], payload: Payload): Reading {
  const day = weeks[0]?.day ?? '';
  // The map is valid to 8 am of its Tuesday in the east, daylight time.
  const observed_at = observedAt(Date.parse(`${day}T12:00:00Z`), payload);
  const whole = sum(weeks.map((week) => week.whole));
  const shares = BANDS.map(
    (_, at) => (100 * sum(weeks.map((week) => week.atLeast[at] ?? 0))) / whole,
  );
  const dsci = hundredths(sum(shares));
  const [d0, d1, d2, d3, d4] = shares.map(hundredths);
  const none = hundredths(100 - (shares[0] ?? 0));
  const current = {
    dsci_index: dsci,
    band: bandOf(shares),
    none_pct: none,
    d0_pct: d0,
    d1_pct: d1,
    d2_pct: d2,
    d3_pct: d3,
    d4_pct: d4,
  };
  return {
    entity: region,
    ...nameOf('drought', region),
    observed_at,
    collected_at: payload.note.fetched_at,
    current: current as Reading['current'],
    sources: measuredBy(CREDIT, dsci, observed_at),
    source_ref: payload.note.url,
    source_tier: 'T1',
    scope: `area of ${weeks.map(({ state }) => state).join(', ')}; each class with all that is worse; the choice of states is ours, and so is the band: the worst class on at least half of the area`,
    validation_status: 'as published by the U.S. Drought Monitor',
    uncertainty: 'a weekly map drawn by experts',
  };
}

function bandOf(shares: readonly number[]): string {
  return BANDS.findLast((_, at) => (shares[at] ?? 0) >= 50) ?? 'none';
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function hundredths(value: number): number {
  return Math.round(value * 100) / 100;
}

function addresses({ entities, now }: Wanted): readonly string[] {
  const wanted = Object.entries(DROUGHT_STATES)
    .filter(([region]) => entities.length === 0 || entities.includes(region))
    .flatMap(([, states]) => states.map((state) => STATE_CODES.get(state)));
  const day = (at: number) => {
    const [year, month, date] = new Date(at).toISOString().slice(0, 10).split('-').map(Number);
    return `${month}/${date}/${year}`;
  };
  const span = `startdate=${day(now - 28 * DAY_MS)}&enddate=${day(now)}`;
  return wanted.length === 0 ? [] : [`${SERVICE}?aoi=${wanted.join(',')}&${span}&statisticsType=1`];
}

/** Weekly statistics of states: https://droughtmonitor.unl.edu/DmData/DataDownload/WebServiceInfo.aspx */
export const usdm: Source = {
  id: 'usdm',
  agency: 'U.S. Drought Monitor',
  version: 1,
  format: 'json',
  feeds: ['drought.status'],
  read: readDrought,
  fetch: {
    hosts: [HOST],
    addresses,
    accept: 'application/json',
    everyMinutes: 360,
    perMinute: 6,
  },
};
