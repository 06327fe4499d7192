import { defined } from '../../../contract/defined.ts';
import { DAY_MS } from '../../../contract/iso-time.ts';
import type { Reading } from '../../../stages/intake/reading.ts';
import { ImportError } from '../../import-error.ts';
import { nameOf } from '../../measured.ts';
import { type Imported, type Payload, parsePayload } from '../../payload.ts';
import { ReadingList } from '../../reading-list.ts';
import type { Source, Wanted } from '../../source.ts';
import { type Origin, statedReading } from '../../stated-reading.ts';
import { DROUGHT_STATES, STATE_CODES } from './drought-regions.ts';
import { type StateWeek, stateWeeks, sum } from './state-weeks.ts';

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

interface RegionWeek {
  readonly day: string;
  readonly found: readonly StateWeek[];
}

function readingOf(region: string, { day, found }: RegionWeek, payload: Payload): Reading {
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
