import { rosterCore, rosterKindOf, rosterSubject } from '../contract/collections.ts';
import {
  CORE_FIELDS,
  HASH_CORE_VERSION,
  type HashedRecord,
  hashCore,
  RECORD_HASH,
} from '../contract/record-hash.ts';
import { isObject, type JsonObject, type JsonValue } from '../contract/strict-json.ts';
import { type BodyCheck, canonicalHash, checkAt, reason } from './body-check.ts';
import { memberPath, type ObjectNode } from './object-nodes.ts';

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
    return at.fail(reason(error));
  }
}

/**
 * Whether the record hash of a reading or row is that of its own members; whether it is theirs, `recordHashChecks` tells. A core
 * that somebody put beside them, or one of the other kind, says nothing about them.
 */
export function bearsCore(value: JsonObject, of: 'reading' | 'row'): boolean {
  if (Object.hasOwn(value, '_hash_core') || coreOf(value) === null) return false;
  return (rosterKindOf(value) === null) === (of === 'reading');
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
  const off = Object.keys(core).find((name) => differs(row, core, name));
  if (off !== undefined) throw new TypeError(`"_hash_core.${off}" differs from the row`);
  const [subject, shown] = [rosterSubject(core), row.entity ?? row.service];
  if (subject !== null && shown !== undefined && subject !== shown) {
    throw new TypeError('"_hash_core" is about another subject than the row');
  }
  return core;
}

/** Plain members that both have are the same; versions are spelled as text in some rows. */
function differs(row: JsonObject, core: JsonObject, name: string): boolean {
  const [shown, hashed] = [row[name], core[name]];
  if (shown === undefined || name === 'hash_core_version') return false;
  const plain = typeof shown !== 'object' && typeof hashed !== 'object';
  return plain ? shown !== hashed : (shown === null) !== (hashed === null);
}
