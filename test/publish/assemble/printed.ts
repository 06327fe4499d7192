import { BUILTIN } from '../../../compiler/catalog/builtin.ts';
import { keyIdOf } from '../../../compiler/format/citation.ts';
import { parseVerifyEntry, type VerifyEntry } from '../../../compiler/format/release.ts';
import type { JsonValue } from '../../../compiler/format/strict-json.ts';
import { COLLECTION_PARTS } from '../../../compiler/publish/assemble/collection-parts.ts';
import { listSnapshots } from '../../../compiler/readings/list-snapshots.ts';
import type { Leaf } from '../../../compiler/release/leaf-lines.ts';
import { makePress } from '../../../compiler/release/press.ts';
import type { InputFault } from '../../../compiler/system/compile-error.ts';
import { issuerDid, makeSealer, signingKey } from '../../../compiler/system/sealer.ts';
import { rosterFiles } from '../../roster-rows.ts';
import { AS_OF, SEED, writeSnapshots } from '../../snapshot-folder.ts';

type Json = Readonly<Record<string, JsonValue>>;

/** What the parts behind the rosters put into a press, kept in memory. */
export interface Printed {
  readonly did: string;
  readonly faults: readonly InputFault[];
  readonly bodies: ReadonlyMap<string, Json>;
  readonly lookUps: readonly VerifyEntry[];
  readonly leaves: readonly Leaf[];
  body(path: string): Json;
}

/**
 * Reads rows as a compile does and writes their bodies; `removeFolders` takes the snapshots away. `stored` are files of
 * the release that come from signals.
 */
export function printed(
  rows: Readonly<Record<string, readonly object[]>>,
  stored: readonly string[] = [],
): Printed {
  const { collections } = listSnapshots(writeSnapshots(rosterFiles(rows)), BUILTIN);
  const parts = COLLECTION_PARTS.map((read) => read(collections, AS_OF, BUILTIN));
  const bodies = new Map<string, Json>();
  const lookUps: VerifyEntry[] = [];
  const leaves: Leaf[] = [];
  const key = signingKey(SEED);
  const did = issuerDid(key);
  const keyId = keyIdOf(did);
  const issuer = { name: 'Test issuer', did, keyId, baseUrl: 'https://example.org' };
  const press = makePress({
    catalog: BUILTIN,
    issuer,
    sealer: makeSealer(issuer, key),
    asOf: AS_OF,
    writer: {
      write(path, content) {
        bodies.set(path, JSON.parse(String(content)));
        return { path, size: content.length, sha256: '' };
      },
      store: () => undefined,
    },
    shards: {
      add: (lines) => lookUps.push(...String(lines).trimEnd().split('\n').map(parseVerifyEntry)),
      remove: () => undefined,
      write: () => [],
      emptied: [],
    },
    leaves: {
      add: (leaf) => leaves.push(leaf),
      addLines: () => undefined,
      startingWith: () => Buffer.alloc(0),
    },
  });
  const faults = parts.flatMap((part) => part.faults);
  if (faults.length === 0)
    for (const part of parts) part.write(press, (path) => stored.includes(path));
  const body = (path: string): Json => {
    const found = bodies.get(path);
    if (found === undefined) throw new RangeError(`No body at "${path}"`);
    return found;
  };
  return { did, faults, bodies, lookUps, leaves, body };
}
