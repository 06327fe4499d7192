import { canonicalJson } from '../format/canonical.ts';
import { messageOf } from '../format/errors.ts';
import {
  CORE_FIELDS,
  HASH_CORE_VERSION,
  type HashedRecord,
  hashCore,
  RECORD_HASH,
} from '../format/record-hash.ts';
import { isObject, type JsonObject, type JsonValue } from '../format/strict-json.ts';
import { rosterCore, rosterKindOf, rosterSubject } from '../products/collections.ts';
import {
  CHAIN_START,
  type ChainState,
  chainLink,
  rowCore,
  SERIES_COLUMNS,
  SERIES_DAYS_MAX,
  type SeriesCut,
  seriesFrom,
} from '../products/shapes/series.ts';
import {
  type BodyCheck,
  canonicalHash,
  checkAt,
  memberPath,
  type ObjectNode,
} from './body-check.ts';

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
    if (!Array.isArray(value.rows) || value.rows.length === 0) throw new TypeError('no rows');
    const columns = [...SERIES_COLUMNS].sort().join();
    const rows = value.rows.map((row: JsonValue, index) => {
      if (isObject(row) && Object.keys(bareRow(row)).sort().join() === columns) return row;
      throw new TypeError(`row ${index} has not exactly the columns of a series`);
    });
    const before = stateOf(value.before);
    const { end, cuts } = runChain(before, rows);
    const fault =
      endFault(value, end) ??
      reachFault(value, before, rows) ??
      indexFault(value, cuts) ??
      coresFault(value, rows);
    return [fault === null ? at.pass('the end of the signed chain') : at.fail(fault)];
  } catch (error) {
    return [at.fail(messageOf(error))];
  }
}

/** Whether all rows are in the body itself: a stored form without segments, or an answer, which never names any. */
function isWhole({ segments }: JsonObject): boolean {
  return segments === undefined || (Array.isArray(segments) && segments.length === 0);
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

function indexFault({ cuts }: JsonObject, expected: readonly SeriesCut[]): string | null {
  if (cuts === undefined) return null;
  return JSON.stringify(cuts) === JSON.stringify(expected) ? null : '"cuts" does not fit the rows';
}

// A row lacks a part of its hash core. That part can come with it: as `_hash_core` of each row of an answer
// (verifiable=1), or in `origins` of the stored form.

function bareRow({ _hash_core: _, ...row }: JsonObject): JsonObject {
  return row;
}

/** What is wrong with the cores that come with the rows of a series; null for nothing, and where none come. */
export function coresFault(series: JsonObject, rows: readonly JsonObject[]): string | null {
  const given = rows.filter((row) => row._hash_core !== undefined);
  if (given.length > 0 && given.length < rows.length) return 'some rows lack their "_hash_core"';
  const at = given.findIndex((row) => !hasOwnCore(series, row));
  if (at !== -1) return `"_hash_core" of row ${at} is not that of its row`;
  return series.origins === undefined ? null : originsFault(series, rows);
}

/** Whether the core says what its row says, and has no other members; its hash is compared where that of every core is. */
function hasOwnCore(series: JsonObject, { _hash_core: core, ...row }: JsonObject): boolean {
  try {
    return isObject(core) && canonicalJson(core) === canonicalJson(rowCore(series, row, core));
  } catch {
    return false;
  }
}

function originsFault(series: JsonObject, rows: readonly JsonObject[]): string | null {
  try {
    const origins = originsOf(series.origins, rows.length);
    const at = rows.findIndex((row, index) => {
      return canonicalHash(rowCore(series, row, origins[index] ?? {})) !== row.record_hash;
    });
    return at === -1 ? null : `"origins" do not give the record hash of row ${at}`;
  } catch (error) {
    return `"origins" ${messageOf(error)}`;
  }
}

/** The origin of each row; throws a TypeError where the runs are not of so many rows. */
export function originsOf(runs: JsonValue | undefined, rows: number): readonly JsonObject[] {
  const origins: JsonObject[] = [];
  for (const run of Array.isArray(runs) ? runs : []) {
    const { count, origin } = runOf(run);
    // A run that claims more rows than there are does not get the program to count them.
    if (count > rows - origins.length) break;
    for (let row = 0; row < count; row += 1) origins.push(origin);
  }
  if (origins.length === rows) return origins;
  throw new TypeError(`are not those of ${rows} rows`);
}

function runOf(run: JsonValue) {
  const [count, origin] = Array.isArray(run) && run.length === 2 ? run : [];
  if (typeof count === 'number' && Number.isInteger(count) && count > 0 && isObject(origin)) {
    return { count, origin };
  }
  throw new TypeError('hold something else than runs of rows');
}

/** Members of a core beside its version, which a reader may leave out. */
const FACT_FIELDS = CORE_FIELDS.filter((name) => name !== 'hash_core_version');

/** Recomputes the record hash of an object; nothing for an object that neither has nor owes one. */
export function recordHashChecks({ path, value }: ObjectNode): BodyCheck[] {
  const at = checkAt('record_hash', memberPath(path, 'record_hash'));
  const { record_hash, hash_core_version } = value;
  if (record_hash === undefined || record_hash === null) {
    if (typeof hash_core_version === 'number') return [at.fail('missing beside its core version')];
    return record_hash === null ? [at.notApplicable('this row was never hashed')] : [];
  }
  if (typeof record_hash !== 'string' || !RECORD_HASH.test(record_hash)) {
    return [at.fail('not "sha256:" and 64 lower-case hex digits')];
  }
  const core = coreOf(value);
  if (core === null) {
    return [at.notApplicable('its hash core is not in this body')];
  }
  return [recomputed(at, record_hash, core)];
}

function recomputed(at: ReturnType<typeof checkAt>, claimed: string, core: () => unknown) {
  try {
    const hash = canonicalHash(core());
    return hash === claimed
      ? at.pass('recomputed from the hash core')
      : at.fail(`the hash core hashes to ${hash}`);
  } catch (error) {
    return at.fail(messageOf(error));
  }
}

/** How to compose the core of an object, or null where the object does not carry one. */
function coreOf(value: JsonObject): (() => unknown) | null {
  const { _hash_core: given, hash_core_version } = value;
  if (given !== undefined) return () => givenCore(value, given);
  const kind = rosterKindOf(value);
  if (kind !== null) return () => rosterCore(kind, value);
  const declared = hash_core_version !== undefined && hash_core_version !== null;
  const complete = FACT_FIELDS.every((name) => Object.hasOwn(value, name));
  if (!declared && !complete) return null;
  return () => hashCore({ ...value, hash_core_version } as unknown as HashedRecord);
}

/** A pre-image that is delivered beside its row; it must be about that row and of a known version. */
function givenCore(row: JsonObject, core: JsonValue): JsonValue {
  if (!isObject(core)) throw new TypeError('"_hash_core" is not an object');
  if (core.hash_core_version !== HASH_CORE_VERSION) {
    throw new TypeError(`"_hash_core" is not of version ${HASH_CORE_VERSION}`);
  }
  const off = Object.keys(core).find((name) => {
    const [shown, hashed] = [row[name], core[name]];
    if (shown === undefined || name === 'hash_core_version') return false;
    const isNested = [shown, hashed].every((value) => typeof value === 'object' && value !== null);
    return !isNested && shown !== hashed;
  });
  if (off !== undefined) throw new TypeError(`"_hash_core.${off}" differs from the row`);
  const subject = rosterSubject(core);
  const shown = row.entity === undefined ? row.service : row.entity;
  if (subject !== null && shown !== undefined && subject !== shown) {
    throw new TypeError('"_hash_core" is about another subject than the row');
  }
  return core;
}
