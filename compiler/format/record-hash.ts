/** The core composition that hashCore writes; a record of another version is refused, never guessed. */
export const HASH_CORE_VERSION = 3;

/** Members of a signal record's core v3 in the order of `_hash_core`; nothing derived, nothing of request time. */
export const CORE_FIELDS = [
  'hash_core_version',
  'signal_id',
  'entity',
  'snapshot_date',
  'observed_at',
  'current',
  'source_ref',
  'source_tier',
  'sources',
  'lifecycle',
] as const;
type CoreField = (typeof CORE_FIELDS)[number];

/** Members of a source that are hashed; one that is absent stays absent. */
export const SOURCE_CORE_FIELDS = ['name', 'weight', 'independent', 'relay_of'] as const;

/** The spelling of every record hash: SHA-256 in lower-case hex. */
export const RECORD_HASH = /^sha256:[0-9a-f]{64}$/;

/** A record as far as its hash is concerned; other members are ignored, a missing one is refused, null is kept. */
export type HashedRecord = Readonly<
  Record<Exclude<CoreField, 'hash_core_version'>, unknown> & { hash_core_version?: unknown }
>;

/**
 * The core v3 of a signal record, whose canonical JSON is hashed; throws a TypeError that names a missing member, a malformed source or a
 * `hash_core_version` other than 3 (absent means 3).
 */
export function hashCore(record: HashedRecord): Readonly<Record<CoreField, unknown>> {
  const { hash_core_version: version = HASH_CORE_VERSION } = record;
  if (version !== HASH_CORE_VERSION) {
    throw new TypeError(
      `Cannot compose the hash core "${String(version)}": unknown version; use ${HASH_CORE_VERSION}`,
    );
  }
  return {
    hash_core_version: HASH_CORE_VERSION,
    signal_id: member(record, 'signal_id'),
    entity: member(record, 'entity'),
    snapshot_date: member(record, 'snapshot_date'),
    observed_at: member(record, 'observed_at'),
    current: member(record, 'current'),
    source_ref: member(record, 'source_ref'),
    source_tier: member(record, 'source_tier'),
    sources: sourceCores(member(record, 'sources')),
    lifecycle: member(record, 'lifecycle'),
  };
}

/** The record hash that a SHA-256 digest in lower-case hex spells; throws a TypeError for any other text. */
export function recordHashText(hexDigest: string): string {
  const hash = `sha256:${hexDigest}`;
  if (!RECORD_HASH.test(hash)) {
    throw new TypeError(`Cannot write record hash "${hash.slice(0, 80)}": not 64 lower-case hex`);
  }
  return hash;
}

function member(record: HashedRecord, name: keyof HashedRecord): unknown {
  const value = Object.hasOwn(record, name) ? record[name] : undefined;
  if (value === undefined) {
    throw new TypeError(`Cannot compose the hash core: "${name}" is missing; write null for none`);
  }
  return value;
}

function sourceCores(sources: unknown): unknown {
  if (sources === null) return null;
  if (!Array.isArray(sources)) {
    throw new TypeError(
      'Cannot compose the hash core: "sources" is not an array; pass a list or null',
    );
  }
  return sources.map((source: unknown, position) => {
    if (typeof source !== 'object' || source === null || Array.isArray(source)) {
      throw new TypeError(`Cannot compose the hash core: "sources.${position}" is not an object`);
    }
    const members = SOURCE_CORE_FIELDS.filter((name) => Object.hasOwn(source, name));
    return Object.fromEntries(members.map((name) => [name, Reflect.get(source, name)]));
  });
}
