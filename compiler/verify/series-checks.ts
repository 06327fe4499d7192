import { SERIES_DAYS_MAX } from '../contract/endpoints.ts';
import {
  CHAIN_START,
  type ChainState,
  chainLink,
  SERIES_COLUMNS,
  type SeriesCut,
  seriesFrom,
} from '../contract/series.ts';
import type { JsonValue } from '../contract/strict-json.ts';
import { isObject, type JsonObject } from '../contract/strict-json.ts';
import { type BodyCheck, canonicalHash, checkAt, reason } from './body-check.ts';
import { memberPath, type ObjectNode } from './object-nodes.ts';
import { bareRow, coresFault } from './series-cores.ts';

/** True for a body whose rows are proven by a chain, not by its content hash. */
export function isSeries(value: JsonObject): boolean {
  return value.tier === 'history-series';
}

/** Whether the rows of a delivered series are the end of the signed chain, all that its `days` reach. */
export function seriesChecks({ path, value }: ObjectNode): BodyCheck[] {
  if (!isSeries(value)) return [];
  const at = checkAt('series', memberPath(path, 'rows'));
  if (value.retained === undefined) return [at.notApplicable('a series without a chain')];
  try {
    if (!isWhole(value)) return [at.fail('rows of it stand in segments; verify the release')];
    const rows = rowsOf(value.rows);
    const before = stateOf(value.before);
    const { end, cuts } = runChain(before, rows);
    const fault =
      endFault(value, end) ??
      reachFault(value, before, rows) ??
      indexFault(value, cuts) ??
      coresFault(value, rows);
    return [fault === null ? at.pass('the end of the signed chain') : at.fail(fault)];
  } catch (error) {
    return [at.fail(reason(error))];
  }
}

/** Whether all rows are in the body itself: a stored form without segments, or an answer, which never names any. */
function isWhole({ segments }: JsonObject): boolean {
  return segments === undefined || (Array.isArray(segments) && segments.length === 0);
}

function rowsOf(rows: JsonValue | undefined): JsonObject[] {
  if (!Array.isArray(rows) || rows.length === 0) throw new TypeError('no rows');
  const columns = [...SERIES_COLUMNS].sort().join();
  return rows.map((row: JsonValue, index) => {
    if (isObject(row) && Object.keys(bareRow(row)).sort().join() === columns) return row;
    throw new TypeError(`row ${index} has not exactly the columns of a series`);
  });
}

function stateOf(before: JsonValue | undefined): ChainState {
  if (!isObject(before) || Object.keys(before).sort().join() !== 'chain,rows,snapshot_date') {
    throw new TypeError('"before" is no state of a chain');
  }
  const state = before as unknown as ChainState;
  const isStart = state.rows === 0 && state.snapshot_date === null && state.chain === CHAIN_START;
  const isInside = state.rows > 0 && typeof state.snapshot_date === 'string';
  if (!isStart && !isInside) throw new TypeError('"before" is no state of a chain');
  return state;
}

function runChain(before: ChainState, rows: readonly JsonObject[]) {
  const cuts: SeriesCut[] = [];
  let state = before;
  for (const row of rows) {
    const snapshot_date = String(row.snapshot_date);
    const isCut = cuts.length === 0 || snapshot_date !== state.snapshot_date;
    if (isCut) cuts.push([snapshot_date, state.rows, state.chain]);
    const chain = canonicalHash(chainLink(state, bareRow(row)));
    state = { rows: state.rows + 1, snapshot_date, chain };
  }
  return { end: state, cuts };
}

function endFault({ retained, count, rows }: JsonObject, end: ChainState): string | null {
  if (!isObject(retained) || retained.chain !== end.chain || retained.rows !== end.rows) {
    return 'the rows do not lead to the signed end of the chain';
  }
  return Array.isArray(rows) && count === rows.length ? null : '"count" is not that of the rows';
}

/**
 * A first row that is not there would have stood inside `days`: the state before tells its date. Where older rows of that
 * date are not delivered at all, the signature says so.
 */
function reachFault(
  { days, retained }: JsonObject,
  before: ChainState,
  rows: readonly JsonObject[],
): string | null {
  const isDays = typeof days === 'number' && Number.isInteger(days);
  if (!isDays || days < 1 || days > SERIES_DAYS_MAX) return '"days" is not 1 to 1000';
  const from = seriesFrom(isObject(retained) ? String(retained.to) : '', days);
  if (String(rows[0]?.snapshot_date) < from) return `a row is older than ${days} days`;
  const isSigned = isObject(retained) && retained.older_chain === before.chain;
  if (before.snapshot_date !== null && before.snapshot_date >= from && !isSigned) {
    return `rows of the last ${days} days are missing`;
  }
  return null;
}

/** The stored form lists where it can be cut. */
function indexFault({ cuts }: JsonObject, expected: readonly SeriesCut[]): string | null {
  if (cuts === undefined) return null;
  return JSON.stringify(cuts) === JSON.stringify(expected) ? null : '"cuts" does not fit the rows';
}
