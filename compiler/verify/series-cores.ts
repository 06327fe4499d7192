import { canonicalJson } from '../contract/canonical.ts';
import { rowCore } from '../contract/series.ts';
import { isObject, type JsonObject, type JsonValue } from '../contract/strict-json.ts';
import { canonicalHash, reason } from './body-check.ts';

// A row lacks a part of its hash core. That part can come with it: as `_hash_core` of each row of an answer
// (verifiable=1), or in `origins` of the stored form.

/** A row as the chain hashes it. */
export function bareRow({ _hash_core: _, ...row }: JsonObject): JsonObject {
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
    return `"origins" ${reason(error)}`;
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
