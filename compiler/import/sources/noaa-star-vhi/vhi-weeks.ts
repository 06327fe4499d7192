import { DAY_MS } from '../../../contract/iso-time.ts';
import { fetchAgain } from '../../fetch-again.ts';
import { numberOf } from '../../number-text.ts';
import type { Payload } from '../../payload.ts';

/** A newer form names the columns. */
const HEADER = 'year,week,smn,smt,vci,tci,vhi';
const NO_DATA = -1;
const WEEKS_A_YEAR = 52;
const COLUMNS = 7;

/** First and last year that a table announces. */
export interface Announced {
  readonly years: readonly [number, number];
}

/** Whether a line names the columns, all of them in the order that is read. */
export function isHeader(line: string): boolean {
  return squeezed(line).replace(/,$/, '') === HEADER;
}

/** A week of a province. */
export interface Week {
  /** Its last day at 00:00Z, in epoch milliseconds. */
  readonly end: number;
  /** Null where the agency has no data of it. */
  readonly values: Readonly<Record<string, number>> | null;
}

/** A row is `year,week, SMN,SMT, VCI, TCI, VHI,`; without data all five are -1. */
export function weekOf(line: string, { years: [from, to] }: Announced, payload: Payload): Week {
  const cells = squeezed(line).replace(/,$/, '').split(',').map(numberOf);
  const [year, week, smn, smt, vci, tci, vhi] = cells.map((value) => value ?? Number.NaN) as Cells;
  const isWeek = Number.isInteger(year) && week >= 1 && week <= WEEKS_A_YEAR && week % 1 === 0;
  if (cells.length !== COLUMNS || cells.includes(null) || !isWeek || year < from || year > to) {
    throw fetchAgain(
      payload,
      `"${line.slice(0, 60)}" is no week of ${from} to ${to} with five values`,
    );
  }
  const end = weekEnd(year, week);
  if ([smn, smt, vci, tci, vhi].every((value) => value === NO_DATA)) return { end, values: null };
  const indices = { vhi_index: vhi, vci_index: vci, tci_index: tci };
  if (
    isOdd(smn, -0.2, 1) ||
    isOdd(smt, 150, 350) ||
    Object.values(indices).some((value) => isOdd(value, 0, 100))
  ) {
    throw fetchAgain(payload, `"${line.slice(0, 60)}" has a value outside of its scale`);
  }
  return { end, values: { ...indices, ndvi_smn: smn, bt_smt_k: smt } };
}

type Cells = [number, number, number, number, number, number, number];

function isOdd(value: number, from: number, to: number): boolean {
  return value < from || value > to;
}

function squeezed(line: string): string {
  return line.replaceAll(' ', '').toLowerCase();
}

/** Weeks are seven days from 1 January on; the last one takes the rest of the year. */
function weekEnd(year: number, week: number): number {
  if (week === WEEKS_A_YEAR) return Date.UTC(year, 11, 31);
  return Date.UTC(year, 0, 1) + (week * 7 - 1) * DAY_MS;
}
