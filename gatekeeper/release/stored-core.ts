import { citationStatement } from '../../compiler/contract/citation.ts';
import { rosterCore, rosterKindOf } from '../../compiler/contract/collections.ts';
import { CORE_FIELDS, hashCore } from '../../compiler/contract/record-hash.ts';
import type { VerifyEntry } from '../../compiler/contract/release.ts';

type StoredMembers = Readonly<Record<string, unknown>>;

/** The hash core of an entry of the look-up shards from the body that carries it; throws a TypeError when it does not. */
export function storedCore({ kind, record_hash }: VerifyEntry, body: StoredMembers): object {
  switch (kind) {
    case 'reading':
      return hashCore(body as unknown as Parameters<typeof hashCore>[0]);
    case 'citation':
      return citationStatement(body._citation as Parameters<typeof citationStatement>[0]);
    case 'release':
      throw new TypeError(`Cannot find head "${record_hash}": no listed file carries it`);
    case 'row': {
      const core = coreOfRow(body, record_hash);
      if (core === null) throw new TypeError(`Cannot find row "${record_hash}": not in its file`);
      return core;
    }
  }
}

/** The core that a row carries: beside it, or as members of its own; null where it only names its hash. */
function carriedCore(row: StoredMembers): object | null {
  const { _hash_core } = row;
  if (typeof _hash_core === 'object' && _hash_core !== null) return _hash_core;
  const kind = rosterKindOf(row);
  if (kind !== null) return rosterCore(kind, row);
  const isLeg = CORE_FIELDS.every((name) => Object.hasOwn(row, name));
  return isLeg ? hashCore(row as unknown as Parameters<typeof hashCore>[0]) : null;
}

/** The core beside a record hash, wherever in the body the row stands; bodies of ours are shallow. */
function coreOfRow(value: unknown, recordHash: string): object | null {
  if (typeof value !== 'object' || value === null) return null;
  const carried =
    (value as StoredMembers).record_hash === recordHash
      ? carriedCore(value as StoredMembers)
      : null;
  if (carried !== null) return carried;
  for (const member of Object.values(value)) {
    const core = coreOfRow(member, recordHash);
    if (core !== null) return core;
  }
  return null;
}
