import { hasEnded } from '../../compiler/contract/key-history.ts';
import { RECORD_HASH } from '../../compiler/contract/record-hash.ts';
import type { JsonValue } from '../../compiler/contract/strict-json.ts';
import { findLeaf } from '../release/log-index.ts';
import type { ReleaseReader } from '../release/release-index.ts';

/** Hashes of one body that are looked up. */
const LOOK_UPS_MAX = 64;

interface OwnLog extends ReleaseReader {
  /** Epoch milliseconds. */
  readonly now: number;
}

/** A body that somebody brought, and whom its citation names. */
interface Brought {
  readonly signer: string | null;
  readonly value: JsonValue;
}

/**
 * Which hashes of a body, whose key has ended, are in the log of this service: no key of the past puts an entry there. Of any
 * other body nothing is looked up. Throws when the log cannot be read.
 */
export async function loggedOfPast(
  { signer, value }: Brought,
  { now, ...reader }: OwnLog,
): Promise<ReadonlySet<string>> {
  const logged = new Set<string>();
  if (signer === null || !hasEnded(reader.release.keys, signer, now)) return logged;
  for (const hash of [...hashesIn(value)].slice(0, LOOK_UPS_MAX)) {
    const { state } = await findLeaf(hash.slice('sha256:'.length), reader);
    if (state === 'found') logged.add(hash);
  }
  return logged;
}

/** Hashes of readings and of statements. */
function hashesIn(value: JsonValue, found = new Set<string>()): ReadonlySet<string> {
  if (typeof value !== 'object' || value === null) return found;
  for (const [name, member] of Object.entries<JsonValue>(value as Record<string, JsonValue>)) {
    const isHash = name === 'record_hash' && typeof member === 'string' && RECORD_HASH.test(member);
    if (isHash) found.add(member);
    else hashesIn(member, found);
  }
  return found;
}
