import { z } from 'zod';
import { isRealDay } from '../../../contract/cutoff.ts';
import { defined } from '../../../contract/defined.ts';
import { fetchAgain } from '../../fetch-again.ts';
import { type Payload, parsePayload } from '../../payload.ts';
import { shaped } from '../../shape.ts';
import { STATE_CODES } from './drought-regions.ts';

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
type Row = z.infer<typeof rowSchema>;

/** One state in one week; areas in square miles, or in percent of the state. */
export interface StateWeek {
  readonly state: string;
  readonly day: string;
  readonly whole: number;
  /** Areas in class D0 to D4, each with all that is worse. */
  readonly atLeast: readonly number[];
}

/** Each state and week of an answer once, by `CA 2026-11-17`. Throws an ImportError for a row that cannot be read. */
export function stateWeeks(payload: Payload, isPercent: boolean): ReadonlyMap<string, StateWeek> {
  const value = parsePayload(payload.bytes, payload.subject);
  const is = 'statistics of states';
  const rows = shaped(z.array(rowSchema), value, { subject: payload.subject, is });
  const weeks = new Map<string, StateWeek>();
  const sizes = new Map<string, number>();
  for (const [at, row] of rows.entries()) {
    const week = weekOf(row);
    const { state, day, whole } = week;
    const size = sizes.get(state) ?? whole;
    const isResized = Math.abs(whole / size - 1) > SIZE_CHANGE_MAX;
    const fault =
      objection(row, week, isPercent) ??
      (weeks.has(`${state} ${day}`) ? 'lists its state and week a second time' : null) ??
      (isAsked(state, payload) ? null : `is of ${state}, which its address does not ask for`) ??
      (isResized ? `has an area of ${whole}, which was ${size} in another week` : null);
    if (fault !== null) throw fetchAgain(payload, `row ${at} ${fault}`);
    sizes.set(state, whole);
    weeks.set(`${state} ${day}`, week);
  }
  return weeks;
}

function weekOf(row: Row): StateWeek {
  const [none, ...classes] = written(row).map((value) =>
    typeof value === 'number' ? value : Number(value.replaceAll(',', '')),
  );
  const isCumulative = row.statisticFormatID === 1;
  const atLeast = isCumulative ? classes : classes.map((_, from) => sum(classes.slice(from)));
  const day = row.mapDate.slice(0, 10);
  const whole = defined(none, 'the area without drought') + defined(atLeast[0], 'the area of D0');
  return { state: row.stateAbbreviation, day, whole, atLeast };
}

function written({ none, d0, d1, d2, d3, d4 }: Row): readonly (number | string)[] {
  return [none, d0, d1, d2, d3, d4];
}

/** Why a row cannot be what it says; null for one that can. */
function objection(row: Row, week: StateWeek, isPercent: boolean): string | null {
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

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
