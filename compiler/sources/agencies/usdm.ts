import { z } from 'zod';
import { isRealDay } from '../../format/cutoff.ts';
import { defined } from '../../format/errors.ts';
import { DAY_MS } from '../../format/iso-time.ts';
import type { Reading } from '../../readings/reading.ts';
import {
  fetchAgain,
  ImportError,
  type Imported,
  jsonOf,
  type Payload,
  parsePayload,
} from '../kit/payload.ts';
import { nameOf, type Origin, ReadingList, statedReading } from '../kit/readings.ts';
import { type Ask, isWanted, registered, type Source, type Wanted } from '../kit/source.ts';

const HOST = 'usdmdataservices.unl.edu';
const SERVICE = `https://${HOST}/api/StateStatistics/GetDroughtSeverityStatisticsByArea`;
const ADDRESS = /\/StateStatistics\/GetDroughtSeverityStatisticsByArea(Percent)?$/;
const INSTEAD = `ask ${SERVICE} for all states of a region`;
const ORIGIN: Origin = {
  name: 'U.S. Drought Monitor: NDMC at the University of Nebraska-Lincoln, USDA and NOAA',
  role: 'measurement',
  independent: true,
  page: 'https://droughtmonitor.unl.edu/',
  tier: 'T1',
  status: 'as published by the U.S. Drought Monitor',
};
const BANDS: readonly string[] = [
  'D0-abnormally-dry',
  'D1-moderate',
  'D2-severe',
  'D3-extreme',
  'D4-exceptional',
];

/**
 * Drought of each region and week whose states are all there. Throws an ImportError for statistics of other areas, such as
 * counties, or of other things, such as the population.
 */
function readDrought(payload: Payload): Imported {
  const { subject, note } = payload;
  refuseCounties(payload);
  const kind = ADDRESS.exec(new URL(note.url).pathname);
  if (kind === null) {
    const state = `its address names no statistics of states by area; ${INSTEAD}, and give --note with that address`;
    throw new ImportError({ subject, state });
  }
  const isPercent = kind[1] !== undefined;
  const weeks = stateWeeks(payload, isPercent);
  const days = new Set([...weeks.values()].map(({ day }) => day));
  const list = new ReadingList();
  for (const [region, states] of Object.entries(DROUGHT_STATES)) {
    for (const day of days) {
      const found = states.flatMap((state) => weeks.get(`${state} ${day}`) ?? []);
      const why = incomplete(found, states, isPercent);
      if (why === null) list.add('drought.status', readingOf(region, { day, found }, payload));
      else if (found.length > 0) list.skips.add(region, why);
    }
  }
  return list.someOf(payload);
}

function refuseCounties({ bytes, subject }: Payload): void {
  const value = parsePayload(bytes, subject);
  const counties = new Set(
    (Array.isArray(value) ? value : []).flatMap((row) =>
      typeof row === 'object' && row !== null && 'county' in row
        ? [JSON.stringify(row.county)]
        : [],
    ),
  );
  if (counties.size === 0) return;
  const some = counties.size === 1 ? '1 county' : `${counties.size} counties`;
  const state = `statistics of ${some}, and our regions are made of whole states; ${INSTEAD}`;
  throw new ImportError({ subject, state });
}

/** Why some states do not give a region; null where they do. */
function incomplete(
  found: readonly StateWeek[],
  states: readonly string[],
  isPercent: boolean,
): string | null {
  const absent = states.filter((state) => found.every((week) => week.state !== state));
  if (absent.length > 0) return `a week without ${absent.join(', ')}`;
  return isPercent && states.length > 1
    ? 'percentages do not tell how large its states are; ask for areas'
    : null;
}

function readingOf(
  region: string,
  { day, found }: { day: string; found: readonly StateWeek[] },
  payload: Payload,
): Reading {
  const whole = sum(found.map((week) => week.whole));
  const shares = BANDS.map(
    (_, at) => (100 * sum(found.map((week) => defined(week.atLeast[at], 'the area')))) / whole,
  );
  const classes = shares.map((share, at) => [`d${at}_pct`, hundredths(share)] as const);
  const band = BANDS.findLast((_, at) => defined(shares[at], 'the share') >= 50) ?? 'none';
  return statedReading(ORIGIN, payload, {
    entity: region,
    ...nameOf('drought', region),
    // The map is valid to 8 am of its Tuesday in the east, daylight time.
    at: Date.parse(`${day}T12:00:00Z`),
    current: {
      dsci_index: hundredths(sum(shares)),
      band,
      none_pct: hundredths(100 - defined(shares[0], 'the share of D0')),
      ...Object.fromEntries(classes),
    },
    scope: `area of ${found.map(({ state }) => state).join(', ')}; each class with all that is worse; the choice of states is ours, and so is the band: the worst class on at least half of the area`,
  });
}

function hundredths(value: number): number {
  return Math.round(value * 100) / 100;
}

function asks(asked: Wanted): Ask[] {
  const { now } = asked;
  const wanted = Object.entries(DROUGHT_STATES)
    .filter(([region]) => isWanted(asked, region))
    .flatMap(([, states]) => states.map((state) => STATE_CODES.get(state)));
  const day = (at: number) => {
    const [year, month, date] = new Date(at).toISOString().slice(0, 10).split('-').map(Number);
    return `${month}/${date}/${year}`;
  };
  const span = { from: day(now - 28 * DAY_MS), to: day(now) };
  return wanted.length === 0 ? [] : [{ with: { states: wanted.join(','), ...span } }];
}

/** Weekly statistics of states: https://droughtmonitor.unl.edu/DmData/DataDownload/WebServiceInfo.aspx */
export const usdm: Source = {
  ...registered('usdm'),
  version: 2,
  read: readDrought,
  asks,
};

/** How far published shares may miss 100 by rounding. */
const ROUNDING = 0.1;
/** A state does not change its size between two weeks. */
const SIZE_CHANGE_MAX = 0.005;
const TUESDAY = 2;

/** Areas are text with separators of thousands, shares are numbers. */
const AREA = /^(\d+|\d{1,3}(,\d{3})+)(\.\d+)?$/;
const area = z.union([z.number().min(0), z.string().regex(AREA, 'not an area such as 163,696.32')]);
const midnight = z.string().regex(/^\d{4}-\d{2}-\d{2}T00:00:00$/);
const rowSchema = z.looseObject({
  mapDate: midnight.refine((text) => isRealDay(text.slice(0, 10)), 'not a day'),
  validStart: midnight,
  stateAbbreviation: z.string().regex(/^[A-Z]{2}$/),
  none: area,
  d0: area,
  d1: area,
  d2: area,
  d3: area,
  d4: area,
  statisticFormatID: z.literal([1, 2]),
});
type DroughtRow = z.infer<typeof rowSchema>;

/** One state in one week; areas in square miles, or in percent of the state. */
interface StateWeek {
  readonly state: string;
  readonly day: string;
  readonly whole: number;
  /** Areas in class D0 to D4, each with all that is worse. */
  readonly atLeast: readonly number[];
}

/** Each state and week of an answer once, by `CA 2026-11-17`. Throws an ImportError for a row that cannot be read. */
export function stateWeeks(payload: Payload, isPercent: boolean): ReadonlyMap<string, StateWeek> {
  const rows = jsonOf(payload, z.array(rowSchema), 'statistics of states');
  const weeks = new Map<string, StateWeek>();
  const sizes = new Map<string, number>();
  for (const [at, row] of rows.entries()) {
    const week = weekOf(row);
    const { state, day, whole } = week;
    const size = sizes.get(state) ?? whole;
    const isResized = Math.abs(whole / size - 1) > SIZE_CHANGE_MAX;
    const fault =
      rowFault(row, week, isPercent) ??
      (weeks.has(`${state} ${day}`) ? 'lists its state and week a second time' : null) ??
      (isAsked(state, payload) ? null : `is of ${state}, which its address does not ask for`) ??
      (isResized ? `has an area of ${whole}, which was ${size} in another week` : null);
    if (fault !== null) throw fetchAgain(payload, `row ${at} ${fault}`);
    sizes.set(state, whole);
    weeks.set(`${state} ${day}`, week);
  }
  return weeks;
}

function weekOf(row: DroughtRow): StateWeek {
  const [none, ...classes] = written(row).map((value) =>
    typeof value === 'number' ? value : Number(value.replaceAll(',', '')),
  );
  const isCumulative = row.statisticFormatID === 1;
  const atLeast = isCumulative ? classes : classes.map((_, from) => sum(classes.slice(from)));
  const day = row.mapDate.slice(0, 10);
  const whole = defined(none, 'the area without drought') + defined(atLeast[0], 'the area of D0');
  return { state: row.stateAbbreviation, day, whole, atLeast };
}

function written({ none, d0, d1, d2, d3, d4 }: DroughtRow): readonly (number | string)[] {
  return [none, d0, d1, d2, d3, d4];
}

/** Why a row cannot be what it says; null for one that can. */
function rowFault(row: DroughtRow, week: StateWeek, isPercent: boolean): string | null {
  const { day, whole, atLeast } = week;
  const isTuesday = new Date(`${day}T00:00:00Z`).getUTCDay() === TUESDAY;
  if (!isTuesday || row.mapDate !== row.validStart)
    return `is of ${day}, not of the Tuesday that it is valid from`;
  if (new Set(written(row).map((value) => typeof value)).size > 1)
    return 'writes some areas as text and others as numbers';
  if (atLeast.some((area, index) => area > (atLeast[index - 1] ?? area) + ROUNDING))
    return 'has a worse class on more of the area than a milder one';
  const isWhole = isPercent ? Math.abs(whole - 100) <= ROUNDING : whole > 100 + ROUNDING;
  return isWhole ? null : `adds up to ${whole}, not to ${isPercent ? '100 percent' : 'an area'}`;
}

/** Whether the address asks for a state, by its code or its letters; one that names none asks for all. */
function isAsked(state: string, { note }: Payload): boolean {
  const asked = (new URL(note.url).searchParams.get('aoi') ?? '').toUpperCase().split(',');
  return asked[0] === '' || asked.includes(state) || asked.includes(STATE_CODES.get(state) ?? '');
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** The states that each region of the line is made of; the choice is ours. */
export const DROUGHT_STATES: Readonly<Record<string, readonly string[]>> = {
  'us-california': ['CA'],
  'us-southwest': ['AZ', 'NM', 'NV', 'UT'],
  'us-southernplains': ['KS', 'OK', 'TX'],
  'us-northernplains': ['ND', 'NE', 'SD'],
  'us-cornbelt': ['IA', 'IL', 'IN', 'MO', 'OH'],
  'us-southeast': ['AL', 'FL', 'GA', 'NC', 'SC', 'VA'],
  'us-pacificnw': ['ID', 'OR', 'WA'],
  'us-lowermississippi': ['AR', 'LA', 'MS'],
  'us-northeast': ['CT', 'DE', 'MA', 'MD', 'ME', 'NH', 'NJ', 'NY', 'PA', 'RI', 'VT', 'WV'],
  'us-rockies': ['CO', 'MT', 'WY'],
};

const CODES =
  'AL01 AR05 AZ04 CA06 CO08 CT09 DE10 FL12 GA13 IA19 ID16 IL17 IN18 KS20 LA22 MA25 MD24 ME23 MO29 MS28 MT30 NC37 ND38 ' +
  'NE31 NH33 NJ34 NM35 NV32 NY36 OH39 OK40 OR41 PA42 RI44 SC45 SD46 TX48 UT49 VA51 VT50 WA53 WV54 WY56';

/** Federal codes (FIPS) of the states, by which the service is asked. */
export const STATE_CODES: ReadonlyMap<string, string> = new Map(
  CODES.split(' ').map((text) => [text.slice(0, 2), text.slice(2)]),
);
