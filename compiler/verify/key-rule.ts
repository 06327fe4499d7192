// The one rule for every key (FORMAT.md, section 7): a citation counts if its key was valid at the `as_of` of the release that
// its proof leads to. That time is the word of whoever signed the checkpoint. It counts if one of those keys is still valid, or
// if it is shown that the checkpoint is older than the end of one: whoever has a key after its end can sign any date.

import { hasEnded, type KeyHistory, keyStart } from '../format/key-history.ts';
import { hasWitnessed, type LogPolicy, type PolicyMember } from '../format/log-policy.ts';

/** Who stands behind a checkpoint that has the entry. */
export interface Backing {
  /** The keys of the issuer that signed it; the signature of each one that is known holds. */
  readonly signers: readonly string[];
  /** Witnesses of the reader, and when each cosigned it, epoch milliseconds. */
  readonly cosigned: readonly { readonly witness: PolicyMember; readonly at: number }[];
  /** When a block held its root, epoch milliseconds, as the reader saw it. */
  readonly block?: number | undefined;
}

/** What a reader knows of keys and times. */
export interface KeyReader {
  readonly keys: KeyHistory;
  /** Clock of the reader, epoch milliseconds. Without it, only what was stated later ends a key. */
  readonly now?: number | undefined;
  readonly policy?: LogPolicy | undefined;
}

/** `open`: nothing shows that the time of the release is not invented. */
export interface KeyVerdict {
  readonly state: 'holds' | 'fails' | 'open';
  readonly detail: string;
}

/** Judges the key of a citation by the time of its release, and by what stands behind that. */
export function judgeKey(
  { did, ...released }: Released & { readonly did: string },
  reader: KeyReader,
): KeyVerdict {
  const fault = faultAt(did, released.as_of, reader.keys);
  if (fault !== null) return { state: 'fails', detail: fault };
  const { state, detail } = judgeTime(released, reader);
  if (state !== 'holds') return { state, detail };
  const ended = endOfKey(did, reader);
  const key = ended === null ? `${did} was` : `${ended.words}${STILL}`;
  return { state, detail: `${key} valid when its release was published: ${detail}` };
}

/** Stands in what is said of a key that has ended, and counts all the same. */
export const STILL = ', but it was';

/** The time that a release says it was published at, and who stands behind its entry. */
interface Released {
  readonly as_of: string;
  readonly backings: readonly Backing[];
}

/** Whether the time of a release counts: it holds, or it is open. */
export function judgeTime({ as_of, backings }: Released, reader: KeyReader): KeyVerdict {
  for (const backing of backings) {
    const shown = shownBy(backing, reader);
    if (shown !== null) return { state: 'holds', detail: `it is of ${as_of}, and ${shown}` };
  }
  const detail = `nothing but a key of the past says that its release is of ${as_of}`;
  return { state: 'open', detail: `${detail}: ${endsOf(backings, reader)}` };
}

/** Why a key did not count at a time, ISO-8601; null where it did, or where the list does not name it. */
function faultAt(did: string, time: string, keys: KeyHistory): string | null {
  const key = keys.keys.find((each) => each.did === did);
  if (key === undefined) return null;
  const at = Date.parse(time);
  const { valid_from, valid_until, revoked_from } = key;
  const released = `and its release is of ${time}`;
  if (revoked_from !== null && !(at < Date.parse(revoked_from))) {
    return `${did} is revoked from ${revoked_from} on, ${released}`;
  }
  if (valid_until !== null && !(at <= Date.parse(valid_until))) {
    return `${did} was in use until ${valid_until} only, ${released}`;
  }
  return at >= keyStart(keys, did)
    ? null
    : `${did} is in use from ${valid_from} on only, ${released}`;
}

/** What shows that a checkpoint is no older key's invention of today; null where nothing does. */
function shownBy({ signers, cosigned, block }: Backing, reader: KeyReader): string | null {
  const { keys, now = Number.POSITIVE_INFINITY, policy } = reader;
  const ends = signers.map((did) => {
    const until = endOfKey(did, reader)?.until;
    return { did, until, end: until === undefined ? Number.POSITIVE_INFINITY : Date.parse(until) };
  });
  const present = ends.find(({ did, until }) => until === undefined && keyStart(keys, did) <= now);
  if (present !== undefined) return `${present.did}, which is in use, signed the log with it`;
  for (const { until, end } of ends) {
    if (until === undefined) continue;
    const quorum = policy?.quorum ?? null;
    const before = new Set(cosigned.flatMap(({ witness, at }) => (at < end ? [witness] : [])));
    if (quorum !== null && hasWitnessed(quorum, before)) {
      return `witnesses saw that before ${until}, when a key that signed it ended`;
    }
    if (block !== undefined && block < end) {
      return `a block held that before ${until}, when a key that signed it ended`;
    }
  }
  return null;
}

function endsOf(backings: readonly Backing[], reader: KeyReader): string {
  const dids = new Set(backings.flatMap(({ signers }) => signers));
  const words = [...dids].flatMap((did) => endOfKey(did, reader)?.words ?? []);
  return words.length > 0 ? words.join('; ') : 'no key that signed it is in use yet';
}

/** Until when a key counted that has ended, or that was revoked, from whatever time on; null for one that is in use. */
export function endOfKey(
  did: string,
  { keys, now }: Pick<KeyReader, 'keys' | 'now'>,
): { readonly until: string; readonly words: string } | null {
  const { revoked_from = null, valid_until = null } =
    keys.keys.find((each) => each.did === did) ?? {};
  if (revoked_from !== null) {
    return { until: revoked_from, words: `${did} is revoked from ${revoked_from} on` };
  }
  if (valid_until === null || !hasEnded(keys, did, now)) return null;
  return { until: valid_until, words: `${did} was in use until ${valid_until}` };
}
