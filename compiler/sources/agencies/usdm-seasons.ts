import { DAY_MS, isoTime } from '../../format/iso-time.ts';
import { originOf } from '../kit/entries.ts';
import { fetchAgain, type Imported, type Payload } from '../kit/payload.ts';
import { nameOf, ReadingList, statedReading } from '../kit/readings.ts';
import { isWanted, registered, type Source } from '../kit/source.ts';
import { DROUGHT_STATES, STATE_CODES, stateWeeks } from './usdm.ts';

// The weekly statistics of states that `usdm` reads, over ten years: what is usual in the same season.

const ORIGIN = originOf(
  'U.S. Drought Monitor: NDMC at the University of Nebraska-Lincoln, USDA and NOAA',
  'https://droughtmonitor.unl.edu/',
  { role: 'measurement', status: 'as published by the U.S. Drought Monitor' },
);
const YEARS_ASKED = 10;
/** The newest map is some days old when it is asked for, and so is that of ten years before it. */
const LATE_DAYS = 14;
const YEARS_MIN = 5;
const YEAR_DAYS = 365.25;
/** A week of another year is of the same season where its Tuesday is at most so many days from the anniversary. */
const APART_DAYS_MAX = 4;
/** The first class that is drought (D1) among D0 to D4, each with all that is worse. */
const DROUGHT = 1;

/** Area in drought in the newest week against the mean of that week in earlier years, for each region that is whole. */
function read(payload: Payload): Imported {
  const weeks = [...stateWeeks(payload, false).values()];
  const list = new ReadingList();
  const newest = weeks.map(({ day }) => day).reduce((last, day) => (day > last ? day : last), '');
  if (newest === '') throw fetchAgain(payload, 'it lists no week');
  const at = Date.parse(newest);
  for (const [region, states] of Object.entries(DROUGHT_STATES)) {
    const areas = new Map<string, number>();
    const counts = new Map<string, number>();
    for (const week of weeks.filter(({ state }) => states.includes(state))) {
      areas.set(week.day, (areas.get(week.day) ?? 0) + (week.atLeast[DROUGHT] ?? Number.NaN));
      counts.set(week.day, (counts.get(week.day) ?? 0) + 1);
    }
    if (counts.size === 0) continue;
    const whole = [...areas].filter(([day]) => counts.get(day) === states.length);
    // Maps are a week apart, so that two of them may be near one anniversary: the nearer one counts.
    const nearest = new Map<number, { readonly apart: number; readonly area: number }>();
    for (const [day, area] of whole) {
      const years = (at - Date.parse(day)) / DAY_MS / YEAR_DAYS;
      const year = Math.round(years);
      const apart = Math.abs(years - year) * YEAR_DAYS;
      const isNearest = apart < (nearest.get(year)?.apart ?? Infinity);
      if (year >= 1 && apart <= APART_DAYS_MAX && isNearest) nearest.set(year, { apart, area });
    }
    const usual = [...nearest.values()].map(({ area }) => area);
    const now = whole.find(([day]) => day === newest)?.[1];
    const mean = usual.reduce((sum, area) => sum + area, 0) / usual.length;
    if (now === undefined || usual.length < YEARS_MIN || mean <= 0) {
      list.skips.add(
        region,
        `not whole in its newest week, or fewer than ${YEARS_MIN} years with drought in it`,
      );
      continue;
    }
    const stated = {
      entity: region,
      ...nameOf('drought', region),
      at: Date.parse(`${newest}T12:00:00Z`),
      current: {
        area_vs_normal_pct: Math.round((1000 * now) / mean) / 10,
        years_count: usual.length,
      },
      scope: `area of ${states.join(', ')} in D1 or worse, in percent of its mean in the same week of ${usual.length} earlier years; the choice of states and of years is ours`,
    };
    list.add('drought.industry-timeline', statedReading(ORIGIN, payload, stated));
  }
  return list.someOf(payload);
}

export const usdmSeasons: Source = {
  ...registered('usdm-seasons'),
  version: 1,
  read,
  asks: (asked) => {
    const begin = asked.now - (YEARS_ASKED * YEAR_DAYS + LATE_DAYS) * DAY_MS;
    const [from = '', to = ''] = [begin, asked.now].map((at) => {
      const [year, month, day] = isoTime(at).slice(0, 10).split('-').map(Number);
      return `${month}/${day}/${year}`;
    });
    return Object.entries(DROUGHT_STATES)
      .filter(([region]) => isWanted(asked, region))
      .map(([, states]) => {
        const codes = states.map((state) => STATE_CODES.get(state)).join(',');
        return { with: { states: codes, from, to } };
      });
  },
};
